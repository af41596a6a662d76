package pool_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// elsewhere is an empty pool of the same name and settings over a store of its
// own, for as long as do runs.
func (m *modelled) elsewhere(rt *rapid.T, do func(*pool.Pool)) {
	s := memory.New()
	defer func() { _ = s.Close() }()
	r, err := pool.Open(m.t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}, Getenv: smallEnv})
	if err != nil {
		rt.Fatal(err)
	}
	defer r.Close()
	if _, _, err := r.CreatePool(m.t.Context(), pool.Request{Actor: task.Human}, pool.Info{Name: "team", Rules: m.rules}); err != nil {
		rt.Fatal(err)
	}
	p, release, err := r.Acquire(m.t.Context(), "team")
	if err != nil {
		rt.Fatal(err)
	}
	defer release()
	do(p)
	if wrong := p.Unsound(); wrong != "" {
		rt.Fatal(wrong)
	}
	replayed, err := pool.Replayed(m.t.Context(), s, taskpb.Codec{}, p)
	if err != nil {
		rt.Fatal(err)
	}
	sameState(rt, "replayed elsewhere", p.State(), replayed.State())
}

// export restores the pool elsewhere, where it is the same to every reader, and
// merges it into what it was before, into itself and into an empty pool, none of
// which changes it a second time.
func (m *modelled) export(rt *rapid.T) {
	now := records(m.t, m.pool)
	m.elsewhere(rt, func(p *pool.Pool) {
		if _, err := take(m.t, p, pool.Request{Actor: task.Human}, pool.ImportRestore, now); err != nil {
			rt.Fatal(err)
		}
		sameRecords(m.t, "restored", records(m.t, p), now)
		m.sameToReaders(rt, p)
	})
	m.elsewhere(rt, func(p *pool.Pool) { m.mergeTwice(rt, p, now, true) })
	if m.exported != nil {
		m.elsewhere(rt, func(p *pool.Pool) {
			if _, err := take(m.t, p, pool.Request{Actor: task.Human}, pool.ImportRestore, m.exported); err != nil {
				rt.Fatal(err)
			}
			m.mergeTwice(rt, p, now, false)
			m.mergeTwice(rt, p, m.some(rt, now), false)
		})
		m.elsewhere(rt, func(p *pool.Pool) {
			m.mergeTwice(rt, p, m.some(rt, now), false)
			m.mergeTwice(rt, p, m.exported, false)
		})
	}
	before := m.pool.State()
	if r, err := take(m.t, m.pool, pool.Request{Actor: "agent:a"}, pool.ImportMerge, now); err != nil || r.Created+r.RefusedCount > 0 || m.pool.State() != before {
		rt.Fatalf("merging the pool into itself: %+v, %v", r, err)
	}
	if m.exported == nil || rapid.Bool().Draw(rt, "keep this export") {
		m.exported = now
	}
}

// restore clears the pool and restores it: to who reads it anew it is the same,
// and every watch has to begin anew.
func (m *modelled) restore(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "really") > 0 {
		return
	}
	now := records(m.t, m.pool)
	if _, err := m.pool.Clear(m.t.Context(), pool.Request{Actor: task.Human}, "team"); err != nil {
		rt.Fatal(err)
	}
	if _, err := take(m.t, m.pool, pool.Request{Actor: task.Human}, pool.ImportRestore, now); err != nil {
		rt.Fatal(err)
	}
	sameRecords(m.t, "restored in its place", records(m.t, m.pool), now)
	m.model.Restored(m.model.Revision+2, m.pool.Token)
}

// mergeTwice merges the same twice. The second time nothing changes, and what
// came in is unchanged; into an empty pool all comes in.
func (m *modelled) mergeTwice(rt *rapid.T, p *pool.Pool, all [][]byte, whole bool) {
	first, err := take(m.t, p, pool.Request{Actor: "agent:a"}, pool.ImportMerge, all)
	if err != nil {
		rt.Fatal(err)
	}
	// What an operator forced is the one thing that a member can't bring in.
	for _, one := range first.Refused {
		if whole && one.Reason != pool.ReasonParentClosed && one.Reason != pool.ReasonTaskNotFound {
			rt.Fatalf("refused from a pool with the same limits: %+v", one)
		}
	}
	before := p.State()
	second, err := take(m.t, p, pool.Request{Actor: "agent:b"}, pool.ImportMerge, all)
	if err != nil {
		rt.Fatal(err)
	}
	if second.Created > 0 || second.Unchanged != first.Created+first.Unchanged || second.RefusedCount != first.RefusedCount || p.State() != before {
		rt.Fatalf("merged again: %+v after %+v", second, first)
	}
}

