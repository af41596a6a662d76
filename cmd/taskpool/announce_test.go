package main

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// event is one by human.
func event(detail func(*taskpoolv1.TaskEvent)) *taskpoolv1.TaskEvent {
	e := &taskpoolv1.TaskEvent{Actor: "human", At: when(10)}
	detail(e)
	return e
}

func statusDetail(d *taskpoolv1.StatusDetail) *taskpoolv1.TaskEvent {
	return event(func(e *taskpoolv1.TaskEvent) { e.Detail = &taskpoolv1.TaskEvent_Status{Status: d} })
}

func derived(d *taskpoolv1.StatusDetail) *taskpoolv1.TaskEvent {
	e := statusDetail(d)
	e.Actor = systemPool
	return e
}

func TestAnnouncements(t *testing.T) {
	names := &titles{view: map[string]*taskpoolv1.Task{id(1): {Key: "T-1"}, id(3): {Key: "T-3"}}, asked: mostTitles}
	const (
		blocked   = taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED
		review    = taskpoolv1.TaskStatus_TASK_STATUS_REVIEW
		failed    = taskpoolv1.TaskStatus_TASK_STATUS_FAILED
		cancelled = taskpoolv1.TaskStatus_TASK_STATUS_CANCELLED
	)
	mine := &taskpoolv1.Task{Id: id(2), Status: pending, Assignee: "agent:bob", UnfinishedDependencyIds: []string{id(1)}}
	set := func(f func(*taskpoolv1.TaskEvent)) []*taskpoolv1.TaskEvent { return []*taskpoolv1.TaskEvent{event(f)} }
	one := func(e *taskpoolv1.TaskEvent) []*taskpoolv1.TaskEvent { return []*taskpoolv1.TaskEvent{e} }
	for want, c := range map[string]struct {
		events        []*taskpoolv1.TaskEvent
		before, after *taskpoolv1.Task
	}{
		"created by human, ready": {after: reader(1, ready), events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Created{Created: &taskpoolv1.CreatedDetail{}}
		})},
		"created by human for agent:bob, pending: waits for T-1": {after: mine, events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Created{Created: &taskpoolv1.CreatedDetail{}}
		})},
		"said by human: hello": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Body, e.Detail = "hello", &taskpoolv1.TaskEvent_Comment{Comment: &taskpoolv1.CommentDetail{}}
		})},
		"noted by human: half done": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Body, e.Detail = "half done", &taskpoolv1.TaskEvent_Progress{Progress: &taskpoolv1.ProgressDetail{}}
		})},
		"claimed by agent:bob for 5m0s": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Claimed{Claimed: &taskpoolv1.ClaimedDetail{Holder: "agent:bob", Lease: durationpb.New(5 * time.Minute)}}
		})},
		"review claimed by agent:eve": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Claimed{Claimed: &taskpoolv1.ClaimedDetail{Holder: "agent:eve", ForReview: true}}
		})},
		"released by human: tired": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Released{Released: &taskpoolv1.ReleasedDetail{Holder: "human", Reason: "tired"}}
		})},
		"taken from agent:bob by human": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Released{Released: &taskpoolv1.ReleasedDetail{Holder: "agent:bob"}}
		})},
		"hold of agent:bob ran out; ready": {events: []*taskpoolv1.TaskEvent{
			event(func(e *taskpoolv1.TaskEvent) {
				e.Actor, e.Detail = systemPool, &taskpoolv1.TaskEvent_HoldExpired{HoldExpired: &taskpoolv1.HoldExpiredDetail{Holder: "agent:bob"}}
			}),
			derived(&taskpoolv1.StatusDetail{From: inProgress, To: ready}),
		}},
		"ready":                   {events: one(derived(&taskpoolv1.StatusDetail{From: pending, To: ready}))},
		"pending, waits for T-1":  {events: one(derived(&taskpoolv1.StatusDetail{From: ready, To: pending, UnfinishedDependencyIds: []string{id(1)}}))},
		"done by human, forced":   {events: one(statusDetail(&taskpoolv1.StatusDetail{From: inProgress, To: done, Forced: true}))},
		"cancelled by human: why": {events: one(statusDetail(&taskpoolv1.StatusDetail{From: ready, To: cancelled, Reason: "why"}))},
		"blocked by human: why":   {events: one(statusDetail(&taskpoolv1.StatusDetail{From: ready, To: blocked, Reason: "why"}))},
		"failed":                  {events: one(derived(&taskpoolv1.StatusDetail{From: inProgress, To: failed}))},
		"put back by human, ready": {
			after: reader(2, ready), events: one(statusDetail(&taskpoolv1.StatusDetail{From: blocked, To: ready})),
		},
		"reopened by human, pending: waits for T-1": {
			after: mine, events: one(statusDetail(&taskpoolv1.StatusDetail{From: done, To: pending})),
		},
		"handed in for review by human": {events: one(statusDetail(&taskpoolv1.StatusDetail{From: inProgress, To: review}))},
		"assigned to agent:bob by human": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Assigned{Assigned: &taskpoolv1.AssignedDetail{To: "agent:bob"}}
		})},
		"assigned to nobody by human": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Assigned{Assigned: &taskpoolv1.AssignedDetail{From: "agent:bob"}}
		})},
		"subtask T-3 added by human": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Subtask{Subtask: &taskpoolv1.SubtaskDetail{ChildId: id(3), Kind: taskpoolv1.SubtaskKind_SUBTASK_KIND_ADDED}}
		})},
		"all subtasks closed": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Subtask{Subtask: &taskpoolv1.SubtaskDetail{ChildId: id(3), Kind: taskpoolv1.SubtaskKind_SUBTASK_KIND_ALL_CLOSED}}
		})},
		"edited by human: title, labels team": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Edited{Edited: &taskpoolv1.EditedDetail{Fields: []string{"title", "labels"}, SetLabels: []string{"team"}}}
		})},
		"dependencies changed by human: added T-1, removed T-3": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Dependency{Dependency: &taskpoolv1.DependencyDetail{AddedIds: []string{id(1)}, RemovedIds: []string{id(3)}}}
		})},
		"T-1 was given up: it is waited for in vain until it is reopened or removed": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Actor, e.Detail = systemPool, &taskpoolv1.TaskEvent_Dependency{Dependency: &taskpoolv1.DependencyDetail{GivenUpId: id(1)}}
		})},
		"handed in by human": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Submitted{Submitted: &taskpoolv1.SubmittedDetail{}}
		})},
		"gate failed": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Gate{Gate: &taskpoolv1.GateDetail{}}
		})},
		"review failed by human: does not": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Verdict{Verdict: &taskpoolv1.VerdictDetail{Verdict: taskpoolv1.Verdict_VERDICT_FAIL, Evidence: "does not"}}
		})},
		"gets another attempt": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Detail = &taskpoolv1.TaskEvent_Retried{Retried: &taskpoolv1.RetriedDetail{}}
		})},
		"comment by human: (taken away by an operator)": {events: set(func(e *taskpoolv1.TaskEvent) {
			e.Kind, e.Redacted = taskpoolv1.TaskEventKind_TASK_EVENT_KIND_COMMENT, true
		})},
		"99 by human: of tomorrow": {events: set(func(e *taskpoolv1.TaskEvent) { e.Kind, e.Body = 99, "of tomorrow" })},
		// Without events.
		"came into view, pending: waits for T-1": {after: mine},
		"now ready":                              {before: parser(1, pending), after: parser(2, ready)},
		"waits for T-1 now": {
			before: &taskpoolv1.Task{Status: pending, UnfinishedDependencyIds: []string{id(1), id(3)}}, after: mine,
		},
		"1 of 2 subtasks closed": {before: &taskpoolv1.Task{Status: ready, ChildrenTotal: 2}, after: &taskpoolv1.Task{Status: ready, ChildrenTotal: 2, ChildrenDone: 1}},
		"changed":                {before: reader(1, ready), after: reader(2, ready)},
	} {
		if c.after == nil {
			c.after = reader(2, ready)
		}
		if got := announcement(upsert(c.after, c.events...), c.before, names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A line is never wider than a screen that a person works at, and what happened is there before the
// title.
func TestLinesFitTheScreen(t *testing.T) {
	a := &app{}
	l := &live{app: a}
	title := "A title that is much too long for any terminal that somebody has in front of them 日本語"
	for _, width := range []int{68, 80, 100, 200} {
		a.screen = terminal.Screen{Width: width, Symbols: true}
		for _, what := range []string{"ready", strings.Repeat("日本語 ", 5), strings.Repeat("very long ", 40)} {
			line := strings.TrimSuffix(l.line(when(9), "T-123456", what, terminal.Plain, title), "\n")
			if n := terminal.Width(line); n > width || n < width-1 && width < 150 {
				t.Errorf("%d columns on a screen of %d: %q", n, width, line)
			}
			if !strings.Contains(line, terminal.Cut(what, 8, terminal.Screen{})[:5]) || !strings.Contains(line, "  A title that") {
				t.Errorf("%q", line)
			}
		}
	}
	a.screen = terminal.Screen{}
	if line := l.line(when(9), "T-1", strings.Repeat("long ", 100), terminal.Plain, title); !strings.HasSuffix(line, "long   "+title+"\n") {
		t.Errorf("cut where there is no screen: %q", line)
	}
	if line := l.line(when(9), "T-1\x1b[2J", "said\n\x1b[31m", terminal.Plain, "a\u202eb"); line != "2026-01-02 09:00:00Z  T-1\\x1b[2J  said\\n\\x1b[31m                  a\\u202eb\n" {
		t.Errorf("%q", line)
	}
}
