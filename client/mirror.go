package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// Mirror keeps a copy of a pool's tasks, or of a view of them, up to date by
// following it. What it reads is one whole revision, at most a moment old; while
// the connection is lost it stays at the last one: LastHeard tells how old it
// may be. Graphs are not copied.
//
// It is safe for concurrent use. Tasks it returns are shared and must not be
// changed; they don't change either: a new revision brings a new Task.
type Mirror struct {
	client  *Client
	options FollowOptions
	synced  chan struct{}

	mu       sync.RWMutex
	shelf    *shelf // guarded by mu, as all below
	cursor   string
	revision int64
	heard    time.Time
	running  bool
	ended    error         // why Run returned; nil while it runs
	moved    chan struct{} // closed on the next move; nil: nobody waits
}

// NewMirror makes an empty mirror; Run fills it. Of the options, After, Now,
// Known and ExcludeActor can't be met by a copy and are refused by Run; Progress
// is implied.
func NewMirror(c *Client, o FollowOptions) *Mirror {
	o.Filter = proto.CloneOf(o.Filter)
	o.Progress = true
	return &Mirror{client: c, options: o, synced: make(chan struct{}), shelf: newShelf(nil)}
}

// Run keeps the copy up to date until the context is done, or until an error
// that connecting again can't mend; it returns that error, and never nil. What
// Follow gets over Run gets over: see FollowOptions.OnRetry. Run again after it
// returned begins with a snapshot; the old copy stays until that is whole. Two
// at once are refused.
func (m *Mirror) Run(ctx context.Context) (err error) {
	if err := m.begin(); err != nil {
		return err
	}
	defer func() { m.end(err) }()
	f := newFollower(m.client, m.options)
	f.heard, f.view = m.hear, nil // a snapshot replaces all there is
	f.run(ctx, func(change Change, failure error) bool {
		if err = failure; err == nil {
			m.apply(change)
		}
		return true
	})
	return err
}

func (m *Mirror) begin() error {
	o := m.options
	switch {
	case o.After != "" || o.Now || len(o.Known) > 0:
		return errors.New("FollowOptions: a mirror begins with a snapshot; leave After, Now and Known empty")
	case o.ExcludeActor != "":
		return errors.New("FollowOptions: a mirror that leaves out what a member does is no copy; leave ExcludeActor empty")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running {
		return errors.New("the mirror runs already")
	}
	m.running, m.ended = true, nil
	return nil
}

func (m *Mirror) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running, m.ended = false, err
	m.wakeLocked()
}

func (m *Mirror) hear() {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = now
}

// apply makes one Change visible, all of it at once.
func (m *Mirror) apply(change Change) {
	var whole *shelf
	if change.Snapshot {
		whole = newShelf(change.Tasks)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if whole != nil {
		m.shelf, m.revision = whole, change.Revision
	} else {
		m.shelf.apply(change.Tasks)
		m.revision = max(m.revision, change.Revision)
	}
	m.cursor = change.Cursor
	m.wakeLocked()
	if change.Snapshot {
		select {
		case <-m.synced:
		default:
			close(m.synced)
		}
	}
}

// Get returns the task with that id or key ("T-12"), and whether it is there.
func (m *Mirror) Get(id string) (*taskpoolv1.Task, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.shelf.get(id)
}

// All goes through all tasks of one moment, in the order they were created. The
// mirror may go on meanwhile, and may be asked.
func (m *Mirror) All() iter.Seq[*taskpoolv1.Task] {
	return func(yield func(*taskpoolv1.Task) bool) {
		for _, t := range m.tasks() {
			if !yield(t) {
				return
			}
		}
	}
}

// List returns the tasks of one moment for which match holds, nil: all, in the
// order they were created. The slice is the caller's.
func (m *Mirror) List(match func(*taskpoolv1.Task) bool) []*taskpoolv1.Task {
	all := m.tasks()
	if match == nil {
		return all
	}
	matching := all[:0]
	for _, t := range all {
		if match(t) {
			matching = append(matching, t)
		}
	}
	clear(all[len(matching):])
	return matching
}

func (m *Mirror) tasks() []*taskpoolv1.Task {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.shelf.list()
}

// Len is how many tasks there are.
func (m *Mirror) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.shelf.byID)
}

// Cursor is that of the last Change in the copy; "" before the first snapshot.
func (m *Mirror) Cursor() string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.cursor
}

// Synced is closed once the first snapshot is in. Before that the copy is empty.
func (m *Mirror) Synced() <-chan struct{} { return m.synced }

// LastHeard is when the last message of the server came, be it only a sign of
// life; zero: none yet. A healthy server sends one every 15 seconds or so: the
// time since is what to alert on.
func (m *Mirror) LastHeard() time.Time {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.heard
}

// WaitFor waits until the copy is at a revision or beyond, so that a caller reads
// what it wrote: the revision is that of the Task in the answer to a mutation.
// Where the mirror's view doesn't show it, and nothing else happens, that is seen
// with the server's next sign of life, 15 seconds or so later.
//
// It returns the context's error, or why Run has ended; before Run it waits.
func (m *Mirror) WaitFor(ctx context.Context, revision int64) error {
	for {
		moved, err := m.reached(revision)
		if moved == nil {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reached returns what to wait for until it makes sense to ask again; nil: there
// is nothing to wait for, or the error.
func (m *Mirror) reached(revision int64) (<-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.cursor != "" && m.revision >= revision:
		return nil, nil
	case m.ended != nil:
		return nil, fmt.Errorf("the mirror has ended: %w", m.ended)
	}
	if m.moved == nil {
		m.moved = make(chan struct{})
	}
	return m.moved, nil
}

func (m *Mirror) wakeLocked() {
	if m.moved != nil {
		close(m.moved)
		m.moved = nil
	}
}
