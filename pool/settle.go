package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// settle moves every derived field whose cause is in this mutation, in the same
// revision: unfinished dependencies, and pending or ready. Pending and ready
// are alike to dependents, so one round is enough.
func (tx *tx) settle() {
	var pending []*task.Task
	seen := make(map[string]bool, len(tx.unsettled))
	for _, id := range tx.unsettled {
		if n := tx.node(id); n != nil && !seen[id] {
			seen[id] = true
			pending = append(pending, n.task)
		}
	}
	tx.unsettled = nil
	// In creation order, so that events have the order a reader expects.
	slices.SortFunc(pending, func(a, b *task.Task) int { return cmp.Compare(a.Number, b.Number) })
	for _, t := range pending {
		tx.derive(t.ID)
	}
}

// derive sets what follows for one task from its dependencies and not_before.
func (tx *tx) derive(id string) {
	t := tx.node(id).task
	unfinished := tx.unfinished(t.Dependencies)
	if !slices.Equal(unfinished, t.Unfinished) {
		t = tx.edit(id)
		t.Unfinished = unfinished
	}
	if !t.Status.Open() {
		return
	}
	want := task.DerivedStatus(len(unfinished), t.NotBefore, tx.now)
	if want == t.Status {
		return
	}
	t = tx.edit(id)
	from := t.Status
	t.Status = want
	if tx.changes[id].before == nil {
		return // a new task begins as what it is
	}
	tx.emit(id, task.SystemPool, task.EventStatus, "", task.StatusDetail{From: from, To: want, Unfinished: unfinished})
}

func (tx *tx) unfinished(dependencies []string) []string {
	var ids []string
	for _, dep := range dependencies {
		if n := tx.node(dep); n != nil && n.task.Status != task.Done {
			ids = append(ids, dep)
		}
	}
	return ids
}

// openStatus is what "open" comes to for a task now.
func (tx *tx) openStatus(t *task.Task) task.Status {
	return task.DerivedStatus(len(tx.unfinished(t.Dependencies)), t.NotBefore, tx.now)
}

// setStatus is the one place where a status changes by a move. It keeps the
// parent's counts, tells dependents, and stamps the closing. The caller emits
// the move's own event.
func (tx *tx) setStatus(id string, to task.Status) {
	t := tx.edit(id)
	from := t.Status
	t.Status = to
	switch {
	case to.Closed():
		t.ClosedAt = tx.now
	case from.Closed():
		t.ClosedAt = time.Time{}
	}
	if to != task.Blocked {
		t.BlockedReason = ""
	}
	if (from == task.Done) != (to == task.Done) {
		tx.unsettle(tx.node(id).dependents...)
	}
	tx.count(t.ParentID, id, from, to)
	if to == task.Cancelled || to == task.Failed {
		tx.giveUp(id)
	}
	tx.unsettle(id)
}

// count keeps a parent's counts of its children right when one of them moves
// from one status to another; StatusUnspecified stands for not being its child.
func (tx *tx) count(parent, child string, from, to task.Status) {
	if parent == "" || tx.node(parent) == nil {
		return
	}
	total, done, open := counts(to)
	wasTotal, wasDone, wasOpen := counts(from)
	if total == wasTotal && done == wasDone && open == wasOpen {
		return
	}
	p := tx.edit(parent)
	p.ChildrenTotal += total - wasTotal
	p.ChildrenDone += done - wasDone
	p.ChildrenOpen += open - wasOpen
	if open < wasOpen && p.ChildrenOpen == 0 && to.Closed() && !p.Closed() {
		tx.emit(parent, task.SystemPool, task.EventSubtask, "", task.SubtaskDetail{ChildID: child, Change: task.SubtasksAllClosed})
	}
}

// counts returns what a child with that status adds to its parent's counts. A
// cancelled child counts as done: nothing more is expected of it.
func counts(s task.Status) (total, done, open int) {
	if s == task.StatusUnspecified {
		return 0, 0, 0
	}
	if s.Closed() {
		return 1, 1, 0
	}
	return 1, 0, 1
}

// giveUp tells the threads of those that depend on a task that it will not be
// done, so that they do not wait for ever unnoticed.
func (tx *tx) giveUp(id string) {
	for _, dependent := range tx.node(id).dependents {
		if n := tx.node(dependent); n != nil && !n.task.Closed() {
			tx.emit(dependent, task.SystemPool, task.EventDependency, "", task.DependencyDetail{GivenUp: id})
		}
	}
}
