package pool

import (
	"slices"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// ChangeKind says what a change means for a watch.
type ChangeKind uint8

// The kinds of change.
const (
	// Upserted: the task is in the view, and is like this now.
	Upserted ChangeKind = iota + 1
	// LeftView: the task was in the view, and the filter no longer selects it.
	LeftView
	// Deleted: the task was in the view, and does not exist any more.
	Deleted
)

// WatchChange is what one revision did to one task of a view. Everything it
// points to is shared and read-only.
type WatchChange struct {
	Revision int64
	TaskID   string
	Kind     ChangeKind
	// Task is the task after that revision. Upserted only.
	Task *task.Task
	// Events were added to the task's thread in that revision, oldest first.
	Events []*task.Event
	// Encoded is the change as [Codec.AppendChange] writes it, nil where it has to
	// be made of the fields above: events are left out, or the task is. What
	// follows in its capacity is other changes': nobody may append to it.
	Encoded []byte

	size int
}

// view appends what a commit is to this watch.
func (w *Watch) view(seen []WatchChange, t *told) []WatchChange {
	for i := range t.changes {
		c := &t.changes[i]
		kind := w.kind(c)
		if kind == 0 {
			continue
		}
		seen = append(seen, WatchChange{Revision: t.revision, TaskID: c.id, Kind: kind, Events: c.events, size: c.bytes})
		s := &seen[len(seen)-1]
		if w.exclude != "" {
			s.Events = slices.DeleteFunc(slices.Clone(c.events), func(e *task.Event) bool { return e.Actor == w.exclude })
			if kind == Upserted && c.direct() && t.actor == w.exclude && len(s.Events) == 0 {
				seen = seen[:len(seen)-1]
				continue
			}
		}
		if kind == Upserted {
			s.Task = c.after
		}
		if kind != LeftView && len(s.Events) == len(c.events) {
			s.Encoded = t.element(w.pool.codec, &w.pool.strip, i)
		}
	}
	return seen
}

// kind says what a change means for the view, 0: nothing.
func (w *Watch) kind(c *taskChange) ChangeKind {
	switch {
	case c.after != nil && w.match.matches(c.after):
		return Upserted
	case c.before == nil || !w.match.matches(c.before):
		return 0
	case c.after != nil:
		return LeftView
	}
	return Deleted
}
