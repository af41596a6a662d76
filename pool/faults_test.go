package pool_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
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

// alone is a faulty store that only one process uses, as SQLite is, and whose
// history can be out of reach for a while.
type alone struct {
	*faulty.Store
	away  atomic.Pointer[string] // the log whose commits can't be read
	loads atomic.Int64
}

func newAlone() *alone { return &alone{Store: faulty.Wrap(memory.New())} }

func (s *alone) Shared() bool { return false }

var errAway = errors.New("the disk is away")

func (s *alone) Commits(ctx context.Context, log string, from int64) iter.Seq2[store.Commit, error] {
	if away := s.away.Load(); away != nil && *away == log {
		return func(yield func(store.Commit, error) bool) { yield(store.Commit{}, errAway) }
	}
	return s.Store.Commits(ctx, log, from)
}

func (s *alone) Load(ctx context.Context, log string, yield func(store.Key, []byte) error) (store.State, error) {
	s.loads.Add(1)
	return s.Store.Load(ctx, log, yield)
}

func openAlone(t testing.TB, s *alone) (*pool.Registry, *pool.Pool) {
	t.Helper()
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

// unavailable says whether an error is of that reason.
func unavailable(err error, reason pool.Reason) bool {
	var away *pool.UnavailableError
	return errors.As(err, &away) && away.Reason == reason
}

// script is what a few members do, each call with a request_id.
var script = []func(ctx context.Context, p *pool.Pool) (pool.Result, error){
	func(ctx context.Context, p *pool.Pool) (pool.Result, error) {
		return p.Create(ctx, pool.Request{Actor: "agent:a", ID: "1"}, task.Draft{Title: "one"})
	},
	func(ctx context.Context, p *pool.Pool) (pool.Result, error) {
		return p.CreateAll(ctx, pool.Request{Actor: "agent:a", ID: "2"}, []task.Draft{
			{Title: "two", Dependencies: []string{"T-1", "ref:three"}}, {Title: "three", Ref: "three", Parent: "T-1"},
		})
	},
	func(ctx context.Context, p *pool.Pool) (pool.Result, error) {
		return p.Update(ctx, pool.Request{Actor: "agent:b", ID: "3"}, pool.Update{ID: "T-3", Patch: task.Patch{Status: new(task.InProgress)}})
	},
	func(ctx context.Context, p *pool.Pool) (pool.Result, error) {
		return p.Update(ctx, pool.Request{Actor: "agent:b", ID: "4"}, pool.Update{ID: "T-3", Patch: task.Patch{Status: new(task.Done), HistoryEntry: new("it is done")}})
	},
	func(ctx context.Context, p *pool.Pool) (pool.Result, error) {
		return p.Update(ctx, pool.Request{Actor: "agent:a", ID: "5"}, pool.Update{ID: "T-2", Patch: task.Patch{RemoveDependencies: []string{"T-1"}, Title: new("two, free")}})
	},
	func(ctx context.Context, p *pool.Pool) (pool.Result, error) {
		return p.Delete(ctx, pool.Request{Actor: "human", ID: "6"}, "T-2", 0)
	},
	func(ctx context.Context, p *pool.Pool) (pool.Result, error) {
		return p.Create(ctx, pool.Request{Actor: "agent:a", ID: "7"}, task.Draft{Title: "four"})
	},
}

// TestFaults_everyAppend lets each append of a script fail in each way. What
// fails changed nothing that a reader sees; what is said of it is true; asked
// again with its request_id it happens once; and in the end all is as if nothing
// had failed.
func TestFaults_everyAppend(t *testing.T) {
	want := outline(runScript(t, newAlone(), nil))
	for name, how := range map[string]faulty.Outcome{"not applied": faulty.NotApplied, "lost": faulty.Lost, "kept": faulty.Kept, "conflict": faulty.Conflict} {
		for k := range script {
			t.Run(fmt.Sprintf("%s/%d", name, k+1), func(t *testing.T) {
				s := newAlone()
				p := runScript(t, s, func(step int) (faulty.Outcome, bool) { return how, step == k })
				if got := outline(p); got != want {
					t.Errorf("after it all:\n%s\nwant\n%s", got, want)
				}
				replayed, err := pool.Replayed(t.Context(), s, taskpb.Codec{}, p)
				if err != nil {
					t.Fatal(err)
				}
				sameState(t, "the commits", p.State(), replayed.State())
			})
		}
	}
}

// runScript runs the script; fail says which step's append ends how.
func runScript(t *testing.T, s *alone, fail func(step int) (faulty.Outcome, bool)) *pool.Pool {
	t.Helper()
	r, p := openAlone(t, s)
	t.Cleanup(func() { r.Close(); _ = s.Close() })
	for i, do := range script {
		how, fails := faulty.Applied, false
		if fail != nil {
			if how, fails = fail(i); !fails {
				how = faulty.Applied
			}
		}
		before := p.State()
		if fails {
			s.Fail(1, how)
		}
		_, err := do(t.Context(), p)
		expected := map[faulty.Outcome]pool.Reason{faulty.NotApplied: pool.ReasonStoreUnavailable, faulty.Lost: pool.ReasonCommitUnknown, faulty.Kept: pool.ReasonCommitUnknown}[how]
		if expected == "" {
			if err != nil {
				t.Fatalf("step %d: %v", i+1, err)
			}
			continue
		}
		if !unavailable(err, expected) {
			t.Fatalf("step %d: got %v, want %s", i+1, err, expected)
		}
		if r.Health() == nil {
			t.Errorf("step %d failed, and health says nothing", i+1)
		}
		sameState(t, "a failed change", before, p.State())
		again, err := do(t.Context(), p)
		if err != nil || again.Replayed != (how == faulty.Kept) {
			t.Fatalf("step %d again: replayed %t, %v", i+1, again.Replayed, err)
		}
		if how != faulty.Kept && r.Health() != nil {
			t.Errorf("the store is well again, health says %v", r.Health())
		}
	}
	return p
}

// outline is what is the same in each run of the script.
func outline(p *pool.Pool) (lines string) {
	page, err := p.List(context.Background(), "agent:a", pool.Query{Filter: pool.Filter{IncludeClosed: true}, Size: 100})
	if err != nil {
		return err.Error()
	}
	for _, t := range page.Tasks {
		d, _ := p.Get(t.ID)
		lines += fmt.Sprintf("%s %q %s version %d revision %d %v\n", t.Key(), t.Title, t.Status, t.Version, t.Revision, thread(d))
		for _, e := range d.Thread {
			lines += fmt.Sprintf(" event %d", e.ID)
		}
	}
	return fmt.Sprintf("%s at %d", lines, p.Cursor().Revision)
}

// TestFaults_refusals: what is refused because of a change in the same batch is
// no fact when that change is not stored.
func TestFaults_refusals(t *testing.T) {
	for name, how := range map[string]faulty.Outcome{"not applied": faulty.NotApplied, "lost": faulty.Lost, "kept": faulty.Kept} {
		t.Run(name, func(t *testing.T) {
			s := newAlone()
			r, p := openAlone(t, s)
			defer func() { r.Close(); _ = s.Close() }()
			claim := pool.Update{ID: "T-1", Patch: task.Patch{Status: new(task.InProgress)}}
			if _, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "one"}); err != nil {
				t.Fatal(err)
			}
			arrived := s.Pause()
			s.Fail(2, how)
			errs := make([]error, 6)
			var work sync.WaitGroup
			work.Go(func() {
				_, errs[0] = p.Create(context.Background(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "two"})
			})
			<-arrived // the others wait for the next batch
			for i := 1; i < len(errs); i++ {
				work.Go(func() {
					_, errs[i] = p.Update(context.Background(), pool.Request{Actor: fmt.Sprint("agent:", i)}, claim)
				})
			}
			p.AwaitQueue(len(errs) - 1)
			s.Resume()
			work.Wait()
			if errs[0] != nil {
				t.Error(errs[0])
			}
			for _, err := range errs[1:] {
				if !unavailable(err, pool.ReasonStoreUnavailable) && !unavailable(err, pool.ReasonCommitUnknown) {
					t.Errorf("answered %v, though the claim it was decided on was not stored", err)
				}
			}
		})
	}
}

