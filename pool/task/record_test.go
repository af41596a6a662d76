package task_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

const (
	recordID = "5a1f0c2e-0d3c-4a6e-9d53-0c6a5a4f7a11"
	otherID  = "77b0a9d3-8f4f-4e6b-8a2a-1d9d1f0e2b33"
)

var recordAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func exported() *task.Task {
	return &task.Task{
		ID: recordID, Number: 12, Title: "t", Brief: (&task.Brief{Steps: []string{"look"}, Links: []string{"https://example.com"}}).Pack(),
		Labels: map[string]string{"team": "web"}, Status: task.InProgress, Dependencies: []string{otherID}, ParentID: otherID,
		Holder: "agent:a", HeldAt: recordAt, Assignee: "agent:a", AssignedByClaim: true, CreatedBy: task.Human, CreatedAt: recordAt,
		Revision: 7, Version: 3, Depth: 1, Unfinished: []string{otherID},
	}
}

func TestCheckExported(t *testing.T) {
	want := exported()
	got, v := task.CheckExported(want, task.HighestLimits())
	if len(v) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, v)
	}
	for name, c := range map[string]struct {
		spoil func(*task.Task)
		field string
	}{
		"title":                   {func(t *task.Task) { t.Title = "" }, "title"},
		"NUL":                     {func(t *task.Task) { t.Title = "a\x00" }, "title"},
		"unsafe link":             {func(t *task.Task) { t.Brief = (&task.Brief{Links: []string{"javascript:x"}}).Pack() }, "links[0]"},
		"label key":               {func(t *task.Task) { t.Labels = map[string]string{"a b": ""} }, `labels["a b"]`},
		"id in capitals":          {func(t *task.Task) { t.ID = strings.ToUpper(t.ID) }, "id"},
		"key as id":               {func(t *task.Task) { t.ID = "T-1" }, "id"},
		"key as dependency":       {func(t *task.Task) { t.Dependencies = []string{"T-1"} }, "dependency_ids[0]"},
		"dependency twice":        {func(t *task.Task) { t.Dependencies = []string{otherID, otherID} }, "dependency_ids[1]"},
		"prefix as parent":        {func(t *task.Task) { t.ParentID = otherID[:8] }, "parent_id"},
		"found during a key":      {func(t *task.Task) { t.DiscoveredFrom = "T-1" }, "discovered_from_id"},
		"number 0":                {func(t *task.Task) { t.Number = 0 }, "key"},
		"number beyond":           {func(t *task.Task) { t.Number = task.MaxExported + 1 }, "key"},
		"no filer":                {func(t *task.Task) { t.CreatedBy = "" }, "created_by"},
		"filed by the pool":       {func(t *task.Task) { t.CreatedBy = task.SystemPool }, "created_by"},
		"bare name":               {func(t *task.Task) { t.Assignee = "bob" }, "assignee"},
		"no creation":             {func(t *task.Task) { t.CreatedAt = time.Time{} }, "created_at"},
		"no status":               {func(t *task.Task) { t.Status = 0 }, "status"},
		"in progress, not held":   {func(t *task.Task) { t.Holder = "" }, "holder"},
		"in progress, since when": {func(t *task.Task) { t.HeldAt = time.Time{} }, "held_at"},
		"done and held":           {func(t *task.Task) { t.Status, t.ClosedAt, t.HeldAt = task.Done, recordAt, time.Time{} }, "holder"},
		"done, not closed":        {func(t *task.Task) { t.Status, t.Holder, t.HeldAt = task.Done, "", time.Time{} }, "closed_at"},
		"ready and closed":        {func(t *task.Task) { t.Status, t.Holder, t.HeldAt, t.ClosedAt = task.Ready, "", time.Time{}, recordAt }, "closed_at"},
		"blocked without why":     {func(t *task.Task) { t.Status, t.Holder, t.HeldAt = task.Blocked, "", time.Time{} }, "blocked_reason"},
		"not blocked, with why":   {func(t *task.Task) { t.BlockedReason = "x" }, "blocked_reason"},
		"assigned by no claim":    {func(t *task.Task) { t.Assignee = "" }, "assignee"},
	} {
		t.Run(name, func(t *testing.T) {
			one := exported()
			c.spoil(one)
			if _, v := task.CheckExported(one, task.HighestLimits()); len(v) != 1 || v[0].Field != c.field {
				t.Errorf("got %v, want a violation of %s", v, c.field)
			}
		})
	}
}

// What a pool keeps is trimmed, and so is what comes in.
func TestCheckExported_trims(t *testing.T) {
	one := exported()
	one.Title, one.Brief = " t ", (&task.Brief{Steps: []string{" look "}}).Pack()
	got, v := task.CheckExported(one, task.DefaultLimits())
	if len(v) > 0 || got.Title != "t" || got.Brief.Unpack().Steps[0] != "look" || one.Title != " t " {
		t.Errorf("got %+v, %v", got, v)
	}
}

