package pool_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

const run = "run-1"

// lease claims a task with a lease and a run.
func (f *fixture) lease(id string, lease time.Duration, run string) pool.Result {
	f.t.Helper()
	r, err := f.Claim(f.t.Context(), f.request(), pool.Claim{ID: id, Lease: lease, RunID: run})
	if err != nil {
		f.t.Fatalf("claim %s: %v", id, err)
	}
	return r
}

func (f *fixture) wontClaim(id, reason string) refusal {
	f.t.Helper()
	return f.refused(reason, func() error {
		_, err := f.Claim(f.t.Context(), f.request(), pool.Claim{ID: id})
		return err
	})
}

// ownStore is a store that nobody else appends to.
type ownStore struct{ store.Store }

func (ownStore) Shared() bool { return false }

// leased runs a test in a bubble of its own time, with one task and two workers.
func leased(t *testing.T, do func(t *testing.T, f, w, other *fixture, id string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		defer func() { _ = s.Close() }()
		f := openOn(t, ownStore{s})
		do(t, f, f.as(worker), f.as(stranger), f.titled("it").ID)
	})
}

func (f *fixture) stands(id string, status task.Status, holder string) *pool.Detail {
	f.t.Helper()
	synctest.Wait()
	d := f.get(id)
	if d.Status != status || d.Holder != holder {
		f.t.Errorf("it is %s and held by %q, want %s and %q", d.Status, d.Holder, status, holder)
	}
	return d
}

func TestClaim_withALeaseRunsOut(t *testing.T) {
	leased(t, func(t *testing.T, f, w, other *fixture, id string) {
		before := f.get(id).Version
		r := w.lease(id, time.Minute, run)
		if until := time.Now().Add(time.Minute); !r.ExpiresAt.Equal(until) || !w.get(id).ExpiresAt.Equal(until) || r.Tasks[0].Lease != time.Minute {
			t.Errorf("it runs out at %s", r.ExpiresAt)
		}
		if e := as[*pool.HeldError](t, other.wontClaim(id, held)); e.Holder != worker || !e.ExpiresAt.Equal(r.ExpiresAt) || e.Yours {
			t.Errorf("got %+v", e)
		}
		time.Sleep(time.Minute - 1)
		w.stands(id, task.InProgress, worker)
		time.Sleep(time.Nanosecond)
		d := w.stands(id, task.Ready, "")
		if d.Assignee != "" || d.Lease != 0 || !d.HeldAt.IsZero() || !d.ExpiresAt.IsZero() || d.Version != before+1 {
			t.Errorf("left: %+v", d.Task)
		}
		last := d.Thread[len(d.Thread)-1]
		want := task.HoldExpiredDetail{Holder: worker, HeldAt: r.Tasks[0].HeldAt, Lease: time.Minute, RunID: run, InARow: 1}
		if last.Kind != task.EventHoldExpired || last.Actor != task.SystemPool || last.Detail != want {
			t.Errorf("its thread ends with %+v", last)
		}
		if _, err := w.withToken(id, r.Token, task.Patch{Status: new(task.Done)}); reasonOf(err) != lost {
			t.Errorf("done after it ran out: %v", err)
		}
		if wrong := f.Unsound(); wrong != "" {
			t.Error(wrong)
		}
	})
}

