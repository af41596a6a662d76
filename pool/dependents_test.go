package pool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func (f *fixture) wantStatus(id string, s task.Status, unfinished ...string) *pool.Detail {
	f.t.Helper()
	d := f.get(id)
	if d.Status != s || !slices.Equal(d.Unfinished, unfinished) {
		f.t.Errorf("%s is %s waiting for %d (%v), want %s, %d", d.Title, d.Status, len(d.Unfinished), d.Unfinished, s, len(unfinished))
	}
	return d
}

// What follows from a task's end or reopening is there in the same revision, and
// told as the pool's doing (paperclip#12498 and others).
func TestDependents_followInTheSameRevision(t *testing.T) {
	f := open(t)
	a, b := f.titled("a"), f.titled("b")
	c := f.titled("c", a.ID, b.ID)
	d := f.titled("d", c.ID)
	f.wantStatus(c.ID, task.Pending, a.ID, b.ID)

	f.set(a.ID, task.Done)
	f.wantStatus(c.ID, task.Pending, b.ID)
	closed := f.set(b.ID, task.Done)
	got := f.wantStatus(c.ID, task.Ready)
	if got.Revision != closed.Revision || got.Version != 1 {
		t.Errorf("c moved in revision %d, b in %d; version %d", got.Revision, closed.Revision, got.Version)
	}
	f.wantStatus(d.ID, task.Pending, c.ID)

	reopened := f.set(a.ID, task.Ready)
	got = f.wantStatus(c.ID, task.Pending, a.ID)
	if got.Revision != reopened.Revision || got.Version != 1 {
		t.Errorf("c moved in revision %d, a in %d; version %d", got.Revision, reopened.Revision, got.Version)
	}
	f.wantTold(c.ID, 1, map[string]string{"A": a.ID},
		"system:pool status {From:pending To:ready Reason: Forced:false OpenChildren:[] Unfinished:[]}",
		"system:pool status {From:ready To:pending Reason: Forced:false OpenChildren:[] Unfinished:[A]}",
	)
	if last := got.Thread[len(got.Thread)-1].ID; last <= f.get(a.ID).Thread[1].ID {
		t.Errorf("the pool's event %d is before its cause's", last)
	}
}

func TestDependents_ofAReopenedTask(t *testing.T) {
	f := open(t)
	first := f.titled("first")
	f.set(first.ID, task.Done)
	ready, working, done := f.titled("ready", first.ID), f.titled("working", first.ID), f.titled("done", first.ID)
	blocked, cancelled := f.titled("blocked", first.ID), f.titled("cancelled", first.ID)
	f.claim(working.ID)
	f.set(done.ID, task.Done)
	f.set(blocked.ID, task.Blocked)
	f.set(cancelled.ID, task.Cancelled)

	f.set(first.ID, task.Ready)
	f.wantStatus(ready.ID, task.Pending, first.ID)
	f.wantStatus(done.ID, task.Done, first.ID)
	f.wantStatus(blocked.ID, task.Blocked, first.ID)
	f.wantStatus(cancelled.ID, task.Cancelled, first.ID)
	if got := f.wantStatus(working.ID, task.InProgress, first.ID); got.Holder != f.actor {
		t.Errorf("held by %q", got.Holder)
	}

	t.Run("work that goes on can't be closed before it is done", func(t *testing.T) {
		err := f.wontUpdate(working.ID, task.Patch{Status: new(task.Done)}, waits)
		if e := as[*pool.RuleError](t, err); !slices.Equal(e.Related, []string{first.ID}) || !strings.Contains(e.Message, first.Key()) {
			t.Errorf("it does not name what is in the way: %+v", e)
		}
		f.mustUpdate(working.ID, task.Patch{HistoryEntry: new("went on")})
	})
	t.Run("work put back waits, and can't be started again", func(t *testing.T) {
		f.set(first.ID, task.Done)
		f.set(first.ID, task.Ready)
		if got, err := f.update(working.ID, task.Patch{Status: new(task.Ready)}); err != nil || got.Status != task.Pending {
			t.Errorf("put back: %v, %v", got, err)
		}
		f.wontUpdate(working.ID, task.Patch{Status: new(task.InProgress)}, waits)
	})
	t.Run("a reopened dependent waits too", func(t *testing.T) {
		f.wontUpdate(done.ID, task.Patch{Status: new(task.InProgress)}, waits)
		got, err := f.update(done.ID, task.Patch{Status: new(task.Ready)})
		if err != nil || got.Status != task.Pending {
			t.Errorf("reopened: %v, %v", got, err)
		}
	})
	t.Run("both holds of a blocked one have to go", func(t *testing.T) {
		got, err := f.update(blocked.ID, task.Patch{Status: new(task.Ready)})
		if err != nil || got.Status != task.Pending {
			t.Errorf("unblocked: %v, %v", got, err)
		}
	})
}

