package pool_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// delayed makes a task that waits that long.
func delayed(t *testing.T, p *pool.Pool, wait time.Duration) *pool.Detail {
	t.Helper()
	got, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "later", NotBefore: time.Now().Add(wait)})
	if err != nil {
		t.Fatal(err)
	}
	return got.Tasks[0]
}

// woken checks that a task became ready at a time, in a revision of its own made
// by the pool, which is no member's change.
func woken(t *testing.T, p *pool.Pool, before *pool.Detail, at time.Time) {
	t.Helper()
	d, err := p.Get(before.ID)
	if err != nil {
		t.Fatal(err)
	}
	last := d.Thread[len(d.Thread)-1]
	detail, _ := last.Detail.(task.StatusDetail)
	if d.Status != task.Ready || !d.UpdatedAt.Equal(at) || d.Revision <= before.Revision || d.Version != before.Version {
		t.Errorf("%s at %s, revision %d, version %d; before: %d and %d", d.Status, d.UpdatedAt, d.Revision, d.Version, before.Revision, before.Version)
	}
	if last.Actor != task.SystemPool || last.Kind != task.EventStatus || detail.From != task.Pending || detail.To != task.Ready || len(d.Thread) != len(before.Thread)+1 {
		t.Errorf("its thread ends with %+v", last)
	}
}

func TestNotBefore(t *testing.T) {
	for _, wait := range []time.Duration{time.Nanosecond, time.Second, 29 * time.Second, 31 * time.Second, 100 * time.Hour} {
		t.Run(wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t)
				d := delayed(t, f.Pool, wait)
				head := f.Cursor().Revision
				time.Sleep(wait - 1)
				synctest.Wait()
				if wait > 1 && (f.get(d.ID).Status != task.Pending || f.Cursor().Revision != head) {
					t.Fatal("it did not wait")
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				woken(t, f.Pool, d, d.NotBefore)
				if got := f.Cursor().Revision; got != head+1 {
					t.Errorf("%d revisions for it", got-head)
				}
				time.Sleep(24 * time.Hour)
				if got := f.Cursor().Revision; got != head+1 {
					t.Errorf("%d revisions a day later", got-head)
				}
			})
		})
	}
}

// A task that waits is woken after a restart: at its time, or at once where that
// passed meanwhile.
func TestNotBefore_restart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		r, p := openedAgain(t, s)
		soon, late := delayed(t, p, time.Hour), delayed(t, p, 3*time.Hour)
		r.Close()
		time.Sleep(2 * time.Hour)
		at := time.Now()
		r, p = openedAgain(t, s)
		synctest.Wait()
		woken(t, p, soon, at)
		time.Sleep(2 * time.Hour)
		woken(t, p, late, late.NotBefore)
		r.Close()
		_ = s.Close()
	})
}

func openedAgain(t *testing.T, s store.Store) (*pool.Registry, *pool.Pool) {
	t.Helper()
	b := sides(t, s, 1)[0]
	return b.Registry, b.Pool
}

// Many at once are woken in as many revisions as it takes, by their number and
// by their size.
func TestNotBefore_many(t *testing.T) {
	for name, c := range map[string]struct{ tasks, body int }{"2500 small": {2500, 1}, "500 large": {500, 20_000}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t)
				body, at := strings.Repeat("木", c.body), time.Now().Add(time.Hour)
				for range c.tasks / 100 {
					drafts := make([]task.Draft, 100)
					for i := range drafts {
						drafts[i] = task.Draft{Title: "one of many", Body: body, NotBefore: at}
					}
					if _, err := f.CreateAll(t.Context(), f.request(), drafts); err != nil {
						t.Fatal(err)
					}
				}
				head := f.Cursor().Revision
				time.Sleep(time.Hour)
				synctest.Wait()
				if _, counts := f.Stat(); counts[task.Ready] != int64(c.tasks) {
					t.Errorf("%d of %d are ready", counts[task.Ready], c.tasks)
				}
				if n := f.Cursor().Revision - head; n < 2 || n > 10 {
					t.Errorf("it took %d revisions", n)
				}
			})
		})
	}
}

// A wake that the store refuses is tried again.
func TestNotBefore_storeFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAlone()
		r, p := openAlone(t, s)
		d := delayed(t, p, time.Minute)
		s.FailAll(faulty.NotApplied)
		time.Sleep(2 * time.Minute)
		if got, _ := p.Get(d.ID); got.Status != task.Pending {
			t.Error("it is shown as ready, which is not stored")
		}
		s.Heal()
		at := time.Now()
		time.Sleep(5 * time.Second)
		if got, _ := p.Get(d.ID); got.Status != task.Ready || got.UpdatedAt.Sub(at) > 2*time.Second {
			t.Errorf("%s, %s after the store was well", got.Status, got.UpdatedAt.Sub(at))
		}
		r.Close()
		_ = s.Close()
	})
}

