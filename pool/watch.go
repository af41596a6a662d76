package pool

import (
	"context"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// snapshotTasks are handed out at once.
const snapshotTasks = 256

// WatchStart says where a watch begins.
type WatchStart uint8

// The beginnings of a watch.
const (
	// FromSnapshot: with the present state, then every change after it.
	FromSnapshot WatchStart = iota
	// FromCursor: with the first change after a cursor.
	FromCursor
	// FromNow: with the next change.
	FromNow
)

// WatchOptions says what a watch shows and where it begins. The zero value is
// every task, from a snapshot.
type WatchOptions struct {
	// Filter makes the watch a view; nil: every task, closed ones too. Text can't
	// be watched for.
	Filter *Filter
	// ExcludeActor names a member whose own doings are left out: the events it
	// caused and the tasks it changed directly. "": nothing is left out.
	ExcludeActor string
	// FilterHash goes into the watch's cursors, so that none is taken for one of
	// another view. A cursor to start after has this hash, or 0.
	FilterHash uint32
	Start      WatchStart
	// After is where to start, exclusive. FromCursor only.
	After feed.Cursor
}

// Check finds what no pool would watch for.
func (o WatchOptions) Check() (v task.Violations) {
	if o.Filter != nil && o.Filter.Text != "" {
		v.Add("filter.text", "can't be watched for: every change would be searched for every watcher; leave it out and look at what comes, or list with ReadTask, which takes it")
	}
	if o.Start == FromCursor && o.After.Filter != 0 && o.After.Filter != o.FilterHash {
		v.Add("after_cursor", "is of a watch with another filter, whose view was another: send the filter that it came with, or leave it out to start with a snapshot")
	}
	return v
}

// Watch is one reader of a pool's feed: a position, and what it has read ahead,
// which is bounded. It holds up nobody: one that is slow falls out of the ring
// and reads the store, and one that falls out of the store's history ends.
//
// One goroutine uses it. Close it at the end.
type Watch struct {
	pool    *Pool
	free    func()
	match   *predicate
	exclude string
	hash    uint32

	// at is where the watch is: all before it was handed out or was not in view.
	at feed.Cursor
	// snapshot is what of the present state is still to be handed out, after the
	// task of that number; nil when none is.
	snapshot *snapshot
	number   int64

	// ahead are commits that were read but not looked at, room is where they are
	// read to.
	ahead, room []*told
	// rest is what the view shows of the commit at restAt and was not handed out
	// yet.
	rest   []WatchChange
	restAt feed.Cursor
	// batch is room for the next batch, nil while the watch waits.
	batch []WatchChange
}

// Watch begins a watch in the name of a member, whom the filter's "me" and
// "claimable" mean. Nothing is missed from the moment it returns.
//
// Errors: *InvalidError, *NotFoundError and *AmbiguousError for the filter and
// ExcludeActor; *CursorError where the history after the cursor is gone, or of
// another epoch; *QuotaError when too many are open; *UnavailableError.
func (p *Pool) Watch(ctx context.Context, actor string, o WatchOptions) (_ *Watch, err error) {
	if o.Filter == nil {
		o.Filter = &Filter{IncludeClosed: true}
	}
	if v := o.Check(); len(v) > 0 {
		return nil, &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	exclude, err := resolveMember("exclude_actor", o.ExcludeActor, actor)
	if err != nil {
		return nil, err
	}
	free, err := p.watchers.take(actor)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			free()
		}
	}()
	w := &Watch{pool: p, free: free, exclude: exclude, hash: o.FilterHash}
	if o.Start == FromCursor { // first, as what a filter names may be gone with that history
		if w.at, err = p.resume(ctx, o.After); err != nil {
			return nil, err
		}
	}
	snap, match, err := p.look(*o.Filter, actor)
	if err != nil {
		return nil, err
	}
	w.match = match
	switch o.Start {
	case FromSnapshot:
		w.at, w.snapshot = snap.cursor, snap
	case FromNow:
		w.at = snap.cursor
	}
	return w, nil
}

// Close ends the watch. Idempotent.
func (w *Watch) Close() {
	w.free()
	w.snapshot, w.ahead, w.room, w.rest, w.batch = nil, nil, nil, nil, nil
}

// Cursor is the watch's position: all of the view up to it was handed out, but
// for a snapshot that is not whole yet.
func (w *Watch) Cursor() feed.Cursor {
	c := w.at
	c.Filter = w.hash
	return c
}

// Snapshot returns the next part of the present state, at most 256 tasks; none
// when it is whole, or when the watch did not begin with one. It is of the
// revision of Cursor, however long it takes.
func (w *Watch) Snapshot(ctx context.Context) ([]*task.Task, error) {
	if w.snapshot == nil {
		return nil, nil
	}
	var tasks []*task.Task
	for n, err := range w.snapshot.matching(ctx, w.number, w.match) {
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, n.task)
		if w.number = n.task.Number; len(tasks) == snapshotTasks {
			return tasks, nil
		}
	}
	w.snapshot = nil
	return tasks, nil
}
