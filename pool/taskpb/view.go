package taskpb

import (
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Task is a task for a caller. In PREVIEW view, long texts and list items are
// cut to preview code points; the other views ignore it. UNSPECIFIED is FULL.
// The message shares the task's slices and maps: it must not be changed.
func Task(t *task.Task, view taskpoolv1.TaskView, preview int) *taskpoolv1.Task {
	switch view {
	case taskpoolv1.TaskView_TASK_VIEW_COMPACT:
		return &taskpoolv1.Task{
			Id: t.ID, Key: t.Key(), Title: t.Title, Status: Status(t.Status),
			Priority: taskpoolv1.TaskPriority(t.Priority), Assignee: t.Assignee, Holder: t.Holder,
		}
	case taskpoolv1.TaskView_TASK_VIEW_PREVIEW:
		return cut(full(t), preview)
	default:
		return full(t)
	}
}

// Tasks is [Task] for each of them.
func Tasks(all []*task.Task, view taskpoolv1.TaskView, preview int) []*taskpoolv1.Task {
	out := make([]*taskpoolv1.Task, len(all))
	for i, t := range all {
		out[i] = Task(t, view, preview)
	}
	return out
}

// Detail is a task that is read alone in FULL view: with its history, which are
// the PROGRESS events of its thread, and with the ids of its dependents. See
// [SetDetail] for when its hold runs out.
func Detail(t *task.Task, thread []*task.Event, dependents []string) *taskpoolv1.Task {
	m := full(t)
	m.DependentIds = dependents
	for _, e := range thread {
		if e.Kind == task.EventProgress {
			m.History = append(m.History, &taskpoolv1.ProgressEntry{At: instant(e.At), Actor: e.Actor, Text: e.Body})
		}
	}
	return m
}

// Events is [Event] for each of them.
func Events(all []*task.Event) []*taskpoolv1.TaskEvent {
	out := make([]*taskpoolv1.TaskEvent, len(all))
	for i, e := range all {
		out[i] = Event(e)
	}
	return out
}

// cut shortens the texts of a message in place; its lists are replaced, since
// they are the task's own.
func cut(m *taskpoolv1.Task, preview int) *taskpoolv1.Task {
	for _, text := range []*string{&m.Description, &m.Body, &m.Result, &m.BlockedReason} {
		*text = task.Preview(*text, preview)
	}
	for _, list := range []*[]string{
		&m.AcceptanceCriteria, &m.Links, &m.Steps, &m.Constraints, &m.OutOfScope, &m.Verification, &m.Context, &m.EdgeCases,
	} {
		*list = cutAll(*list, preview)
	}
	return m
}

// cutAll is list with its items cut; list itself when none is too long.
func cutAll(list []string, preview int) []string {
	var short []string
	for i, s := range list {
		c := task.Preview(s, preview)
		if len(c) == len(s) && c == s {
			continue
		}
		if short == nil {
			short = append(short, list...)
		}
		short[i] = c
	}
	if short == nil {
		return list
	}
	return short
}