// A sign of life is a renewal or any write with the token; what the same name does
// without it is none.
func TestClaim_whatRenewsALease(t *testing.T) {
	for name, sign := range map[string]func(w *fixture, id, token string) error{
		"a renewal": func(w *fixture, id, token string) error {
			_, err := w.Renew(w.t.Context(), w.request(), id, token, 0)
			return err
		},
		"claiming again": func(w *fixture, id, token string) error {
			if r := w.lease(id, time.Hour, run); r.Token != token || !r.ExpiresAt.Equal(time.Now().Add(time.Minute)) {
				return fmt.Errorf("%+v", r)
			}
			return nil
		},
		"a comment": func(w *fixture, id, token string) error {
			_, _, err := w.Comment(w.t.Context(), w.request(), id, token, "still here")
			return err
		},
		"an entry": func(w *fixture, id, token string) error {
			_, err := w.withToken(id, token, task.Patch{HistoryEntry: new("half of it")})
			return err
		},
		"an update of nothing": func(w *fixture, id, token string) error {
			_, err := w.withToken(id, token, task.Patch{})
			return err
		},
		"another by the token": func(w *fixture, id, token string) error {
			_, err := w.as(stranger).withToken(id, token, task.Patch{Title: new("new")})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			leased(t, func(t *testing.T, f, w, _ *fixture, id string) {
				r := w.lease(id, time.Minute, run)
				time.Sleep(40 * time.Second)
				if err := sign(w, id, r.Token); err != nil {
					t.Fatal(err)
				}
				time.Sleep(59 * time.Second)
				w.stands(id, task.InProgress, worker)
				time.Sleep(time.Second)
				w.stands(id, task.Ready, "")
			})
		})
	}
	leased(t, func(t *testing.T, f, w, other *fixture, id string) {
		w.lease(id, time.Minute, "")
		time.Sleep(40 * time.Second)
		f.mustUpdate(id, task.Patch{Title: new("by another")})
		e := as[*pool.HeldError](t, w.wontUpdate(id, task.Patch{HistoryEntry: new("mine")}, held))
		if !e.Yours || e.Holder != worker {
			t.Errorf("got %+v", e)
		}
		w.wontClaim(id, held) // no run says that it is the same
		_, _, err := w.Comment(t.Context(), w.request(), id, "", "mine")
		if reasonOf(err) != held {
			t.Errorf("a comment by the name alone: %v", err)
		}
		if _, _, err := other.Comment(t.Context(), other.request(), id, "", "how is it?"); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Second)
		w.stands(id, task.Ready, "")
	})
}

// A renewal is no revision, unless the lease becomes another.
func TestRenew(t *testing.T) {
	leased(t, func(t *testing.T, f, w, other *fixture, id string) {
		r := w.lease(id, time.Minute, "")
		before := f.dump()
		time.Sleep(30 * time.Second)
		again, err := w.Renew(t.Context(), w.request(), id, r.Token, 0)
		if err != nil || again.Cursor != r.Cursor || !again.ExpiresAt.Equal(time.Now().Add(time.Minute)) || again.Token != r.Token {
			t.Errorf("got %+v, %v", again, err)
		}
		if f.dump() != before {
			t.Error("it changed something")
		}
		longer, err := w.Renew(t.Context(), w.request(), id, r.Token, time.Hour)
		if err != nil || longer.Cursor == r.Cursor || !longer.ExpiresAt.Equal(time.Now().Add(time.Hour)) || longer.Tasks[0].Lease != time.Hour || longer.Tasks[0].Version != r.Tasks[0].Version {
			t.Errorf("got %+v, %v", longer, err)
		}
		time.Sleep(59 * time.Minute)
		w.stands(id, task.InProgress, worker)
		for token, reason := range map[string]string{"": "INVALID_FIELD", "other": lost} {
			if _, err := w.Renew(t.Context(), w.request(), id, token, 0); reasonOf(err) != reason {
				t.Errorf("with the token %q: %v", token, err)
			}
		}
		time.Sleep(time.Minute)
		w.stands(id, task.Ready, "")
		now := other.lease(id, time.Minute, "")
		_, err = w.Renew(t.Context(), w.request(), id, r.Token, 0)
		if e := as[*pool.HoldLostError](t, err); e.Holder != stranger || !e.ExpiresAt.Equal(now.ExpiresAt) {
			t.Errorf("got %+v", e)
		}
		other.mustRelease(id, now.Token)
		_, err = w.Renew(t.Context(), w.request(), id, r.Token, 0)
		if e := as[*pool.HoldLostError](t, err); e.Holder != "" {
			t.Errorf("got %+v", e)
		}
	})
}

func (f *fixture) mustRelease(id, token string) *pool.Detail {
	f.t.Helper()
	r, err := f.Release(f.t.Context(), f.request(), id, token, "enough")
	if err != nil {
		f.t.Fatal(err)
	}
	return r.Tasks[0]
}

func TestRelease(t *testing.T) {
	leased(t, func(t *testing.T, f, w, other *fixture, id string) {
		f.refused("MOVE_NOT_ALLOWED", func() error { _, err := w.Release(t.Context(), w.request(), id, "", ""); return err })
		r := w.lease(id, time.Minute, "")
		for who, want := range map[*fixture]string{w: held, other: held, f: held} {
			who.refused(want, func() error { _, err := who.Release(t.Context(), who.request(), id, "", ""); return err })
		}
		f.refused(lost, func() error { _, err := w.Release(t.Context(), w.request(), id, "old", ""); return err })
		d := w.mustRelease(id, r.Token)
		if d.Status != task.Ready || d.Assignee != "" {
			t.Errorf("left: %+v", d.Task)
		}
		if last := d.Thread[len(d.Thread)-1]; last.Kind != task.EventReleased || last.Detail != (task.ReleasedDetail{Holder: worker, Reason: "enough"}) {
			t.Errorf("its thread ends with %+v", last)
		}
		w.lease(id, time.Minute, "")
		f.as(operator).mustRelease(id, "")
		w.stands(id, task.Ready, "")
		plain := w.lease(id, 0, "")
		if !plain.ExpiresAt.IsZero() {
			t.Errorf("a hold without a lease runs out at %s", plain.ExpiresAt)
		}
		time.Sleep(48 * time.Hour)
		w.stands(id, task.InProgress, worker)
		w.mustRelease(id, "")
	})
}

