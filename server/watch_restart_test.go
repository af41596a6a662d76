package server_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// durable is a server over a data directory, and what stops it as SIGTERM does.
func durable(t *testing.T, dir string) (f *fixture, stop func()) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f = startConfig(t, pool.Config{Store: s, RingEntries: 8})
	return f, func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := f.server.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		_ = f.conn.Close()
		f.registry.Close()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func (f *fixture) made(title string) string {
	f.t.Helper()
	resp, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: title}})
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.GetCursor()
}

// After a restart every cursor is answered at once: what is there goes on, what
// is not is told.
func TestWatch_restart(t *testing.T) {
	dir := t.TempDir()
	f, stop := durable(t, dir)
	beginning := f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
	w := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	w.snapshot()
	var cursors []string
	for range 30 {
		cursors = append(cursors, f.made("t"))
	}
	w.changes(30)
	stop()
	w.ends(codes.Unavailable, "DRAINING")

	f, stop = durable(t, dir)
	live := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(w.cursor)}).opened()
	lagging := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(cursors[9])}).opened()
	first := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(beginning)}).opened()
	lagging.changes(20)
	first.changes(30)
	f.create("news")
	for name, w := range map[string]*watching{"live": live, "lagging": lagging, "first": first} {
		if got := told(w.changes(1)); got != "UPSERTED news ready: CREATED" {
			t.Errorf("%s: then comes %s", name, got)
		}
	}
	first.isListing(f, nil)
	stop()

	s, err := sqlite.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trim(t.Context(), "pool/default", revisionOf(t, cursors[19])); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, stop = durable(t, dir)
	defer stop()
	_, err = f.watch(&taskpoolv1.WatchTasksRequest{Start: after(cursors[9])}).stream.Recv()
	r := refused(t, err, codes.OutOfRange, pool.ReasonCursorExpired)
	oldest := revisionOf(t, r.info.GetMetadata()["oldest"])
	if oldest > revisionOf(t, cursors[19]) {
		t.Errorf("the oldest is revision %d", oldest)
	}
	f.watch(&taskpoolv1.WatchTasksRequest{Start: after(r.info.GetMetadata()["oldest"])}).opened().upTo(r.info.GetMetadata()["head"])
	f.watch(&taskpoolv1.WatchTasksRequest{Start: after(w.cursor)}).opened().changes(1)
}

// A cursor of what a restored backup does not have is refused, also when as many
// revisions have come since.
func TestWatch_restoredBackup(t *testing.T) {
	dir, restored := t.TempDir(), t.TempDir()
	f, stop := durable(t, dir)
	kept := f.made("kept")
	if err := sqlite.Backup(t.Context(), dir, filepath.Join(restored, "copy.db")); err != nil {
		t.Fatal(err)
	}
	lost := []string{f.made("lost"), f.made("lost"), f.made("lost")}
	w := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	w.snapshot()
	lost = append(lost, w.cursor)
	stop()
	if err := os.Rename(filepath.Join(restored, "copy.db"), filepath.Join(restored, databaseName(t, dir))); err != nil {
		t.Fatal(err)
	}

	f, stop = durable(t, restored)
	defer stop()
	for round, more := range []int{0, 1, 1, 5} {
		for range more {
			f.create("anew")
		}
		for i, cursor := range lost {
			_, err := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(cursor)}).stream.Recv()
			r := refused(t, err, codes.OutOfRange, pool.ReasonCursorExpired)
			if _, err := feed.Parse(r.info.GetMetadata()["head"]); err != nil {
				t.Errorf("round %d, cursor %d: the head is %v", round, i, err)
			}
		}
	}
	f.watch(&taskpoolv1.WatchTasksRequest{Start: after(kept)}).opened().changes(7)
}

// databaseName is how the store calls its file.
func databaseName(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.db"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the data is in %v, %v", files, err)
	}
	return filepath.Base(files[0])
}

// Clearing a pool ends the watches on it, with cursors that work.
func TestWatch_clearPool(t *testing.T) {
	f := start(t)
	f.fillBatch(600, 1000)
	idle := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	idle.snapshot()
	filtered := f.watch(&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{Assignee: "agent:z"}}).opened()
	filtered.snapshot()
	reading := f.anotherConn().watch(&taskpoolv1.WatchTasksRequest{}).opened() // the snapshot of what was is under way
	reading.next()
	human := f.as(task.Human)
	cleared, err := human.pools.ClearPool(human.ctx(), &taskpoolv1.ClearPoolRequest{ConfirmName: "default"})
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]*watching{"idle": idle, "filtered": filtered, "within the snapshot": reading} {
		r := w.ends(codes.OutOfRange, "CURSOR_EXPIRED")
		if head, err := feed.Parse(r.info.GetMetadata()["head"]); err != nil || head.Epoch != cleared.GetPool().GetEpoch() {
			t.Errorf("%s: the head is %+v, %v; the pool is %v", name, head, err, cleared.GetPool())
		}
		again := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(r.info.GetMetadata()["oldest"])}).opened()
		title := "after " + name
		f.create(title)
		for !strings.Contains(again.titles(), title) {
			again.next()
		}
		f.watch(&taskpoolv1.WatchTasksRequest{Start: after(r.info.GetMetadata()["head"])}).opened()
		_, err := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(idle.cursor)}).stream.Recv()
		refused(t, err, codes.OutOfRange, pool.ReasonCursorExpired)
	}
}
