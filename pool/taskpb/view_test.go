package taskpb_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

const (
	preview = taskpoolv1.TaskView_TASK_VIEW_PREVIEW
	fullest = taskpoolv1.TaskView_TASK_VIEW_FULL
	compact = taskpoolv1.TaskView_TASK_VIEW_COMPACT
)

func TestTask_compact(t *testing.T) {
	got := taskpb.Task(sample(), compact, 3)
	want := &taskpoolv1.Task{
		Id: sample().ID, Key: "T-12", Title: sample().Title, Status: taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS,
		Priority: taskpoolv1.TaskPriority_TASK_PRIORITY_HIGH, Assignee: "agent:bob", Holder: "agent:bob",
	}
	if !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// PREVIEW has every field of FULL; only the long texts and list items are cut,
// and the task they are of is left alone.
func TestTask_preview(t *testing.T) {
	one := sample()
	long := strings.Repeat("é", 11)
	one.Brief = (&task.Brief{
		Description: long, Body: long, AcceptanceCriteria: []string{"short", long}, Links: []string{long}, Steps: []string{long},
		Constraints: []string{long}, OutOfScope: []string{long}, Verification: []string{long}, Context: []string{long}, EdgeCases: []string{long},
	}).Pack()
	one.Title, one.BlockedReason, one.Result = long, long, long
	got, want := taskpb.Task(one, preview, 10), proto.CloneOf(taskpb.Task(one, fullest, 10))
	short := strings.Repeat("é", 10) + "..."
	want.Description, want.Body, want.BlockedReason, want.Result = short, short, short, short
	want.AcceptanceCriteria = []string{"short", short}
	for _, list := range []*[]string{&want.Links, &want.Steps, &want.Constraints, &want.OutOfScope, &want.Verification, &want.Context, &want.EdgeCases} {
		*list = []string{short}
	}
	if !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if one.Brief.Unpack().AcceptanceCriteria[1] != long || one.Brief.Unpack().Body != long {
		t.Error("the task itself was cut")
	}
	if uncut := taskpb.Task(one, preview, 11); !proto.Equal(uncut, taskpb.Task(one, fullest, 0)) {
		t.Errorf("at the limit something was cut: %v", uncut)
	}
}

func TestDetail(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	thread := []*task.Event{
		{ID: 1, Kind: task.EventCreated, At: at, Detail: task.CreatedDetail{}},
		{ID: 2, Kind: task.EventProgress, At: at, Actor: "agent:bob", Body: "half done"},
		{ID: 3, Kind: task.EventComment, At: at, Actor: "human", Body: "good"},
		{ID: 4, Kind: task.EventProgress, At: at, Actor: "human", Body: "done"},
	}
	got := taskpb.Detail(sample(), thread, []string{"d1", "d2"})
	if len(got.GetHistory()) != 2 || got.GetHistory()[0].GetText() != "half done" || got.GetHistory()[0].GetActor() != "agent:bob" ||
		got.GetHistory()[1].GetText() != "done" || !got.GetHistory()[1].GetAt().AsTime().Equal(at) {
		t.Errorf("history is %v", got.GetHistory())
	}
	if strings.Join(got.GetDependentIds(), " ") != "d1 d2" {
		t.Errorf("dependents are %v", got.GetDependentIds())
	}
	if all := taskpb.Events(thread); len(all) != 4 || all[1].GetProgress() == nil || all[2].GetComment() == nil {
		t.Errorf("events are %v", all)
	}
}

// The enumerations are cast, so their names must agree number by number.
func TestEnums(t *testing.T) {
	kinds := append([]task.EventKind{task.EventUnspecified}, task.EventKinds()...)
	statuses := append([]task.Status{task.StatusUnspecified}, task.Statuses()...)
	for _, e := range []struct {
		descriptor protoreflect.EnumDescriptor
		prefix     string
		count      int
		name       func(int) string
	}{
		{taskpoolv1.TaskStatus(0).Descriptor(), "TASK_STATUS_", len(statuses), func(i int) string { return statuses[i].String() }},
		{taskpoolv1.TaskPriority(0).Descriptor(), "TASK_PRIORITY_", int(task.High) + 1, func(i int) string { return task.Priority(i).String() }},
		{taskpoolv1.TaskType(0).Descriptor(), "TASK_TYPE_", int(task.Research) + 1, func(i int) string { return task.Type(i).String() }},
		{taskpoolv1.TaskEventKind(0).Descriptor(), "TASK_EVENT_KIND_", len(kinds), func(i int) string { return kinds[i].String() }},
		{taskpoolv1.SubtaskKind(0).Descriptor(), "SUBTASK_KIND_", int(task.SubtasksAllClosed) + 1, func(i int) string {
			return []string{"unspecified", "added", "removed", "all_closed"}[i]
		}},
	} {
		values := e.descriptor.Values()
		if values.Len() != e.count {
			t.Errorf("%s has %d values, package task has %d", e.descriptor.Name(), values.Len(), e.count)
			continue
		}
		for i := range e.count {
			v := values.ByNumber(protoreflect.EnumNumber(i))
			if want := e.prefix + strings.ToUpper(e.name(i)); v == nil || string(v.Name()) != want {
				t.Errorf("%s %d is %v, want %s", e.descriptor.Name(), i, v, want)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	all := taskpb.Limits(task.DefaultLimits())
	fields := all.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if !all.ProtoReflect().Has(fields.Get(i)) {
			t.Errorf("%s is not set", fields.Get(i).Name())
		}
	}
	options := taskpb.LimitOptions(all)
	if len(options) != len(task.LimitNames()) || len(options) != fields.Len() {
		t.Errorf("%d options of %d limits and %d fields", len(options), len(task.LimitNames()), fields.Len())
	}
	if got := task.ResolveLimits(options, nil); got != task.DefaultLimits() {
		t.Errorf("there and back the limits are %+v", got)
	}
	some := taskpb.LimitOptions(&taskpoolv1.PoolLimits{TitleLength: proto.Int64(-5)})
	if len(some) != 1 || some["title_length"] != -5 {
		t.Errorf("one option is %v", some)
	}
	if none := taskpb.LimitOptions(nil); none != nil {
		t.Errorf("no options are %v", none)
	}
}