// paperclip and others: a block by hand is not lifted by the last dependency's
// end.
func TestDependents_blockedByHandStayBlocked(t *testing.T) {
	f := open(t)
	first := f.titled("first")
	it := f.titled("it", first.ID)
	f.set(it.ID, task.Blocked)
	f.set(first.ID, task.Done)
	f.wantStatus(it.ID, task.Blocked)
	f.set(it.ID, task.Ready)
	f.wantStatus(it.ID, task.Ready)
}

// paperclip#9819: dependents of a cancelled task sleep for ever.
func TestDependents_ofACancelledTaskAreToldOnce(t *testing.T) {
	f := open(t)
	first := f.titled("first")
	it, working, over := f.titled("it", first.ID), f.titled("working", first.ID), f.titled("over", first.ID)
	f.set(first.ID, task.Done)
	f.claim(working.ID)
	f.set(over.ID, task.Done)
	f.set(first.ID, task.Ready)
	heard := len(f.get(it.ID).Thread)

	cancelled := f.set(first.ID, task.Cancelled)
	f.mustUpdate(first.ID, task.Patch{Priority: new(task.High)})
	got := f.wantStatus(it.ID, task.Pending, first.ID)
	if got.Revision != cancelled.Revision {
		t.Errorf("told in revision %d, cancelled in %d", got.Revision, cancelled.Revision)
	}
	gaveUp := "system:pool dependency {Added:[] Removed:[] GivenUp:FIRST}"
	ids := map[string]string{"FIRST": first.ID}
	f.wantTold(it.ID, heard, ids, gaveUp)
	f.wantTold(working.ID, len(f.get(working.ID).Thread)-1, ids, gaveUp)
	if events := f.get(over.ID).Thread; events[len(events)-1].Kind == task.EventDependency {
		t.Error("a task that is over was told")
	}

	_, checks, err := f.Explain(f.actor, it.ID)
	if err != nil || !strings.Contains(checks[1].Detail, first.Key()+" is cancelled: reopen it or remove it") {
		t.Errorf("%+v, %v", checks[1], err)
	}
	refused := f.wontUpdate(it.ID, task.Patch{Status: new(task.InProgress)}, waits)
	if !strings.Contains(refused.String(), first.Key()+" is cancelled") {
		t.Errorf("the refusal does not say so: %v", refused)
	}

	t.Run("one way out is to reopen it", func(t *testing.T) {
		f.set(first.ID, task.Ready)
		f.set(first.ID, task.Done)
		f.wantStatus(it.ID, task.Ready)
	})
	t.Run("the other to remove it", func(t *testing.T) {
		f.set(first.ID, task.Ready)
		f.set(first.ID, task.Cancelled)
		f.mustUpdate(it.ID, task.Patch{RemoveDependencies: []string{first.Key()}})
		f.wantStatus(it.ID, task.Ready)
	})
	t.Run("who comes to depend on it later is told then", func(t *testing.T) {
		late := f.titled("late", first.ID)
		f.wantTold(late.ID, 1, ids, gaveUp)
		later := f.titled("later")
		f.mustUpdate(later.ID, task.Patch{AddDependencies: []string{first.ID}})
		f.wantTold(later.ID, 2, ids, gaveUp, "system:pool status {From:ready To:pending Reason: Forced:false OpenChildren:[] Unfinished:[FIRST]}")
	})
}