// TestFaults_conflicts: a few lost appends are run again; a storm of them ends.
func TestFaults_conflicts(t *testing.T) {
	s := newAlone()
	r, p := openAlone(t, s)
	defer func() { r.Close(); _ = s.Close() }()
	for n := range 50 {
		s.Fail(n+1, faulty.Conflict)
	}
	if _, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "one"}); err != nil {
		t.Error(err)
	}
	s.FailAll(faulty.Conflict)
	if _, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "two"}); !unavailable(err, pool.ReasonStoreUnavailable) {
		t.Errorf("got %v", err)
	}
	s.Heal()
	got, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "three"})
	if err != nil || got.Tasks[0].Number != 2 {
		t.Errorf("after the storm: %+v, %v", got, err)
	}
}

// TestFaults_unreadable: after an append of which nobody knows, nothing is taken
// for that pool until its history can be read again. Reads go on, other pools
// too, and in the end it happened once.
func TestFaults_unreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newAlone()
		r, p := openAlone(t, s)
		defer func() { r.Close(); _ = s.Close() }()
		if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: "other"}); err != nil {
			t.Fatal(err)
		}
		other, release, err := r.Acquire(t.Context(), "other")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		ask := func() (pool.Result, error) {
			return p.Create(t.Context(), pool.Request{Actor: "agent:a", ID: "once"}, task.Draft{Title: "one"})
		}
		s.Fail(1, faulty.Kept)
		s.away.Store(new("pool/default"))
		if _, err := ask(); !unavailable(err, pool.ReasonCommitUnknown) {
			t.Fatalf("got %v", err)
		}
		appends := s.Appends()
		if _, err := ask(); !unavailable(err, pool.ReasonStoreUnavailable) || !errors.Is(err, errAway) {
			t.Errorf("got %v", err)
		}
		if s.Appends() != appends {
			t.Error("something was appended before the head was read")
		}
		if tasks := listed(t, p, "agent:a", pool.Filter{}); len(tasks) != 0 {
			t.Errorf("%d tasks are shown", len(tasks))
		}
		if _, err := other.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "elsewhere"}); err != nil {
			t.Errorf("another pool: %v", err)
		}
		appends = s.Appends()
		time.Sleep(10 * time.Second)
		if r.Health() == nil {
			t.Error("a pool can't be written, and health says nothing")
		}
		if n := s.Appends() - appends; n > 0 {
			t.Errorf("%d commits of probes, of which none could help", n)
		}
		s.away.Store(nil)
		time.Sleep(2 * time.Second)
		if err := r.Health(); err != nil {
			t.Errorf("all is well again, health says %v", err)
		}
		got, err := ask()
		if err != nil || !got.Replayed || len(listed(t, p, "agent:a", pool.Filter{})) != 1 {
			t.Errorf("asked again: %+v, %v", got, err)
		}
	})
}

// TestFaults_probe: a store that fails is tried again without being asked.
func TestFaults_probe(t *testing.T) {
	for name, how := range map[string]faulty.Outcome{"not applied": faulty.NotApplied, "lost": faulty.Lost, "kept": faulty.Kept} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAlone()
				r, p := openAlone(t, s)
				defer func() { r.Close(); _ = s.Close() }()
				s.FailAll(how)
				if _, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "one"}); err == nil {
					t.Fatal("it was taken")
				}
				time.Sleep(10 * time.Second)
				if r.Health() == nil {
					t.Error("it fails still, and health says nothing")
				}
				if n := s.Appends(); n > 15 {
					t.Errorf("tried %d times in 10 seconds", n)
				}
				s.Heal()
				time.Sleep(2 * time.Second)
				if err := r.Health(); err != nil {
					t.Errorf("health says %v", err)
				}
				appends := s.Appends()
				time.Sleep(time.Minute)
				if s.Appends() != appends {
					t.Error("a store that is well is probed")
				}
			})
		})
	}
}
