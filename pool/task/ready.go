package task

import (
	"fmt"
	"strings"
	"time"
)

// The names of the checks of readiness, in their order.
const (
	CheckOpen         = "open"
	CheckDependencies = "dependencies"
	CheckNotBefore    = "not_before"
	CheckUnheld       = "unheld"
	CheckAssignee     = "assignee"
)

// Check is one condition for claiming a task, and whether it holds.
type Check struct {
	Name  string
	Holds bool
	// Detail says what is so, and where the check fails, what to do.
	Detail string
	// Related are the ids of tasks in the way, Members those of members. They
	// may be the task's own slices: read only.
	Related []string
	Members []string
}

// readiness is the one predicate of what can be claimed. Claim, list, watch,
// update and explain all ask it, so they can't disagree. It needs no clock: the
// status says whether not_before has come.
var readiness = [...]struct {
	name  string
	holds func(t *Task, actor string) bool
	// tell completes the check, whether it holds or not.
	tell func(t *Task, actor string, c *Check)
}{
	{CheckOpen, func(t *Task, _ string) bool { return t.Status.Open() }, tellOpen},
	{CheckDependencies, func(t *Task, _ string) bool { return len(t.Unfinished) == 0 }, tellDependencies},
	{CheckNotBefore, func(t *Task, _ string) bool { return t.Status != Pending || len(t.Unfinished) > 0 }, tellNotBefore},
	{CheckUnheld, func(t *Task, _ string) bool { return t.Holder == "" }, tellUnheld},
	{CheckAssignee, func(t *Task, actor string) bool { return t.Assignee == "" || t.Assignee == actor }, tellAssignee},
}

// Claimable says whether the actor can claim the task now: whether all of
// [Readiness] holds. It allocates nothing.
func Claimable(t *Task, actor string) bool {
	for i := range readiness {
		if !readiness[i].holds(t, actor) {
			return false
		}
	}
	return true
}

// Readiness gives every check of whether the actor can claim the task, always
// all of them in the same order.
func Readiness(t *Task, actor string) []Check {
	checks := make([]Check, len(readiness))
	for i, r := range readiness {
		checks[i] = Check{Name: r.name, Holds: r.holds(t, actor)}
		r.tell(t, actor, &checks[i])
	}
	return checks
}

// DerivedStatus is the status of an open task with that many dependencies that
// are not done: ready when there are none and notBefore, if any, has come.
func DerivedStatus(unfinished int, notBefore, now time.Time) Status {
	if unfinished > 0 || now.Before(notBefore) {
		return Pending
	}
	return Ready
}

func tellOpen(t *Task, _ string, c *Check) {
	switch t.Status {
	case Pending, Ready:
		c.Detail = "the task is open"
	case InProgress:
		c.Detail = "the task is in progress: take another one, or wait until it is released"
	case Review:
		c.Detail = "the task is handed in and waits for a verdict: take another one"
	case Blocked:
		c.Detail = "the task is blocked"
		if t.BlockedReason != "" {
			c.Detail += " (" + Preview(t.BlockedReason, blockedReasonShown) + ")"
		}
		c.Detail += ": set its status to ready once that is resolved"
	case Done:
		c.Detail = "the task is done: set its status to ready to reopen it, if it really has to be done again"
	case Cancelled:
		c.Detail = "the task is cancelled: set its status to ready to reopen it, if it is wanted after all"
	case Failed:
		c.Detail = "the task has failed: find out why, then set its status to ready to reopen it"
	default:
		c.Detail = "the task has no status that can be claimed"
	}
}

// blockedReasonShown is how much of a reason a check repeats, in code points.
const blockedReasonShown = 200

func tellDependencies(t *Task, _ string, c *Check) {
	switch n := len(t.Unfinished); {
	case n > 0:
		c.Related = t.Unfinished
		c.Detail = "the task depends on " + plural(n, "task") + " not done yet: " + strings.Join(firstIDs(t.Unfinished), ", ") + ": do that first, or remove the dependency"
	case len(t.Dependencies) > 0:
		c.Detail = "all dependencies are done"
	default:
		c.Detail = "the task has no dependencies"
	}
}

// firstIDs is as many ids as a sentence should name.
func firstIDs(ids []string) []string {
	const most = 10
	if len(ids) <= most {
		return ids
	}
	return append(ids[:most:most], fmt.Sprintf("and %d more", len(ids)-most))
}

func tellNotBefore(t *Task, _ string, c *Check) {
	switch {
	case t.NotBefore.IsZero() && c.Holds:
		c.Detail = "nothing to wait for"
	case t.NotBefore.IsZero():
		c.Detail = "the pool has not opened the task yet"
	case !c.Holds:
		c.Detail = "the task waits until " + t.NotBefore.UTC().Format(time.RFC3339) + ": come back then, or change not_before"
	default:
		c.Detail = "not before " + t.NotBefore.UTC().Format(time.RFC3339) + " is nothing to wait for now"
	}
}

func tellUnheld(t *Task, actor string, c *Check) {
	if c.Holds {
		c.Detail = "nobody holds the task"
		return
	}
	c.Members = []string{t.Holder}
	if t.Holder == actor {
		c.Detail = "you hold the task already, since " + t.HeldAt.UTC().Format(time.RFC3339) + ": go on with it"
		return
	}
	c.Detail = t.Holder + " has held the task since " + t.HeldAt.UTC().Format(time.RFC3339) + ": take another one"
}

func tellAssignee(t *Task, actor string, c *Check) {
	switch {
	case t.Assignee == "":
		c.Detail = "the task is unassigned"
	case c.Holds:
		c.Detail = "the task is assigned to you"
	default:
		c.Members = []string{t.Assignee}
		c.Detail = "the task is assigned to " + t.Assignee + ": take another one, or have it assigned to you"
	}
}
