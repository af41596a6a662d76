package pool

import (
	"iter"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// node is a task with what the pool knows around it. Immutable once it is in a
// layer or a state that others read; the slices are shared between versions.
type node struct {
	task *task.Task
	// thread only grows, see hear.
	thread []*task.Event
	// dependents and children are ids, in creation order.
	dependents []string
	children   []string
	// order is the node's place in an order in which every task comes after
	// what it needs: its dependencies and its children.
	order int64
	// height is the length of the longest chain of tasks that wait for it, up to
	// maxHeight.
	height int
	// hold is what only the pool knows of the task's hold, nil where that is nothing.
	// It is replaced, never changed.
	hold *hold
}

func (n *node) held() hold {
	if n.hold == nil {
		return hold{}
	}
	return *n.hold
}

func (n *node) setHold(h hold) {
	n.hold = nil
	if h != (hold{}) {
		n.hold = &h
	}
}

// hold is what a member must not see of a task's hold, or need not.
type hold struct {
	// token is "" when nobody holds the task; then runID is, too.
	token string
	// runID is the dispatch that it is for, "" for none.
	runID string
	// expired counts the holds before it, one after the other, that ran out.
	expired int
}

// needs yields what must be closed before n can be: dependencies and children.
func (n *node) needs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range n.task.Dependencies {
			if !yield(id) {
				return
			}
		}
		for _, id := range n.children {
			if !yield(id) {
				return
			}
		}
	}
}

// neededBy yields who needs n: dependents and the parent.
func (n *node) neededBy() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range n.dependents {
			if !yield(id) {
				return
			}
		}
		if n.task.ParentID != "" {
			yield(n.task.ParentID)
		}
	}
}

// hear adds an event to the thread. Versions share one array: older ones end
// before what is added, and only the newest is ever added to, so that a long
// thread costs no more than a short one. A version that was dropped may have
// left something behind the end, which is written over.
func (n *node) hear(e *task.Event) { n.thread = append(n.thread, e) }

// with and without return new slices; shared arrays are never written.
func with(ids []string, id string) []string {
	return append(ids[:len(ids):len(ids)], id)
}

func without(ids []string, id string) []string {
	out := make([]string, 0, len(ids))
	for _, have := range ids {
		if have != id {
			out = append(out, have)
		}
	}
	return out
}