// A task that one worker after the other loses waits for somebody to look at it.
func TestExpire_threeInARow(t *testing.T) {
	leased(t, func(t *testing.T, f, w, other *fixture, id string) {
		dependent := f.titled("after", id)
		for i := range 5 {
			r := w.lease(id, time.Minute, "")
			if i == 1 { // one that ended otherwise begins the count anew
				w.mustRelease(id, r.Token)
				continue
			}
			time.Sleep(time.Minute)
			if want := map[int]task.Status{4: task.Failed}[i]; want == task.Failed {
				f.stands(id, task.Failed, "")
			} else {
				f.stands(id, task.Ready, "")
			}
		}
		w.wontClaim(id, "MOVE_NOT_ALLOWED")
		d := f.get(id)
		if last := d.Thread[len(d.Thread)-1]; last.Kind != task.EventStatus || last.Detail.(task.StatusDetail).To != task.Failed {
			t.Errorf("its thread ends with %+v", last)
		}
		f.stands(dependent.ID, task.Pending, "")
		f.set(id, task.Ready)
		w.lease(id, time.Minute, "")
		time.Sleep(time.Minute)
		f.stands(id, task.Ready, "")
		if wrong := f.Unsound(); wrong != "" {
			t.Error(wrong)
		}
	})
}

// What a holder asked for before the pool ended the hold wins, and after that
// nothing does: never done and then sent back, and never two ends.
func TestExpire_racesWithDone(t *testing.T) {
	done, back := 0, 0
	for i := range 300 {
		leased(t, func(t *testing.T, f, w, _ *fixture, id string) {
			r := w.lease(id, time.Second, "")
			time.Sleep(time.Second - time.Duration(i%3))
			_, err := w.withToken(id, r.Token, task.Patch{Status: new(task.Done)})
			time.Sleep(time.Hour)
			synctest.Wait()
			switch d := f.get(id); {
			case err == nil && d.Status == task.Done && len(d.Thread) == 3:
				done++
			case reasonOf(err) == lost && d.Status == task.Ready && len(d.Thread) == 3:
				back++
			default:
				t.Fatalf("%v, and it is %s with %d events", err, d.Status, len(d.Thread))
			}
		})
	}
	t.Logf("done %d times, sent back %d times", done, back)
	if done == 0 {
		t.Error("never done")
	}
}

// A process that starts anew gives every hold its whole lease again, and the token
// stays good.
func TestClaim_leaseOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		defer func() { _ = s.Close() }()
		f := openOn(t, s).as(worker)
		id := f.titled("it").ID
		r := f.lease(id, time.Minute, run)
		time.Sleep(50 * time.Second)
		again := openOn(t, s).as(worker)
		if d := again.get(id); d.Holder != worker || d.Lease != time.Minute || !d.ExpiresAt.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("held by %q until %s", d.Holder, d.ExpiresAt)
		}
		if same := again.lease(id, time.Minute, run); same.Token != r.Token {
			t.Error("the same run has another token")
		}
	})
}

// Of those who share a store each counts a lease by its own clock, and none ends a
// hold that was renewed at another.
func TestRenew_sharedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		defer func() { _ = s.Close() }()
		one, other := openOn(t, s).as(worker), openOn(t, s).as(stranger)
		id := one.titled("it").ID
		r := one.lease(id, time.Minute, "")
		for range 5 {
			time.Sleep(50 * time.Second)
			if _, err := one.Renew(t.Context(), one.request(), id, r.Token, 0); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(59 * time.Second)
		one.stands(id, task.InProgress, worker)
		other.stands(id, task.InProgress, worker)
		time.Sleep(2 * time.Second)
		one.stands(id, task.Ready, "")
		other.stands(id, task.Ready, "")
		if n := one.get(id).EventCount; n != 3 {
			t.Errorf("%d events", n)
		}
	})
}

