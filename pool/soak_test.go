//go:build soak

package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// soak is how long each of these runs: TASKPOOL_SOAK, or a minute.
func soak(t *testing.T) time.Duration {
	t.Helper()
	long, err := time.ParseDuration(os.Getenv("TASKPOOL_SOAK"))
	if err != nil {
		return time.Minute
	}
	return long
}

func TestSoak_model(t *testing.T) {
	for end := time.Now().Add(soak(t)); time.Now().Before(end) && !t.Failed(); {
		TestModel(t)
	}
}

func TestSoak_modelOnDisk(t *testing.T) {
	for end := time.Now().Add(soak(t)); time.Now().Before(end) && !t.Failed(); {
		checkModelOnDisk(t)
	}
}

func TestSoak_readiness(t *testing.T) {
	f := open(t)
	for end := time.Now().Add(soak(t)); time.Now().Before(end) && !t.Failed(); {
		g := newGraph(f, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
		for _, actor := range g.members {
			g.agree(actor)
		}
		if _, err := f.Clear(t.Context(), pool.Request{Actor: task.Operator}, pool.DefaultName); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSoak_shared lets three registries, two of them on stores of their own
// weakness, work on one pool, round after round.
func TestSoak_shared(t *testing.T) {
	for round, end := 0, time.Now().Add(soak(t)); time.Now().Before(end) && !t.Failed(); round++ {
		soakShared(t, uint64(round))
	}
}

func soakShared(t *testing.T, round uint64) {
	under := memory.New()
	weak := []*faulty.Store{faulty.Wrap(under), faulty.Wrap(under)}
	var all []side
	for _, s := range []store.Store{under, weak[0], weak[1]} {
		all = append(all, sides(t, s, 1)...)
	}
	rnd := rand.New(rand.NewPCG(round, 1))
	for _, s := range weak {
		for n := range 5000 {
			if rnd.IntN(8) == 0 {
				s.Fail(n+1, []faulty.Outcome{faulty.NotApplied, faulty.Lost, faulty.Kept, faulty.Conflict}[rnd.IntN(4)])
			}
		}
	}
	const members, each = 24, 80
	var work sync.WaitGroup
	for i := range members {
		work.Go(func() {
			p := all[i%3].Pool
			rnd := rand.New(rand.NewPCG(round, uint64(i)))
			for k := range each {
				d := task.Draft{Title: fmt.Sprint(i, "/", k)}
				if rnd.IntN(3) == 0 {
					d.NotBefore = time.Now().Add(time.Duration(rnd.IntN(20)) * time.Millisecond)
				}
				for {
					_, err := p.Create(context.Background(), pool.Request{Actor: "agent:a", ID: d.Title}, d)
					if err == nil {
						break
					}
					if !unavailable(err, pool.ReasonStoreUnavailable) && !unavailable(err, pool.ReasonCommitUnknown) {
						t.Errorf("answered %v", err)
						return
					}
				}
				status := task.InProgress
				_, _ = p.Update(context.Background(), pool.Request{Actor: "agent:a"}, pool.Update{ID: task.Key(1 + rnd.Int64N(100)), Patch: task.Patch{Status: &status}})
			}
		})
	}
	work.Wait()
	for _, s := range weak {
		s.Heal()
	}
	for waiting := int64(1); waiting > 0; {
		time.Sleep(10 * time.Millisecond)
		_, counts := all[0].Stat()
		waiting = counts[task.Pending]
	}
	if err := all[0].Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	state := all[0].State()
	for _, b := range all[1:] {
		if err := b.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		sameState(t, "another registry", state, b.State())
	}
	replayed, err := pool.Replayed(t.Context(), under, taskpb.Codec{}, all[0].Pool)
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "the commits", state, replayed.State())
	if wrong := all[0].Unsound(); wrong != "" {
		t.Error(wrong)
	}
	if n := len(listed(t, all[0].Pool, "human", pool.Filter{IncludeClosed: true})); n != members*each {
		t.Errorf("%d tasks, want %d", n, members*each)
	}
	gapless(t, under, "pool/default")
	for _, b := range all {
		b.Registry.Close()
	}
	_ = under.Close()
}
