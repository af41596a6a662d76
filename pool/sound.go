package pool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// unsound lists the tasks that do not agree with the others: a row that was lost
// without a trace shows in those that were around it.
func (l *loading) unsound(log string) (damage []store.Damage) {
	l.state.table.Scan(func(_ int64, n *node) bool {
		if why := l.state.unsound(n); why != "" {
			damage = append(damage, store.Damage{Where: fmt.Sprintf("%s of log %q", n.task.Key(), log), Why: why})
		}
		return true
	})
	if l.cycle != nil {
		damage = append(damage, store.Damage{
			Where: fmt.Sprintf("%s of log %q", keys(l.state, l.cycle[:1])[0], log),
			Why:   "it needs itself: " + strings.Join(keys(l.state, l.cycle), " → "),
		})
	}
	return damage
}

// unsound says where a task contradicts the others, "" when nowhere. What
// mutations keep right is checked here alone, and put right by repair.
func (s *state) unsound(n *node) string {
	t := n.task
	var unfinished []string
	for i, id := range t.Dependencies {
		dep := s.node(id)
		switch {
		case dep == nil:
			return "it depends on " + id + ", which is not there"
		case slices.Contains(t.Dependencies[:i], id):
			return "it depends on " + id + " twice"
		case dep.task.Status != task.Done:
			unfinished = append(unfinished, id)
		}
	}
	depth := 0
	if t.ParentID != "" {
		parent := s.node(t.ParentID)
		if parent == nil {
			return "its parent " + t.ParentID + " is not there"
		}
		depth = parent.task.Depth + 1
	}
	total, done, _ := n.countChildren(s)
	history := n.countHistory()
	switch {
	case !slices.Equal(t.Unfinished, unfinished):
		return "its unfinished dependencies are others"
	case t.Status == task.Ready && len(unfinished) > 0, t.Status == task.Pending && len(unfinished) == 0 && t.NotBefore.IsZero():
		return "it is " + t.Status.String() + ", which does not follow from its dependencies"
	case t.ChildrenTotal != total || t.ChildrenDone != done:
		return fmt.Sprintf("it counts %d children, %d done, of %d and %d", t.ChildrenTotal, t.ChildrenDone, total, done)
	case t.Depth != depth:
		return fmt.Sprintf("it says depth %d where it lies at %d", t.Depth, depth)
	case t.HistoryCount != history:
		return fmt.Sprintf("it counts %d entries of its progress log, of %d", t.HistoryCount, history)
	}
	return ""
}

func (n *node) countChildren(in ground) (total, done, open int) {
	for _, id := range n.children {
		t, d, o := counts(in.node(id).task.Status)
		total, done, open = total+t, done+d, open+o
	}
	return total, done, open
}

func (n *node) countHistory() int {
	entries := 0
	for _, e := range n.thread {
		if e.Kind == task.EventProgress {
			entries++
		}
	}
	return entries
}
