package pool_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

const lost = "HOLD_LOST"

// withToken changes a task, carrying a hold token.
func (f *fixture) withToken(id, token string, p task.Patch) (pool.Result, error) {
	f.t.Helper()
	return f.Update(f.t.Context(), f.request(), pool.Update{ID: id, HoldToken: token, Patch: p})
}

func (f *fixture) wantAssigned(id, assignee string) {
	f.t.Helper()
	if got := f.get(id); got.Assignee != assignee {
		f.t.Errorf("%s, assigned to %q, want %q", got.Status, got.Assignee, assignee)
	}
}

func TestClaim_assignsAndPuttingBackTakesThatBack(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	w := f.as(worker)

	w.claim(it.ID)
	w.wantAssigned(it.ID, worker)
	w.set(it.ID, task.Ready)
	w.wantAssigned(it.ID, "")

	t.Run("but not one made by create", func(t *testing.T) {
		its := f.create(task.Draft{Title: "theirs", Assignee: worker})
		w.claim(its.ID)
		w.set(its.ID, task.Ready)
		w.wantAssigned(its.ID, worker)
	})
	t.Run("nor one made by assigning", func(t *testing.T) {
		its := f.titled("given")
		f.mustUpdate(its.ID, task.Patch{Assignee: new(worker)})
		w.claim(its.ID)
		w.set(its.ID, task.Ready)
		w.wantAssigned(its.ID, worker)
		w.claim(its.ID)
		w.set(its.ID, task.Done)
		f.set(its.ID, task.Ready)
		f.wantAssigned(its.ID, worker)
	})
	t.Run("reopening does too", func(t *testing.T) {
		for _, end := range []task.Status{task.Done, task.Cancelled} {
			its := f.titled("ended")
			w.claim(its.ID)
			f.as(operator).set(its.ID, end)
			f.wantAssigned(its.ID, worker)
			f.as(stranger).set(its.ID, task.Ready)
			f.wantAssigned(its.ID, "")
		}
	})
	t.Run("reopening and claiming in one gives it to the new one", func(t *testing.T) {
		its := f.titled("again")
		w.claim(its.ID)
		w.set(its.ID, task.Done)
		f.as(stranger).claim(its.ID)
		f.wantAssigned(its.ID, stranger)
		f.as(stranger).set(its.ID, task.Ready)
		f.wantAssigned(its.ID, "")
	})
	t.Run("a block keeps it for who claimed it", func(t *testing.T) {
		its := f.titled("blocked")
		w.claim(its.ID)
		w.set(its.ID, task.Blocked)
		w.set(its.ID, task.Ready)
		w.wantAssigned(its.ID, worker)
		w.claim(its.ID)
		w.set(its.ID, task.Ready)
		w.wantAssigned(its.ID, "")
	})
	t.Run("one that gives the task to who has it changes nothing", func(t *testing.T) {
		its := f.titled("mine")
		w.claim(its.ID)
		before := f.dump()
		f.mustUpdate(its.ID, task.Patch{Assignee: new(worker)})
		w.mustUpdate(its.ID, task.Patch{Assignee: new("me")})
		if f.dump() != before {
			t.Error("it changed something")
		}
	})
}

func TestClaim_whatOneHoldsGivesTheSameToken(t *testing.T) {
	f := open(t).as(worker)
	it := f.titled("it")
	token, before := f.claim(it.ID), f.dump()
	if again := f.claim(it.Key()); again != token {
		t.Errorf("another token %q after %q", again, token)
	}
	if r, err := f.withToken(it.ID, token, task.Patch{Status: new(task.InProgress)}); err != nil || r.Token != token {
		t.Errorf("with the token: %q, %v", r.Token, err)
	}
	if f.dump() != before {
		t.Error("claiming what one holds changed something")
	}

	t.Run("never to ext:anonymous, who may be anybody", func(t *testing.T) {
		f := f.as(nameless)
		it := f.titled("its")
		token := f.claim(it.ID)
		err := f.wontUpdate(it.ID, task.Patch{Status: new(task.InProgress)}, held)
		if e := as[*pool.HeldError](t, err); e.Holder != nameless {
			t.Errorf("held by %s", e.Holder)
		}
		if r, err := f.withToken(it.ID, token, task.Patch{Status: new(task.InProgress)}); err != nil || r.Token != token {
			t.Errorf("with the token: %q, %v", r.Token, err)
		}
	})
}

func TestClaim_hasOneWinner(t *testing.T) {
	f := open(t)
	for range 20 {
		it := f.titled("it")
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				r, err := f.Update(t.Context(), pool.Request{Actor: fmt.Sprintf("agent:%d", i)}, pool.Update{ID: it.ID, Patch: task.Patch{Status: new(task.InProgress)}})
				switch {
				case err == nil && r.Token != "" && r.Tasks[0].Holder == fmt.Sprintf("agent:%d", i):
					won.Add(1)
				case reasonOf(err) != held:
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d winners", won.Load())
		}
	}
}

