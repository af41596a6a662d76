package pool_test

import (
	"errors"
	"slices"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
)

// watching is the watches that are open while a model is tried, on the pool and
// on the other registry's, and what they are held against at the end.
type watching struct {
	*truth
	recorders []*recorder
	// trimmed is the revision before which history was let go of.
	trimmed int64
}

// pools are those that a watch may be opened on.
func (m *modelled) pools() []*pool.Pool {
	if m.other == nil {
		return []*pool.Pool{m.pool}
	}
	return []*pool.Pool{m.pool, m.other}
}

// watch begins another watch.
func (m *modelled) watch(rt *rapid.T) {
	if len(m.recorders) == 6 {
		return
	}
	r := newRecorder(
		rapid.IntRange(0, len(lenses)-1).Draw(rt, "lens"),
		rapid.SampledFrom(modelMembers).Draw(rt, "watcher"),
		rapid.SampledFrom(slices.Concat([]string{"", "", ""}, modelMembers)).Draw(rt, "exclude"),
		rapid.SampledFrom([]pool.WatchStart{pool.FromSnapshot, pool.FromSnapshot, pool.FromNow}).Draw(rt, "start"),
	)
	m.recorders = append(m.recorders, r)
	m.resume(rt, r)
}

// resume opens a watch that was cut, mostly after its last cursor.
func (m *modelled) resume(rt *rapid.T, r *recorder) {
	var after *feed.Cursor
	if n := len(r.given); n > 0 {
		after = &r.given[n-1]
		if rapid.IntRange(0, 4).Draw(rt, "earlier") == 0 {
			// How many there are may depend on how quick the other registry was.
			after = &r.given[rapid.IntRange(0, 1000).Draw(rt, "after")%n]
		}
	}
	pools := m.pools()
	err := r.open(m.t.Context(), pools[rapid.IntRange(0, len(pools)-1).Draw(rt, "pool")], after)
	if err == nil {
		return
	}
	if after == nil {
		rt.Fatalf("watch %q: %v", r.tr.Name, err)
	}
	m.lost(rt, r, err, after.Revision, after.Revision)
}

// lost looks at why a watch can't go on from a revision, for which it needs the
// history from another on. It may begin anew where that is gone.
func (m *modelled) lost(rt *rapid.T, r *recorder, err error, at, needs int64) {
	m.catchUp(rt)
	r.cut()
	r.given = nil
	var expired *pool.CursorError
	if !errors.As(err, &expired) || at >= m.reset && needs >= m.trimmed {
		rt.Fatalf("watch %q, after revision %d: %v; history is kept from %d and began anew at %d", r.tr.Name, at, err, m.trimmed, m.reset)
	}
}

// look lets a watch go on a little.
func (m *modelled) look(rt *rapid.T) {
	if len(m.recorders) == 0 {
		return
	}
	r := rapid.SampledFrom(m.recorders).Draw(rt, "watch")
	if r.watch == nil {
		m.resume(rt, r)
	}
	for range rapid.IntRange(0, 4).Draw(rt, "messages") {
		m.receive(rt, r)
	}
	if rapid.IntRange(0, 3).Draw(rt, "cut") == 0 {
		r.cut()
	}
}

func (m *modelled) receive(rt *rapid.T, r *recorder) {
	if r.watch == nil {
		return
	}
	at := r.tr.Cursor().Revision
	err := r.next(m.t.Context(), due())
	var ended *pool.UnavailableError
	switch {
	case err == nil:
	case errors.As(err, &ended) && r.pool != m.pool && r.pool != m.other:
		r.cut() // its registry was closed
	default:
		m.lost(rt, r, err, at, at+1)
	}
}

func (m *modelled) catchUp(rt *rapid.T) {
	if err := m.truth.catchUp(m.t.Context()); err != nil {
		rt.Fatal(err)
	}
}

// list keeps a listing for the end.
func (m *modelled) list(rt *rapid.T) {
	page, err := m.pool.List(m.t.Context(), modelMembers[0], pool.Query{Filter: pool.Filter{IncludeClosed: true}, Size: 1 << 20})
	if err != nil {
		rt.Fatal(err)
	}
	states, err := statesOf(page.Tasks)
	if err != nil {
		rt.Fatal(err)
	}
	if m.ref.Listings == nil {
		m.ref.Listings = map[int64][]pooltest.State{}
	}
	m.ref.Listings[page.Cursor.Revision] = states
}

// trim lets go of history, in the runs that keep not all of it.
func (m *modelled) trim(rt *rapid.T) {
	if !m.trims {
		return
	}
	m.catchUp(rt)
	before := m.ref.Last - int64(rapid.IntRange(0, 8).Draw(rt, "kept"))
	if err := m.store.Trim(m.t.Context(), m.log, before); err != nil {
		rt.Fatal(err)
	}
	m.trimmed = max(m.trimmed, before)
}

// judge lets every watch come to the head, and holds all that they saw against
// what happened.
func (m *modelled) judge(rt *rapid.T) {
	m.list(rt)
	m.catchUp(rt)
	if m.other != nil {
		if err := m.other.Refresh(m.t.Context()); err != nil {
			rt.Fatal(err)
		}
	}
	var all []*pooltest.Traffic
	for _, r := range m.recorders {
		for r.tr.Cursor().Revision < m.ref.Last || !r.shown {
			if r.watch == nil {
				m.resume(rt, r)
			}
			m.receive(rt, r)
		}
		r.cut()
		all = append(all, &r.tr)
	}
	if err := pooltest.Validate(&m.ref, all...); err != nil {
		rt.Fatal(err)
	}
}
