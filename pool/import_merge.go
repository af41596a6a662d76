package pool

import (
	"context"
	"fmt"
	"slices"
)

// merge creates what the pool does not have, in one revision.
func (m *Import) merge(ctx context.Context, r Request) (ImportResult, error) {
	var result ImportResult
	byID, err := m.compare(ctx)
	if err != nil {
		return result, err
	}
	out, err := m.pool.mutate(ctx, "ImportPool", r, func(tx *tx) ([]string, string, error) {
		g := &merging{tx: tx, tasks: m.tasks, byID: byID}
		if err := g.run(); err != nil {
			return nil, "", err
		}
		result = g.result()
		var err error
		tx.note, err = result.note()
		return nil, "", err
	})
	if err != nil {
		return ImportResult{}, err
	}
	return result.answered(out)
}

// merging is one run of a merge. What becomes of a task depends on the records
// and the pool alone, not on what else is refused for want of room, so that
// importing again gives the same: nothing more comes in.
type merging struct {
	*tx
	tasks []*imported
	fates []fate
	// byID are the places of the tasks, the first of those with one id, candidates of those that the pool does not
	// have, users of the candidates that name one as dependency or parent.
	byID       map[string]int
	candidates []int
	users      map[string][]int
	// depth is that of each candidate.
	depth map[string]int
	// refused are those whose users are to be looked at.
	refused []int
}

// fate is what becomes of a task of an import.
type fate struct {
	is      outcome
	reason  Reason
	message string
}

type outcome uint8

const (
	isNew outcome = iota
	isUnchanged
	isRefused
)

func (g *merging) run() error {
	g.fates = make([]fate, len(g.tasks))
	g.users = map[string][]int{}
	for i := range g.tasks {
		g.meet(i)
	}
	if n := g.howMany(isNew); n > maxRevisionChanges {
		return &QuotaError{Reason: ReasonRevisionTooLarge, Message: fmt.Sprintf(
			"the import brings in %d tasks, and at most %d come in at once; nothing was changed; merge in parts: cut before a task, dependencies and parents first, without the first record, which counts them all",
			n, maxRevisionChanges)}
	}
	for _, i := range g.candidates {
		g.checkNames(i)
	}
	g.spread()
	g.checkKnots()
	g.spread()
	g.checkRoom()
	g.spread()
	return g.create()
}

// meet compares a task with what the pool has under its id.
func (g *merging) meet(i int) {
	t := g.tasks[i]
	id := ""
	if t.task != nil {
		id = t.task.ID
		if first := g.byID[id]; first != i {
			g.refuse(i, ReasonInvalidField, fmt.Sprintf("%s.task.id is that of %s, too", record(t.index), record(g.tasks[first].index)))
			return
		}
	}
	switch {
	case t.later != nil:
		g.refuse(i, ReasonNotAvailableYet, t.later.Error())
		return
	case len(t.wrong) > 0:
		g.refuse(i, ReasonInvalidField, t.wrong.Error())
		return
	}
	n := g.node(id)
	if n == nil {
		g.candidates = append(g.candidates, i)
		for _, named := range t.names() {
			g.users[named] = append(g.users[named], i)
		}
		return
	}
	t.meet(n)
	if t.differs != "" {
		g.refuse(i, ReasonTaskDiffers, t.differs)
		return
	}
	g.fates[i].is = isUnchanged
}

// names are the tasks that one can't be created without.
func (t *imported) names() []string {
	if t.task.ParentID == "" || slices.Contains(t.task.Dependencies, t.task.ParentID) {
		return t.task.Dependencies
	}
	return with(t.task.Dependencies, t.task.ParentID)
}

func (g *merging) isNew(i int) bool { return g.fates[i].is == isNew }

func (g *merging) howMany(is outcome) (n int) {
	for _, f := range g.fates {
		if f.is == is {
			n++
		}
	}
	return n
}

// refuse refuses a task, unless it was refused before.
func (g *merging) refuse(i int, reason Reason, message string) {
	if g.fates[i].is != isRefused {
		g.fates[i] = fate{isRefused, reason, message}
		g.refused = append(g.refused, i)
	}
}

// spread refuses those that name a task that was refused and that the pool does
// not have.
func (g *merging) spread() {
	for len(g.refused) > 0 {
		i := g.refused[len(g.refused)-1]
		g.refused = g.refused[:len(g.refused)-1]
		t := g.tasks[i]
		if t.task == nil || g.byID[t.task.ID] != i || g.node(t.task.ID) != nil {
			continue
		}
		for _, user := range g.users[t.task.ID] {
			g.refuse(user, ReasonTaskNotFound, fmt.Sprintf("%s names %s, %s, which was refused",
				g.tasks[user].field(t.task.ID), t.task.ID, record(t.index)))
		}
	}
}

// field is where a task names another.
func (t *imported) field(id string) string {
	if i := slices.Index(t.task.Dependencies, id); i >= 0 {
		return fmt.Sprintf("dependency_ids[%d]", i)
	}
	return "parent_id"
}

// checkNames refuses a new task that the limits forbid, or that names one that is
// nowhere.
func (g *merging) checkNames(i int) {
	t := g.tasks[i]
	if t.beyond != nil {
		g.refuse(i, t.beyond.Reason, t.beyond.Message)
		return
	}
	for _, id := range t.names() {
		if _, comes := g.byID[id]; !comes && g.node(id) == nil {
			g.refuse(i, ReasonTaskNotFound, fmt.Sprintf("%s names %s, which neither the pool nor the import has", t.field(id), id))
			return
		}
	}
}

// result tells of all, in the records' order.
func (g *merging) result() ImportResult {
	r := ImportResult{Created: g.howMany(isNew), Unchanged: g.howMany(isUnchanged)}
	for i, f := range g.fates {
		if f.is != isRefused {
			continue
		}
		t := g.tasks[i]
		id := t.graph
		if t.task != nil {
			id = t.task.ID
		}
		r.refuse(t.index, id, f.reason, f.message)
	}
	return r
}
