package client

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// What FollowOptions mean where they say nothing.
const (
	// DefaultSilence is how long a watch may be silent: four times what a server
	// lets pass without a sign of life.
	DefaultSilence = time.Minute
	// DefaultMinBackoff bounds the wait after the first failure.
	DefaultMinBackoff = 100 * time.Millisecond
	// DefaultMaxBackoff bounds every wait.
	DefaultMaxBackoff = 30 * time.Second
)

// FollowOptions say what to follow and from where. The zero value: every task of
// the client's pool, beginning with a snapshot.
type FollowOptions struct {
	// Pool is the pool; empty: the client's (WithPool), else "default".
	Pool string
	// Filter makes it a view: only the tasks that it selects, and word of those
	// that it no longer selects. Nil: every task, closed ones too. `text` is
	// refused by the server.
	Filter *taskpoolv1.TaskFilter
	// ExcludeActor names a member whose own doings are left out, so that an agent
	// doesn't hear itself. What comes is then less than the view; a snapshot is
	// whole all the same. Empty: leave out nothing.
	ExcludeActor string
	// View is how much of each task comes; UNSPECIFIED: FULL.
	View taskpoolv1.TaskView

	// After begins with what came after this Change.Cursor, or after a cursor of
	// any answer of the server. Empty: begin with a snapshot, or Now.
	After string
	// Now begins with the next change, without a snapshot. Not with After.
	Now bool
	// Known are the ids of the tasks and graphs that the caller holds from
	// earlier. Needed only with After: when the history after that cursor turns
	// out to be gone, Follow tells from it what went meanwhile. What Follow
	// itself delivered it remembers.
	Known []string

	// Silence is how long to wait for any message before the connection is taken
	// for dead and made anew; 0: DefaultSilence. Below 20 seconds or so it fires
	// on every pool where nothing happens.
	Silence time.Duration
	// MinBackoff and MaxBackoff bound the wait before connecting again. It is
	// chosen at random between nothing and a bound that begins at MinBackoff,
	// doubles with every failure up to MaxBackoff, and begins anew only after
	// real progress. A server that says how long to wait is given that long on
	// top. 0: DefaultMinBackoff and DefaultMaxBackoff.
	MinBackoff, MaxBackoff time.Duration

	// Progress yields a Change without tasks and graphs too, where the cursor
	// moves though nothing of the view changed: at the beginning with Now, and
	// every 15 seconds or so while nothing happens. A caller that keeps its
	// cursor wants them, lest the cursor grow old while the view is quiet.
	Progress bool
	// OnRetry is told every failure that Follow means to get over by itself, and
	// how long it waits before it connects again. Called by the goroutine that
	// iterates. Nil: nobody is told.
	OnRetry func(err error, wait time.Duration)
	// OnOpen is told each time that the watch is open: at first, and when what
	// OnRetry was told is overcome. Called by the goroutine that iterates.
	OnOpen func()
}

// Change is one revision of the pool, whole, or one snapshot, whole. Its messages
// are the caller's.
type Change struct {
	// Cursor goes on after this Change: as FollowOptions.After it brings all that
	// came later, nothing of this Change again. Every Change has one. It is
	// opaque, and Follow's: where the server sent several revisions at once, all
	// but the last have one made of the server's cursor before them, their
	// revision and a fingerprint of it, which a WatchTasksRequest by hand does
	// not take. Resume with the same Filter and ExcludeActor: where they make that
	// revision another, it counts as expired; View doesn't matter.
	Cursor string
	// Revision is what all of it belongs to. Of a snapshot, and of a Change without
	// tasks and graphs, it is the revision by which nothing else had happened in
	// the view; an older server doesn't tell, and it is the highest that was seen.
	Revision int64
	// Snapshot: this is the present state. Tasks and Graphs have an UPSERTED
	// for all that is there, then departures, in the order of ids, for all that
	// Follow delivered before (or FollowOptions.Known names) and that is there
	// no more. With a filter the departed tasks have LEFT_VIEW, since nobody
	// knows whether they still exist, else DELETED. None has events.
	Snapshot bool
	// Tasks are the changes of tasks, one a task.
	Tasks []*taskpoolv1.TaskChange
	// Graphs are the changes of graphs, one a graph.
	Graphs []*taskpoolv1.GraphChange
}

// Follow yields what happens in a pool: who applies each Change in turn has the
// view at every moment, without gap or repetition, whatever becomes of
// connections and servers meanwhile. Each range over it begins anew.
//
// It connects by itself, again after every failure that can pass: no answer, a
// broken or silent connection, a server that drains, is overloaded or fails, a
// stream that ends or breaks the protocol. It resumes after the last whole
// revision, so a part of one is never delivered. When the history after that is
// gone (CURSOR_EXPIRED, also after a pool was cleared or restored) it goes on
// with a snapshot; see Change.Snapshot. OnRetry hears of all this.
//
// An error ends it and is the last it yields: that of the context as soon as it
// is done; or one that repeating can't mend: INVALID_ARGUMENT (a filter, a
// malformed After), NOT_FOUND (no such pool), FAILED_PRECONDITION,
// PERMISSION_DENIED, UNAUTHENTICATED, UNIMPLEMENTED, a client that was closed.
// It never ends otherwise, except by the caller leaving the loop, which frees
// everything.
//
// It runs in the goroutine that ranges over it and has none of its own: while
// the loop's body runs nothing is read, and the server waits (one that gives up
// in the end is connected to again). It holds one message, one revision (10,000
// changes, 16 MiB), the ids of the view, and of a snapshot all its tasks until
// it is complete.
func Follow(ctx context.Context, c *Client, o FollowOptions) iter.Seq2[Change, error] {
	o.Filter = proto.CloneOf(o.Filter)
	o.Known = slices.Clone(o.Known)
	return func(yield func(Change, error) bool) {
		newFollower(c, o).run(ctx, yield)
	}
}

// check refuses options that can't be meant.
func (o *FollowOptions) check() error {
	if o.After != "" && o.Now {
		return errors.New("FollowOptions: After and Now are two beginnings; set one of them")
	}
	return nil
}
