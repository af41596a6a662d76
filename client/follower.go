package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// errLeft: the caller left the loop.
var errLeft = errors.New("the caller left the loop")

// errEnded: a server ended a watch with OK. A watch has no end.
var errEnded = errors.New("the server ended the watch without saying why")

// Bounds of what a wait may be, whatever options and servers say.
const (
	maxBackoffEver = 24 * time.Hour
	maxRetryAfter  = time.Hour
	maxConnecting  = 250 * time.Millisecond
)

// follower follows one pool for one range over Follow.
type follower struct {
	client  *Client
	options FollowOptions
	wait    backoff
	heard   func() // told every message; may be nil

	after position // of the last Change
	last  int64    // its revision
	// now: begin there, without a snapshot, as long as there is no position.
	now bool
	// view is what the caller has; nil: nobody needs to hear of departures that a
	// snapshot brings.
	view *view
}

func newFollower(c *Client, o FollowOptions) *follower {
	if o.Silence <= 0 {
		o.Silence = DefaultSilence
	}
	if o.MinBackoff <= 0 {
		o.MinBackoff = DefaultMinBackoff
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = DefaultMaxBackoff
	}
	o.MaxBackoff = min(max(o.MinBackoff, o.MaxBackoff), maxBackoffEver)
	return &follower{
		client: c, options: o,
		wait:  backoff{least: min(o.MinBackoff, o.MaxBackoff), most: o.MaxBackoff},
		after: parsePosition(o.After), now: o.Now,
		view: newView(o.Known, o.Filter != nil),
	}
}

// run follows until the context is done, the caller leaves, or an error that
// nothing mends.
func (f *follower) run(ctx context.Context, yield func(Change, error) bool) {
	err := f.check()
	for err == nil {
		err = f.watch(ctx, yield)
		switch {
		case errors.Is(err, errLeft):
			return
		case ctx.Err() != nil:
			err = ctx.Err()
		case !f.passes(err):
		default:
			if expired(err) {
				f.after, f.now = position{}, false
			}
			err = f.pause(ctx, err)
		}
	}
	yield(Change{}, err)
}

// check refuses what no server needs to see.
func (f *follower) check() error {
	if err := f.options.check(); err != nil {
		return err
	}
	// gRPC's INTERNAL for it would look like a failure that passes.
	if _, err := proto.Marshal(f.request()); err != nil {
		return fmt.Errorf("FollowOptions: %w", err)
	}
	return nil
}

func (f *follower) request() *taskpoolv1.WatchTasksRequest {
	o := &f.options
	r := &taskpoolv1.WatchTasksRequest{Pool: o.Pool, Filter: o.Filter, ExcludeActor: o.ExcludeActor, View: o.View}
	switch {
	case f.after.cursor != "":
		r.Start = &taskpoolv1.WatchTasksRequest_AfterCursor{AfterCursor: f.after.cursor}
	case f.now:
		r.Start = &taskpoolv1.WatchTasksRequest_Now{Now: &taskpoolv1.WatchFromNow{}}
	default:
		r.Start = &taskpoolv1.WatchTasksRequest_Snapshot{Snapshot: &taskpoolv1.WatchFromSnapshot{}}
	}
	return r
}

// conversation is what the stream of request is to be.
func (f *follower) conversation() *conversation {
	c := &conversation{snapshot: f.after.cursor == "" && !f.now, after: f.after, owed: f.after.through != 0}
	if f.after.through == 0 {
		c.last = f.last
	}
	return c
}

// watch opens one stream and yields what it brings. It always returns an error.
func (f *follower) watch(ctx context.Context, yield func(Change, error) bool) error {
	streaming, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// The time runs while a message is waited for, and not while the caller is
	// busy with one.
	silence := time.AfterFunc(f.options.Silence, func() {
		cancel(fmt.Errorf("no message within %v", f.options.Silence))
	})
	defer silence.Stop()
	stream, err := f.client.Tasks().WatchTasks(streaming, f.request())
	if err != nil {
		return because(streaming, err)
	}
	opened := time.Now()
	c := f.conversation()
	for {
		m, err := stream.Recv()
		silence.Stop()
		switch {
		case errors.Is(err, io.EOF):
			return errEnded
		case err != nil:
			return because(streaming, err)
		}
		if f.heard != nil {
			f.heard()
		}
		changes, err := c.take(m)
		if err != nil {
			return err
		}
		if m.GetOpened() != nil {
			opened = time.Now()
			if f.options.OnOpen != nil {
				f.options.OnOpen()
			}
		} else if f.progressed(m, changes, opened) {
			f.wait.reset()
		}
		for _, change := range changes {
			if err := f.deliver(ctx, change, yield); err != nil {
				return err
			}
		}
		silence.Reset(f.options.Silence)
	}
}

// because is why a stream failed: what cancelled it, else what it says.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// progressed tells whether a message after `opened` shows that the connection
// is good for something: a server that only ever opens must not be connected to
// without end. One that has nothing to tell shows it by the time it lasts.
func (f *follower) progressed(m *taskpoolv1.WatchTasksResponse, changes []Change, opened time.Time) bool {
	for _, change := range changes {
		if change.Cursor != f.after.String() {
			return true
		}
	}
	return m.GetProgress() != nil && time.Since(opened) >= f.options.MaxBackoff
}

// deliver yields one Change, and takes note of it.
func (f *follower) deliver(ctx context.Context, change Change, yield func(Change, error) bool) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.after, f.last = parsePosition(change.Cursor), change.Revision
	switch {
	case f.view == nil:
	case change.Snapshot:
		f.view.replace(&change)
	default:
		f.view.apply(change)
	}
	if bare := !change.Snapshot && len(change.Tasks) == 0 && len(change.Graphs) == 0; bare && !f.options.Progress {
		return nil
	}
	if !yield(change, nil) {
		return errLeft
	}
	return nil
}

// lasting are the codes of errors that repeating doesn't mend.
var lasting = []codes.Code{
	codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.PermissionDenied,
	codes.Unauthenticated, codes.Unimplemented,
}

// passes tells whether connecting again may help.
func (f *follower) passes(err error) bool {
	if c, ok := f.client.calls.connection.(interface{ GetState() connectivity.State }); ok && c.GetState() == connectivity.Shutdown {
		return false
	}
	return !slices.Contains(lasting, status.Code(err))
}

// expired tells whether the history after the position is gone. Nothing else is
// out of range in a watch.
func expired(err error) bool { return IsCursorExpired(err) || status.Code(err) == codes.OutOfRange }

// pause waits before the next stream, as long as the server asks for and more.
func (f *follower) pause(ctx context.Context, failure error) error {
	wait := f.wait.next() + min(max(Details(failure).RetryAfter, 0), maxRetryAfter)
	if f.options.OnRetry != nil {
		f.options.OnRetry(failure, wait)
	}
	// gRPC has a back-off of its own, of up to two minutes. What that would keep
	// waiting, this wait has been for. The rest of it is for connecting.
	connecting := min(wait/2, maxConnecting)
	if !sleep(ctx, wait-connecting) {
		return ctx.Err()
	}
	if c, ok := f.client.calls.connection.(interface{ ResetConnectBackoff() }); ok {
		c.ResetConnectBackoff()
	}
	if !sleep(ctx, connecting) {
		return ctx.Err()
	}
	return nil
}
