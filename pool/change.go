package pool

import (
	"slices"
	"sync"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// told is what the feed tells of one commit. It is the same whether it was made
// beside the commit or read from it later. Immutable once published, but for
// the elements, which are made once, when the first watcher wants them.
type told struct {
	revision int64
	nonce    uint64
	// actor made the changes that are direct.
	actor   string
	changes []taskChange
	// size is about how many bytes the changes take.
	size int

	once     sync.Once
	elements [][]byte
}

// taskChange is what a commit did to one task.
type taskChange struct {
	id string
	// before is nil for a new task, after for one that is gone. Of before only
	// what filters look at is known where it was read from a commit.
	before, after *task.Task
	events        []*task.Event
	// encoded and eventsEncoded are what the codec made of after and events.
	encoded       []byte
	eventsEncoded [][]byte
	// bytes is its size, once it is part of a commit.
	bytes int
}

// direct says whether a member changed this very task, or commented on it, rather than
// the pool in consequence.
func (c *taskChange) direct() bool {
	return c.before == nil || c.after == nil || c.after.Version > c.before.Version ||
		slices.ContainsFunc(c.events, func(e *task.Event) bool { return e.Kind == task.EventComment })
}

func (c *taskChange) size() int {
	n := len(c.id) + len(c.encoded) + 16
	for _, e := range c.eventsEncoded {
		n += len(e) + 4
	}
	return n
}

// add takes a change in. Those that nobody is told of are left out: of a task
// that came and went in one commit.
func (t *told) add(c taskChange) {
	if c.before == nil && c.after == nil {
		return
	}
	c.bytes = c.size()
	t.changes = append(t.changes, c)
	t.size += c.bytes
}

// element is the i-th change as the feed carries it to whoever has it in view.
// All are encoded by who asks first, once, onto a strip.
func (t *told) element(codec Codec, onto *strip, i int) []byte {
	t.once.Do(func() {
		t.elements = make([][]byte, len(t.changes))
		ends := make([]int, len(t.changes))
		all := onto.lay(func(dst []byte) []byte {
			for i := range t.changes {
				c := &t.changes[i]
				dst = codec.AppendChange(dst, t.revision, c.id, c.encoded, c.eventsEncoded)
				ends[i] = len(dst)
			}
			return dst
		})
		from := 0
		for i, end := range ends {
			t.elements[i] = all[from:end]
			from = end
		}
	})
	return t.elements[i]
}

// past is what history keeps of a task's earlier version: what filters look at,
// and nothing long. It is what tells a watcher that a task left its view.
func past(t *task.Task) *task.Task {
	return &task.Task{
		ID: t.ID, Number: t.Number,
		Priority: t.Priority, Type: t.Type, Labels: t.Labels, Status: t.Status, Unfinished: t.Unfinished,
		Assignee: t.Assignee, CreatedBy: t.CreatedBy, Reviewer: t.Reviewer, ParentID: t.ParentID,
		Holder: t.Holder, ClosedAt: t.ClosedAt, NotBefore: t.NotBefore, Version: t.Version,
	}
}

// tell reads from a commit what the feed tells of it.
func tell(c store.Commit, codec Codec) (*told, error) {
	t := &told{revision: c.Revision, nonce: c.Nonce}
	before := map[int64]*task.Task{}
	var last *taskChange
	var number int64
	flush := func() {
		if last != nil {
			t.add(*last)
		}
		last = nil
	}
	for _, f := range c.Facts {
		switch {
		case f.Past && f.Key.Kind == kindActor:
			t.actor = string(f.Value)
		case f.Past && f.Key.Kind == kindTask:
			was, err := codec.DecodeTask(f.Value)
			if err != nil {
				return nil, err
			}
			before[f.Key.ID] = was
		case f.Past:
		case f.Key.Kind == kindTask:
			flush()
			last, number = &taskChange{before: before[f.Key.ID]}, f.Key.ID
			if f.Gone {
				if last.before != nil {
					last.id = last.before.ID
				}
				continue
			}
			after, err := codec.DecodeTask(f.Value)
			if err != nil {
				return nil, err
			}
			last.id, last.after, last.encoded = after.ID, after, f.Value
		case f.Key.Kind == kindEvent && !f.Gone && last != nil && f.Key.ID == number:
			e, err := codec.DecodeEvent(f.Value)
			if err != nil {
				return nil, err
			}
			last.events, last.eventsEncoded = append(last.events, e), append(last.eventsEncoded, f.Value)
		}
	}
	flush()
	return t, nil
}
