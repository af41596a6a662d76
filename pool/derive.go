package pool

import (
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// derive sets on tasks that are a whole pool, and that nobody else sees yet, what
// follows from the rest of it, as mutations keep it: unfinished dependencies,
// pending or ready, depth, and the counts. Where not_before alone decides between
// pending and ready, the task keeps what it says. The rest that a pool knows
// beside its records, [loading] adds.
func derive(tasks []*task.Task, threads map[string][]*task.Event) {
	byID := make(map[string]*task.Task, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
		t.Unfinished, t.Depth = nil, 0
		t.ChildrenTotal, t.ChildrenDone, t.ChildrenOpen = 0, 0, 0
		t.HistoryCount, t.HistoryLength, t.EventCount = 0, 0, 0
	}
	children := map[string][]*task.Task{}
	var level []*task.Task
	for _, t := range tasks {
		for _, dep := range t.Dependencies {
			if d := byID[dep]; d != nil && d.Status != task.Done {
				t.Unfinished = append(t.Unfinished, dep)
			}
		}
		if t.Status.Open() && (len(t.Unfinished) > 0 || t.NotBefore.IsZero()) {
			t.Status = task.DerivedStatus(len(t.Unfinished), t.NotBefore, time.Time{})
		}
		for _, e := range threads[t.ID] {
			if e.Kind == task.EventProgress {
				t.HistoryCount++
			}
		}
		if p := byID[t.ParentID]; p != nil {
			total, done, _ := counts(t.Status)
			p.ChildrenTotal, p.ChildrenDone = p.ChildrenTotal+total, p.ChildrenDone+done
			children[p.ID] = append(children[p.ID], t)
		} else {
			level = append(level, t)
		}
	}
	for depth := 0; len(level) > 0; depth++ {
		var below []*task.Task
		for _, t := range level {
			t.Depth = depth
			below = append(below, children[t.ID]...)
		}
		level = below
	}
}
