package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
)

// watching is a watch that a test reads, and what somebody has who applies all
// that it tells.
type watching struct {
	t      testing.TB
	stream grpc.ServerStreamingClient[taskpoolv1.WatchTasksResponse]
	leave  context.CancelFunc
	// cursor is the last one, tasks the view by id.
	cursor string
	tasks  map[string]*taskpoolv1.Task
	// begun: `opened` has come; whole: the snapshot is, or there is none; parts:
	// a revision goes on.
	begun, whole, parts bool
	// complete: it began with a snapshot, so it knows all that is in the view.
	complete bool
	revision int64
	seen     map[string]bool
}

// watch opens a watch until the test's end.
func (f *fixture) watch(req *taskpoolv1.WatchTasksRequest, options ...grpc.CallOption) *watching {
	f.t.Helper()
	ctx, leave := context.WithCancel(f.ctx())
	f.t.Cleanup(leave)
	stream, err := f.tasks.WatchTasks(ctx, req, options...)
	if err != nil {
		f.t.Fatalf("watch %v: %v", req, err)
	}
	snapshot := req.GetNow() == nil && req.GetAfterCursor() == ""
	return &watching{
		t: f.t, stream: stream, leave: leave, tasks: map[string]*taskpoolv1.Task{}, seen: map[string]bool{},
		whole: !snapshot, complete: snapshot,
	}
}

func now() *taskpoolv1.WatchTasksRequest_Now {
	return &taskpoolv1.WatchTasksRequest_Now{Now: &taskpoolv1.WatchFromNow{}}
}

func after(cursor string) *taskpoolv1.WatchTasksRequest_AfterCursor {
	return &taskpoolv1.WatchTasksRequest_AfterCursor{AfterCursor: cursor}
}

// recv reads one message, checks that it may come now, and applies it.
func (w *watching) recv() (*taskpoolv1.WatchTasksResponse, error) {
	w.t.Helper()
	m, err := w.stream.Recv()
	if err != nil {
		return nil, err
	}
	if err := w.apply(m); err != nil {
		w.t.Fatalf("%v: %v", err, m)
	}
	return m, nil
}

// next is recv where nothing may go wrong.
func (w *watching) next() *taskpoolv1.WatchTasksResponse {
	w.t.Helper()
	m, err := w.recv()
	if err != nil {
		w.t.Fatalf("the watch ended: %v", err)
	}
	return m
}

// apply takes in a message, or says which promise of the API it breaks.
func (w *watching) apply(m *taskpoolv1.WatchTasksResponse) error {
	if _, ok := m.GetMessage().(*taskpoolv1.WatchTasksResponse_Opened); ok == w.begun {
		return errors.New("`opened` comes first, and once")
	}
	within := !w.whole || m.GetChanges().GetMore()
	switch body := m.GetMessage().(type) {
	case *taskpoolv1.WatchTasksResponse_Opened:
		w.begun = true
	case *taskpoolv1.WatchTasksResponse_Snapshot:
		if w.whole {
			return errors.New("a part of a snapshot that is whole")
		}
		if len(body.Snapshot.GetTasks()) == 0 || len(body.Snapshot.GetTasks()) > 256 {
			return errors.New("a part of the snapshot has no tasks, or too many")
		}
		for _, t := range body.Snapshot.GetTasks() {
			if w.tasks[t.GetId()] != nil {
				return errors.New("the snapshot has a task twice")
			}
			w.tasks[t.GetId()] = t
		}
	case *taskpoolv1.WatchTasksResponse_SnapshotEnd:
		if w.whole {
			return errors.New("the snapshot ends twice")
		}
		w.whole, within = true, false
	case *taskpoolv1.WatchTasksResponse_Changes:
		if !w.whole {
			return errors.New("changes within the snapshot")
		}
		if err := w.change(body.Changes); err != nil {
			return err
		}
	case *taskpoolv1.WatchTasksResponse_Progress:
		if !w.whole || w.parts {
			return errors.New("progress within a snapshot or a revision")
		}
	default:
		return errors.New("a message of no kind")
	}
	if within != (m.GetCursor() == "") {
		return errors.New("a cursor where there is nothing to resume, or none where there is")
	}
	if c, err := feed.Parse(m.GetCursor()); m.GetCursor() != "" && err != nil || c.Revision != m.GetRevision() {
		return errors.New("the revision is not that of the cursor")
	}
	if m.GetCursor() != "" {
		w.cursor = m.GetCursor()
	}
	return nil
}