// some are the records of some of the tasks.
func (m *modelled) some(rt *rapid.T, all [][]byte) [][]byte {
	in := map[string]bool{}
	return edited(m.t, all, func(_ int, r *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		if it := r.GetTask(); it != nil {
			in[it.GetId()] = rapid.Bool().Draw(rt, "with "+it.GetKey())
		}
		if r.GetPool() != nil || !in[r.GetTask().GetId()] && !in[r.GetEvent().GetTaskId()] {
			return nil
		}
		return r
	})
}

// sameToReaders compares listings, single reads and explanations.
func (m *modelled) sameToReaders(rt *rapid.T, p *pool.Pool) {
	for _, actor := range modelMembers {
		for _, filter := range []pool.Filter{
			{}, {IncludeClosed: true}, {Claimable: true}, {Available: true}, {Statuses: []task.Status{task.Pending}}, {Holder: actor}, {TopLevel: true},
		} {
			want, got := listed(rt, m.pool, actor, filter), listed(rt, p, actor, filter)
			if !slices.Equal(numbersOf(want), numbersOf(got)) {
				rt.Fatalf("%s lists %v by %+v, want %v", actor, numbersOf(got), filter, numbersOf(want))
			}
		}
	}
	for _, t := range m.model.Tasks {
		want, err := m.pool.Get(t.ID)
		got, again := p.Get(t.ID)
		if err != nil || again != nil || !slices.Equal(want.Dependents, got.Dependents) || want.HistoryLength != got.HistoryLength ||
			want.ChildrenOpen != got.ChildrenOpen || want.EventCount != got.EventCount || want.AssignedByClaim != got.AssignedByClaim {
			rt.Fatalf("%s is %+v, want %+v", task.Key(t.Number), got, want)
		}
	}
	_, want := m.pool.Stat()
	if _, got := p.Stat(); len(got) != len(want) {
		rt.Fatalf("counts %v, want %v", got, want)
	}
}

// An append that fails leaves nothing behind, in memory or on disk; one whose end
// is not known is found out.
func TestImport_whenTheStoreFails(t *testing.T) {
	all := records(t, story(t).Pool)
	for _, mode := range []pool.ImportMode{pool.ImportMerge, pool.ImportRestore} {
		for _, how := range []faulty.Outcome{faulty.NotApplied, faulty.Lost, faulty.Kept, faulty.Conflict} {
			s := newAlone()
			r, p := openAlone(t, s)
			f := &fixture{Pool: p, t: t, actor: operator}
			before := p.State()
			s.Fail(1, how)
			request := pool.Request{Actor: operator, ID: "once", Digest: "d"}
			_, err := take(t, p, request, mode, all)
			switch how {
			case faulty.Conflict:
				if err != nil {
					t.Errorf("mode %d: after a conflict: %v", mode, err)
				}
			case faulty.NotApplied:
				if !unavailable(err, pool.ReasonStoreUnavailable) || p.State() != before {
					t.Errorf("mode %d, not applied: %v, or it changed", mode, err)
				}
			default:
				if !unavailable(err, pool.ReasonCommitUnknown) {
					t.Errorf("mode %d, unknown: %v", mode, err)
				}
			}
			again, err := take(t, p, request, mode, all)
			if err != nil || again.Created != 7 || again.Replayed != (how == faulty.Kept || how == faulty.Conflict) {
				t.Errorf("mode %d, outcome %d: repeated: %+v, %v", mode, how, again, err)
			}
			if wrong := p.Unsound(); wrong != "" || len(f.all()) != 7 {
				t.Errorf("mode %d, outcome %d: %s", mode, how, wrong)
			}
			state := p.State()
			r.Close()
			r, p = openAlone(t, s)
			if p.State() != state {
				t.Errorf("mode %d, outcome %d: opened again it is another", mode, how)
			}
			r.Close()
		}
	}
}

// A caller that left before its turn changed nothing.
func TestImport_ofOneWhoLeft(t *testing.T) {
	all := records(t, story(t).Pool)
	f := open(t)
	before := f.State()
	m, err := f.Import(operator, pool.ImportRestore)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		read, wrong, _ := taskpb.ReadRecord(message(t, one))
		if err := m.Add(read, wrong, nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Run(ctx, pool.Request{Actor: operator}); err == nil {
		t.Error("it was taken in")
	}
	if err := f.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.State() != before {
		t.Error("it changed")
	}
}
