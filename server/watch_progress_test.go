package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
)

// A watch that has nothing to tell says so, again and again, and how far it has
// looked: also while much happens that it does not show.
func TestWatch_progress(t *testing.T) {
	for name, busy := range map[string]bool{"idle": false, "busy with what is not in view": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := start(t)
				w := f.watch(&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{Assignee: "agent:z"}}).opened()
				w.snapshot()
				stop, stopped := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(stopped)
					for busy {
						select {
						case <-stop:
							return
						case <-time.After(50 * time.Millisecond):
							f.create("not theirs")
						}
					}
				}()
				pauses := map[time.Duration]bool{}
				for range 3 {
					before, spoke := w.cursor, time.Now()
					m := w.next()
					silent := time.Since(spoke)
					if m.GetProgress() == nil || silent < 12*time.Second || silent > 18*time.Second+100*time.Millisecond {
						t.Fatalf("after %s comes %v", silent, m)
					}
					pauses[silent] = true
					was, _ := feed.Parse(before)
					is, err := feed.Parse(m.GetCursor())
					if err != nil || is.Filter != was.Filter || is.Epoch != was.Epoch || is.Revision < was.Revision || busy && is.Revision < was.Revision+100 {
						t.Errorf("after %s it has come from %+v to %+v, %v", silent, was, is, err)
					}
				}
				if len(pauses) < 2 {
					t.Error("all watches would speak at once")
				}
				close(stop)
				<-stopped
				f.watch(&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{Assignee: "agent:z"}, Start: after(w.cursor)}).opened()
			})
		})
	}
}

// Progress is told after silence alone: a watch that has things to tell tells
// nothing else.
func TestWatch_progressIsForSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t)
		w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
		for range 5 {
			time.Sleep(11 * time.Second)
			f.create("news")
			if m := w.next(); m.GetChanges() == nil {
				t.Fatalf("what comes is %v", m)
			}
		}
		begun := time.Now()
		if m := w.next(); m.GetProgress() == nil || time.Since(begun) < 12*time.Second {
			t.Errorf("after %s comes %v", time.Since(begun), m)
		}
	})
}

// A pool that is watched is used: it is not closed for being idle, which would
// leave the watch with a pool that nobody writes to.
func TestWatch_keepsItsPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startConfig(t, pool.Config{Store: keep(t), IdleAfter: time.Second})
		w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
		time.Sleep(10 * time.Second)
		f.create("news")
		w.changes(1)
		w.leave()
		time.Sleep(10 * time.Second)
		if n := f.registry.OpenPools(); n != 0 {
			t.Errorf("%d pools are open when nobody watches", n)
		}
	})
}
