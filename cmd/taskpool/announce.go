package main

import (
	"fmt"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// systemPool is who does what the pool derives.
const systemPool = "system:pool"

// announcement is what a change did to a task that is in the view now, in words;
// before is what was known of it, nil: nothing.
func announcement(c *taskpoolv1.TaskChange, before *taskpoolv1.Task, names *titles) string {
	t := c.GetTask()
	if told := events(c.GetEvents(), t, names); len(told) > 0 {
		return strings.Join(told, "; ")
	}
	// Only what is derived changed, or what happened is not told here: the change
	// is in what it was before.
	var parts []string
	switch {
	case before == nil:
		parts = append(parts, "came into view, "+standing(t, names))
	case before.GetStatus() != t.GetStatus():
		parts = append(parts, "now "+standing(t, names))
	case len(before.GetUnfinishedDependencyIds()) != len(t.GetUnfinishedDependencyIds()) && len(t.GetUnfinishedDependencyIds()) > 0:
		parts = append(parts, "waits for "+names.keys(t.GetUnfinishedDependencyIds())+" now")
	}
	if before != nil && (before.GetChildrenDone() != t.GetChildrenDone() || before.GetChildrenTotal() != t.GetChildrenTotal()) {
		parts = append(parts, fmt.Sprintf("%d of %s closed", t.GetChildrenDone(), count(int(t.GetChildrenTotal()), "subtask")))
	}
	if len(parts) == 0 {
		return "changed"
	}
	return strings.Join(parts, "; ")
}

// standing is a status with what it waits for.
func standing(t *taskpoolv1.Task, names *titles) string {
	text := words.Of(t.GetStatus())
	if ids := t.GetUnfinishedDependencyIds(); len(ids) > 0 && t.GetStatus() == taskpoolv1.TaskStatus_TASK_STATUS_PENDING {
		text += ": waits for " + names.keys(ids)
	}
	return text
}

// events are those of one revision in words; t is the task after it, nil: not
// known.
func events(all []*taskpoolv1.TaskEvent, t *taskpoolv1.Task, names *titles) []string {
	var told []string
	for _, e := range all {
		if text := announced(e, t, names); text != "" {
			told = append(told, text)
		}
	}
	return told
}

// announced is one event in words, with who did it.
func announced(e *taskpoolv1.TaskEvent, t *taskpoolv1.Task, names *titles) string {
	by := " by " + e.GetActor()
	if e.GetActor() == systemPool || e.GetActor() == "" {
		by = ""
	}
	switch d := e.GetDetail().(type) {
	case *taskpoolv1.TaskEvent_Created:
		text := "created" + by
		if t.GetAssignee() != "" {
			text += " for " + t.GetAssignee()
		}
		if t != nil {
			text += ", " + standing(t, names)
		}
		return text
	case *taskpoolv1.TaskEvent_Comment:
		return "said" + by + ": " + e.GetBody()
	case *taskpoolv1.TaskEvent_Claimed:
		return claimed(d.Claimed)
	case *taskpoolv1.TaskEvent_Released:
		if d.Released.GetHolder() == e.GetActor() {
			return withReason("released"+by, d.Released.GetReason())
		}
		return withReason("taken from "+d.Released.GetHolder()+by, d.Released.GetReason())
	case *taskpoolv1.TaskEvent_Status:
		return statusAnnounced(d.Status, by, t, names)
	case *taskpoolv1.TaskEvent_Assigned:
		if d.Assigned.GetTo() == "" {
			return "assigned to nobody" + by
		}
		return "assigned to " + d.Assigned.GetTo() + by
	case *taskpoolv1.TaskEvent_Subtask:
		if d.Subtask.GetKind() == taskpoolv1.SubtaskKind_SUBTASK_KIND_ALL_CLOSED {
			return "all subtasks closed"
		}
		return strings.TrimSpace("subtask "+names.key(d.Subtask.GetChildId())+" "+words.Of(d.Subtask.GetKind())) + by
	case *taskpoolv1.TaskEvent_Edited:
		return withReason("edited"+by, edited(d.Edited))
	case *taskpoolv1.TaskEvent_Progress:
		return "noted" + by + ": " + e.GetBody()
	case *taskpoolv1.TaskEvent_Dependency:
		if d.Dependency.GetGivenUpId() != "" {
			return dependencies(d.Dependency, names)
		}
		return withReason("dependencies changed"+by, dependencies(d.Dependency, names))
	case *taskpoolv1.TaskEvent_HoldExpired:
		return "hold of " + d.HoldExpired.GetHolder() + " ran out"
	case *taskpoolv1.TaskEvent_Submitted:
		return withReason("handed in"+by, d.Submitted.GetError())
	case *taskpoolv1.TaskEvent_Gate:
		if d.Gate.GetPassed() {
			return "gate passed"
		}
		return "gate failed"
	case *taskpoolv1.TaskEvent_Verdict:
		return withReason(verdicts[d.Verdict.GetVerdict()]+by, d.Verdict.GetEvidence())
	case *taskpoolv1.TaskEvent_Retried:
		return "gets another attempt"
	}
	// One of tomorrow, or one that was taken away.
	return withReason(strings.ReplaceAll(words.Of(e.GetKind()), "_", " ")+by, happening(e, names))
}

var verdicts = map[taskpoolv1.Verdict]string{
	taskpoolv1.Verdict_VERDICT_UNSPECIFIED: "judged",
	taskpoolv1.Verdict_VERDICT_PASS:        "review passed",
	taskpoolv1.Verdict_VERDICT_FAIL:        "review failed",
	taskpoolv1.Verdict_VERDICT_WAIVED:      "review waived",
}

func claimed(d *taskpoolv1.ClaimedDetail) string {
	text := "claimed by " + d.GetHolder()
	if d.GetForReview() {
		text = "review claimed by " + d.GetHolder()
	}
	if d.GetLease() != nil {
		text += " for " + span(d.GetLease().AsDuration())
	}
	return text
}

// statusAnnounced is a change of status. One that is derived needs no "by".
func statusAnnounced(d *taskpoolv1.StatusDetail, by string, t *taskpoolv1.Task, names *titles) string {
	open := d.GetTo() == taskpoolv1.TaskStatus_TASK_STATUS_READY || d.GetTo() == taskpoolv1.TaskStatus_TASK_STATUS_PENDING
	text := words.Of(d.GetTo()) + by
	switch {
	case by == "" && len(d.GetUnfinishedDependencyIds()) > 0:
		text += ", waits for " + names.keys(d.GetUnfinishedDependencyIds())
	case by != "" && open && (isClosed(d.GetFrom()) || d.GetFrom() == taskpoolv1.TaskStatus_TASK_STATUS_FAILED):
		text = "reopened" + by
	case by != "" && open:
		text = "put back" + by
	case by != "" && d.GetTo() == taskpoolv1.TaskStatus_TASK_STATUS_REVIEW:
		text = "handed in for review" + by
	}
	if by != "" && open && t != nil {
		text += ", " + standing(t, names)
	}
	if d.GetForced() {
		text += ", forced"
	}
	if id := d.GetGivenUpDependencyId(); id != "" {
		text += ", in vain: " + names.key(id) + " was given up"
	}
	return withReason(text, d.GetReason())
}