func TestHoldToken_wrongOneIsRefusedWhateverItIsFor(t *testing.T) {
	f := openAs(t, nil, task.EditByFiler)
	free := f.titled("free")
	taken := f.titled("taken")
	f.as(worker).claim(taken.ID)
	patches := map[string]task.Patch{
		"nothing":        {},
		"an edit":        {Title: new("other")},
		"no real change": {Title: new("taken")},
		"an entry":       {HistoryEntry: new("did it")},
		"a label":        {SetLabels: map[string]string{"a": "b"}},
		"a dependency":   {AddDependencies: []string{free.ID}},
		"a parent":       {Parent: new(free.ID)},
		"an assignment":  {Assignee: new(worker)},
		"a claim":        {Status: new(task.InProgress)},
		"a close":        {Status: new(task.Done)},
		"a cancel":       {Status: new(task.Cancelled)},
	}
	for name, p := range patches {
		for _, who := range members {
			f := f.as(who)
			for _, it := range []*pool.Detail{free, taken} {
				err := f.refused(lost, func() error { _, err := f.withToken(it.ID, "made up", p); return err })
				if e := as[*pool.HoldLostError](t, err); e.Key != it.Key() || e.Holder != f.get(it.ID).Holder || e.Since.IsZero() != (e.Holder == "") {
					t.Errorf("%s by %s: it does not say who holds it now: %+v", name, who, e)
				}
			}
		}
	}
}

func TestHoldToken_endsWithTheHold(t *testing.T) {
	for name, end := range map[string]func(f *fixture, id string){
		"put back":                func(f *fixture, id string) { f.as(worker).set(id, task.Ready) },
		"put back by an operator": func(f *fixture, id string) { f.as(operator).set(id, task.Ready) },
		"assigned to another":     func(f *fixture, id string) { f.mustUpdate(id, task.Patch{Assignee: new(stranger)}) },
		"assigned to nobody":      func(f *fixture, id string) { f.mustUpdate(id, task.Patch{Assignee: new("")}) },
		"blocked":                 func(f *fixture, id string) { f.set(id, task.Blocked) },
		"cancelled":               func(f *fixture, id string) { f.set(id, task.Cancelled) },
		"done":                    func(f *fixture, id string) { f.as(worker).set(id, task.Done) },
		"claimed anew": func(f *fixture, id string) {
			f.as(worker).set(id, task.Ready)
			f.as(worker).claim(id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			it := f.titled("it")
			token := f.as(worker).claim(it.ID)
			end(f, it.ID)
			w := f.as(worker)
			w.refused(lost, func() error {
				_, err := w.withToken(it.ID, token, task.Patch{HistoryEntry: new("still at it")})
				return err
			})
		})
	}
}

// A token proves the hold, so who carries it acts for the holder. What is not
// the holder's to do stays so.
func TestHoldToken_actsForTheHolder(t *testing.T) {
	for name, c := range map[string]struct {
		p    task.Patch
		want string
	}{
		"close":       {task.Patch{Status: new(task.Done)}, ""},
		"put back":    {task.Patch{Status: new(task.Ready)}, ""},
		"block":       {task.Patch{Status: new(task.Blocked), Reason: "no key"}, ""},
		"hand over":   {task.Patch{Assignee: new(filer)}, ""},
		"refine":      {task.Patch{Steps: new([]string{"one"})}, ""},
		"retitle":     {task.Patch{Title: new("other")}, denied},
		"cancel":      {task.Patch{Status: new(task.Cancelled)}, denied},
		"force close": {task.Patch{Status: new(task.Done), Force: true}, denied},
	} {
		t.Run(name, func(t *testing.T) {
			f := openAs(t, nil, task.EditByFiler)
			it := f.titled("it")
			token := f.as(worker).claim(it.ID)
			f = f.as(stranger)
			if _, err := f.withToken(it.ID, token, c.p); reasonOf(err) != c.want {
				t.Errorf("%v", err)
			}
			if last := f.get(it.ID).Thread; c.want == "" && last[len(last)-1].Actor != stranger {
				t.Errorf("done by %s", last[len(last)-1].Actor)
			}
		})
	}
}

func TestHold_othersAreTold(t *testing.T) {
	f := openAs(t, nil, task.EditByAnyone)
	it := f.titled("it")
	f.as(worker).claim(it.ID)
	since := f.get(it.ID).HeldAt
	for _, p := range []task.Patch{
		{Status: new(task.InProgress)},
		{Status: new(task.Done)},
		{Status: new(task.Ready)},
		{Status: new(task.Blocked), Reason: "no"},
		{Assignee: new("me")},
		{Assignee: new("")},
	} {
		err := f.as(stranger).wontUpdate(it.ID, p, held)
		if e := as[*pool.HeldError](t, err); e.Holder != worker || !e.Since.Equal(since) || e.Key != it.Key() {
			t.Errorf("%+v", e)
		}
	}
	// What needs no hold goes on beside it.
	f.as(stranger).mustUpdate(it.ID, task.Patch{HistoryEntry: new("saw it fail too"), Priority: new(task.High)})
	if got := f.get(it.ID); got.Holder != worker || !got.HeldAt.Equal(since) {
		t.Errorf("held by %q since %v", got.Holder, got.HeldAt)
	}
}
