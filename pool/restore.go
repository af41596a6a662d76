package pool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taskpool-dev/taskpool/pool/dag"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// restore makes an empty pool what the records say.
func (m *Import) restore(ctx context.Context, r Request) (ImportResult, error) {
	for _, t := range m.tasks {
		if t.later != nil {
			return ImportResult{}, t.later
		}
	}
	content := m.content()
	if v := m.everything(); len(v) > 0 {
		return ImportResult{}, &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	result := ImportResult{Created: len(m.tasks)}
	var err error
	if content.note, err = result.note(); err != nil {
		return ImportResult{}, err
	}
	p := m.pool
	empty := func(s *state) error {
		if n := s.table.Len(); n > 0 {
			return &RuleError{Reason: ReasonPoolNotEmpty, Message: fmt.Sprintf(
				"the pool %q has %d tasks; only an empty one can be restored; clear it first, restore into a new one, or merge", p.name, n)}
		}
		return nil
	}
	out, err := p.replace(ctx, "ImportPool", r, empty, func(time.Time) (*replacement, error) { return content, nil })
	if err != nil {
		return ImportResult{}, err
	}
	return result.answered(out)
}

// everything is what is wrong with the records, bounded.
func (m *Import) everything() task.Violations {
	all, more := slices.Clip(m.wrong), 0
	for _, t := range m.tasks {
		if room := maxImportViolations - len(all); room < len(t.wrong) {
			all, more = append(all, t.wrong[:max(room, 0)]...), more+len(t.wrong)-max(room, 0)
			continue
		}
		all = append(all, t.wrong...)
	}
	if more > 0 {
		all.Add("", "there are %d more violations: mend these first", more)
	}
	return all
}

// content is what the records make a pool, where nothing is wrong with them; what
// is wrong between them it finds.
func (m *Import) content() *replacement {
	c := &replacement{tasks: make([]*task.Task, 0, len(m.tasks)), threads: make(map[string][]*task.Event, len(m.tasks))}
	for _, t := range m.tasks {
		c.tasks = append(c.tasks, t.task)
		c.threads[t.task.ID] = t.thread
		c.revision = max(c.revision, t.task.Revision)
	}
	if m.outline != nil && m.outline.Extent != nil {
		c.lastNumber, c.lastEvent = m.outline.Extent.LastNumber, m.outline.Extent.LastEvent
	}
	m.checkTwins()
	m.checkEdges()
	m.checkDerived()
	return c
}

// checkTwins finds what there can be only one of.
func (m *Import) checkTwins() {
	ids, numbers := make(map[string]int64, len(m.tasks)), make(map[int64]int64, len(m.tasks))
	type place struct{ id, index int64 }
	var events []place
	for _, t := range m.tasks {
		var v task.Violations
		if first, twice := ids[t.task.ID]; twice {
			v.Add("id", "is that of %s, too", record(first))
		} else {
			ids[t.task.ID] = t.index
		}
		if first, twice := numbers[t.task.Number]; twice {
			v.Add("key", "is that of %s, too", record(first))
		} else {
			numbers[t.task.Number] = t.index
		}
		t.note(m, t.index, "task", v)
		for i, e := range t.thread {
			events = append(events, place{e.ID, t.events[i]})
		}
	}
	slices.SortFunc(events, func(a, b place) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.index, b.index)) })
	for i := 1; i < len(events); i++ {
		if events[i].id == events[i-1].id {
			m.reject(events[i].index, "event.id", "is that of %s, too", record(events[i-1].index))
		}
	}
}

// checkEdges finds dependencies and parents that are not there, and cycles.
func (m *Import) checkEdges() {
	byID := make(map[string]*imported, len(m.tasks))
	order := make([]string, len(m.tasks))
	for i, t := range m.tasks {
		byID[t.task.ID], order[i] = t, t.task.ID
	}
	children := map[string][]string{}
	for _, t := range m.tasks {
		var v task.Violations
		const missing = "is %s, and no record has that task"
		for i, dep := range t.task.Dependencies {
			if byID[dep] == nil {
				v.Add(fmt.Sprintf("dependency_ids[%d]", i), missing, task.Preview(dep, 64))
			}
		}
		if parent := t.task.ParentID; parent != "" {
			if byID[parent] == nil {
				v.Add("parent_id", missing, parent)
			}
			children[parent] = append(children[parent], t.task.ID)
		}
		t.note(m, t.index, "task", v)
	}
	needs := func(id string) seq {
		return func(yield func(string) bool) {
			for _, list := range [][]string{byID[id].task.Dependencies, children[id]} {
				for _, needed := range list {
					if !yield(needed) {
						return
					}
				}
			}
		}
	}
	for _, knot := range dag.Knots(order, needs) {
		_, cycle := dag.Sort(knot, needs)
		names := make([]string, len(cycle))
		for i, id := range cycle {
			names[i] = byID[id].task.Key()
		}
		m.reject(byID[cycle[0]].index, "task", "needs itself: %s: a task comes after its dependencies, and a parent after its children", strings.Join(names, " → "))
	}
}

// checkDerived finds where a task says otherwise than follows from the others. It
// means nothing where something else is wrong.
func (m *Import) checkDerived() {
	if len(m.everything()) > 0 {
		return
	}
	tasks, threads := make([]*task.Task, len(m.tasks)), make(map[string][]*task.Event, len(m.tasks))
	for i, t := range m.tasks {
		tasks[i] = t.task.Clone()
		threads[t.task.ID] = t.thread
	}
	derive(tasks, threads)
	now := time.Now()
	for i, t := range m.tasks {
		var v task.Violations
		said, follows := t.task, tasks[i]
		if said.Status != follows.Status {
			v.Add("status", "is %s, and %s follows from its dependencies", said.Status, follows.Status)
		}
		if said.Status == task.Ready && said.NotBefore.After(now) {
			v.Add("status", "is ready, and not_before is to come: until then it is pending; set that, or restore after it")
		}
		if !slices.Equal(said.Unfinished, follows.Unfinished) {
			v.Add("unfinished_dependency_ids", "are not those of its dependencies that are not done")
		}
		for _, n := range []struct {
			field         string
			said, follows int
		}{
			{"depth", said.Depth, follows.Depth},
			{"children_total", said.ChildrenTotal, follows.ChildrenTotal},
			{"children_done", said.ChildrenDone, follows.ChildrenDone},
			{"history_count", said.HistoryCount, follows.HistoryCount},
		} {
			if n.said != n.follows {
				v.Add(n.field, "is %d, and %d follows from the other records", n.said, n.follows)
			}
		}
		t.note(m, t.index, "task", v)
	}
}
