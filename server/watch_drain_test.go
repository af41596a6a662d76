package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/feed"
)

// drain begins to drain, and returns what waits for the end.
func (f *fixture) drain(within time.Duration) (wait func()) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	ended := make(chan error, 1)
	go func() { ended <- f.server.Drain(ctx) }()
	return func() {
		f.t.Helper()
		defer cancel()
		if err := <-ended; err != nil {
			f.t.Errorf("drain: %v", err)
		}
	}
}

// A server that stops tells its watches how far they are, and that it is for
// them to come again.
func TestWatch_drain(t *testing.T) {
	s := keep(t)
	f := startOn(t, s)
	f.create("a")
	all := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	none := f.watch(&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{Assignee: "agent:z"}}).opened()
	all.snapshot()
	none.snapshot()
	f.create("b")
	all.changes(1)
	head := f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
	wait := f.drain(5 * time.Second)
	next := startOn(t, s)
	for name, w := range map[string]*watching{"all": all, "none": none} {
		if m := w.next(); m.GetProgress() == nil {
			t.Errorf("%s: the last message is %v", name, m)
		}
		w.ends(codes.Unavailable, "DRAINING")
		at, err := feed.Parse(w.cursor)
		if want, _ := feed.Parse(head); err != nil || at.Revision != want.Revision || at.Nonce != want.Nonce {
			t.Errorf("%s: it is told to go on after %+v, %v; the head is %+v", name, at, err, want)
		}
	}
	wait()
	next.create("c")
	w := next.watch(&taskpoolv1.WatchTasksRequest{Start: after(all.cursor)}).opened()
	if got := told(w.changes(1)); got != "UPSERTED c ready: CREATED" {
		t.Errorf("the next server goes on with %s", got)
	}
}

// A server that stops while a watch is behind does not tell it to go on after
// what it was never sent.
func TestWatch_drainWhileBehind(t *testing.T) {
	s := keep(t)
	f := startOn(t, s)
	w := f.anotherConn().watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	const tasks = 600
	f.fill(tasks, 1000)
	wait := f.drain(30 * time.Second)
	w.ends(codes.Unavailable, "DRAINING")
	wait()
	at, err := feed.Parse(w.cursor)
	if err != nil || at.Revision != w.revision {
		t.Errorf("it has seen up to revision %d, and is told to go on after %+v, %v", w.revision, at, err)
	}
	next := startOn(t, s)
	again := next.watch(&taskpoolv1.WatchTasksRequest{Start: after(w.cursor)}).opened()
	again.upTo(next.list(&taskpoolv1.ReadTaskRequest{}).GetCursor())
	if len(w.tasks)+len(again.tasks) != tasks {
		t.Errorf("%d tasks came before, %d after", len(w.tasks), len(again.tasks))
	}
}

// fill creates tasks, one by one, each with that many bytes.
func (f *fixture) fill(tasks, bytes int) {
	f.t.Helper()
	body := strings.Repeat("x", bytes)
	for i := range tasks {
		if _, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: fmt.Sprint("t", i), Body: body}}); err != nil {
			f.t.Fatal(err)
		}
	}
}

// fillBatch creates tasks at once.
func (f *fixture) fillBatch(tasks, bytes int) {
	f.t.Helper()
	batch := &taskpoolv1.CreateTasksRequest{}
	for i := range tasks {
		batch.Tasks = append(batch.Tasks, &taskpoolv1.NewTask{Title: fmt.Sprint("t", i), Body: strings.Repeat("x", bytes)})
	}
	if _, err := f.tasks.CreateTasks(f.ctx(), batch); err != nil {
		f.t.Fatal(err)
	}
}

// Within a snapshot and within a revision there is nothing to resume after, so
// nothing is told there.
func TestWatch_drainWithin(t *testing.T) {
	for name, c := range map[string]struct {
		before, after int // tasks made before the watch begins, and after
	}{
		"a snapshot": {600, 0},
		"a revision": {0, 600},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			if c.before > 0 {
				f.fillBatch(c.before, 5000)
			}
			w := f.anotherConn().watch(&taskpoolv1.WatchTasksRequest{}).opened()
			if c.after > 0 {
				w.snapshot()
				f.fillBatch(c.after, 5000)
			}
			w.next() // the first part; the others don't fit into what is on its way
			before := w.cursor
			wait := f.drain(30 * time.Second)
			w.ends(codes.Unavailable, "DRAINING")
			wait()
			if (!w.whole || w.parts) && w.cursor != before {
				t.Errorf("it is told to resume at %s", w.cursor)
			}
		})
	}
}

// A watch that nobody reads holds up a server that stops no longer than the
// calls may take, and leaves nothing behind.
func TestWatch_drainUnread(t *testing.T) {
	f := start(t)
	w := f.anotherConn().watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	f.fill(600, 1000)
	f.drain(2 * time.Second)()
	if n := f.registry.Watchers(); n != 0 {
		t.Errorf("%d watches are open", n)
	}
	for {
		if _, err := w.recv(); err != nil {
			if !gone(err) {
				t.Errorf("the watch ended with %v", err)
			}
			break
		}
	}
	_, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{})
	if !gone(err) {
		t.Errorf("a call afterwards gives %v", err)
	}
}
