package pool_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// TestShared_converge lets many goroutines change one pool through two
// registries at once, with timers on both. Both end alike, nothing that was
// acknowledged is missing, nothing that was refused is there, and the commits
// tell the same.
func TestShared_converge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		both := sides(t, s, 2)
		crowd := &crowd{t: t, entries: map[string]int{}}
		var work sync.WaitGroup
		for i := range 24 {
			work.Go(func() { crowd.member(both[i%2].Pool, i, 60) })
		}
		work.Wait()
		time.Sleep(time.Hour) // all that waits for a time is woken
		synctest.Wait()

		state := both[0].State()
		sameState(t, "the other registry", state, both[1].State())
		for _, b := range both {
			if wrong := b.Unsound(); wrong != "" {
				t.Error(wrong)
			}
		}
		replayed, err := pool.Replayed(t.Context(), s, taskpb.Codec{}, both[0].Pool)
		if err != nil {
			t.Fatal(err)
		}
		sameState(t, "the commits", state, replayed.State())
		crowd.check(both[0].Pool)
		gapless(t, s, "pool/default")
		for _, b := range both {
			b.Close()
		}
		_ = s.Close()
	})
}

// crowd is what many members did at once.
type crowd struct {
	t *testing.T

	mu      sync.Mutex
	ids     []string       // acknowledged
	timed   []string       // of those, with a not_before that came
	entries map[string]int // by text: 1 acknowledged, 0 refused
}

// any returns the id of some task.
func (c *crowd) any(rnd *rand.Rand) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) == 0 {
		return "T-1"
	}
	return c.ids[rnd.IntN(len(c.ids))]
}

// member does random things, one after the other.
func (c *crowd) member(p *pool.Pool, i, steps int) {
	rnd := rand.New(rand.NewPCG(uint64(i), 7))
	r := pool.Request{Actor: fmt.Sprint("agent:", i%5)}
	for step := range steps {
		time.Sleep(time.Duration(rnd.IntN(5)) * time.Millisecond)
		var err error
		switch rnd.IntN(6) {
		case 0, 1:
			err = c.create(p, r, rnd)
		case 2:
			text := fmt.Sprintf("%d did %d", i, step)
			_, err = p.Update(c.t.Context(), r, pool.Update{ID: c.any(rnd), Patch: task.Patch{HistoryEntry: &text}})
			c.mu.Lock()
			c.entries[text] = 0
			if err == nil {
				c.entries[text] = 1
			}
			c.mu.Unlock()
		case 3:
			status := []task.Status{task.InProgress, task.Done, task.Ready, task.Cancelled}[rnd.IntN(4)]
			_, err = p.Update(c.t.Context(), r, pool.Update{ID: c.any(rnd), Patch: task.Patch{Status: &status}})
		case 4:
			_, err = p.Update(c.t.Context(), r, pool.Update{ID: c.any(rnd), Patch: task.Patch{AddDependencies: []string{c.any(rnd)}}})
		case 5:
			_, err = p.Update(c.t.Context(), r, pool.Update{ID: c.any(rnd), Patch: task.Patch{Parent: new(c.any(rnd))}})
		}
		var away *pool.UnavailableError
		if errors.As(err, &away) {
			c.t.Errorf("the store is well, but: %v (%v)", err, away.Cause)
		}
	}
}

func (c *crowd) create(p *pool.Pool, r pool.Request, rnd *rand.Rand) error {
	d := task.Draft{Title: "task"}
	if rnd.IntN(3) == 0 {
		d.NotBefore = time.Now().Add(time.Duration(rnd.IntN(50)) * time.Millisecond)
	}
	got, err := p.Create(c.t.Context(), r, d)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, got.Tasks[0].ID)
	if got.Tasks[0].Status == task.Pending {
		c.timed = append(c.timed, got.Tasks[0].ID)
	}
	return nil
}

// check looks for all that was acknowledged.
func (c *crowd) check(p *pool.Pool) {
	seen := map[int64]bool{}
	for _, t := range listed(c.t, p, "agent:a", pool.Filter{IncludeClosed: true}) {
		if seen[t.Number] {
			c.t.Errorf("%s was given out twice", t.Key())
		}
		seen[t.Number] = true
	}
	if len(seen) != len(c.ids) {
		c.t.Errorf("%d tasks, %d were acknowledged", len(seen), len(c.ids))
	}
	got := map[string]int{}
	for _, id := range c.ids {
		d, err := p.Get(id)
		if err != nil {
			c.t.Error(err)
			continue
		}
		for _, e := range d.History() {
			got[e.Body]++
		}
	}
	for text, want := range c.entries {
		if got[text] != want {
			c.t.Errorf("the entry %q is there %d times, want %d", text, got[text], want)
		}
	}
	for _, id := range c.timed {
		if d, _ := p.Get(id); d.Status == task.Pending && len(d.Unfinished) == 0 {
			c.t.Errorf("%s was not woken", d.Key())
		}
	}
	c.t.Logf("%d tasks, %d of them woken, %d entries, revision %d", len(c.ids), len(c.timed), len(got), p.Cursor().Revision)
}

// gapless checks that the revisions of a log follow each other from 1.
func gapless(t testing.TB, s store.Store, log string) {
	t.Helper()
	want := int64(1)
	for c, err := range s.Commits(t.Context(), log, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Revision != want {
			t.Fatalf("revision %d follows %d", c.Revision, want-1)
		}
		want++
	}
}