// Changing not_before sets another time, or none.
func TestNotBefore_changed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		d := delayed(t, f.Pool, time.Hour)
		sooner := time.Now().Add(10 * time.Minute)
		if _, err := f.update(d.ID, task.Patch{NotBefore: &sooner}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, err := f.update(d.ID, task.Patch{NotBefore: &time.Time{}}); err != nil || got.Status != task.Ready {
			t.Errorf("%+v, %v", got, err)
		}
		head := f.Cursor().Revision
		time.Sleep(2 * time.Hour)
		if f.Cursor().Revision != head {
			t.Error("the pool changed something by itself")
		}
	})
}

// A pool that nobody uses is closed after a while, but not while it has something
// to do at a time; when it is used again it is the same.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAlone()
		r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
		if err != nil {
			t.Fatal(err)
		}
		use := func() (*pool.Pool, func()) {
			p, release, err := r.Acquire(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			return p, release
		}
		p, release := use()
		time.Sleep(time.Hour)
		if r.OpenPools() != 1 {
			t.Error("a pool was closed while it was used")
		}
		d := delayed(t, p, time.Hour)
		state := p.State()
		release()
		release() // once is enough
		time.Sleep(59 * time.Minute)
		if r.OpenPools() != 1 {
			t.Error("a pool was closed that has something to do")
		}
		time.Sleep(8 * time.Minute)
		if r.OpenPools() != 0 {
			t.Error("an idle pool stays open")
		}
		again, release := use()
		if again == p || s.loads.Load() != 3 { // of the system log, and the pool's twice
			t.Errorf("%d loads", s.loads.Load())
		}
		if again.Cursor().Epoch != p.Cursor().Epoch || again.State() == state {
			t.Error("it opened with another history, or was never woken")
		}
		woken(t, again, d, d.NotBefore)
		sameState(t, "opened again", p.State(), again.State())
		release()
		time.Sleep(4 * time.Minute)
		if _, release = use(); s.loads.Load() != 3 {
			t.Error("it was closed too early")
		}
		release()
		r.Close()
		_ = s.Close()
	})
}

// What is answered is known for a day, and let go of afterwards.
func TestRequestID_expires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		ask := func(id string) pool.Result {
			got, err := f.Create(t.Context(), pool.Request{Actor: "agent:a", ID: id}, task.Draft{Title: "task"})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		first := ask("x")
		for i := range 20 {
			ask(fmt.Sprint("other ", i))
		}
		time.Sleep(24*time.Hour - 1)
		if again := ask("x"); !again.Replayed || again.Tasks[0].ID != first.Tasks[0].ID || again.Cursor != first.Cursor {
			t.Error("it is forgotten within a day")
		}
		time.Sleep(time.Nanosecond)
		if again := ask("x"); again.Replayed {
			t.Error("it is known after a day")
		}
		for i := range 5 {
			ask(fmt.Sprint("new ", i))
		}
		if n := f.KnownRequests(); n != 6 {
			t.Errorf("%d records are kept, want the 6 of today", n)
		}
	})
}

// 10,000 pools in a store cost nothing at start: none is loaded but the list.
func TestOpen_manyPools(t *testing.T) {
	s := newAlone()
	r, _ := openAlone(t, s)
	for i := range 10_000 {
		if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: fmt.Sprint("p", i)}); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	s.loads.Store(0)
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	if s.loads.Load() != 1 || r.OpenPools() != 0 {
		t.Errorf("%d loads at start, %d pools open", s.loads.Load(), r.OpenPools())
	}
	seen, after := 0, ""
	for more := true; more; {
		var infos []pool.Info
		infos, more = r.Pools(after, 333)
		seen += len(infos)
		after = infos[len(infos)-1].Name
	}
	if seen != 10_001 || s.loads.Load() != 1 {
		t.Errorf("%d pools listed, %d loads", seen, s.loads.Load())
	}
	if _, release, err := r.Acquire(t.Context(), "p9999"); err != nil || s.loads.Load() != 2 {
		t.Errorf("using one: %d loads, %v", s.loads.Load(), err)
	} else {
		release()
	}
	r.Close()
	_ = s.Close()
}
