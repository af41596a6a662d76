package pool

import (
	"context"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// found begins the history of a new pool, or a new one after damage, when what
// is left is put right as well.
func (p *Pool) found(ctx context.Context, damaged bool) error {
	_, err := p.mutate(ctx, "Found", Request{Actor: task.SystemPool}, func(tx *tx) ([]string, string, error) {
		if tx.history != "" && !damaged {
			return nil, "", nil // another process was first
		}
		tx.epoch = newEpoch()
		if damaged {
			tx.unbounded = true
			tx.repair()
		}
		return nil, "", nil
	})
	return err
}

// repair takes out edges to tasks that are gone and derives the rest anew.
func (tx *tx) repair() {
	var all []*task.Task
	for id := range tx.everything() {
		all = append(all, tx.node(id).task)
	}
	for _, t := range all {
		tx.repairEdges(t)
		tx.unsettle(t.ID)
	}
	for _, t := range all {
		tx.repairCounts(t.ID)
	}
}

func (tx *tx) repairEdges(t *task.Task) {
	var lost []string
	for _, dep := range t.Dependencies {
		if tx.node(dep) == nil {
			lost = append(lost, dep)
		}
	}
	for _, dep := range lost {
		e := tx.edit(t.ID)
		e.Dependencies = without(e.Dependencies, dep)
	}
	if len(lost) > 0 {
		tx.emit(t.ID, task.SystemPool, task.EventDependency, "", task.DependencyDetail{Removed: lost})
	}
	if t.ParentID != "" && tx.node(t.ParentID) == nil {
		e := tx.edit(t.ID)
		e.ParentID, e.Depth = "", 0
	}
}

func (tx *tx) repairCounts(id string) {
	n := tx.node(id)
	var total, done, open int
	for _, child := range n.children {
		t, d, o := counts(tx.node(child).task.Status)
		total, done, open = total+t, done+d, open+o
	}
	if t := n.task; t.ChildrenTotal != total || t.ChildrenDone != done || t.ChildrenOpen != open {
		e := tx.edit(id)
		e.ChildrenTotal, e.ChildrenDone, e.ChildrenOpen = total, done, open
	}
}
