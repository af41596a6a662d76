package pool

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/dag"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// checkKnots refuses new tasks that would need themselves: those that are on a
// cycle of dependencies and of parents, who need their children, through other
// new tasks or through the pool.
func (g *merging) checkKnots() {
	children := map[string][]string{}
	var ids []string
	lowest := int64(math.MaxInt64)
	for _, i := range g.candidates {
		t := g.tasks[i]
		if !g.isNew(i) {
			continue
		}
		ids = append(ids, t.task.ID)
		if parent := t.task.ParentID; parent != "" {
			children[parent] = append(children[parent], t.task.ID)
			if n := g.node(parent); n != nil {
				lowest = min(lowest, n.order)
			}
		}
	}
	needs := func(id string) seq {
		needed := children[id]
		if n := g.node(id); n != nil {
			needed = slices.AppendSeq(slices.Clip(needed), n.needs())
		} else {
			needed = append(slices.Clip(needed), g.tasks[g.byID[id]].task.Dependencies...)
		}
		return slices.Values(needed)
	}
	ids = g.below(ids, lowest, needs)
	for _, knot := range dag.Knots(ids, needs) {
		_, cycle := dag.Sort(knot, needs)
		names := make([]string, len(cycle))
		for i, id := range cycle {
			names[i] = g.called(id)
		}
		message := "it would need itself: " + strings.Join(names, " → ") + "; take one of these edges out"
		for _, id := range knot {
			if g.node(id) == nil {
				g.refuse(g.byID[id], ReasonCycle, message)
			}
		}
	}
}

// below adds to new tasks those of the pool by which they may lead back to
// themselves. Only a parent in the pool leads to a new task, and what needs it
// has a higher order.
func (g *merging) below(ids []string, lowest int64, needs func(string) seq) []string {
	met := map[string]bool{}
	for k := 0; k < len(ids); k++ {
		for id := range needs(ids[k]) {
			if n := g.node(id); n != nil && n.order >= lowest && !met[id] {
				met[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// called is a task for who has the records and the pool: a new one by the place
// of its record.
func (g *merging) called(id string) string {
	if n := g.node(id); n != nil {
		return n.task.Key()
	}
	if i, comes := g.byID[id]; comes {
		return record(g.tasks[i].index)
	}
	return id
}

// checkRoom refuses new tasks for which there is no room where they belong. Those
// that are refused for something else count as well: what comes in must not
// depend on that, or importing again would bring in more.
func (g *merging) checkRoom() {
	g.setDepths()
	children, dependents := map[string]int{}, map[string]int{}
	for _, i := range g.candidates {
		t := g.tasks[i].task
		if depth := g.depth[t.ID]; depth > g.limits.Depth {
			g.refuse(i, ReasonDepthExceeded, fmt.Sprintf("parent_id: it would lie at depth %d; this pool nests at most %d deep", depth, g.limits.Depth))
		}
		if t.ParentID != "" && g.isNew(i) && !t.Closed() {
			if parent := g.parent(t.ParentID); parent.Closed() {
				g.refuse(i, ReasonParentClosed, fmt.Sprintf("parent_id: %s is %s, and this task is %s: a closed parent takes no open child; reopen it here, or restore into an empty pool", g.called(t.ParentID), parent.Status, t.Status))
			}
		}
		if id := t.ParentID; id != "" {
			if children[id]++; g.has(id, func(n *node) int { return len(n.children) })+children[id] > g.limits.Children {
				g.refuse(i, ReasonChildrenExceeded, fmt.Sprintf("parent_id: %s would have more than %d children, the most this pool allows", g.called(id), g.limits.Children))
			}
		}
		for k, id := range t.Dependencies {
			if dependents[id]++; g.has(id, func(n *node) int { return len(n.dependents) })+dependents[id] > g.limits.Dependents {
				g.refuse(i, ReasonDependentsExceeded, fmt.Sprintf("dependency_ids[%d]: more than %d tasks would depend on %s, the most this pool allows", k, g.limits.Dependents, g.called(id)))
			}
		}
	}
}

// has is how many there are of a task of the pool; none of a new one.
func (g *merging) has(id string, of func(*node) int) int {
	if n := g.node(id); n != nil {
		return of(n)
	}
	return 0
}

// parent is a task that has or will have children.
func (g *merging) parent(id string) *task.Task {
	if n := g.node(id); n != nil {
		return n.task
	}
	return g.tasks[g.byID[id]].task
}

// setDepths finds the depth of each candidate that is not in a circle of parents.
func (g *merging) setDepths() {
	g.depth = make(map[string]int, len(g.candidates))
	var level []string
	for _, i := range g.candidates {
		t := g.tasks[i].task
		if t.ParentID == "" {
			level = append(level, t.ID)
		} else if n := g.node(t.ParentID); n != nil {
			g.depth[t.ID] = n.task.Depth + 1
			level = append(level, t.ID)
		}
	}
	for ; len(level) > 0; level = level[1:] {
		for _, i := range g.users[level[0]] {
			if t := g.tasks[i].task; t.ParentID == level[0] {
				g.depth[t.ID] = g.depth[level[0]] + 1
				level = append(level, t.ID)
			}
		}
	}
}
