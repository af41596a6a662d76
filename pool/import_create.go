package pool

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// create makes the tasks that are left, in the records' order.
func (g *merging) create() error {
	var made []*imported
	for _, i := range g.candidates {
		if g.isNew(i) {
			made = append(made, g.tasks[i])
		}
	}
	for _, t := range made {
		g.bring(t)
	}
	for _, t := range made {
		if err := g.wire(t); err != nil {
			return err
		}
	}
	for _, t := range made {
		g.derive(t.task.ID)
	}
	g.tellPast(made)
	for _, t := range made {
		g.introduceImported(t)
	}
	return nil
}

// bring makes a task without its edges. What is the pool's own begins anew.
func (g *merging) bring(in *imported) {
	t := in.task.Clone()
	t.Number, t.Version = g.number+1, 0
	t.Dependencies, t.Unfinished, t.ParentID, t.AssignedByClaim = nil, nil, "", false
	t.Depth, t.ChildrenTotal, t.ChildrenDone, t.ChildrenOpen = g.depth[t.ID], 0, 0, 0
	t.HistoryCount, t.HistoryLength, t.EventCount = 0, 0, 0
	g.tx.create(t, len(in.task.Dependencies) > 0)
	if t.Holder != "" {
		g.setHold(t.ID, hold{token: uuid.NewString()})
	}
	g.setByClaim(t.ID, in.task.AssignedByClaim)
}

// wire makes the edges of a task. That they close no cycle was seen before.
func (g *merging) wire(in *imported) error {
	t := g.edit(in.task.ID)
	for _, dep := range in.task.Dependencies {
		if cycle := g.connect(t.ID, dep); cycle != nil {
			return fmt.Errorf("an import closes the cycle %v", cycle)
		}
		t.Dependencies = append(t.Dependencies, dep)
		g.link(t.ID, dep)
	}
	parent := in.task.ParentID
	if parent == "" {
		return nil
	}
	if cycle := g.connect(parent, t.ID); cycle != nil {
		return fmt.Errorf("an import closes the cycle %v", cycle)
	}
	t.ParentID = parent
	g.join(t.ID, parent)
	g.count(parent, t.ID, task.StatusUnspecified, t.Status)
	return nil
}

// tellPast gives the tasks their threads, with new ids in the order of the old.
func (g *merging) tellPast(made []*imported) {
	var all []*task.Event
	for _, t := range made {
		all = append(all, t.thread...)
	}
	slices.SortStableFunc(all, func(a, b *task.Event) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range all {
		told := *e
		g.tell(&told)
		if e.Kind == task.EventProgress {
			t := g.edit(e.TaskID)
			t.HistoryCount++
			t.HistoryLength += task.Length(task.HistoryLine(e.At, e.Body))
		}
	}
}

// introduceImported tells a task's thread who brought it in, and of what it waits
// for in vain, and a parent that was there before of its new child.
func (g *merging) introduceImported(in *imported) {
	t := in.task
	g.emit(t.ID, g.actor, task.EventImported, "", task.ImportedDetail{Key: t.Key()})
	if parent := t.ParentID; parent != "" && g.changes[parent].before != nil {
		g.emit(parent, g.actor, task.EventSubtask, "", task.SubtaskDetail{ChildID: t.ID, Change: task.SubtaskAdded})
	}
	if t.Closed() {
		return
	}
	g.noteGivenUp(t.ID, slices.DeleteFunc(slices.Clone(t.Dependencies), func(dep string) bool {
		return slices.ContainsFunc(in.thread, func(e *task.Event) bool {
			d, ok := e.Detail.(task.DependencyDetail)
			return ok && d.GivenUp == dep
		})
	}))
}