// Leases come through an export as they are.
func TestRestore_leases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := open(t).as(operator)
		id := from.titled("it").ID
		from.as(worker).lease(id, time.Minute, run)
		failed := from.titled("lost").ID
		for range 3 {
			from.as(worker).lease(failed, time.Second, "")
			time.Sleep(time.Second)
			synctest.Wait()
		}
		from.stands(failed, task.Failed, "")
		f := open(t).as(operator)
		if _, err := f.restore(records(t, from.Pool)); err != nil {
			t.Fatal(err)
		}
		if d := f.get(id); d.Lease != time.Minute || !d.ExpiresAt.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("a lease of %s until %s", d.Lease, d.ExpiresAt)
		}
		f.stands(failed, task.Failed, "")
		time.Sleep(time.Minute)
		f.stands(id, task.Ready, "")
	})
}

func TestClaim_refuses(t *testing.T) {
	f := open(t)
	first := f.titled("first")
	waits := f.titled("waits", first.ID)
	f.create(task.Draft{Title: "theirs", Assignee: worker})
	w := f.as(stranger)
	for id, want := range map[string]string{waits.ID: "DEPENDENCIES_UNFINISHED", "T-3": "NOT_PERMITTED", "T-9": "TASK_NOT_FOUND", "": "TASK_NOT_FOUND"} {
		_, err := w.Claim(t.Context(), w.request(), pool.Claim{ID: id})
		if got := reasonOf(err); got != want && id != "" {
			t.Errorf("%s: %v", id, err)
		}
		if id == "" && err == nil {
			t.Error("nothing is claimed")
		}
	}
	for _, c := range []pool.Claim{{ID: first.ID, Lease: time.Millisecond}, {ID: first.ID, Lease: 25 * time.Hour}, {ID: first.ID, Lease: -1}, {ID: first.ID, RunID: string(make([]byte, 3))}} {
		if _, err := w.Claim(t.Context(), w.request(), c); reasonOf(err) != "INVALID_FIELD" {
			t.Errorf("%+v: %v", c, err)
		}
	}
	f.set(first.ID, task.Done)
	w.wontClaim(first.ID, "MOVE_NOT_ALLOWED")
	// What explain tells and what a claim meets are one.
	for _, it := range f.all() {
		_, checks, err := f.Explain(stranger, it.ID)
		if err != nil {
			t.Fatal(err)
		}
		all := true
		for _, c := range checks {
			all = all && c.Holds
		}
		_, err = w.Claim(t.Context(), w.request(), pool.Claim{ID: it.ID})
		if (err == nil) != all {
			t.Errorf("%s: explained as %v, claimed with %v", it.Key(), all, err)
		}
	}
}

// Of many who claim one task one wins, and the others are told who.
func TestClaim_oneWinner(t *testing.T) {
	f := open(t)
	for round := range 20 {
		id := f.titled(fmt.Sprint(round)).ID
		var wins atomic.Int64
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i := range 64 {
			w := f.as(fmt.Sprintf("agent:w%d", i))
			wg.Go(func() {
				<-begin
				_, err := w.Claim(t.Context(), w.request(), pool.Claim{ID: id, Lease: time.Minute})
				if err == nil {
					wins.Add(1)
				} else if reasonOf(err) != held {
					t.Error(err)
				}
			})
		}
		close(begin)
		wg.Wait()
		if wins.Load() != 1 {
			t.Errorf("%d won", wins.Load())
		}
	}
}

// A comment is told again to who repeats it, and leaves the version as it is.
func TestComment(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	r := pool.Request{Actor: stranger, ID: "once", Digest: "x"}
	e, first, err := f.Comment(t.Context(), r, it.ID, "", " look\nthere ")
	if err != nil || e.Body != " look\nthere " || e.Actor != stranger || e.Kind != task.EventComment || first.Replayed {
		t.Errorf("%+v, %+v, %v", e, first, err)
	}
	f.titled("another")
	again, second, err := f.Comment(t.Context(), r, it.ID, "", " look\nthere ")
	if err != nil || again.ID != e.ID || !second.Replayed || second.Cursor != first.Cursor {
		t.Errorf("%+v, %+v, %v", again, second, err)
	}
	d := f.get(it.ID)
	if d.Version != 1 || d.EventCount != 2 || d.Thread[1].ID != e.ID {
		t.Errorf("version %d, %d events", d.Version, d.EventCount)
	}
	if _, _, err := f.Comment(t.Context(), f.request(), it.ID, "", " "); reasonOf(err) != "INVALID_FIELD" {
		t.Error(err)
	}
}
