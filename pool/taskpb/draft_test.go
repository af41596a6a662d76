package taskpb_test

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

func TestDraft(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC)
	got, violations, err := taskpb.Draft(&taskpoolv1.NewTask{
		Title: "t", Description: "d", Body: "b", Priority: 3, Type: 2, DependencyIds: []string{"T-1"}, Assignee: "me", ParentId: "T-2",
		Labels: map[string]string{"k": "v"}, NoReview: true, AcceptanceCriteria: []string{"1"}, Links: []string{"2"}, Steps: []string{"3"},
		Constraints: []string{"4"}, OutOfScope: []string{"5"}, Verification: []string{"6"}, Context: []string{"7"}, EdgeCases: []string{"8"},
		NotBefore: timestamppb.New(at), DiscoveredFromId: "T-3", Ref: "r",
	})
	want := task.Draft{
		Title: "t", Description: "d", Body: "b", Priority: task.High, Type: task.Bug, Dependencies: []string{"T-1"}, Assignee: "me", Parent: "T-2",
		Labels: map[string]string{"k": "v"}, AcceptanceCriteria: []string{"1"}, Links: []string{"2"}, Steps: []string{"3"},
		Constraints: []string{"4"}, OutOfScope: []string{"5"}, Verification: []string{"6"}, Context: []string{"7"}, EdgeCases: []string{"8"},
		NotBefore: at, DiscoveredFrom: "T-3", Ref: "r",
	}
	if err != nil || len(violations) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, %v\nwant %+v", got, violations, err, want)
	}
}

// Every field either arrives or is refused; a new one of the API can't be
// forgotten. no_review asks for what is so anyway.
func TestDraft_forgetsNoField(t *testing.T) {
	empty := task.Draft{}
	for f, m := range oneByOne(&taskpoolv1.NewTask{}) {
		got, violations, err := taskpb.Draft(m.Interface().(*taskpoolv1.NewTask))
		if f.Name() != "no_review" && err == nil && len(violations) == 0 && reflect.DeepEqual(got, empty) {
			t.Errorf("%s is taken and not honoured", f.Name())
		}
	}
}

func TestPatch_forgetsNoField(t *testing.T) {
	apart := map[protoreflect.Name]bool{"pool": true, "id": true, "request_id": true, "expected_version": true, "hold_token": true}
	for f, m := range oneByOne(&taskpoolv1.UpdateTaskRequest{}) {
		got, violations, err := taskpb.Patch(m.Interface().(*taskpoolv1.UpdateTaskRequest))
		if !apart[f.Name()] && err == nil && len(violations) == 0 && reflect.DeepEqual(got, task.Patch{}) {
			t.Errorf("%s is taken and not honoured", f.Name())
		}
	}
}

// oneByOne gives a message per field, with that field alone set to something
// that is valid and not its zero value.
func oneByOne(of proto.Message) map[protoreflect.FieldDescriptor]protoreflect.Message {
	out := map[protoreflect.FieldDescriptor]protoreflect.Message{}
	fields := of.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		m := of.ProtoReflect().New()
		switch {
		case f.IsMap():
			m.Mutable(f).Map().Set(protoreflect.ValueOfString("k").MapKey(), protoreflect.ValueOfString("v"))
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			m.Mutable(f).List().AppendMutable()
		case f.IsList():
			m.Mutable(f).List().Append(protoreflect.ValueOfString("x"))
		case f.Kind() == protoreflect.MessageKind:
			if inner := m.Mutable(f).Message(); f.Message().FullName() == "google.protobuf.Timestamp" {
				inner.Set(f.Message().Fields().ByName("seconds"), protoreflect.ValueOfInt64(1))
			}
		case f.Kind() == protoreflect.EnumKind:
			m.Set(f, protoreflect.ValueOfEnum(1))
		case f.Kind() == protoreflect.BoolKind:
			m.Set(f, protoreflect.ValueOfBool(true))
		case f.Kind() == protoreflect.Int64Kind:
			m.Set(f, protoreflect.ValueOfInt64(1))
		case f.Kind() == protoreflect.Int32Kind:
			m.Set(f, protoreflect.ValueOfInt32(1))
		default:
			m.Set(f, protoreflect.ValueOfString("x"))
		}
		out[f] = m
	}
	return out
}