func TestCheckExported_limits(t *testing.T) {
	one := exported()
	one.Title = strings.Repeat("x", 101)
	if _, v := task.CheckExported(one, task.HighestLimits()); len(v) > 0 {
		t.Errorf("what is above a limit is refused where none counts: %v", v)
	}
	if _, v := task.CheckExported(one, task.DefaultLimits()); len(v) != 1 || v[0].Field != "title" {
		t.Errorf("got %v", v)
	}
}

func TestCheckExportedEvent(t *testing.T) {
	good := func() *task.Event {
		return &task.Event{ID: 3, TaskID: recordID, At: recordAt, Actor: "agent:a", Kind: task.EventComment, Body: "hello"}
	}
	if v := task.CheckExportedEvent(good(), task.HighestLimits()); len(v) > 0 {
		t.Errorf("got %v", v)
	}
	for name, c := range map[string]struct {
		spoil func(*task.Event)
		field string
	}{
		"id":             {func(e *task.Event) { e.ID = 0 }, "id"},
		"id beyond":      {func(e *task.Event) { e.ID = task.MaxExported + 1 }, "id"},
		"task":           {func(e *task.Event) { e.TaskID = "T-1" }, "task_id"},
		"time":           {func(e *task.Event) { e.At = time.Time{} }, "at"},
		"actor":          {func(e *task.Event) { e.Actor = "bob" }, "actor"},
		"empty comment":  {func(e *task.Event) { e.Body = "" }, "body"},
		"empty progress": {func(e *task.Event) { e.Kind, e.Body = task.EventProgress, "" }, "body"},
		"NUL in a body": {func(e *task.Event) {
			e.Kind, e.Body, e.Detail = task.EventReleased, "a\x00", task.ReleasedDetail{Holder: "agent:a"}
		}, "body"},
		"NUL below": {func(e *task.Event) {
			e.Kind, e.Detail = task.EventStatus, task.StatusDetail{From: task.Ready, To: task.Blocked, Reason: "a\x00"}
		}, "status.reason"},
		"NUL in a list": {func(e *task.Event) {
			e.Kind, e.Detail = task.EventEdited, task.EditedDetail{Fields: []string{"title", "\x00"}}
		}, "edited.fields[1]"},
		"no kind":    {func(e *task.Event) { e.Kind = 0 }, "kind"},
		"no detail":  {func(e *task.Event) { e.Kind = task.EventStatus }, "status"},
		"from none":  {func(e *task.Event) { e.Kind, e.Detail = task.EventStatus, task.StatusDetail{To: task.Done} }, "status.from"},
		"to none":    {func(e *task.Event) { e.Kind, e.Detail = task.EventStatus, task.StatusDetail{From: task.Ready} }, "status.to"},
		"no holder":  {func(e *task.Event) { e.Kind, e.Detail = task.EventClaimed, task.ClaimedDetail{} }, "claimed.holder"},
		"odd holder": {func(e *task.Event) { e.Kind, e.Detail = task.EventReleased, task.ReleasedDetail{Holder: "bob"} }, "released.holder"},
		"odd assignee": {func(e *task.Event) {
			e.Kind, e.Detail = task.EventAssigned, task.AssignedDetail{From: "agent:a", To: "bob"}
		}, "assigned.to"},
		"odd child": {func(e *task.Event) {
			e.Kind, e.Detail = task.EventSubtask, task.SubtaskDetail{ChildID: "T-1", Change: 1}
		}, "subtask.child_id"},
		"no change":  {func(e *task.Event) { e.Kind, e.Detail = task.EventSubtask, task.SubtaskDetail{ChildID: otherID} }, "subtask.kind"},
		"odd parent": {func(e *task.Event) { e.Kind, e.Detail = task.EventCreated, task.CreatedDetail{ParentID: "T-1"} }, "created.parent_id"},
		"odd dependency": {func(e *task.Event) {
			e.Kind, e.Detail = task.EventDependency, task.DependencyDetail{Added: []string{otherID, "x"}}
		}, "dependency.added_ids[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			e := good()
			c.spoil(e)
			if v := task.CheckExportedEvent(e, task.HighestLimits()); len(v) != 1 || v[0].Field != c.field {
				t.Errorf("got %v, want a violation of %s", v, c.field)
			}
		})
	}
	e := good()
	e.Actor = task.SystemPool
	if v := task.CheckExportedEvent(e, task.HighestLimits()); len(v) > 0 {
		t.Errorf("what the pool did by itself: %v", v)
	}
	e.Body = strings.Repeat("x", 20_001)
	if v := task.CheckExportedEvent(e, task.DefaultLimits()); len(v) != 1 || v[0].Field != "body" {
		t.Errorf("a comment above its limit: %v", v)
	}
}
