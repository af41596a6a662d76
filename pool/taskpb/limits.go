package taskpb

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// limitFields are the fields of PoolLimits, by their names, which are those of
// the limits in package task; a test compares the two.
var limitFields = (*taskpoolv1.PoolLimits)(nil).ProtoReflect().Descriptor().Fields()

// Limits is a pool's limits, all of them.
func Limits(l task.Limits) *taskpoolv1.PoolLimits {
	m := &taskpoolv1.PoolLimits{}
	for name, value := range l.All() {
		if f := limitFields.ByName(protoreflect.Name(name)); f != nil {
			m.ProtoReflect().Set(f, protoreflect.ValueOfInt64(int64(value)))
		}
	}
	return m
}

// LimitOptions are the limits that are set in a request; nil when none is.
func LimitOptions(m *taskpoolv1.PoolLimits) task.LimitOptions {
	var options task.LimitOptions
	m.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if options == nil {
			options = task.LimitOptions{}
		}
		options[string(f.Name())] = v.Int()
		return true
	})
	return options
}