func TestDraft_refusals(t *testing.T) {
	for name, c := range map[string]struct {
		in    *taskpoolv1.NewTask
		field string
		later string
	}{
		"priority":           {in: &taskpoolv1.NewTask{Priority: 4}, field: "priority"},
		"negative priority":  {in: &taskpoolv1.NewTask{Priority: -1}, field: "priority"},
		"priority of a byte": {in: &taskpoolv1.NewTask{Priority: 257}, field: "priority"},
		"type":               {in: &taskpoolv1.NewTask{Type: math.MaxInt32}, field: "type"},
		"nanos":              {in: &taskpoolv1.NewTask{NotBefore: &timestamppb.Timestamp{Nanos: -1}}, field: "not_before"},
		"year 10000":         {in: &taskpoolv1.NewTask{NotBefore: &timestamppb.Timestamp{Seconds: 253402300800}}, field: "not_before"},
		"year 0":             {in: &taskpoolv1.NewTask{NotBefore: &timestamppb.Timestamp{Seconds: -62135596801}}, field: "not_before"},
		"zero time":          {in: &taskpoolv1.NewTask{NotBefore: timestamppb.New(time.Time{})}, field: "not_before"},
		"contract":           {in: &taskpoolv1.NewTask{Contract: &taskpoolv1.Contract{}}, field: "contract", later: "contracts"},
		"reviewer":           {in: &taskpoolv1.NewTask{Reviewer: "human"}, field: "reviewer", later: "review"},
	} {
		t.Run(name, func(t *testing.T) {
			_, violations, err := taskpb.Draft(c.in)
			if c.later == "" {
				if err != nil || len(violations) != 1 || violations[0].Field != c.field {
					t.Errorf("got %v, %v, want a violation of %s", violations, err, c.field)
				}
				return
			}
			var later *taskpb.LaterError
			if !errors.As(err, &later) || later.Feature != c.later || later.Field != c.field {
				t.Errorf("got %v, want %s to come later, at %s", err, c.later, c.field)
			}
		})
	}
	got, violations, err := taskpb.Draft(&taskpoolv1.NewTask{NotBefore: &timestamppb.Timestamp{}})
	if err != nil || violations != nil || !got.NotBefore.IsZero() {
		t.Errorf("not_before at the epoch is %v, %v, %v, want none", got.NotBefore, violations, err)
	}
}

func TestPatch_presence(t *testing.T) {
	got, violations, err := taskpb.Patch(&taskpoolv1.UpdateTaskRequest{})
	if err != nil || violations != nil || !got.Empty() {
		t.Errorf("an empty request gives %+v, %v, %v", got, violations, err)
	}
	got, violations, err = taskpb.Patch(&taskpoolv1.UpdateTaskRequest{
		Description: proto.String(""), Priority: new(taskpoolv1.TaskPriority), Type: new(taskpoolv1.TaskType), Steps: &taskpoolv1.StringList{},
		Assignee: proto.String(""), ParentId: proto.String(""), NotBefore: &timestamppb.Timestamp{}, Reviewer: proto.String(""),
	})
	if err != nil || violations != nil {
		t.Fatalf("got %v, %v", violations, err)
	}
	switch {
	case got.Description == nil || *got.Description != "":
		t.Error("description is not cleared")
	case got.Priority == nil || *got.Priority != task.PriorityUnspecified:
		t.Error("priority is not cleared")
	case got.Type == nil || *got.Type != task.TypeUnspecified:
		t.Error("type is not cleared")
	case got.Steps == nil || len(*got.Steps) != 0 || got.Links != nil:
		t.Error("steps are not cleared, or links are")
	case got.Assignee == nil || got.Parent == nil || *got.Assignee != "" || *got.Parent != "":
		t.Error("assignee and parent are not cleared")
	case got.NotBefore == nil || !got.NotBefore.IsZero():
		t.Error("not_before is not cleared")
	case got.Status != nil || got.HistoryEntry != nil || got.Title != nil:
		t.Error("something absent is present")
	}
}

func TestPatch_refusals(t *testing.T) {
	for name, in := range map[string]*taskpoolv1.UpdateTaskRequest{
		"status":     {Status: new(taskpoolv1.TaskStatus)},
		"priority":   {Priority: taskpoolv1.TaskPriority(4).Enum()},
		"type":       {Type: taskpoolv1.TaskType(-6).Enum()},
		"not_before": {NotBefore: &timestamppb.Timestamp{Nanos: 1_000_000_000}},
	} {
		if _, v, err := taskpb.Patch(in); err != nil || len(v) != 1 || v[0].Field != name {
			t.Errorf("%s: got %v, %v", name, v, err)
		}
	}
	if _, v, err := taskpb.Patch(&taskpoolv1.UpdateTaskRequest{Status: taskpoolv1.TaskStatus(300).Enum()}); err != nil || len(v) != 1 || v[0].Field != "status" {
		t.Errorf("an unknown status: got %v, %v", v, err)
	}
	var later *taskpb.LaterError
	if _, _, err := taskpb.Patch(&taskpoolv1.UpdateTaskRequest{Reviewer: proto.String("me")}); !errors.As(err, &later) || later.Field != "reviewer" {
		t.Errorf("a reviewer: got %v", err)
	}
}
