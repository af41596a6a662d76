package pool_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func (f *fixture) asking(id, digest string) pool.Request {
	return pool.Request{Actor: f.actor, ID: id, Digest: digest}
}

// replayed runs a request that was answered before, and checks that it changes
// nothing.
func (f *fixture) replayed(do func() (pool.Result, error)) pool.Result {
	f.t.Helper()
	before := f.dump()
	r, err := do()
	if err != nil || !r.Replayed {
		f.t.Fatalf("not replayed: %+v, %v", r, err)
	}
	if f.dump() != before {
		f.t.Fatal("a replay changed the pool")
	}
	return r
}

// hermes#81297: who repeats a request can't tell what came of it.
func TestReplay_answersWithTheFirstIdsAndTheTaskAsItIs(t *testing.T) {
	f := open(t)
	do := func() (pool.Result, error) {
		return f.Create(t.Context(), f.asking("r1", "d"), task.Draft{Title: "it"})
	}
	first, err := do()
	if err != nil || first.Replayed {
		t.Fatalf("%+v, %v", first, err)
	}
	f.mustUpdate("T-1", task.Patch{Title: new("renamed"), Status: new(task.Done)})
	f.titled("other")
	again := f.replayed(do)
	if got := again.Tasks[0]; got.ID != first.Tasks[0].ID || got.Title != "renamed" || got.Status != task.Done || again.Cursor != first.Cursor {
		t.Errorf("%+v at %+v, first at %+v", *got.Task, again.Cursor, first.Cursor)
	}

	t.Run("a batch", func(t *testing.T) {
		do := func() (pool.Result, error) {
			return f.CreateAll(t.Context(), f.asking("r1", "d"), []task.Draft{{Title: "a"}, {Title: "b"}, {Title: "c"}})
		}
		first, err := do()
		if err != nil || first.Replayed {
			t.Fatalf("of another method, and yet: %+v, %v", first, err)
		}
		f.delete(first.Tasks[1].ID)
		again := f.replayed(do)
		for i, d := range again.Tasks {
			if d.ID != first.Tasks[i].ID || (i == 1) != (d.Number == 0 && d.Title == "") {
				t.Errorf("task %d: %+v", i, *d.Task)
			}
		}
	})
	t.Run("a task that is gone", func(t *testing.T) {
		f.delete("T-1")
		err := f.refused("TASK_NOT_FOUND", func() error { _, err := do(); return err })
		if e := as[*pool.NotFoundError](t, err); e.Name != first.Tasks[0].ID {
			t.Errorf("%+v", e)
		}
	})
	t.Run("a deletion", func(t *testing.T) {
		it := f.titled("it")
		f := f.as(operator)
		do := func() (pool.Result, error) { return f.Delete(t.Context(), f.asking("del", ""), it.ID, 0) }
		first, err := do()
		if err != nil {
			t.Fatal(err)
		}
		if again := f.replayed(do); again.Cursor != first.Cursor {
			t.Errorf("%+v, first %+v", again.Cursor, first.Cursor)
		}
	})
}

// lezli01/vincent PR#218: the same key with another body.
func TestReplay_ofAnotherRequestIsRefused(t *testing.T) {
	f := open(t)
	if _, err := f.Create(t.Context(), f.asking("r", "one"), task.Draft{Title: "one"}); err != nil {
		t.Fatal(err)
	}
	err := f.refused("REQUEST_ID_REUSED", func() error {
		_, err := f.Create(t.Context(), f.asking("r", "two"), task.Draft{Title: "two"})
		return err
	})
	if e := as[*pool.ReusedError](t, err); e.RequestID != "r" {
		t.Errorf("%+v", e)
	}
}

