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
	if b := d.Brief.Unpack(); d.Title != "after" || b.Description != "d" || b.Body != "b" || d.Priority != task.High || d.Type != task.Bug ||
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
