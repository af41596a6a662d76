package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// served is what became of claims that wait, in the order they were answered.
type served struct {
	mu   sync.Mutex
	log  []string
	errs []error
	wg   sync.WaitGroup
}

// waits has a member wait for a task.
func (s *served) waits(ctx context.Context, f *fixture, filter pool.Filter, wait time.Duration) {
	s.wg.Go(func() {
		r, why, err := f.ClaimWait(ctx, pool.Request{Actor: f.actor}, pool.Next{Filter: filter, Lease: time.Minute}, wait)
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case err != nil:
			s.errs = append(s.errs, err)
		case why != "":
			s.log = append(s.log, f.actor+" nothing")
		default:
			s.log = append(s.log, f.actor+" "+r.Tasks[0].Title)
		}
	})
}

func (s *served) is(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.log, want) {
		t.Errorf("served %q, want %q", s.log, want)
	}
}

func waiting(t *testing.T, do func(t *testing.T, f *fixture, s *served)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &served{}
		do(t, open(t), s)
		s.wg.Wait()
	})
}

// Those who wait are served in the order they came, each with one task.
func TestClaimWait_inTurn(t *testing.T) {
	waiting(t, func(t *testing.T, f *fixture, s *served) {
		for _, who := range []string{"agent:a", "agent:b", "agent:c"} {
			s.waits(t.Context(), f.as(who), pool.Filter{}, time.Hour)
			synctest.Wait()
		}
		s.is(t)
		f.titled("one")
		s.is(t, "agent:a one")
		first := f.titled("two")
		s.is(t, "agent:a one", "agent:b two")
		f.titled("three", first.ID)
		s.is(t, "agent:a one", "agent:b two")
		f.as(operator).set(first.ID, task.Done)
		s.is(t, "agent:a one", "agent:b two", "agent:c three")
		if n := f.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

// Several tasks at once go to several, the best to who came first.
func TestClaimWait_severalAtOnce(t *testing.T) {
	waiting(t, func(t *testing.T, f *fixture, s *served) {
		for _, who := range []string{"agent:a", "agent:b", "agent:c"} {
			s.waits(t.Context(), f.as(who), pool.Filter{}, time.Hour)
			synctest.Wait()
		}
		f.createAll(task.Draft{Title: "low", Priority: task.Low}, task.Draft{Title: "high", Priority: task.High})
		synctest.Wait()
		s.mu.Lock()
		slices.Sort(s.log)
		s.mu.Unlock()
		s.is(t, "agent:a high", "agent:b low")
		f.titled("last")
		s.is(t, "agent:a high", "agent:b low", "agent:c last")
	})
}

// One who has gone, or has waited long enough, is passed over, and no task is lost
// with it.
func TestClaimWait_passesOver(t *testing.T) {
	waiting(t, func(t *testing.T, f *fixture, s *served) {
		ctx, leave := context.WithCancel(t.Context())
		s.waits(ctx, f.as("agent:gone"), pool.Filter{}, time.Hour)
		synctest.Wait()
		s.waits(t.Context(), f.as("agent:short"), pool.Filter{}, time.Second)
		synctest.Wait()
		s.waits(t.Context(), f.as("agent:long"), pool.Filter{}, time.Hour)
		synctest.Wait()
		leave()
		time.Sleep(time.Second)
		s.is(t, "agent:short nothing")
		f.titled("one")
		s.is(t, "agent:short nothing", "agent:long one")
		if len(s.errs) != 1 || !errors.Is(s.errs[0], context.Canceled) {
			t.Errorf("errors %v", s.errs)
		}
	})
}

// Each waits for what it asked for, and a task for a member goes to that one.
func TestClaimWait_forWhatFits(t *testing.T) {
	waiting(t, func(t *testing.T, f *fixture, s *served) {
		s.waits(t.Context(), f.as("agent:a"), pool.Filter{Labels: map[string]string{"k": "v"}}, time.Hour)
		synctest.Wait()
		s.waits(t.Context(), f.as("agent:b"), pool.Filter{}, time.Hour)
		synctest.Wait()
		f.create(task.Draft{Title: "for c", Assignee: "agent:c"})
		s.is(t)
		f.titled("any")
		s.is(t, "agent:b any")
		s.waits(t.Context(), f.as("agent:c"), pool.Filter{}, time.Hour)
		s.is(t, "agent:b any", "agent:c for c")
		f.create(task.Draft{Title: "labelled", Labels: map[string]string{"k": "v"}})
		s.is(t, "agent:b any", "agent:c for c", "agent:a labelled")
	})
}

// What a dead worker held goes to who waits.
func TestClaimWait_getsWhatRanOut(t *testing.T) {
	waiting(t, func(t *testing.T, f *fixture, s *served) {
		id := f.titled("it").ID
		f.as(worker).lease(id, time.Minute, "")
		s.waits(t.Context(), f.as("agent:b"), pool.Filter{}, time.Hour)
		s.is(t)
		time.Sleep(time.Minute)
		s.is(t, "agent:b it")
	})
}

// Nobody who asks later without waiting overtakes those in line; but one who names
// the task may have it, and then it is offered to nobody.
func TestClaimWait_isNotOvertaken(t *testing.T) {
	for range 50 {
		waiting(t, func(t *testing.T, f *fixture, s *served) {
			s.waits(t.Context(), f.as("agent:a"), pool.Filter{}, 10*time.Second)
			synctest.Wait()
			id := f.titled("it").ID
			if r, _, err := f.as("agent:late").ClaimNext(t.Context(), pool.Request{Actor: "agent:late"}, pool.Next{}); err != nil || len(r.Tasks) != 0 {
				t.Errorf("%+v, %v", r, err)
			}
			s.is(t, "agent:a it")
			f.as(operator).mustRelease(id, "")
			f.as("agent:late").lease(id, time.Hour, "")
		})
	}
}

func TestClaimWait_refuses(t *testing.T) {
	f := open(t)
	for name, c := range map[string]struct {
		lease, wait time.Duration
	}{"no lease": {0, time.Second}, "no wait": {time.Minute, 0}, "too long": {time.Minute, time.Hour + 1}, "negative": {time.Minute, -1}} {
		_, _, err := f.ClaimWait(t.Context(), f.request(), pool.Next{Lease: c.lease}, c.wait)
		if reasonOf(err) != "INVALID_FIELD" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := f.Waiting(); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// A pool that closes sends those who wait away, and keeps nothing of them.
func TestClaimWait_untilThePoolCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := memory.New()
		defer func() { _ = st.Close() }()
		r, f := openRegistry(t, st, nil)
		s := &served{}
		for i := range 100 {
			s.waits(t.Context(), f.as(fmt.Sprint("agent:", i)), pool.Filter{}, time.Hour)
		}
		synctest.Wait()
		if n := f.Waiting(); n != 100 {
			t.Errorf("%d wait", n)
		}
		r.Close()
		s.wg.Wait()
		if len(s.errs) != 100 || !unavailable(s.errs[0], pool.ReasonDraining) || f.Waiting() != 0 {
			t.Errorf("%d errors, %d wait", len(s.errs), f.Waiting())
		}
	})
}

// Workers who wait, work and release, some of whom die, are all served, and no task
// is worked on twice at once or left behind.
func TestClaimWait_crowd(t *testing.T) {
	f := open(t)
	const workers, tasks = 16, 200
	var wg sync.WaitGroup
	var mu sync.Mutex
	doing, done := map[string]bool{}, 0
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range workers {
		w := f.as(fmt.Sprint("agent:", i))
		wg.Go(func() {
			for ctx.Err() == nil {
				r, why, err := w.ClaimWait(ctx, pool.Request{Actor: w.actor}, pool.Next{Lease: time.Hour}, time.Minute)
				if err != nil || why != "" {
					continue
				}
				id := r.Tasks[0].ID
				mu.Lock()
				if doing[id] {
					t.Errorf("%s is worked on twice", r.Tasks[0].Key())
				}
				doing[id] = true
				mu.Unlock()
				end := task.Done
				if r.Tasks[0].Number%5 == 0 && len(r.Tasks[0].Thread) < 4 { // given back once
					end = task.Ready
				}
				mu.Lock()
				doing[id] = false
				mu.Unlock()
				if _, err := w.withToken(id, r.Token, task.Patch{Status: new(end)}); err != nil {
					t.Error(err)
				}
				if end == task.Done {
					mu.Lock()
					if done++; done == tasks {
						stop()
					}
					mu.Unlock()
				}
			}
		})
	}
	for i := range tasks / 10 {
		drafts := make([]task.Draft, 10)
		for k := range drafts {
			drafts[k] = task.Draft{Title: fmt.Sprint(i, k)}
		}
		f.createAll(drafts...)
	}
	wg.Wait()
	if done != tasks || f.Waiting() != 0 {
		t.Errorf("%d done, %d wait", done, f.Waiting())
	}
}
