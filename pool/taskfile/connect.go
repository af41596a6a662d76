package taskfile

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/dag"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// connect finds the tasks that dependencies name, and checks what needs a look at
// all of them.
func (r *reading) connect() {
	at := make(map[string]int, len(r.records))
	for i, record := range r.records {
		id := record.Task.ID
		if id == "" {
			continue
		}
		if first, twice := at[id]; twice {
			r.add(item("tasks", i)+".id", "repeats tasks[%d].id: give each task its own", first)
			continue
		}
		at[id] = i
	}
	dependents := make([]int, len(r.records))
	for i, record := range r.records {
		r.depend(i, record.Task, at, dependents)
	}
	for i, n := range dependents {
		if n > r.limits.Dependents {
			r.add(item("tasks", i), "is what %d tasks depend on, %d are allowed: take some of those dependencies out", n, r.limits.Dependents)
		}
	}
	r.findCycle(at)
}

// depend finds the dependencies of one task.
func (r *reading) depend(i int, t *task.Task, at map[string]int, dependents []int) {
	first := make(map[string]int, len(r.named[i]))
	for k, name := range r.named[i] {
		id, ok := canonical(name)
		to, there := at[id]
		if !ok || !there {
			r.prune(t.ID, name)
			continue
		}
		if j, again := first[id]; again {
			r.add(dependencyPath(i, k), "repeats dependencyIds[%d]: name each task once", j)
			continue
		}
		first[id] = k
		t.Dependencies = append(t.Dependencies, id)
		dependents[to]++
	}
	if n := len(t.Dependencies); n > r.limits.Dependencies {
		r.add(item("tasks", i)+".dependencyIds", "has %d items, %d are allowed: leave out %d", n, r.limits.Dependencies, n-r.limits.Dependencies)
	}
}

func dependencyPath(i, k int) string { return item(item("tasks", i)+".dependencyIds", k) }

func (r *reading) prune(id, name string) {
	if id == "" {
		return // its task is refused anyway
	}
	if r.pruned == nil {
		r.pruned = map[string][]string{}
	}
	r.pruned[id] = append(r.pruned[id], name)
}

// findCycle refuses the first cycle there is. Tasks without an id of their own
// are in none.
func (r *reading) findCycle(at map[string]int) {
	ids := make([]string, 0, len(at))
	for i, record := range r.records {
		if first, known := at[record.Task.ID]; known && first == i {
			ids = append(ids, record.Task.ID)
		}
	}
	_, cycle := dag.Sort(ids, func(id string) iter.Seq[string] {
		return slices.Values(r.records[at[id]].Task.Dependencies)
	})
	if cycle == nil {
		return
	}
	cycle = fromFirst(cycle, at)
	from := at[cycle[0]]
	k := slices.IndexFunc(r.named[from], func(name string) bool {
		id, _ := canonical(name)
		return id == cycle[1]
	})
	r.cycle = cycle
	r.add(dependencyPath(from, k), "closes a cycle: %s; take one of these dependencies out", steps(cycle, at))
}

// fromFirst turns a ring of ids, first and last equal, so that it begins with
// the one that stands first in the file.
func fromFirst(ids []string, at map[string]int) []string {
	ring, first := ids[:len(ids)-1], 0
	for i, id := range ring {
		if at[id] < at[ring[first]] {
			first = i
		}
	}
	turned := append(slices.Clone(ring[first:]), ring[:first]...)
	return append(turned, turned[0])
}

// steps shows a cycle, not more of it than a reader takes in.
func steps(cycle []string, at map[string]int) string {
	const most = 10
	all := make([]string, 0, most+1)
	for i, id := range cycle {
		switch left := len(cycle) - most; {
		case left > 1 && i == most-1:
			all = append(all, fmt.Sprintf("… %d more …", left))
		case left <= 1 || i < most-1 || i == len(cycle)-1:
			all = append(all, fmt.Sprintf("tasks[%d] %s", at[id], id))
		}
	}
	return strings.Join(all, " → ")
}
