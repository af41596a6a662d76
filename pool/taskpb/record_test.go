package taskpb_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// of is a record of a message.
func of(m proto.Message) *taskpoolv1.PoolRecord {
	switch m := m.(type) {
	case *taskpoolv1.Pool:
		return &taskpoolv1.PoolRecord{Record: &taskpoolv1.PoolRecord_Pool{Pool: m}}
	case *taskpoolv1.Task:
		return &taskpoolv1.PoolRecord{Record: &taskpoolv1.PoolRecord_Task{Task: m}}
	case *taskpoolv1.TaskEvent:
		return &taskpoolv1.PoolRecord{Record: &taskpoolv1.PoolRecord_Event{Event: m}}
	}
	return nil
}

func TestRecord_taskRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := tasks().Draw(t, "task")
		// What this version refuses in a record, and what a record does not have.
		want.Reviewer, want.Result, want.Submission = "", "", 0
		want.Status = rapid.SampledFrom([]task.Status{task.Pending, task.Ready, task.InProgress, task.Blocked, task.Done, task.Cancelled}).Draw(t, "status")
		want.AssignedByClaim = rapid.Bool().Draw(t, "by claim")
		entry := &task.Event{Kind: task.EventProgress, At: time.Unix(1, 2).UTC(), Actor: "agent:a", Body: rapid.String().Draw(t, "entry")}
		record := task.Record{Task: want, History: []*task.Event{entry}}
		got, wrong, err := taskpb.ReadRecord(over(t, taskpb.Record(record)))
		if err != nil || len(wrong) > 0 || !reflect.DeepEqual(got.Task, want) || !reflect.DeepEqual(got.History, record.History) {
			t.Fatalf("got %+v, %v, %v\nwant %+v", got.Task, wrong, err, want)
		}
		if a, b := taskpb.Record(got), taskpb.Record(record); !proto.Equal(a, b) {
			t.Fatalf("got %v\nwant %v", a, b)
		}
	})
}