func (w *watching) change(m *taskpoolv1.WatchChanges) error {
	if len(m.GetChanges()) == 0 || len(m.GetChanges()) > 256 {
		return errors.New("a message has no changes, or too many")
	}
	for _, c := range m.GetChanges() {
		if c.GetRevision() < w.revision || c.GetRevision() > w.revision && w.parts {
			return fmt.Errorf("revision %d comes after %d", c.GetRevision(), w.revision)
		}
		w.revision = c.GetRevision()
		once := fmt.Sprintf("%d %s", c.GetRevision(), c.GetTaskId())
		if w.seen[once] {
			return fmt.Errorf("%s comes twice", once)
		}
		w.seen[once] = true
		if (c.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED) != (c.GetTask() != nil) {
			return errors.New("a task is told of where it may not be, or the other way round")
		}
		if c.GetTask() != nil {
			w.tasks[c.GetTaskId()] = c.GetTask()
			continue
		}
		if w.tasks[c.GetTaskId()] == nil && w.complete {
			return errors.New("a departure of what was not in the view")
		}
		delete(w.tasks, c.GetTaskId())
	}
	w.parts = m.GetMore()
	return nil
}

// snapshot reads to the end of the snapshot, and returns its tasks by title.
func (w *watching) snapshot() string {
	w.t.Helper()
	for !w.whole {
		w.next()
	}
	return w.titles()
}

// titles are those of the view, in order.
func (w *watching) titles() string {
	var all []string
	for _, t := range w.tasks {
		all = append(all, t.GetTitle())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// opened reads `opened`.
func (w *watching) opened() *watching {
	w.t.Helper()
	if m := w.next(); m.GetOpened() == nil {
		w.t.Fatalf("the watch begins with %v", m)
	}
	return w
}

// changes reads until that many changes have come.
func (w *watching) changes(n int) []*taskpoolv1.TaskChange {
	w.t.Helper()
	var all []*taskpoolv1.TaskChange
	for len(all) < n {
		all = append(all, w.next().GetChanges().GetChanges()...)
	}
	if len(all) > n {
		w.t.Fatalf("%d changes came, not %d: %v", len(all), n, all)
	}
	return all
}

// told is a change in short: "3 T-1 UPSERTED ready: STATUS".
func told(changes []*taskpoolv1.TaskChange) string {
	var all []string
	for _, c := range changes {
		s := strings.TrimPrefix(c.GetKind().String(), "CHANGE_KIND_")
		if t := c.GetTask(); t != nil {
			s += " " + t.GetTitle() + " " + strings.ToLower(strings.TrimPrefix(t.GetStatus().String(), "TASK_STATUS_"))
		}
		for i, e := range c.GetEvents() {
			s += map[bool]string{true: ": ", false: ", "}[i == 0] + strings.TrimPrefix(e.GetKind().String(), "TASK_EVENT_KIND_")
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

// ends reads until the watch ends, and checks how.
func (w *watching) ends(code codes.Code, reason string) refusal {
	w.t.Helper()
	for {
		_, err := w.recv()
		if errors.Is(err, io.EOF) {
			w.t.Fatal("the watch ended as if it were finished")
		}
		if err != nil {
			return refused(w.t, err, code, pool.Reason(reason))
		}
	}
}

// upTo reads until the view is that of the revision of a cursor, or later.
func (w *watching) upTo(cursor string) {
	w.t.Helper()
	want, err := feed.Parse(cursor)
	if err != nil {
		w.t.Fatal(err)
	}
	for {
		if have, _ := feed.Parse(w.cursor); w.whole && !w.parts && have.Revision >= want.Revision {
			return
		}
		w.next()
	}
}

// isListing checks that the view is what a listing of the filter gives.
func (w *watching) isListing(f *fixture, filter *taskpoolv1.TaskFilter) {
	w.t.Helper()
	if filter == nil {
		filter = &taskpoolv1.TaskFilter{IncludeClosed: true}
	}
	req := &taskpoolv1.ReadTaskRequest{Filter: filter, View: taskpoolv1.TaskView_TASK_VIEW_FULL, PageSize: 1000}
	listed := 0
	for {
		page := f.list(req)
		for _, t := range page.GetTasks() {
			listed++
			if !proto.Equal(t, w.tasks[t.GetId()]) {
				w.t.Errorf("the watch has\n%v, the listing\n%v", w.tasks[t.GetId()], t)
			}
		}
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	if listed != len(w.tasks) {
		w.t.Errorf("the watch has %d tasks, the listing %d", len(w.tasks), listed)
	}
}

// gone says whether an error is the end of a connection or server.
func gone(err error) bool {
	return status.Code(err) == codes.Unavailable || status.Code(err) == codes.Canceled
}
