package server_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/server"
)

// A watch that nobody reads is ended after SendTimeout, and lets go of all that
// it took. Whoever reads at last gets what was sent, and why no more came, and
// can go on from there. Others don't notice.
func TestWatch_neverRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		reader := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
		slow := f.anotherConn()
		slow.list(&taskpoolv1.ReadTaskRequest{})
		synctest.Wait()
		goroutines := runtime.NumGoroutine()
		w := slow.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
		const tasks = 600
		f.fill(tasks, 1000)
		reader.changes(tasks)
		time.Sleep(29 * time.Second)
		if n := f.registry.Watchers(); n != 2 {
			t.Errorf("after 29 s %d watches are open", n)
		}
		time.Sleep(2 * time.Second)
		if n := f.registry.Watchers(); n != 1 {
			t.Errorf("after 31 s %d watches are open", n)
		}
		r := w.ends(codes.ResourceExhausted, "WATCHER_TOO_SLOW")
		if got := r.info.GetMetadata()["cursor"]; got != w.cursor || len(w.tasks) == 0 || len(w.tasks) == tasks {
			t.Errorf("it was sent %d tasks, and is told to go on after %s, not %s", len(w.tasks), got, w.cursor)
		}
		synctest.Wait()
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("there are %d goroutines, %d before", n, goroutines)
		}
		again := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(w.cursor)}).opened()
		again.changes(tasks - len(w.tasks))
		f.create("news")
		reader.changes(1)
		again.changes(1)
	})
}

// A watch may be silent for as long as it likes while its caller does not read:
// nothing waits for it.
func TestWatch_neverReadAndIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()})
		time.Sleep(4 * time.Minute)
		if n := f.registry.Watchers(); n != 1 {
			t.Fatalf("%d watches are open", n)
		}
		w.opened()
		for range 10 {
			if m := w.next(); m.GetProgress() == nil {
				t.Errorf("what comes is %v", m)
			}
		}
	})
}

// A snapshot that nobody reads ends in the same way, with no cursor to go on
// from.
func TestWatch_neverReadSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		f.fillBatch(1000, 1000)
		w := f.anotherConn().watch(&taskpoolv1.WatchTasksRequest{})
		time.Sleep(31 * time.Second)
		if n := f.registry.Watchers(); n != 0 {
			t.Errorf("%d watches are open", n)
		}
		r := w.ends(codes.ResourceExhausted, "WATCHER_TOO_SLOW")
		if cursor, ok := r.info.GetMetadata()["cursor"]; ok {
			t.Errorf("it is told to go on after %q", cursor)
		}
	})
}

// A thousand watches that nobody reads cost little while much is written, keep
// nobody from reading, and are gone in the end.
func TestWatch_manyNeverRead(t *testing.T) {
	watches, changes := 1000, 100_000
	if raceDetector { // which makes all of it many times slower and larger
		watches, changes = 100, 5000
	}
	f := startConfig(t, pool.Config{Store: keep(t)}, func(c *server.Config) { c.SendTimeout = 3 * time.Second })
	conns := make([]*fixture, 5)
	for i := range conns {
		conns[i] = f.anotherConn()
	}
	for i := range watches {
		conns[i%len(conns)].watch(&taskpoolv1.WatchTasksRequest{Start: now()})
	}
	eventually(t, "all watches are open", func() bool { return f.registry.Watchers() == watches })
	before := heap()
	reader := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	read := make(chan int)
	go func() {
		seen := 0
		for seen < changes {
			m, err := reader.stream.Recv()
			if err != nil {
				break
			}
			seen += len(m.GetChanges().GetChanges())
		}
		read <- seen
	}()
	for range changes / 1000 {
		f.fillBatch(1000, 100)
	}
	if seen := <-read; seen != changes {
		t.Errorf("the one that reads has seen %d changes", seen)
	}
	// The tasks, and what is on its way to each caller: both ends of every
	// connection are in this process. A queue of changes for each would be
	// gigabytes.
	grown, bound := heap()-before, uint64(changes)*3000+uint64(watches)*300_000
	t.Logf("%d watches that were not read and %d changes took %d MiB", watches, changes, grown>>20)
	if grown > bound {
		t.Errorf("the heap has grown by %d MiB, more than %d", grown>>20, bound>>20)
	}
	eventually(t, "those that are not read have ended", func() bool { return f.registry.Watchers() <= 1 })
}

// heap is how much of it is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// anotherConn is the same server over a connection of its own, whose client
// takes 64 KiB of what is not read and no more; usual ones take the more the
// faster the connection is, and they are in this process.
func (f *fixture) anotherConn() *fixture {
	f.t.Helper()
	conn, err := f.server.Local(grpc.WithStaticStreamWindowSize(64<<10), grpc.WithStaticConnWindowSize(64<<10))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	other := *f
	other.conn, other.tasks, other.pools = conn, taskpoolv1.NewTaskServiceClient(conn), taskpoolv1.NewPoolServiceClient(conn)
	return &other
}

// Who reads a change a second while thousands are written and history is let go
// of, gets every change up to where it is told that the rest is gone; never a
// gap that nobody speaks of.
func TestWatch_slowerThanHistory(t *testing.T) {
	changes, retain := 100_000, int64(3000)
	if raceDetector { // see above
		changes, retain = 2000, 250
	}
	synctest.Test(t, func(t *testing.T) {
		f := startConfig(t, pool.Config{Store: keep(t), Retain: retain, RingEntries: 64})
		var names []string
		for range 10 {
			names = append(names, f.create("a task").GetKey())
		}
		w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
		written := make(chan struct{})
		go func() {
			defer close(written)
			for i := range changes {
				f.edit(names[i%len(names)], strings.Repeat("y", 1+i%40))
				if i%100 == 99 {
					time.Sleep(time.Second)
				}
			}
		}()
		at, resumed := revisionOf(t, w.cursor), 0
		for {
			m, err := w.stream.Recv()
			if err == nil {
				for _, c := range m.GetChanges().GetChanges() {
					if at++; c.GetRevision() != at {
						t.Fatalf("revision %d comes where %d has to", c.GetRevision(), at)
					}
					time.Sleep(time.Second)
				}
				w.cursor = m.GetCursor()
				continue
			}
			if r := refusalOf(err); r.info.GetReason() == "WATCHER_TOO_SLOW" {
				w, resumed = f.watch(&taskpoolv1.WatchTasksRequest{Start: after(w.cursor)}), resumed+1
				continue
			}
			r := refused(t, err, codes.OutOfRange, pool.ReasonCursorExpired)
			f.watch(&taskpoolv1.WatchTasksRequest{Start: after(r.info.GetMetadata()["head"])}).opened()
			<-written
			t.Logf("it read %d of %d changes, resumed %d times: %s", at-10, changes, resumed, r.text)
			break
		}
		again := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
		again.snapshot()
		again.isListing(f, nil)
	})
}

func revisionOf(t testing.TB, cursor string) int64 {
	t.Helper()
	c, err := feed.Parse(cursor)
	if err != nil {
		t.Fatal(err)
	}
	return c.Revision
}
