package taskpb

import (
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// The enumerations of the API and of package task have the same numbers; a test
// compares their names.

// Status is the API's value of a status.
func Status(s task.Status) taskpoolv1.TaskStatus { return taskpoolv1.TaskStatus(s) }

// statusOf is the status of an API value; false when there is none such, or it
// is UNSPECIFIED.
func statusOf(s taskpoolv1.TaskStatus) (task.Status, bool) {
	if s < 0 || s > taskpoolv1.TaskStatus(task.Failed) {
		return task.StatusUnspecified, false
	}
	return task.Status(s), task.Status(s).Valid()
}

// priorityOf is the priority of an API value, UNSPECIFIED included; false when
// there is none such.
func priorityOf(p taskpoolv1.TaskPriority) (task.Priority, bool) {
	if p < 0 || p > taskpoolv1.TaskPriority(task.High) {
		return task.PriorityUnspecified, false
	}
	return task.Priority(p), true
}

// typeOf is the type of an API value, UNSPECIFIED included; false when there is
// none such.
func typeOf(t taskpoolv1.TaskType) (task.Type, bool) {
	if t < 0 || t > taskpoolv1.TaskType(task.Research) {
		return task.TypeUnspecified, false
	}
	return task.Type(t), true
}

// instant writes a time; the zero time is absent.
func instant(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// timeOf reads a stored instant; absent is the zero time.
func timeOf(ts *timestamppb.Timestamp) (time.Time, error) {
	if ts == nil {
		return time.Time{}, nil
	}
	if err := ts.CheckValid(); err != nil {
		return time.Time{}, err
	}
	if len(ts.ProtoReflect().GetUnknown()) > 0 {
		return time.Time{}, errNewer
	}
	t := ts.AsTime()
	if t.IsZero() {
		return time.Time{}, errors.New("an instant in the year 1 stands for none and is never written")
	}
	return t, nil
}

// span writes a duration; 0 is absent.
func span(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// durationOf reads a stored duration; absent is 0.
func durationOf(d *durationpb.Duration) (time.Duration, error) {
	if d == nil {
		return 0, nil
	}
	if err := d.CheckValid(); err != nil {
		return 0, err
	}
	if len(d.ProtoReflect().GetUnknown()) > 0 {
		return 0, errNewer
	}
	v := d.AsDuration()
	if v <= 0 || durationpb.New(v).GetSeconds() != d.GetSeconds() {
		return 0, fmt.Errorf("a duration of %ds is out of range", d.GetSeconds())
	}
	return v, nil
}

// errNewer: bytes hold what this version can't keep.
var errNewer = errors.New("it was written by a newer version of taskpool")
