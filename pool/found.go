package pool

import (
	"context"
	"slices"

	"github.com/taskpool-dev/taskpool/pool/dag"
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

// repair puts right what damage left: edges to tasks that are gone and those in
// a cycle are taken out, and what is derived is derived anew.
func (tx *tx) repair() {
	var ids []string
	tx.published.table.Scan(func(_ int64, n *node) bool {
		ids = append(ids, n.task.ID)
		return true
	})
	for _, id := range ids {
		tx.repairEdges(id)
	}
	tx.repairOrder(ids)
	for _, id := range ids {
		if tx.node(id).task.ParentID == "" {
			tx.repairDepths(id)
		}
		tx.repairCounts(id)
		tx.unsettle(id)
	}
}

func (tx *tx) repairEdges(id string) {
	t := tx.node(id).task
	var kept, lost []string
	for _, dep := range t.Dependencies {
		if tx.node(dep) == nil {
			lost = append(lost, dep)
		} else if !slices.Contains(kept, dep) {
			kept = append(kept, dep)
		}
	}
	if len(kept) < len(t.Dependencies) {
		tx.edit(id).Dependencies = kept
	}
	if len(lost) > 0 {
		tx.emit(id, task.SystemPool, task.EventDependency, "", task.DependencyDetail{Removed: lost})
	}
	if t.ParentID != "" && tx.node(t.ParentID) == nil {
		tx.orphan(id)
	}
}

// orphan makes a task top-level whose parent it can't keep.
func (tx *tx) orphan(id string) {
	t := tx.edit(id)
	tx.leave(id, t.ParentID)
	t.ParentID = ""
	tx.emit(id, task.SystemPool, task.EventEdited, "", task.EditedDetail{Fields: []string{"parent_id"}})
}

// repairOrder takes an edge out of every cycle.
func (tx *tx) repairOrder(ids []string) {
	for broken := false; ; broken = true {
		sorted, cycle := dag.Sort(ids, func(id string) seq { return tx.node(id).needs() })
		if cycle == nil {
			for i, id := range sorted {
				if broken {
					tx.own(id).order = int64(i+1) * dag.Step
				}
			}
			return
		}
		from, to := cycle[0], cycle[1]
		if t := tx.node(from).task; !slices.Contains(t.Dependencies, to) {
			tx.orphan(to) // from is its parent
			continue
		}
		t := tx.edit(from)
		t.Dependencies = without(t.Dependencies, to)
		tx.unlink(from, to)
		tx.emit(from, task.SystemPool, task.EventDependency, "", task.DependencyDetail{Removed: []string{to}})
	}
}

// repairDepths sets the depth of all below a top-level task, and its own.
func (tx *tx) repairDepths(id string) {
	type step struct {
		id    string
		depth int
	}
	for todo := []step{{id, 0}}; len(todo) > 0; todo = todo[1:] {
		n, depth := tx.node(todo[0].id), todo[0].depth
		if n.task.Depth != depth {
			tx.edit(n.task.ID).Depth = depth
		}
		for _, child := range n.children {
			todo = append(todo, step{child, depth + 1})
		}
	}
}

func (tx *tx) repairCounts(id string) {
	n := tx.node(id)
	total, done, open := n.countChildren(tx)
	if t := n.task; t.ChildrenTotal != total || t.ChildrenDone != done || t.ChildrenOpen != open {
		e := tx.edit(id)
		e.ChildrenTotal, e.ChildrenDone, e.ChildrenOpen = total, done, open
	}
	if entries := n.countHistory(); n.task.HistoryCount != entries {
		tx.edit(id).HistoryCount = entries
	}
}
