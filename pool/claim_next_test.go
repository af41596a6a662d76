package pool_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// next claims what comes next; nil when there is nothing.
func (f *fixture) next(filter pool.Filter) *pool.Detail {
	f.t.Helper()
	r, why, err := f.ClaimNext(f.t.Context(), f.request(), pool.Next{Filter: filter})
	if err != nil {
		f.t.Fatal(err)
	}
	if (len(r.Tasks) == 0) != (why != "") || (len(r.Tasks) == 0) != (r.Token == "") {
		f.t.Fatalf("%d tasks, token %q, and %q", len(r.Tasks), r.Token, why)
	}
	if why != "" {
		return nil
	}
	return r.Tasks[0]
}

// best is what the actor should get, found by looking at everything.
func (f *fixture) best(filter func(*task.Task) bool) *task.Task {
	all := f.all()
	byID := map[string]*task.Task{}
	for _, t := range all {
		byID[t.ID] = t
	}
	heights := map[string]int{}
	var height func(id string) int
	height = func(id string) int {
		if h, known := heights[id]; known {
			return h
		}
		h := 0
		for _, d := range all {
			if !d.Closed() && (slices.Contains(d.Dependencies, id) || byID[id].ParentID == d.ID) {
				h = max(h, height(d.ID)+1)
			}
		}
		heights[id] = h
		return h
	}
	var fits []*task.Task
	for _, t := range all {
		if task.Claimable(t, f.actor) && filter(t) {
			fits = append(fits, t)
		}
	}
	if len(fits) == 0 {
		return nil
	}
	return slices.MinFunc(fits, func(a, b *task.Task) int {
		return cmp.Or(-cmp.Compare(a.Priority, b.Priority), -cmp.Compare(height(a.ID), height(b.ID)), cmp.Compare(a.Number, b.Number))
	})
}

// Whatever was done to a pool, who asks for the next task gets the best one, also
// after a restart, and from a process that only read what another did.
func TestClaimNext_givesTheBest(t *testing.T) {
	members := []string{worker, stranger, filer}
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		s := memory.New()
		f := openOn(t, s).as(operator)
		other := openOn(t, s).as(operator)
		last := 0
		some := func() string { return task.Key(int64(1 + rnd.IntN(last))) }
		for range 120 {
			switch n := rnd.IntN(10); {
			case n < 4 || last < 5:
				d := task.Draft{Title: fmt.Sprint(last), Priority: task.Priority(rnd.IntN(4)), Labels: map[string]string{"k": fmt.Sprint(rnd.IntN(2))}}
				if rnd.IntN(4) == 0 {
					d.Assignee = members[rnd.IntN(3)]
				}
				if last > 0 && rnd.IntN(2) == 0 {
					d.Dependencies = []string{some()}
				}
				if last > 0 && rnd.IntN(5) == 0 {
					d.Parent = some()
				}
				if _, err := f.Create(t.Context(), f.request(), d); err == nil {
					last++
				}
			case n < 8:
				p := task.Patch{Status: new([]task.Status{task.Done, task.Ready, task.Cancelled, task.InProgress}[rnd.IntN(4)]), Force: true}
				_, _ = f.Update(t.Context(), f.request(), pool.Update{ID: some(), Patch: p})
			default:
				p := task.Patch{AddDependencies: []string{some()}, Priority: new(task.Priority(rnd.IntN(4)))}
				if rnd.IntN(3) == 0 {
					p = task.Patch{Parent: new(some())}
				}
				_, _ = f.Update(t.Context(), f.request(), pool.Update{ID: some(), Patch: p})
			}
		}
		again := openOn(t, s)
		for i := range 60 {
			by := []*fixture{f, other, again}[rnd.IntN(3)].as(members[rnd.IntN(3)])
			if err := by.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			filter, fits := pool.Filter{}, func(*task.Task) bool { return true }
			if rnd.IntN(3) == 0 {
				filter.Labels, fits = map[string]string{"k": "1"}, func(t *task.Task) bool { return t.Labels["k"] == "1" }
			}
			want, got := by.best(fits), by.next(filter)
			switch {
			case want == nil && got == nil:
				continue
			case want == nil || got == nil || got.ID != want.ID:
				t.Fatalf("seed %d, claim %d by %s: got %v, want %v", seed, i, by.actor, got, want)
			}
			if rnd.IntN(2) == 0 {
				// With open children it is refused, and stays in progress.
				_, _ = by.Update(t.Context(), by.request(), pool.Update{ID: got.ID, Patch: task.Patch{Status: new(task.Done)}})
			}
		}
		for _, one := range []*fixture{f, other, again} {
			if err := one.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			if wrong := one.Unsound(); wrong != "" {
				t.Errorf("seed %d: %s", seed, wrong)
			}
		}
		_ = s.Close()
	}
}

