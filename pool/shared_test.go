package pool_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
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

// side is one of several registries on one store, with the default pool.
type side struct {
	*pool.Registry
	*pool.Pool
}

// sides opens several registries on one store.
func sides(t testing.TB, s store.Store, n int) []side {
	t.Helper()
	opened := make([]side, n)
	for i := range opened {
		r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := r.Acquire(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		opened[i] = side{r, p}
	}
	return opened
}

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

// TestShared_disjointFields: two processes that change different fields of one
// task lose nothing (Backlog#843).
func TestShared_disjointFields(t *testing.T) {
	s := memory.New()
	both := sides(t, s, 2)
	defer func() { both[0].Close(); both[1].Close() }()
	made, err := both[0].Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "before"})
	if err != nil {
		t.Fatal(err)
	}
	id := made.Tasks[0].ID
	if err := both[1].Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	patches := []task.Patch{
		{Title: new("after")},
		{Description: new("d")},
		{Body: new("b")},
		{Priority: new(task.High)},
		{Type: new(task.Bug)},
		{Steps: &[]string{"s"}},
		{Context: &[]string{"c"}},
		{EdgeCases: &[]string{"e"}},
		{SetLabels: map[string]string{"k": "v"}},
		{Assignee: new("agent:b")},
		{HistoryEntry: new("h")},
		{AcceptanceCriteria: &[]string{"a"}},
	}
	var work sync.WaitGroup
	for i, p := range patches {
		work.Go(func() {
			if _, err := both[i%2].Update(context.Background(), pool.Request{Actor: "agent:a"}, pool.Update{ID: id, Patch: p}); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if err := both[0].Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	d, err := both[0].Get(id)
	if err != nil {
		t.Fatal(err)
	}
	if b := d.Brief; d.Title != "after" || b.Description != "d" || b.Body != "b" || d.Priority != task.High || d.Type != task.Bug ||
		!slices.Equal(b.Steps, []string{"s"}) || !slices.Equal(b.Context, []string{"c"}) || !slices.Equal(b.EdgeCases, []string{"e"}) ||
		d.Labels["k"] != "v" || d.Assignee != "agent:b" || d.HistoryCount != 1 || !slices.Equal(b.AcceptanceCriteria, []string{"a"}) {
		t.Errorf("something is lost: %+v %+v", *d.Task, *b)
	}
	if d.Version != 13 {
		t.Errorf("version %d after 12 changes", d.Version)
	}
}

// silent is a shared store whose followers are told nothing.
type silent struct{ *memory.Store }

func (silent) Follow(ctx context.Context, _ string, _ int64) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		<-ctx.Done()
		yield(store.Commit{}, ctx.Err())
	}
}

// TestShared_refusals: what one registry acknowledged is known to the next call
// at another: a refusal is decided on what is stored, and so is a replay, and
// whether there is such a pool.
func TestShared_refusals(t *testing.T) {
	s := silent{memory.New()}
	both := sides(t, s, 2)
	defer func() { both[0].Registry.Close(); both[1].Registry.Close(); _ = s.Close() }()
	me := pool.Request{Actor: "agent:a", ID: "x"}
	status := func(b side, s task.Status) error {
		_, err := b.Update(t.Context(), pool.Request{Actor: "agent:a"}, pool.Update{ID: "T-1", Patch: task.Patch{Status: &s}})
		return err
	}
	if _, err := both[0].Create(t.Context(), me, task.Draft{Title: "one"}); err != nil {
		t.Fatal(err)
	}
	if err := status(both[1], task.InProgress); err != nil {
		t.Errorf("a task that the other made: %v", err)
	}
	if err := status(both[0], task.Done); err != nil {
		t.Errorf("a hold that the other gave: %v", err)
	}
	if err := status(both[1], task.Blocked); reasonOf(err) != "MOVE_NOT_ALLOWED" {
		t.Errorf("a task that the other closed: %v", err)
	}
	if got, err := both[1].Create(t.Context(), me, task.Draft{Title: "one"}); err != nil || !got.Replayed {
		t.Errorf("a request that the other answered: %+v, %v", got, err)
	}
	if _, err := both[0].Delete(t.Context(), pool.Request{Actor: "human"}, "T-1", 0); err != nil {
		t.Fatal(err)
	}
	if err := status(both[1], task.Ready); reasonOf(err) != "TASK_NOT_FOUND" {
		t.Errorf("a task that the other deleted: %v", err)
	}
	if _, _, err := both[0].CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: "new"}); err != nil {
		t.Fatal(err)
	}
	if _, release, err := both[1].Acquire(t.Context(), "new"); err != nil {
		t.Errorf("a pool that the other made: %v", err)
	} else {
		release()
	}
	if _, _, err := both[1].Acquire(t.Context(), "none"); reasonOf(err) != "POOL_NOT_FOUND" {
		t.Errorf("a pool that is not there: %v", err)
	}
}

// overtaken is a store that only tells what is appended when it is asked, and
// where others may append just before an append.
type overtaken struct {
	silent
	before func([]store.Batch)
}

func (s *overtaken) Append(ctx context.Context, batches []store.Batch) error {
	if s.before != nil {
		s.before(batches)
	}
	return s.silent.Append(ctx, batches)
}

