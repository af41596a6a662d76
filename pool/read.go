package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Detail is one task with what is told when it alone is read.
type Detail struct {
	*task.Task
	// Thread is every event of the task, oldest first. Read-only.
	Thread []*task.Event
	// Dependents are the ids of the tasks that depend on it. Read-only.
	Dependents []string
	// Cursor is the position of the revision that this is of; zero in a Result.
	Cursor feed.Cursor
	// ExpiresAt is when its hold runs out, by this process's clock; zero where it
	// doesn't, and in a Result.
	ExpiresAt time.Time
}

func detailOf(n *node) *Detail {
	return &Detail{Task: n.task, Thread: slices.Clip(n.thread), Dependents: slices.Clip(n.dependents)}
}

// History are the events of the progress log, oldest first.
func (d *Detail) History() []*task.Event {
	history := make([]*task.Event, 0, d.HistoryCount)
	for _, e := range d.Thread {
		if e.Kind == task.EventProgress {
			history = append(history, e)
		}
	}
	return history
}

// Get returns the task of that id, key or unique prefix. Errors: *NotFoundError,
// *AmbiguousError.
func (p *Pool) Get(name string) (*Detail, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	n, err := find(p.state, "id", name)
	if err != nil {
		return nil, err
	}
	return p.readLocked(n), nil
}

// readLocked is a task that is read alone. The caller holds mu.
func (p *Pool) readLocked(n *node) *Detail {
	d := detailOf(n)
	d.Cursor, d.ExpiresAt = cursorAt(p.state), p.state.leases.end(n)
	return d
}

// Relatives are the nearest tasks above and below one.
type Relatives struct {
	// Parent is nil for a top-level task.
	Parent   *task.Task
	Children []*task.Task
}

// Relatives returns a task with its parent and children, all of one revision.
func (p *Pool) Relatives(name string) (*Detail, Relatives, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	n, err := find(p.state, "id", name)
	if err != nil {
		return nil, Relatives{}, err
	}
	var r Relatives
	if parent := p.state.node(n.task.ParentID); parent != nil {
		r.Parent = parent.task
	}
	for _, id := range n.children {
		if child := p.state.node(id); child != nil {
			r.Children = append(r.Children, child.task)
		}
	}
	return p.readLocked(n), r, nil
}

// Explain returns the checks of whether the actor could claim a task, each with
// what is behind it. The task is claimable when all hold.
func (p *Pool) Explain(actor, name string) (*task.Task, []task.Check, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	n, err := find(p.state, "id", name)
	if err != nil {
		return nil, nil, err
	}
	return n.task, readiness(p.state, n.task, actor, time.Now()), nil
}

// readiness gives every check of whether the actor could claim a task, with what is
// behind it.
func readiness(in ground, t *task.Task, actor string, now time.Time) []task.Check {
	checks := task.Readiness(t, actor)
	for i := range checks {
		switch c := &checks[i]; {
		case c.Name == task.CheckDependencies && !c.Holds:
			c.Detail = explainDependencies(in, t)
		case c.Name == task.CheckNotBefore && t.Status != task.Ready && now.Before(t.NotBefore):
			// The one rule has no clock and need not look so far where something
			// else is in the way; who asks is told all that is.
			c.Holds, c.Detail = false, fmt.Sprintf("waits until %s: come back then, or change not_before", stamp(t.NotBefore))
		}
	}
	return checks
}

// explainDependencies names what a task waits for, and the way out of waiting
// for what nobody will finish as it is.
func explainDependencies(in ground, t *task.Task) string {
	return fmt.Sprintf("waits for %s: finish them first, or remove the dependency%s", naming(in, t.Unfinished), givenUp(in, t.Unfinished))
}

// UnfinishedDependencies returns the ids of a task's dependencies that are not
// done, empty when there are none or there is no such task.
func (p *Pool) UnfinishedDependencies(name string) []string {
	d, err := p.Get(name)
	if err != nil {
		return nil
	}
	return d.Unfinished
}
