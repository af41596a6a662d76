package taskpb

import (
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// readEvent reads an event as far as it can be read.
func readEvent(v *task.Violations, m *taskpoolv1.TaskEvent) *task.Event {
	var found task.Violations
	e := &task.Event{
		ID: m.GetId(), TaskID: shared(m.GetTaskId()), Actor: shared(m.GetActor()), Body: m.GetBody(), At: readStored(&found, "at", m.GetAt()),
	}
	if k := m.GetKind(); k > 0 && k <= taskpoolv1.TaskEventKind(task.EventImported) {
		e.Kind = task.EventKind(k)
	} else if k != 0 { // that there is none is found by those who check
		found.Add("kind", "has the unknown value %d: this version does not know what happened", k)
	}
	if m.GetDetail() != nil {
		detail, err := detailOf(m)
		switch {
		case err != nil:
			found.Add("detail", "can't be kept: %v", err)
		case detail != nil && detailKind(detail) != e.Kind:
			found.Add("detail", "is not that of an event of the kind %s", e.Kind)
		}
		e.Detail = detail
	}
	*v = append(*v, found.At("event")...)
	return e
}

// laterInEvent names the first field whose part of the API comes later.
func laterInEvent(m *taskpoolv1.TaskEvent) error {
	later := func(field, feature string) error { return &LaterError{Feature: feature, Field: "event." + field} }
	switch m.GetKind() {
	case taskpoolv1.TaskEventKind_TASK_EVENT_KIND_SUBMITTED, taskpoolv1.TaskEventKind_TASK_EVENT_KIND_VERDICT:
		return later("kind", featureReview)
	case taskpoolv1.TaskEventKind_TASK_EVENT_KIND_GATE, taskpoolv1.TaskEventKind_TASK_EVENT_KIND_RETRIED:
		return later("kind", featureContracts)
	}
	switch claimed := m.GetClaimed(); {
	case m.GetVia() != "":
		return later("via", featureRunners)
	case m.GetRedacted():
		return later("redacted", featureRedaction)
	case m.GetHoldExpired().GetAttempt() != 0:
		return later("hold_expired.attempt", featureContracts)
	case claimed.GetAttempt() != 0:
		return later("claimed.attempt", featureContracts)
	case claimed.GetForReview():
		return later("claimed.for_review", featureReview)
	case m.GetStatus().GetGivenUpDependencyId() != "":
		return later("status.given_up_dependency_id", featureGraphs)
	}
	return nil
}
