package pool_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// What the pool says by now never gives way.
func TestMerge_refusesWhatDiffers(t *testing.T) {
	from := story(t)
	f := open(t)
	f.mustMerge(records(t, from.Pool), 7, 0, 0)
	f.as(task.Human).mustUpdate(from.get("T-1").ID, task.Patch{Title: new("design anew"), Priority: new(task.Low)})
	from.mustUpdate("T-4", task.Patch{HistoryEntry: new("more")})
	from.titled("new there", "T-1")
	all := records(t, from.Pool)
	before := f.get(from.get("T-1").ID)
	r := f.mustMerge(all, 1, 5, 2)
	first, second := r.Refused[0], r.Refused[1]
	if first.Reason != "TASK_DIFFERS" || first.ID != from.get("T-1").ID || first.Index != 1 || !strings.HasPrefix(first.Message, "T-1 differs here in title, priority, thread;") {
		t.Errorf("got %+v", first)
	}
	if second.Reason != "TASK_DIFFERS" || second.ID != from.get("T-4").ID || !strings.Contains(second.Message, "in thread;") {
		t.Errorf("got %+v", second)
	}
	if after := f.get(before.ID); after.Title != "design anew" || after.Version != before.Version {
		t.Errorf("it was written over: %+v", after.Task)
	}
	state := f.State()
	f.mustMerge(all, 0, 6, 2)
	if f.State() != state {
		t.Error("importing again changed the pool")
	}
}

// Every field that two tasks may differ in is looked at.
func TestMerge_findsEveryDifference(t *testing.T) {
	from := open(t)
	one := from.create(task.Draft{Title: "one", Dependencies: nil})
	other := from.titled("other")
	from.claim(one.ID)
	from.mustUpdate(one.ID, task.Patch{HistoryEntry: new("did")})
	all := records(t, from.Pool)
	at := timestamppb.New(time.Unix(1, 0))
	for field, change := range map[string]func(*taskpoolv1.PoolRecord){
		"title":               func(m *taskpoolv1.PoolRecord) { m.GetTask().Title = "x" },
		"description":         func(m *taskpoolv1.PoolRecord) { m.GetTask().Description = "x" },
		"body":                func(m *taskpoolv1.PoolRecord) { m.GetTask().Body = "x" },
		"acceptance_criteria": func(m *taskpoolv1.PoolRecord) { m.GetTask().AcceptanceCriteria = []string{"x"} },
		"links":               func(m *taskpoolv1.PoolRecord) { m.GetTask().Links = []string{"https://x.org"} },
		"steps":               func(m *taskpoolv1.PoolRecord) { m.GetTask().Steps = []string{"x"} },
		"constraints":         func(m *taskpoolv1.PoolRecord) { m.GetTask().Constraints = []string{"x"} },
		"out_of_scope":        func(m *taskpoolv1.PoolRecord) { m.GetTask().OutOfScope = []string{"x"} },
		"verification":        func(m *taskpoolv1.PoolRecord) { m.GetTask().Verification = []string{"x"} },
		"context":             func(m *taskpoolv1.PoolRecord) { m.GetTask().Context = []string{"x"} },
		"edge_cases":          func(m *taskpoolv1.PoolRecord) { m.GetTask().EdgeCases = []string{"x"} },
		"priority":            func(m *taskpoolv1.PoolRecord) { m.GetTask().Priority = 1 },
		"type":                func(m *taskpoolv1.PoolRecord) { m.GetTask().Type = 1 },
		"labels":              func(m *taskpoolv1.PoolRecord) { m.GetTask().Labels = map[string]string{"x": ""} },
		"dependency_ids":      func(m *taskpoolv1.PoolRecord) { m.GetTask().DependencyIds = []string{other.ID} },
		"parent_id":           func(m *taskpoolv1.PoolRecord) { m.GetTask().ParentId = other.ID },
		"discovered_from_id":  func(m *taskpoolv1.PoolRecord) { m.GetTask().DiscoveredFromId = other.ID },
		"assignee":            func(m *taskpoolv1.PoolRecord) { m.GetTask().Assignee = stranger },
		"assigned_by_claim":   func(m *taskpoolv1.PoolRecord) { m.AssignedByClaim = false },
		"holder":              func(m *taskpoolv1.PoolRecord) { m.GetTask().Holder = stranger },
		"held_at":             func(m *taskpoolv1.PoolRecord) { m.GetTask().HeldAt = at },
		"not_before":          func(m *taskpoolv1.PoolRecord) { m.GetTask().NotBefore = at },
		"created_by":          func(m *taskpoolv1.PoolRecord) { m.GetTask().CreatedBy = stranger },
		"created_at":          func(m *taskpoolv1.PoolRecord) { m.GetTask().CreatedAt = at },
		"status, holder, held_at, closed_at": func(m *taskpoolv1.PoolRecord) {
			it := m.GetTask()
			it.Status, it.Holder, it.HeldAt, it.ClosedAt = taskpoolv1.TaskStatus_TASK_STATUS_DONE, "", nil, at
		},
		"status, holder, held_at, blocked_reason": func(m *taskpoolv1.PoolRecord) {
			it := m.GetTask()
			it.Status, it.Holder, it.HeldAt, it.BlockedReason = taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED, "", nil, "x"
		},
	} {
		changed := edited(t, all, func(i int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
			if i == 1 {
				change(m)
			}
			return m
		})
		r := from.mustMerge(changed, 0, 1, 1)
		if want := "T-1 differs here in " + field + ";"; !strings.HasPrefix(r.Refused[0].Message, want) {
			t.Errorf("got %s, want %s", r.Refused[0].Message, want)
		}
	}
	for name, change := range map[string]func(*taskpoolv1.TaskEvent){
		"actor": func(m *taskpoolv1.TaskEvent) { m.Actor = stranger },
		"time":  func(m *taskpoolv1.TaskEvent) { m.At = at },
		"body":  func(m *taskpoolv1.TaskEvent) { m.Body = "x" },
		"kind": func(m *taskpoolv1.TaskEvent) {
			m.Kind = taskpoolv1.TaskEventKind_TASK_EVENT_KIND_RELEASED
			m.Detail = &taskpoolv1.TaskEvent_Released{Released: &taskpoolv1.ReleasedDetail{Holder: stranger}}
		},
		"detail": func(m *taskpoolv1.TaskEvent) { m.GetClaimed().Holder = stranger },
	} {
		changed := edited(t, all, func(i int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
			if i == 3 {
				change(m.GetEvent())
			}
			return m
		})
		if r := from.mustMerge(changed, 0, 1, 1); !strings.Contains(r.Refused[0].Message, "in thread;") {
			t.Errorf("%s: got %s", name, r.Refused[0].Message)
		}
	}
}