func TestNotBefore_holdsATaskBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		in := func(d time.Duration) time.Time { return time.Now().Add(d).UTC() }
		it := f.create(task.Draft{Title: "it", NotBefore: in(time.Hour)})
		first := f.titled("first")
		both := f.create(task.Draft{Title: "both", NotBefore: in(time.Hour), Dependencies: []string{first.ID}})
		past := f.create(task.Draft{Title: "past", NotBefore: in(-time.Hour)})
		f.wantStatus(it.ID, task.Pending)
		f.wantStatus(past.ID, task.Ready)
		err := f.wontUpdate(it.ID, task.Patch{Status: new(task.InProgress)}, noMove)
		if want := it.NotBefore.Format("2006-01-02T15:04:05Z"); !strings.Contains(err.String(), want) {
			t.Errorf("it does not say until when: %v", err)
		}

		time.Sleep(time.Hour - time.Second)
		synctest.Wait()
		f.wantStatus(it.ID, task.Pending)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		got := f.wantStatus(it.ID, task.Ready)
		if got.Version != 1 {
			t.Errorf("version %d", got.Version)
		}
		f.wantTold(it.ID, 1, nil, "system:pool status {From:pending To:ready Reason: Forced:false OpenChildren:[] Unfinished:[]}")
		f.wantStatus(both.ID, task.Pending, first.ID)
		f.set(first.ID, task.Done)
		f.wantStatus(both.ID, task.Ready)

		t.Log("set, moved and cleared")
		f.mustUpdate(it.ID, task.Patch{NotBefore: new(in(time.Minute))})
		f.wantStatus(it.ID, task.Pending)
		f.mustUpdate(it.ID, task.Patch{NotBefore: new(in(time.Hour))})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		f.wantStatus(it.ID, task.Pending)
		f.mustUpdate(it.ID, task.Patch{NotBefore: new(time.Time{})})
		if got := f.wantStatus(it.ID, task.Ready); !got.NotBefore.IsZero() {
			t.Errorf("not before %v", got.NotBefore)
		}

		t.Log("with a status in one update")
		f.wontUpdate(it.ID, task.Patch{NotBefore: new(in(time.Hour)), Status: new(task.InProgress)}, noMove)
		f.claim(it.ID)
		f.mustUpdate(it.ID, task.Patch{NotBefore: new(in(time.Hour))})
		f.wantStatus(it.ID, task.InProgress)
		f.mustUpdate(it.ID, task.Patch{Status: new(task.Ready)})
		f.wantStatus(it.ID, task.Pending)
		f.mustUpdate(it.ID, task.Patch{NotBefore: new(time.Time{}), Status: new(task.InProgress)})
		f.wantStatus(it.ID, task.InProgress)

		t.Log("and reopened")
		f.set(it.ID, task.Done)
		f.mustUpdate(it.ID, task.Patch{NotBefore: new(in(time.Hour))})
		f.wontUpdate(it.ID, task.Patch{Status: new(task.InProgress)}, noMove)
		f.mustUpdate(it.ID, task.Patch{Status: new(task.Ready)})
		f.wantStatus(it.ID, task.Pending)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		f.wantStatus(it.ID, task.Ready)
	})
}

// What follows from a change is no reason to refuse it: nobody could split it.
func TestDependents_manyLargeOnesHinderNoClosing(t *testing.T) {
	f := open(t)
	hub := f.titled("hub")
	for range 2 {
		f.many(500, task.Draft{Title: "it", Body: strings.Repeat("x", 20_000), Dependencies: []string{hub.ID}})
	}
	for _, s := range []task.Status{task.Done, task.Ready, task.Cancelled} {
		f.set(hub.ID, s)
	}
}

// A dependency may lead anywhere: from deep below one parent to another's child
// (task-master#542), and along any number of steps.
func TestDependents_acrossParentsAndLongChains(t *testing.T) {
	f := open(t)
	root := f.titled("root")
	child := f.create(task.Draft{Title: "child", Parent: root.ID})
	deep := f.create(task.Draft{Title: "deep", Parent: child.ID})
	other := f.titled("other")
	f.mustUpdate(deep.ID, task.Patch{AddDependencies: []string{other.Key()}})
	if got := f.wantStatus(deep.ID, task.Pending, other.ID); !slices.Equal(got.Dependencies, []string{other.ID}) {
		t.Errorf("depends on %v", got.Dependencies)
	}
	if got := f.get(other.ID).Dependents; !slices.Equal(got, []string{deep.ID}) {
		t.Errorf("dependents are %v", got)
	}

	last := other.ID
	var chain []string
	for i := range 50 {
		last = f.titled(fmt.Sprint("link", i), last).ID
		chain = append(chain, last)
	}
	f.set(other.ID, task.Done)
	f.wantStatus(deep.ID, task.Ready)
	for i, id := range chain {
		f.wantStatus(id, task.Ready)
		if i+1 < len(chain) {
			f.wantStatus(chain[i+1], task.Pending, id)
		}
		f.set(id, task.Done)
	}
}
