package server

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// Cursors are kept by callers while servers come and go: the hash of a filter is
// the same for ever.
func TestFilterHash_isForEver(t *testing.T) {
	for name, c := range map[string]struct {
		filter *taskpoolv1.TaskFilter
		want   uint32
	}{
		"none":  {nil, 0xe3b0c442},
		"empty": {&taskpoolv1.TaskFilter{}, 0x429d3b47},
		"most": {&taskpoolv1.TaskFilter{
			Statuses: []taskpoolv1.TaskStatus{4, 2}, Priorities: []taskpoolv1.TaskPriority{0}, Assignee: "me", Labels: map[string]string{"b": "2", "a": "1"},
			ClosedSince: &timestamppb.Timestamp{Seconds: 1_700_000_000, Nanos: 5}, IncludeClosed: true,
		}, 0xce765f03},
	} {
		if got := filterHash(c.filter, "agent:a"); got != c.want {
			t.Errorf("%s: %#x, want %#x", name, got, c.want)
		}
	}
}

// Every field of a filter counts, so that no field that is added is forgotten.
func TestFilterHash_everyFieldCounts(t *testing.T) {
	seen := map[uint32]string{filterHash(nil, "agent:a"): "no filter", filterHash(&taskpoolv1.TaskFilter{}, "agent:a"): "an empty filter"}
	if len(seen) != 2 {
		t.Error("no filter and an empty one have the same hash")
	}
	fields := (&taskpoolv1.TaskFilter{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		m := &taskpoolv1.TaskFilter{}
		set(m.ProtoReflect(), f)
		h := filterHash(m, "agent:a")
		if h == 0 {
			t.Errorf("%s gives 0", f.Name())
		}
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", f.Name(), other)
		}
		seen[h] = string(f.Name())
	}
}

// set gives a field some value that is not its default.
func set(m protoreflect.Message, f protoreflect.FieldDescriptor) {
	switch {
	case f.IsMap():
		m.Mutable(f).Map().Set(protoreflect.ValueOfString("k").MapKey(), protoreflect.ValueOfString("v"))
	case f.IsList():
		m.Mutable(f).List().Append(protoreflect.ValueOfEnum(1))
	case f.Kind() == protoreflect.BoolKind:
		m.Set(f, protoreflect.ValueOfBool(true))
	case f.Kind() == protoreflect.MessageKind:
		m.Set(f, protoreflect.ValueOfMessage(timestamppb.Now().ProtoReflect()))
	default:
		m.Set(f, protoreflect.ValueOfString("x"))
	}
}

func TestFilterHash(t *testing.T) {
	const a, b = "agent:a", "agent:b"
	filter := func(change func(*taskpoolv1.TaskFilter)) *taskpoolv1.TaskFilter {
		m := &taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{1, 2}, Labels: map[string]string{"a": "1", "b": "2"}, Assignee: "agent:x"}
		change(m)
		return m
	}
	base := filter(func(*taskpoolv1.TaskFilter) {})
	for name, c := range map[string]struct {
		left  *taskpoolv1.TaskFilter
		right *taskpoolv1.TaskFilter
		actor string
		same  bool
	}{
		"itself":                 {base, proto.CloneOf(base), a, true},
		"another actor":          {base, base, b, true},
		"no filter, other actor": {nil, nil, b, true},
		"order of values":        {base, filter(func(m *taskpoolv1.TaskFilter) { m.Statuses = []taskpoolv1.TaskStatus{2, 1, 2} }), a, true},
		"a value more":           {base, filter(func(m *taskpoolv1.TaskFilter) { m.Statuses = []taskpoolv1.TaskStatus{1, 2, 3} }), a, false},
		"another label":          {base, filter(func(m *taskpoolv1.TaskFilter) { m.Labels["b"] = "3" }), a, false},
		"labels that run on":     {filter(func(m *taskpoolv1.TaskFilter) { m.Labels = map[string]string{"ab": "c"} }), filter(func(m *taskpoolv1.TaskFilter) { m.Labels = map[string]string{"a": "bc"} }), a, false},
		"claimable, other actor": {&taskpoolv1.TaskFilter{Claimable: true}, &taskpoolv1.TaskFilter{Claimable: true}, b, false},
		"me, other actor":        {&taskpoolv1.TaskFilter{Holder: " me "}, &taskpoolv1.TaskFilter{Holder: " me "}, b, false},
		"holder or reviewer":     {&taskpoolv1.TaskFilter{Holder: a}, &taskpoolv1.TaskFilter{Reviewer: a}, a, false},
	} {
		if got := filterHash(c.left, a) == filterHash(c.right, c.actor); got != c.same {
			t.Errorf("%s: the hashes are the same: %t", name, got)
		}
	}
}