// over is a message after its way through the wire.
func over(t interface{ Fatal(...any) }, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out taskpoolv1.PoolRecord
	if err := proto.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestRecord_eventRoundTrip(t *testing.T) {
	later := map[task.EventKind]bool{task.EventSubmitted: true, task.EventGate: true, task.EventVerdict: true, task.EventRetried: true}
	rapid.Check(t, func(t *rapid.T) {
		want := events().Draw(t, "event")
		got, wrong, err := taskpb.ReadRecord(over(t, taskpb.Record(task.Record{Event: want})))
		if later[want.Kind] {
			if !errors.As(err, new(*taskpb.LaterError)) {
				t.Fatalf("%s is read: %v", want.Kind, err)
			}
			return
		}
		if err != nil || len(wrong) > 0 || !reflect.DeepEqual(got.Event, want) {
			t.Fatalf("got %+v, %v, %v\nwant %+v", got.Event, wrong, err, want)
		}
	})
}

func TestRecord_outline(t *testing.T) {
	want := &task.Outline{
		Name: "web", Limits: task.DefaultLimits(), Rules: task.Rules{EditRule: task.EditByFiler, ReviewDefault: task.ReviewByFiler},
		Extent: &task.Extent{Tasks: 1, Events: 2, LastNumber: 3, LastEvent: 4},
	}
	got, wrong, err := taskpb.ReadRecord(over(t, taskpb.Record(task.Record{Outline: want})))
	if err != nil || len(wrong) > 0 || !reflect.DeepEqual(got.Outline, want) {
		t.Errorf("got %+v, %v, %v", got.Outline, wrong, err)
	}
	if got, _, _ := taskpb.ReadRecord(of(&taskpoolv1.Pool{})); got.Outline == nil || got.Outline.Extent != nil {
		t.Errorf("without an extent: %+v", got.Outline)
	}
}

// Every field either arrives or is refused; a new one of the API can't be
// forgotten.
func TestReadRecord_forgetsNoField(t *testing.T) {
	// The rules' first value is their default, limits that set none are all
	// defaults, and a key is refused as none is.
	apart := map[protoreflect.Name]bool{"edit_rule": true, "review_default": true, "limits": true, "key": true}
	for _, m := range []proto.Message{&taskpoolv1.Task{}, &taskpoolv1.TaskEvent{}, &taskpoolv1.Pool{}} {
		empty, nothing, _ := taskpb.ReadRecord(of(proto.Clone(m)))
		for f, one := range oneByOne(m) {
			got, wrong, later := taskpb.ReadRecord(of(one.Interface()))
			if !apart[f.Name()] && later == nil && len(wrong) <= len(nothing) && reflect.DeepEqual(got, empty) {
				t.Errorf("%s of %s is taken and not honoured", f.Name(), m.ProtoReflect().Descriptor().Name())
			}
		}
	}
	for _, m := range []*taskpoolv1.PoolRecord{
		{},
		{Record: &taskpoolv1.PoolRecord_Event{}, AssignedByClaim: true},
		{Record: &taskpoolv1.PoolRecord_Task{}, Extent: &taskpoolv1.PoolExtent{}},
		{Record: &taskpoolv1.PoolRecord_Pool{}, Extent: &taskpoolv1.PoolExtent{LastTaskNumber: -1}},
	} {
		if _, wrong, _ := taskpb.ReadRecord(m); len(wrong) == 0 {
			t.Errorf("%v is taken", m)
		}
	}
}

func TestReadRecord_violations(t *testing.T) {
	for name, c := range map[string]struct {
		in    proto.Message
		field string
	}{
		"status":         {&taskpoolv1.Task{Key: "T-1", Status: 99}, "task.status"},
		"priority":       {&taskpoolv1.Task{Key: "T-1", Priority: 4}, "task.priority"},
		"type":           {&taskpoolv1.Task{Key: "T-1", Type: -1}, "task.type"},
		"key":            {&taskpoolv1.Task{Key: "12"}, "task.key"},
		"held at":        {&taskpoolv1.Task{Key: "T-1", HeldAt: &timestamppb.Timestamp{Nanos: -1}}, "task.held_at"},
		"year 1":         {&taskpoolv1.Task{Key: "T-1", CreatedAt: timestamppb.New(time.Time{})}, "task.created_at"},
		"entry":          {&taskpoolv1.Task{Key: "T-1", History: []*taskpoolv1.ProgressEntry{{At: &timestamppb.Timestamp{Nanos: -1}}}}, "task.history[0].at"},
		"expiry":         {&taskpoolv1.Task{Key: "T-1", HoldExpiresAt: &timestamppb.Timestamp{}}, "task.hold_expires_at"},
		"kind":           {&taskpoolv1.TaskEvent{Kind: 17}, "event.kind"},
		"negative kind":  {&taskpoolv1.TaskEvent{Kind: -1}, "event.kind"},
		"at":             {&taskpoolv1.TaskEvent{Kind: 2, At: &timestamppb.Timestamp{Nanos: -1}}, "event.at"},
		"detail":         {&taskpoolv1.TaskEvent{Kind: 2, Detail: &taskpoolv1.TaskEvent_Created{Created: &taskpoolv1.CreatedDetail{}}}, "event.detail"},
		"within detail":  {&taskpoolv1.TaskEvent{Kind: 5, Detail: &taskpoolv1.TaskEvent_Status{Status: &taskpoolv1.StatusDetail{To: 99}}}, "event.detail"},
		"edit rule":      {&taskpoolv1.Pool{EditRule: 9}, "pool.edit_rule"},
		"more of a pool": {&taskpoolv1.Pool{Epoch: "e"}, "pool"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, wrong, err := taskpb.ReadRecord(of(c.in)); err != nil || len(wrong) != 1 || wrong[0].Field != c.field {
				t.Errorf("got %v, %v, want a violation of %s", wrong, err, c.field)
			}
		})
	}
}
