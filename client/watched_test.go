package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

type (
	watchRequest = *taskpoolv1.WatchTasksRequest
	watchStream  = grpc.ServerStreamingServer[taskpoolv1.WatchTasksResponse]
	message      = *taskpoolv1.WatchTasksResponse
)

// watched is a server of one method. Each call of it is served by the next of
// calls, the last one for ever.
type watched struct {
	taskpoolv1.UnimplementedTaskServiceServer
	calls []func(watchRequest, watchStream) error

	mu       sync.Mutex
	requests []watchRequest
	at       []time.Time
	ended    int
}

func (w *watched) WatchTasks(r watchRequest, stream watchStream) error {
	w.mu.Lock()
	call := w.calls[min(len(w.requests), len(w.calls)-1)]
	w.requests = append(w.requests, r)
	w.at = append(w.at, time.Now())
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.ended++
		w.mu.Unlock()
	}()
	return call(r, stream)
}

// starts are the requests so far, as where they start.
func (w *watched) starts() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []string
	for _, r := range w.requests {
		switch start := r.GetStart().(type) {
		case *taskpoolv1.WatchTasksRequest_AfterCursor:
			all = append(all, start.AfterCursor)
		case *taskpoolv1.WatchTasksRequest_Now:
			all = append(all, "now")
		case *taskpoolv1.WatchTasksRequest_Snapshot:
			all = append(all, "snapshot")
		default:
			all = append(all, "?")
		}
	}
	return strings.Join(all, " ")
}

// pauses are the times between one call and the next.
func (w *watched) pauses() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []time.Duration
	for i := 1; i < len(w.at); i++ {
		all = append(all, w.at[i].Sub(w.at[i-1]))
	}
	return all
}

// call sends the messages, then ends with err; errHang: does nothing until the
// client goes.
func call(err error, messages ...message) func(watchRequest, watchStream) error {
	return func(_ watchRequest, stream watchStream) error {
		for _, m := range messages {
			if err := stream.Send(m); err != nil {
				return err
			}
		}
		if errors.Is(err, errHang) {
			<-stream.Context().Done()
			return stream.Context().Err()
		}
		return err
	}
}

var (
	errHang = errors.New("does nothing until the client goes")
	errAway = status.Error(codes.Unavailable, "away")
)

// watch serves w within the process until the test ends, also inside a bubble.
func watch(t *testing.T, w *watched, opts ...client.Option) *client.Client {
	t.Helper()
	return watchIf(t, w, func() bool { return true }, opts...)
}

// watchIf is watch of a server that can't be reached except if there.
func watchIf(t *testing.T, w *watched, there func() bool, opts ...client.Option) *client.Client {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	g := grpc.NewServer()
	taskpoolv1.RegisterTaskServiceServer(g, w)
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(listener) }()
	connection, err := grpc.NewClient("passthrough:///watched", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			if !there() {
				return nil, errors.New("nobody there")
			}
			return listener.DialContext(ctx)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close(); g.Stop(); <-done })
	return client.New(connection, opts...)
}

func task(id string, revision int64) *taskpoolv1.Task {
	return &taskpoolv1.Task{Id: id, Key: "T-" + strings.TrimLeft(id, "abcdefghijklmnopqrstuvwxyz"), Revision: revision}
}

func opened(cursor string) message {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_Opened{Opened: &taskpoolv1.WatchOpened{}}}
}

func snapshot(tasks ...*taskpoolv1.Task) message {
	return &taskpoolv1.WatchTasksResponse{Message: &taskpoolv1.WatchTasksResponse_Snapshot{Snapshot: &taskpoolv1.WatchSnapshot{Tasks: tasks}}}
}

func snapshotEnd(cursor string) message {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_SnapshotEnd{SnapshotEnd: &taskpoolv1.WatchSnapshotEnd{}}}
}

func progress(cursor string) message {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_Progress{Progress: &taskpoolv1.WatchProgress{}}}
}

// unknown is of a kind that this client doesn't know.
func unknown(cursor string) message { return &taskpoolv1.WatchTasksResponse{Cursor: cursor} }

// changes is a message of changes; without a cursor the last revision goes on.
func changes(cursor string, all ...*taskpoolv1.TaskChange) message {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_Changes{
		Changes: &taskpoolv1.WatchChanges{Changes: all, More: cursor == ""},
	}}
}

// by is the message with the pool's revision by then, which newer servers tell.
func by(revision int64, m message) message {
	m = proto.CloneOf(m)
	m.Revision = revision
	return m
}

func upserted(revision int64, id string) *taskpoolv1.TaskChange {
	return &taskpoolv1.TaskChange{Revision: revision, TaskId: id, Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED, Task: task(id, revision)}
}

func left(revision int64, id string) *taskpoolv1.TaskChange {
	return &taskpoolv1.TaskChange{Revision: revision, TaskId: id, Kind: taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW}
}

func deleted(revision int64, id string) *taskpoolv1.TaskChange {
	return &taskpoolv1.TaskChange{Revision: revision, TaskId: id, Kind: taskpoolv1.ChangeKind_CHANGE_KIND_DELETED}
}

// told is a Change in a line: "5@cursor +a -b", a snapshot "=5@cursor …"; "+" is
// UPSERTED, "-" LEFT_VIEW, "x" DELETED.
func told(c client.Change) string {
	var b strings.Builder
	if c.Snapshot {
		b.WriteString("=")
	}
	cursor := c.Cursor
	if i := strings.LastIndex(cursor, "~"); i >= 0 {
		cursor = cursor[:i] // without the fingerprint
	}
	fmt.Fprintf(&b, "%d@%s", c.Revision, cursor)
	signs := map[taskpoolv1.ChangeKind]string{
		taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED: "+", taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW: "-", taskpoolv1.ChangeKind_CHANGE_KIND_DELETED: "x",
	}
	for _, t := range c.Tasks {
		fmt.Fprintf(&b, " %s%s", signs[t.GetKind()], t.GetTaskId())
	}
	for _, g := range c.Graphs {
		fmt.Fprintf(&b, " %s%s", signs[g.GetKind()], g.GetGraphId())
	}
	return b.String()
}

// followed ranges until n Changes came, or an error, and tells all.
func followed(ctx context.Context, c *client.Client, n int, o client.FollowOptions) (lines []string, err error) {
	for change, err := range client.Follow(ctx, c, o) {
		if err != nil {
			return lines, err
		}
		if lines = append(lines, told(change)); len(lines) == n {
			break
		}
	}
	return lines, nil
}

// follows fails the test unless exactly these Changes come first.
func follows(t *testing.T, c *client.Client, o client.FollowOptions, want ...string) {
	t.Helper()
	got, err := followed(t.Context(), c, len(want), o)
	if err != nil {
		t.Errorf("ended with %v", err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