// Many who ask at once get a task each, the best ones, and the rest are told that
// there is nothing.
func TestClaimNext_oneEach(t *testing.T) {
	f := open(t)
	const tasks, workers = 40, 100
	drafts := make([]task.Draft, tasks+20)
	for i := range drafts {
		drafts[i] = task.Draft{Title: fmt.Sprint(i), Priority: task.High}
		if i >= tasks { // not to be had
			drafts[i].Assignee = "agent:elsewhere"
		}
	}
	f.createAll(drafts...)
	var mu sync.Mutex
	var wg sync.WaitGroup
	got, nothing := map[string]string{}, 0
	begin := make(chan struct{})
	for i := range workers {
		w := f.as(fmt.Sprintf("agent:w%d", i))
		wg.Go(func() {
			<-begin
			r, why, err := w.ClaimNext(t.Context(), w.request(), pool.Next{Lease: time.Minute, RunID: fmt.Sprint(i)})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case len(r.Tasks) == 0:
				if nothing++; why == "" || r.Cursor.Revision == 0 {
					t.Errorf("nothing, for no reason, at %+v", r.Cursor)
				}
			case got[r.Tasks[0].ID] != "":
				t.Errorf("%s went to %s and %s", r.Tasks[0].Key(), got[r.Tasks[0].ID], w.actor)
			default:
				got[r.Tasks[0].ID] = w.actor
			}
		})
	}
	close(begin)
	wg.Wait()
	if len(got) != tasks || nothing != workers-tasks {
		t.Errorf("%d got one, %d nothing", len(got), nothing)
	}
	if wrong := f.Unsound(); wrong != "" {
		t.Error(wrong)
	}
}

func TestClaimNext_saysWhyThereIsNothing(t *testing.T) {
	f := open(t).as(worker)
	say := func(want string, filter pool.Filter) {
		t.Helper()
		if _, why, err := f.ClaimNext(t.Context(), f.request(), pool.Next{Filter: filter}); err != nil || why != want {
			t.Errorf("got %q, %v, want %q", why, err, want)
		}
	}
	say("no task is ready; 0 wait for others, 0 are in progress, 0 are blocked", pool.Filter{})
	first := f.titled("first")
	f.titled("second", first.ID)
	say("of 1 ready tasks none fits and is free for agent:worker; 1 wait for others, 0 are in progress, 0 are blocked", pool.Filter{Labels: map[string]string{"k": "v"}})
	f.next(pool.Filter{})
	say("no task is ready; 1 wait for others, 1 are in progress, 0 are blocked", pool.Filter{})
	if _, _, err := f.ClaimNext(t.Context(), f.request(), pool.Next{Lease: 1}); reasonOf(err) != "INVALID_FIELD" {
		t.Error(err)
	}
	if _, _, err := f.ClaimNext(t.Context(), f.request(), pool.Next{Filter: pool.Filter{ParentID: "T-9"}}); reasonOf(err) != "TASK_NOT_FOUND" {
		t.Error(err)
	}
}

// A repeat of a claim gives the same task and token, and that of an answer without a
// task may find one.
func TestClaimNext_repeated(t *testing.T) {
	f := open(t).as(worker)
	r := pool.Request{Actor: worker, ID: "once", Digest: "x"}
	if got, why, err := f.ClaimNext(t.Context(), r, pool.Next{}); err != nil || why == "" || len(got.Tasks) != 0 {
		t.Errorf("%+v, %q, %v", got, why, err)
	}
	f.titled("first")
	first, _, err := f.ClaimNext(t.Context(), r, pool.Next{Lease: time.Minute})
	if err != nil || len(first.Tasks) != 1 {
		t.Fatal(first, err)
	}
	f.titled("second")
	again, _, err := f.ClaimNext(t.Context(), r, pool.Next{Lease: time.Minute})
	if err != nil || !again.Replayed || again.Token != first.Token || again.Tasks[0].ID != first.Tasks[0].ID || again.ExpiresAt.IsZero() {
		t.Errorf("%+v, %v", again, err)
	}
}