// TestShared_refusalsBesideChanges: a refusal is decided on what is stored also
// where it shares its batch with a change to another pool.
func TestShared_refusalsBesideChanges(t *testing.T) {
	kept := &overtaken{silent: silent{memory.New()}}
	one, two := sides(t, kept, 1)[0], sides(t, kept.silent, 1)[0]
	defer func() { one.Registry.Close(); two.Registry.Close(); _ = kept.Close() }()
	var pools []*pool.Pool
	for _, name := range []string{"first", "other"} {
		if _, _, err := one.CreatePool(t.Context(), pool.Request{Actor: operator}, pool.Info{Name: name}); err != nil {
			t.Fatal(err)
		}
		p, release, err := one.Acquire(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		pools = append(pools, p)
	}
	set := func(p *pool.Pool, actor string, to task.Status) error {
		_, err := p.Update(t.Context(), pool.Request{Actor: actor}, pool.Update{ID: "T-1", Patch: task.Patch{Status: &to}})
		return err
	}
	create := func(p *pool.Pool) error {
		_, err := p.Create(t.Context(), pool.Request{Actor: filer}, task.Draft{Title: "one"})
		return err
	}
	if err := create(one.Pool); err != nil {
		t.Fatal(err)
	}
	if err := set(one.Pool, worker, task.InProgress); err != nil {
		t.Fatal(err)
	}
	begun, queued := make(chan struct{}), make(chan struct{})
	together := false
	kept.before = func(batches []store.Batch) {
		switch batches[0].Log {
		case "pool/first": // until the next two wait, which makes them one batch
			close(begun)
			<-queued
		case "pool/other":
			if !together {
				together = true
				if err := set(two.Pool, worker, task.Ready); err != nil {
					t.Errorf("put back through the other registry: %v", err)
				}
			}
		}
	}
	var work sync.WaitGroup
	work.Go(func() {
		if err := create(pools[0]); err != nil {
			t.Error(err)
		}
	})
	<-begun
	work.Go(func() {
		if err := set(one.Pool, stranger, task.InProgress); err != nil {
			t.Errorf("refused although it had been put back: %v", err)
		}
	})
	work.Go(func() {
		if err := create(pools[1]); err != nil {
			t.Error(err)
		}
	})
	one.AwaitQueue(2)
	close(queued)
	work.Wait()
	if !together {
		t.Error("nothing was overtaken")
	}
}

// TestShared_createPool: of many who create the same pools at once through two
// registries, one each does; both know all of them afterwards.
func TestShared_createPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		both := sides(t, s, 2)
		const pools, each = 20, 6
		var mu sync.Mutex
		made := map[string]int{}
		var work sync.WaitGroup
		for i := range pools * each {
			work.Go(func() {
				name := fmt.Sprint("p", i/each)
				_, _, err := both[i%2].CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: name})
				var exists *pool.ExistsError
				switch {
				case err == nil:
					mu.Lock()
					made[name]++
					mu.Unlock()
				case !errors.As(err, &exists):
					t.Error(err)
				}
			})
		}
		work.Wait()
		synctest.Wait()
		for _, b := range both {
			infos, more := b.Pools("", 100)
			if len(infos) != pools+1 || more {
				t.Errorf("%d pools, want %d", len(infos), pools+1)
			}
		}
		for name, n := range made {
			if n != 1 {
				t.Errorf("%s was made %d times", name, n)
			}
		}
		gapless(t, s, "system")
		for _, b := range both {
			b.Close()
		}
		_ = s.Close()
	})
}

// TestShared_clear: one registry clears the pool while the other works on it.
func TestShared_clear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		both := sides(t, s, 2)
		epochs := map[string]bool{both[0].Cursor().Epoch: true}
		var work sync.WaitGroup
		for i := range 8 {
			work.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(i), 3))
				var last string
				for range 40 {
					time.Sleep(time.Duration(rnd.IntN(3)) * time.Millisecond)
					d := task.Draft{Title: "task"}
					if last != "" && rnd.IntN(2) == 0 {
						d.Dependencies = []string{last}
					}
					got, err := both[1].Create(t.Context(), pool.Request{Actor: "agent:a", ID: fmt.Sprint(i, " ", rnd.IntN(30))}, d)
					if last = ""; err == nil && got.Tasks[0].Number > 0 {
						last = got.Tasks[0].ID
					}
				}
			})
		}
		for range 10 {
			time.Sleep(7 * time.Millisecond)
			got, err := both[0].Clear(t.Context(), pool.Request{Actor: "human"}, pool.DefaultName)
			if err != nil {
				t.Error(err)
			}
			epochs[got.Cursor.Epoch] = true
		}
		work.Wait()
		synctest.Wait()
		if len(epochs) != 11 {
			t.Errorf("%d epochs after 10 clears", len(epochs))
		}
		sameState(t, "the other registry", both[0].State(), both[1].State())
		replayed, err := pool.Replayed(t.Context(), s, taskpb.Codec{}, both[0].Pool)
		if err != nil {
			t.Fatal(err)
		}
		sameState(t, "the commits", both[0].State(), replayed.State())
		if wrong := both[0].Unsound() + both[1].Unsound(); wrong != "" {
			t.Error(wrong)
		}
		gapless(t, s, "pool/default")
		for _, b := range both {
			b.Close()
		}
		_ = s.Close()
	})
}
