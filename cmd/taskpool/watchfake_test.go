package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// watchFake is a server that can only be watched, and asked for single tasks.
// Each watch gets the next of its conversations, the last one for ever; a nil
// error at its end has it wait until the client goes.
type watchFake struct {
	taskpoolv1.UnimplementedTaskServiceServer
	addr          string
	conversations []conversation

	mu    sync.Mutex
	asked []*taskpoolv1.WatchTasksRequest
}

type conversation struct {
	messages []*taskpoolv1.WatchTasksResponse
	end      error
}

func newWatchFake(t *testing.T, conversations ...conversation) *watchFake {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &watchFake{addr: listener.Addr().String(), conversations: conversations}
	g := grpc.NewServer()
	taskpoolv1.RegisterTaskServiceServer(g, f)
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-done })
	return f
}

func (f *watchFake) WatchTasks(r *taskpoolv1.WatchTasksRequest, stream grpc.ServerStreamingServer[taskpoolv1.WatchTasksResponse]) error {
	f.mu.Lock()
	c := f.conversations[min(len(f.asked), len(f.conversations)-1)]
	f.asked = append(f.asked, r)
	f.mu.Unlock()
	for _, m := range c.messages {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	if c.end == nil {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	return c.end
}

func (f *watchFake) ReadTask(_ context.Context, r *taskpoolv1.ReadTaskRequest) (*taskpoolv1.ReadTaskResponse, error) {
	if r.GetId() == id(8) {
		return &taskpoolv1.ReadTaskResponse{Task: &taskpoolv1.Task{Id: id(8), Key: "T-8", Title: "Outside"}}, nil
	}
	return nil, status.Error(codes.NotFound, "no such task")
}

// stopper ends a run when it has written a text.
type stopper struct {
	mu   sync.Mutex
	text bytes.Buffer
	at   string
	stop func()
}

func (s *stopper) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	if s.at != "" && strings.Contains(s.text.String(), s.at) {
		s.stop()
	}
	return n, err
}

// watch runs the program until it ends, or is interrupted once the text is
// there: in the output, or, as "err:text", in standard error.
func (f *watchFake) watch(t *testing.T, until string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, errs := &stopper{at: until, stop: cancel}, &stopper{}
	if text, ok := strings.CutPrefix(until, "err:"); ok {
		out.at, errs.at, errs.stop = "", text, cancel
	}
	a := &app{
		env: func(string) (string, bool) { return "", false },
		in:  strings.NewReader(""), out: out, err: errs, now: func() time.Time { return noon },
	}
	code := a.run(ctx, append([]string{"watch", "--addr", f.addr}, args...))
	return result{code, out.text.String(), errs.text.String()}
}

func openedMessage(cursor string) *taskpoolv1.WatchTasksResponse {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_Opened{Opened: &taskpoolv1.WatchOpened{}}}
}

// presentMessages are a whole snapshot.
func presentMessages(cursor string, tasks ...*taskpoolv1.Task) []*taskpoolv1.WatchTasksResponse {
	return []*taskpoolv1.WatchTasksResponse{
		openedMessage(""),
		{Message: &taskpoolv1.WatchTasksResponse_Snapshot{Snapshot: &taskpoolv1.WatchSnapshot{Tasks: tasks}}},
		{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_SnapshotEnd{SnapshotEnd: &taskpoolv1.WatchSnapshotEnd{}}},
	}
}

func changesMessage(cursor string, changes ...*taskpoolv1.TaskChange) *taskpoolv1.WatchTasksResponse {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_Changes{Changes: &taskpoolv1.WatchChanges{Changes: changes}}}
}

func progressMessage(cursor string) *taskpoolv1.WatchTasksResponse {
	return &taskpoolv1.WatchTasksResponse{Cursor: cursor, Message: &taskpoolv1.WatchTasksResponse_Progress{Progress: &taskpoolv1.WatchProgress{}}}
}

func upsert(t *taskpoolv1.Task, events ...*taskpoolv1.TaskEvent) *taskpoolv1.TaskChange {
	return &taskpoolv1.TaskChange{Revision: t.GetRevision(), TaskId: t.GetId(), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED, Task: t, Events: events}
}

func statusEvent(hour int, actor string, from, to taskpoolv1.TaskStatus) *taskpoolv1.TaskEvent {
	return &taskpoolv1.TaskEvent{
		At: when(hour), Actor: actor, Kind: taskpoolv1.TaskEventKind_TASK_EVENT_KIND_STATUS,
		Detail: &taskpoolv1.TaskEvent_Status{Status: &taskpoolv1.StatusDetail{From: from, To: to}},
	}
}

const (
	pending    = taskpoolv1.TaskStatus_TASK_STATUS_PENDING
	ready      = taskpoolv1.TaskStatus_TASK_STATUS_READY
	inProgress = taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS
	done       = taskpoolv1.TaskStatus_TASK_STATUS_DONE
)

// reader and parser are two tasks, the second after the first, at a revision.
func reader(revision int64, s taskpoolv1.TaskStatus) *taskpoolv1.Task {
	return &taskpoolv1.Task{Id: id(1), Key: "T-1", Title: "Write the reader", Status: s, Revision: revision, UpdatedAt: when(9)}
}

func parser(revision int64, s taskpoolv1.TaskStatus) *taskpoolv1.Task {
	t := &taskpoolv1.Task{Id: id(2), Key: "T-2", Title: "Write\nthe parser", Status: s, Revision: revision, UpdatedAt: when(9)}
	if s == pending {
		t.UnfinishedDependencyIds = []string{id(1)}
	}
	return t
}