func TestReplay_scopeIsPoolActorAndMethod(t *testing.T) {
	f, other := open(t), openAs(t, nil, task.EditByAnyone)
	for i, who := range []*fixture{f, f.as(worker), f.as(operator), other} {
		r, err := who.Create(t.Context(), who.asking("r", fmt.Sprint(i)), task.Draft{Title: "it"})
		if err != nil || r.Replayed {
			t.Errorf("%d: %+v, %v", i, r, err)
		}
	}
	r, err := f.Update(t.Context(), f.asking("r", "u"), pool.Update{ID: "T-1", Patch: task.Patch{Title: new("other")}})
	if err != nil || r.Replayed {
		t.Errorf("another method: %+v, %v", r, err)
	}
	for range 2 { // without an id there is no protection
		if r, err := f.Create(t.Context(), f.request(), task.Draft{Title: "it"}); err != nil || r.Replayed {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestReplay_refusalsAreNotRemembered(t *testing.T) {
	f := open(t)
	first := f.titled("first")
	it := f.titled("it", first.ID)
	do := func() (pool.Result, error) {
		return f.Update(t.Context(), f.asking("r", "d"), pool.Update{ID: it.ID, Patch: task.Patch{Status: new(task.InProgress)}})
	}
	f.refused(waits, func() error { _, err := do(); return err })
	f.set(first.ID, task.Done)
	r, err := do()
	if err != nil || r.Replayed || r.Token == "" {
		t.Fatalf("%+v, %v", r, err)
	}
}

// An update that changes nothing is remembered too: its repeat after someone
// else's change does not undo that.
func TestReplay_ofANoOp(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	do := func() (pool.Result, error) {
		return f.Update(t.Context(), f.asking("r", "d"), pool.Update{ID: it.ID, Patch: task.Patch{Title: new("it")}})
	}
	first, err := do()
	if err != nil || first.Replayed || first.Tasks[0].Revision != it.Revision || first.Tasks[0].Version != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	f.as(worker).mustUpdate(it.ID, task.Patch{Title: new("renamed")})
	if again := f.replayed(do); again.Tasks[0].Title != "renamed" || again.Cursor != first.Cursor {
		t.Errorf("%q at %+v, first at %+v", again.Tasks[0].Title, again.Cursor, first.Cursor)
	}
}

func TestReplay_ofAClaim(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	claim := func(f *fixture, request string) func() (pool.Result, error) {
		return func() (pool.Result, error) {
			return f.Update(t.Context(), f.asking(request, "d"), pool.Update{ID: it.ID, Patch: task.Patch{Status: new(task.InProgress)}})
		}
	}
	for _, who := range []*fixture{f.as(worker), f.as(nameless)} {
		do := claim(who, "r1")
		first, err := do()
		if err != nil {
			t.Fatal(err)
		}
		f.as(stranger).mustUpdate(it.ID, entry("meanwhile"))
		if again := who.replayed(do); again.Token != first.Token || again.Tasks[0].HistoryCount == 0 {
			t.Errorf("%+v", again)
		}
		if who.actor == worker { // claiming what one holds is remembered with its token
			no := claim(who, "r2")
			if second, err := no(); err != nil || second.Token != first.Token {
				t.Errorf("%+v, %v", second, err)
			}
			if again := who.replayed(no); again.Token != first.Token {
				t.Errorf("%+v", again)
			}
		}
		f.as(operator).set(it.ID, task.Ready)
		refused := f.refused(lost, func() error { _, err := do(); return err })
		if e := as[*pool.HoldLostError](t, refused); e.Holder != "" {
			t.Errorf("%+v", e)
		}
		f.as(stranger).claim(it.ID)
		refused = f.refused(lost, func() error { _, err := do(); return err })
		if e := as[*pool.HoldLostError](t, refused); e.Holder != stranger || e.Key != it.Key() {
			t.Errorf("%+v", e)
		}
		f.as(stranger).set(it.ID, task.Ready)
	}
}

func TestReplay_ofManyAtOnceHappensOnce(t *testing.T) {
	f := open(t)
	var all sync.WaitGroup
	ids := make([]string, 64)
	for i := range ids {
		all.Go(func() {
			r, err := f.Create(t.Context(), f.asking("r", "d"), task.Draft{Title: "it"})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = r.Tasks[0].ID
		})
	}
	all.Wait()
	if slices.Sort(ids); ids[0] != ids[63] || len(f.all()) != 1 {
		t.Errorf("%d tasks", len(f.all()))
	}
}

func TestReplay_isForgottenAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		do := func() (pool.Result, error) {
			return f.Create(t.Context(), f.asking("r", "d"), task.Draft{Title: "it"})
		}
		if _, err := do(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24*time.Hour - time.Second)
		f.replayed(do)
		time.Sleep(time.Second)
		if r, err := do(); err != nil || r.Replayed || r.Tasks[0].Key() != "T-2" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