// A field that is added to a task is one that two may differ in, or the pool's own.
func TestMerge_knowsEveryField(t *testing.T) {
	compared := map[string]bool{
		"Title": true, "Brief": true, "Priority": true, "Type": true, "Labels": true, "Status": true, "Dependencies": true,
		"ParentID": true, "DiscoveredFrom": true, "Assignee": true, "AssignedByClaim": true, "Holder": true, "HeldAt": true,
		"BlockedReason": true, "NotBefore": true, "CreatedBy": true, "CreatedAt": true, "ClosedAt": true,
		"Description": true, "Body": true, "AcceptanceCriteria": true, "Links": true, "Steps": true, "Constraints": true,
		"OutOfScope": true, "Verification": true, "Context": true, "EdgeCases": true,
	}
	own := map[string]bool{
		"ID": true, "Number": true, "Revision": true, "Version": true, "UpdatedAt": true, "Unfinished": true,
		"HistoryCount": true, "HistoryLength": true, "EventCount": true,
		"Depth": true, "ChildrenTotal": true, "ChildrenDone": true, "ChildrenOpen": true,
	}
	// Refused where a record has them, and no task has them yet.
	later := map[string]bool{"Reviewer": true, "Lease": true, "Result": true, "Submission": true}
	for _, of := range []reflect.Type{reflect.TypeFor[task.Task](), reflect.TypeFor[task.Brief]()} {
		for i := range of.NumField() {
			if name := of.Field(i).Name; !compared[name] && !own[name] && !later[name] {
				t.Errorf("%s.%s: say in differences whether an import may differ in it, try it in TestMerge_findsEveryDifference, and list it here", of.Name(), name)
			}
		}
	}
}
