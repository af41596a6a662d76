package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
)

// lastWord is how long the last message of a watch may take when the server
// drains, or its caller has gone.
const lastWord = time.Second

// tooSlowError ends a watch whose caller does not read.
type tooSlowError struct {
	// cursor is the last one that was sent, "" for none.
	cursor string
	within time.Duration
}

func (e *tooSlowError) Error() string {
	return fmt.Sprintf("no message was taken for %s, so the watch has ended; watch again after the last cursor that you have, and read without pause", e.within)
}

// watchRun is one watch on its way to its caller. A goroutine of its own pulls
// changes from the pool and is the one that sends; the handler looks after it,
// since a Send waits for as long as the caller does not read, and ends only when
// the handler returns.
type watchRun struct {
	server *Server
	stream grpc.ServerStream
	watch  *pool.Watch
	start  pool.WatchStart
	view   watchView
	// done lets go of the watch and of the pool.
	done func()

	// begun is when the watch began. sending is since when a message is being
	// sent, in nanoseconds after begun; 0: none is.
	begun   time.Time
	sending atomic.Int64
	// sent is the last cursor that was sent.
	sent atomic.Pointer[string]

	// The sender's own: spoke is when a message was last sent, pause how long it
	// may be silent then.
	spoke time.Time
	pause time.Duration
}

// supervise runs the watch until it ends, and returns why.
func (r *watchRun) supervise(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	metrics := r.server.metrics
	r.begun = time.Now()
	ended := make(chan error, 1)
	r.server.work.Go(func() {
		err := r.run(ctx)
		r.done() // before anybody hears of it, and may want the watch's place
		ended <- err
	})
	err := r.wait(ctx, ended)
	metrics.watchEnded(err)
	return err
}

// wait waits for the sender's end, for SendTimeout where it is stuck, and not
// much longer than ctx.
func (r *watchRun) wait(ctx context.Context, ended <-chan error) error {
	limit := r.server.cfg.SendTimeout
	timer := time.NewTimer(limit)
	defer timer.Stop()
	over := ctx.Done()
	for {
		select {
		case err := <-ended:
			return r.because(ctx, err)
		case <-over:
			over = nil
			timer.Reset(min(lastWord, limit))
		case <-timer.C:
			if over == nil {
				return r.because(ctx, ctx.Err())
			}
			stuck := r.stuck()
			if stuck >= limit {
				return &tooSlowError{cursor: r.lastCursor(), within: limit}
			}
			timer.Reset(limit - stuck)
		}
	}
}

// because is why a watch ended with an error: what the drain cuts off is told
// so, and a connection that broke is the caller's leaving.
func (r *watchRun) because(ctx context.Context, err error) error {
	if ctx.Err() != nil && r.server.isDraining() {
		return &pool.UnavailableError{Reason: pool.ReasonDraining, Cause: err}
	}
	switch status.Code(err) { // of gRPC: no other error here is a status
	case codes.Unavailable, codes.Canceled, codes.DeadlineExceeded:
		return fmt.Errorf("the caller has gone: %w", context.Canceled)
	}
	return err
}

// stuck is how long the message under way has been so.
func (r *watchRun) stuck() time.Duration {
	since := r.sending.Load()
	if since == 0 {
		return 0
	}
	return time.Since(r.begun) - time.Duration(since)
}

func (r *watchRun) lastCursor() string {
	if c := r.sent.Load(); c != nil {
		return *c
	}
	return ""
}

// run sends until ctx ends, the pool ends the watch, or the caller has gone. It
// never returns nil.
func (r *watchRun) run(ctx context.Context) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = r.server.recovered(ctx, value)
		}
	}()
	if err := r.open(ctx); err != nil {
		return err
	}
	r.pause = r.nextPause()
	quiet := time.NewTimer(r.pause)
	defer quiet.Stop()
	for {
		batch, err := r.watch.Next(ctx, quiet.C)
		switch {
		case err != nil:
			return r.end(ctx, err)
		case len(batch.Changes) > 0:
			err = r.changes(batch)
		default:
			err = r.progress(batch, quiet)
		}
		if err != nil {
			return err
		}
	}
}

// open tells that the watch is open, and the present state where the watch
// starts with it.
func (r *watchRun) open(ctx context.Context) error {
	if r.start != pool.FromSnapshot {
		return r.send(openedMessage(r.watch.Cursor()))
	}
	if err := r.send(openedMessage(feed.Cursor{})); err != nil {
		return err
	}
	for {
		tasks, err := r.watch.Snapshot(ctx)
		if err != nil {
			return err
		}
		if len(tasks) == 0 {
			return r.send(snapshotEndMessage(r.watch.Cursor()))
		}
		err = r.view.snapshotParts(tasks, func(m *taskpoolv1.WatchTasksResponse, size int) error {
			return r.sendSized(m, size, "")
		})
		if err != nil {
			return err
		}
	}
}

func (r *watchRun) changes(batch pool.WatchBatch) error {
	f, err := r.view.changes(batch)
	if err != nil {
		return err
	}
	if err := r.sendSized(f, f.size, cursorText(batch.Cursor)); err != nil {
		return err
	}
	r.server.metrics.watchChanges.Add(float64(len(batch.Changes)))
	return nil
}

// progress tells how far the feed was looked through, when nothing was sent for
// a while. The timer is not set anew with every message, so it may fire early.
func (r *watchRun) progress(batch pool.WatchBatch, quiet *time.Timer) error {
	if left := r.pause - time.Since(r.spoke); left > 0 {
		quiet.Reset(left)
		return nil
	}
	r.pause = r.nextPause()
	quiet.Reset(r.pause)
	return r.send(progressMessage(batch.Cursor))
}

// end says how far the watch has come, when the server drains, so that its
// caller goes on from there. The pool ends no watch within a revision.
func (r *watchRun) end(ctx context.Context, err error) error {
	if ctx.Err() != nil && r.server.isDraining() {
		_ = r.send(progressMessage(r.watch.Cursor())) // the end is the same without
	}
	return err
}

// nextPause is how long a watch is silent, a little different each time so that
// watches that began together don't speak together.
func (r *watchRun) nextPause() time.Duration {
	usual := r.server.cfg.WatchProgress
	return usual - usual/5 + rand.N(max(usual*2/5, 1))
}

func (r *watchRun) send(m *taskpoolv1.WatchTasksResponse) error {
	return r.sendSized(m, proto.Size(m), m.GetCursor())
}

// sendSized sends a message with that size and cursor. Only run's goroutine may.
func (r *watchRun) sendSized(m any, size int, cursor string) error {
	r.sending.Store(int64(max(time.Since(r.begun), 1)))
	err := r.stream.SendMsg(m)
	r.sending.Store(0)
	if err != nil {
		return err
	}
	if cursor != "" {
		r.sent.Store(&cursor)
	}
	r.spoke = time.Now()
	r.server.metrics.watchBytes.Add(float64(size))
	return nil
}
