package pool

import (
	"github.com/tidwall/btree"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// rank is a task's place among those that can be claimed: the more urgent first,
// then the one that the longest chain of others waits for, then the older.
type rank struct {
	// urgency is the priority, and in its lower half the height.
	urgency int32
	number  int64
}

func (a rank) before(b rank) bool {
	if a.urgency != b.urgency {
		return a.urgency > b.urgency
	}
	return a.number < b.number
}

// rankOf is the place of a task, and by whom it can be claimed: a member's id, or ""
// for anyone. False for a task that can't be claimed.
func rankOf(n *node) (by string, r rank, ok bool) {
	t := n.task
	if !task.Claimable(t, t.Assignee) {
		return "", rank{}, false
	}
	return t.Assignee, rank{int32(t.Priority)<<16 | int32(n.height), t.Number}, true
}

// ranking is the tasks that can be claimed, in their order, by who can claim them.
// Only the writer looks at it.
type ranking map[string]*btree.BTreeG[rank]

func (r ranking) set(n *node) {
	by, place, ok := rankOf(n)
	if !ok {
		return
	}
	of := r[by]
	if of == nil {
		of = btree.NewBTreeGOptions(rank.before, btree.Options{NoLocks: true})
		r[by] = of
	}
	of.Set(place)
}

func (r ranking) drop(n *node) {
	by, place, ok := rankOf(n)
	if !ok {
		return
	}
	of := r[by]
	if of.Delete(place); of.Len() == 0 {
		delete(r, by)
	}
}
