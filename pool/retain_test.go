package pool_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// History beyond what is retained goes; tasks and threads stay, also for who
// opens the pool later.
func TestRegistry_retain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		defer func() { _ = s.Close() }()
		r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}, Retain: 10})
		if err != nil {
			t.Fatal(err)
		}
		p, release, err := r.Acquire(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			if _, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		head := p.Cursor().Revision
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, err := range s.Commits(t.Context(), "pool/default", head-10) {
			if !errors.Is(err, store.ErrCompacted) {
				t.Fatalf("revision %d of %d: %v, want it gone", head-10, head, err)
			}
			break
		}
		kept := 0
		for _, err := range s.Commits(t.Context(), "pool/default", head-9) {
			if err != nil {
				t.Fatal(err)
			}
			kept++
		}
		if kept != 10 {
			t.Errorf("%d revisions are kept, want 10", kept)
		}
		release()
		r.Close()
		again := openOn(t, s)
		if n := len(again.all()); n != 30 || len(again.get("T-1").Thread) != 1 {
			t.Errorf("%d tasks are left", n)
		}
	})
}
