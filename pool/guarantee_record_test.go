package pool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// recorder is a receiver of a watch that writes down what it sees, over all the
// streams that it takes.
type recorder struct {
	tr      pooltest.Traffic
	actor   string
	options pool.WatchOptions
	// pool is where the open watch is, nil where it was cut.
	pool  *pool.Pool
	watch *pool.Watch
	// shown: the snapshot, if there is one, was shown whole.
	shown bool
	// given are the cursors to resume after.
	given []feed.Cursor
}

// open begins a stream: after a cursor that was given, or else as the watch is
// meant to begin.
func (r *recorder) open(ctx context.Context, p *pool.Pool, after *feed.Cursor) error {
	o := r.options
	if after != nil {
		o.Start, o.After = pool.FromCursor, *after
	}
	w, err := p.Watch(ctx, r.actor, o)
	if err != nil {
		return err
	}
	r.pool, r.watch, r.shown = p, w, o.Start != pool.FromSnapshot
	start := map[pool.WatchStart]pooltest.Start{
		pool.FromSnapshot: pooltest.FromSnapshot, pool.FromNow: pooltest.FromNow, pool.FromCursor: pooltest.FromCursor,
	}[o.Start]
	opened := pooltest.Message{Kind: pooltest.MessageOpened}
	if start == pooltest.FromCursor {
		r.tr.Begin(start, position(o.After))
	} else {
		r.tr.Begin(start, pooltest.Cursor{})
		r.given = nil
	}
	if r.shown {
		opened.Cursor = r.position()
	}
	r.tr.Add(opened)
	return nil
}

// cut ends the stream.
func (r *recorder) cut() {
	if r.watch != nil {
		r.watch.Close()
	}
	r.pool, r.watch = nil, nil
}

// next receives one message: what there is, or that there is nothing once quiet
// is due.
func (r *recorder) next(ctx context.Context, quiet <-chan time.Time) error {
	if !r.shown {
		return r.snapshot(ctx)
	}
	b, err := r.watch.Next(ctx, quiet)
	if err != nil {
		return err
	}
	m := pooltest.Message{Kind: pooltest.MessageProgress, More: b.More}
	for _, c := range b.Changes {
		change, err := recorded(c)
		if err != nil {
			return err
		}
		m.Kind, m.Changes = pooltest.MessageChanges, append(m.Changes, change)
	}
	if b.Cursor != (feed.Cursor{}) {
		m.Cursor = position(b.Cursor)
		r.given = append(r.given, b.Cursor)
	}
	r.tr.Add(m)
	return nil
}

func (r *recorder) snapshot(ctx context.Context) error {
	part, err := r.watch.Snapshot(ctx)
	if err != nil {
		return err
	}
	m := pooltest.Message{Kind: pooltest.MessageSnapshot}
	for _, t := range part {
		s, err := stateOf(t)
		if err != nil {
			return err
		}
		m.Tasks = append(m.Tasks, s)
	}
	if len(part) == 0 {
		r.shown = true
		m.Kind, m.Cursor = pooltest.MessageSnapshotEnd, r.position()
	}
	r.tr.Add(m)
	return nil
}

// position is that of the watch, which may be resumed after.
func (r *recorder) position() pooltest.Cursor {
	c := r.watch.Cursor()
	r.given = append(r.given, c)
	return position(c)
}

func position(c feed.Cursor) pooltest.Cursor {
	return pooltest.Cursor{Text: c.String(), Revision: c.Revision}
}

// recorded is a change as guarantees look at it. What is encoded for the wire
// has to tell the same as the change.
func recorded(c pool.WatchChange) (pooltest.Change, error) {
	change := pooltest.Change{Revision: c.Revision, Task: c.TaskID, Kind: pooltest.Kind(c.Kind)}
	wire := &taskpoolv1.TaskChange{Revision: c.Revision, TaskId: c.TaskID, Kind: taskpoolv1.ChangeKind(c.Kind)}
	if c.Task != nil {
		s, err := stateOf(c.Task)
		if err != nil {
			return change, err
		}
		change.State = &s
		if wire.Task, err = onWire[taskpoolv1.Task](taskpb.Codec{}.EncodeTask(c.Task)); err != nil {
			return change, err
		}
	}
	for _, e := range c.Events {
		m, err := onWire[taskpoolv1.TaskEvent](taskpb.Codec{}.EncodeEvent(e))
		if err != nil {
			return change, err
		}
		wire.Events = append(wire.Events, m)
		change.Events = append(change.Events, pooltest.Event{ID: e.ID, Actor: e.Actor, Content: prototext.Format(m)})
	}
	if c.Encoded == nil {
		return change, nil
	}
	got, err := onWire[taskpoolv1.WatchChanges](c.Encoded, nil)
	if err != nil || len(got.Changes) != 1 || !proto.Equal(got.Changes[0], wire) {
		return change, fmt.Errorf("%v is encoded as %v (%w)", wire, got, err)
	}
	return change, nil
}

// onWire reads a message.
func onWire[M any, P interface {
	*M
	proto.Message
}](b []byte, err error) (P, error) {
	m := P(new(M))
	if err != nil {
		return m, err
	}
	return m, proto.Unmarshal(b, m)
}

// stateOf is a task as the feed tells of it.
func stateOf(t *task.Task) (pooltest.State, error) {
	m, err := onWire[taskpoolv1.Task](taskpb.Codec{}.EncodeTask(t))
	return pooltest.State{ID: t.ID, Revision: t.Revision, Content: prototext.Format(m), Fields: t}, err
}

// statesOf is a listing as guarantees look at it.
func statesOf(tasks []*task.Task) (states []pooltest.State, err error) {
	for _, t := range tasks {
		s, e := stateOf(t)
		states, err = append(states, s), errors.Join(err, e)
	}
	return states, err
}
