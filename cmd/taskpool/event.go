package main

import (
	"fmt"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// happening is an event in words: the server's, or, where it sent none, those
// made of the event's detail.
func happening(e *taskpoolv1.TaskEvent, names *titles) string {
	switch {
	case e.GetRedacted():
		return "(taken away by an operator)"
	case e.GetBody() != "":
		return e.GetBody()
	}
	switch d := e.GetDetail().(type) {
	case *taskpoolv1.TaskEvent_Created:
		return d.Created.GetTitle()
	case *taskpoolv1.TaskEvent_Claimed:
		if d.Claimed.GetLease() != nil {
			return "for " + span(d.Claimed.GetLease().AsDuration())
		}
		return ""
	case *taskpoolv1.TaskEvent_Released:
		return withReason(d.Released.GetHolder(), d.Released.GetReason())
	case *taskpoolv1.TaskEvent_Status:
		return moved(d.Status, names)
	case *taskpoolv1.TaskEvent_Assigned:
		return change(d.Assigned.GetFrom(), d.Assigned.GetTo(), "nobody")
	case *taskpoolv1.TaskEvent_Subtask:
		return strings.TrimSpace(strings.ReplaceAll(words.Of(d.Subtask.GetKind()), "_", " ") + " " + names.key(d.Subtask.GetChildId()))
	case *taskpoolv1.TaskEvent_Edited:
		return edited(d.Edited)
	case *taskpoolv1.TaskEvent_Dependency:
		return dependencies(d.Dependency, names)
	case *taskpoolv1.TaskEvent_HoldExpired:
		return "of " + d.HoldExpired.GetHolder()
	case *taskpoolv1.TaskEvent_Verdict:
		return withReason(words.Of(d.Verdict.GetVerdict()), d.Verdict.GetEvidence())
	case *taskpoolv1.TaskEvent_Imported:
		return "was " + d.Imported.GetKey() + " where it came from"
	}
	return ""
}

// moved is a change of status.
func moved(d *taskpoolv1.StatusDetail, names *titles) string {
	text := change(words.Of(d.GetFrom()), words.Of(d.GetTo()), "none")
	if d.GetForced() {
		text += ", forced"
	}
	if ids := d.GetUnfinishedDependencyIds(); len(ids) > 0 {
		text += ", waits for " + names.keys(ids)
	}
	if id := d.GetGivenUpDependencyId(); id != "" {
		text += ", in vain: " + names.key(id) + " was given up"
	}
	return withReason(text, d.GetReason())
}

// edited tells which fields and labels changed.
func edited(d *taskpoolv1.EditedDetail) string {
	var parts []string
	for _, field := range d.GetFields() {
		if field != "labels" { // which of them is told below
			parts = append(parts, field)
		}
	}
	if set := d.GetSetLabels(); len(set) > 0 {
		parts = append(parts, "labels "+strings.Join(set, ", "))
	}
	if removed := d.GetRemovedLabels(); len(removed) > 0 {
		parts = append(parts, "without labels "+strings.Join(removed, ", "))
	}
	return strings.Join(parts, ", ")
}

// dependencies tells which came and went.
func dependencies(d *taskpoolv1.DependencyDetail, names *titles) string {
	var parts []string
	if ids := d.GetAddedIds(); len(ids) > 0 {
		parts = append(parts, "added "+names.keys(ids))
	}
	if ids := d.GetRemovedIds(); len(ids) > 0 {
		parts = append(parts, "removed "+names.keys(ids))
	}
	if id := d.GetGivenUpId(); id != "" {
		parts = append(parts, names.key(id)+" was given up: it is waited for in vain until it is reopened or removed")
	}
	return strings.Join(parts, ", ")
}

// change is from one to another; none is the word for nothing.
func change(from, to, none string) string {
	if from == "" {
		from = none
	}
	if to == "" {
		to = none
	}
	return fmt.Sprintf("%s → %s", from, to)
}

// withReason adds a reason where there is one.
func withReason(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}
