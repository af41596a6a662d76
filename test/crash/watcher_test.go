package crash_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
)

// watcher is a receiver of WatchTasks that writes down what it sees, and resumes
// by itself after whatever ended its stream.
type watcher struct {
	tr      pooltest.Traffic
	actor   string
	request *taskpoolv1.WatchTasksRequest
	// most is how many messages it takes in a round; 0: all.
	most int
	// stuck: it resumes after the first cursor that it was given, always.
	stuck bool
	first pooltest.Cursor
	// until is the title of the task that ends a round.
	until string
}

// follow watches over as many streams as it takes, until it has seen a task of
// that title or as many messages as it takes in a round. An error is what ended
// a stream, unless it was cut.
func (w *watcher) follow(ctx context.Context, tasks taskpoolv1.TaskServiceClient, title string) error {
	for left := w.most; w.most == 0 || left > 0; {
		cut := 1 + rand.IntN(60)
		if w.most > 0 {
			cut = min(cut, left)
		}
		n, done, err := w.stream(ctx, tasks, cut, title)
		if left -= n; done {
			return nil
		}
		if err != nil {
			return fmt.Errorf("watch %q: %w", w.tr.Name, err)
		}
	}
	return nil
}

// stream takes at most so many messages from one stream.
func (w *watcher) stream(ctx context.Context, tasks taskpoolv1.TaskServiceClient, most int, title string) (n int, done bool, err error) {
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "taskpool-actor", w.actor))
	defer cancel()
	request := proto.CloneOf(w.request)
	after := w.tr.Cursor()
	if w.stuck {
		after = w.first
	}
	if after == (pooltest.Cursor{}) {
		w.tr.Begin(pooltest.FromSnapshot, after)
	} else {
		request.Start = &taskpoolv1.WatchTasksRequest_AfterCursor{AfterCursor: after.Text}
		w.tr.Begin(pooltest.FromCursor, after)
	}
	stream, err := tasks.WatchTasks(ctx, request)
	if err != nil {
		return 0, false, err
	}
	for ; n < most; n++ {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return n, false, fmt.Errorf("the stream ended without an error")
		}
		if err != nil {
			return n, false, err
		}
		if done, err = w.take(m, title); err != nil || done {
			return n, done, err
		}
	}
	return n, false, nil
}

// take writes a message down, and says whether it ends the round.
func (w *watcher) take(m *taskpoolv1.WatchTasksResponse, title string) (done bool, err error) {
	var got pooltest.Message
	if m.Cursor != "" {
		c, err := feed.Parse(m.Cursor)
		if err != nil {
			return false, err
		}
		got.Cursor = pooltest.Cursor{Text: m.Cursor, Revision: c.Revision}
		if w.first == (pooltest.Cursor{}) {
			w.first = got.Cursor
		}
	}
	if m.Revision != got.Cursor.Revision {
		return false, fmt.Errorf("a message at revision %d has a cursor at %d", m.Revision, got.Cursor.Revision)
	}
	switch m := m.Message.(type) {
	case *taskpoolv1.WatchTasksResponse_Opened:
		got.Kind = pooltest.MessageOpened
	case *taskpoolv1.WatchTasksResponse_Snapshot:
		got.Kind = pooltest.MessageSnapshot
		for _, t := range m.Snapshot.Tasks {
			got.Tasks = append(got.Tasks, stateOf(t))
		}
	case *taskpoolv1.WatchTasksResponse_SnapshotEnd:
		got.Kind = pooltest.MessageSnapshotEnd
	case *taskpoolv1.WatchTasksResponse_Changes:
		got.Kind, got.More = pooltest.MessageChanges, m.Changes.More
		for _, c := range m.Changes.Changes {
			got.Changes = append(got.Changes, changeOf(c))
			done = done || c.GetTask().GetTitle() == title && (w.until == leftReady || c.Task.Status == taskpoolv1.TaskStatus_TASK_STATUS_DONE)
		}
	case *taskpoolv1.WatchTasksResponse_Progress:
		got.Kind = pooltest.MessageProgress
	default:
		return false, fmt.Errorf("a message of no known kind: %v", m)
	}
	w.tr.Add(got)
	return done, nil
}

func stateOf(t *taskpoolv1.Task) pooltest.State {
	return pooltest.State{ID: t.Id, Revision: t.Revision, Content: prototext.Format(t), Fields: t}
}

func changeOf(c *taskpoolv1.TaskChange) pooltest.Change {
	change := pooltest.Change{Revision: c.Revision, Task: c.TaskId, Kind: pooltest.Kind(c.Kind)}
	if c.Task != nil {
		s := stateOf(c.Task)
		change.State = &s
	}
	for _, e := range c.Events {
		change.Events = append(change.Events, pooltest.Event{ID: e.Id, Actor: e.Actor, Content: prototext.Format(e)})
	}
	return change
}

// doer is the member that changed a task directly: that raised its version, and
// an event says who it was.
func doer(h pooltest.Happened) string {
	if h.After == nil || h.Before != nil && h.Before.Fields.(*taskpoolv1.Task).Version == h.After.Fields.(*taskpoolv1.Task).Version {
		return ""
	}
	for _, e := range h.Events {
		if e.Actor != "system:pool" {
			return e.Actor
		}
	}
	return ""
}
