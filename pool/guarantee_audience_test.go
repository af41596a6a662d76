package pool_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
)

// audience is members that write and receivers that watch, all at once, in one
// registry or several over one store. It works in windows: at the end of one the
// writers rest, what was seen is judged, and all but where everybody stands is
// forgotten, so that it can go on for ever.
type audience struct {
	*truth
	t         *testing.T
	pools     []*pool.Pool
	receivers []*receiver
	// trimmed is the revision before which history may have been let go of.
	trimmed atomic.Int64
	// last is the number of the newest task.
	last atomic.Int64
	// keeping guards truth within a window.
	keeping sync.Mutex
}

// receiver is a recorder with habits.
type receiver struct {
	*recorder
	rnd *rand.Rand
	// most is how many messages it takes in a window; 0: all.
	most int
	// stuck: it resumes where it once began, and never moves on.
	stuck bool
}

func newAudience(t *testing.T, s store.Store, registries int) *audience {
	t.Cleanup(func() { _ = s.Close() })
	c := &audience{t: t, truth: newTruth(s, "pool/default")}
	for range registries {
		c.pools = append(c.pools, openConfig(t, pool.Config{Store: s, RingEntries: 32}).Pool)
	}
	for i := range lenses {
		for _, exclude := range []string{"", modelMembers[i%2]} {
			start := []pool.WatchStart{pool.FromSnapshot, pool.FromNow}[i%2]
			r := &receiver{recorder: newRecorder(i, modelMembers[0], exclude, start), rnd: rand.New(rand.NewPCG(uint64(i), 7))}
			if exclude != "" {
				r.most = []int{0, 0, 5}[i%3]
				r.stuck = i%5 == 0
			}
			c.receivers = append(c.receivers, r)
		}
	}
	return c
}

// window lets the writers make that many mutations each, and judges.
func (c *audience) window(seed uint64, each int) {
	over := make(chan time.Time) // closed when the writers rest
	var writing, watching sync.WaitGroup
	for i, actor := range modelMembers {
		w := &scribbler{p: c.pools[i%len(c.pools)], actor: actor, rnd: rand.New(rand.NewPCG(seed, uint64(i))), last: &c.last}
		writing.Go(func() {
			for n := range each {
				w.scribble(c.t)
				if n%50 == 49 {
					c.keep(w.rnd)
				}
			}
		})
	}
	var head atomic.Int64
	for _, r := range c.receivers {
		watching.Go(func() { c.receive(r, over, &head) })
	}
	writing.Wait()
	if err := c.pools[0].Refresh(c.t.Context()); err != nil {
		c.t.Error(err)
	}
	head.Store(c.pools[0].Cursor().Revision)
	close(over)
	watching.Wait()
	c.judge()
}

// keep reads what was committed, and then lets go of some of it.
func (c *audience) keep(rnd *rand.Rand) {
	c.keeping.Lock()
	defer c.keeping.Unlock()
	if err := c.catchUp(c.t.Context()); err != nil {
		c.t.Error(err)
	}
	before := c.ref.Last - 20 - rnd.Int64N(300)
	if before <= c.trimmed.Load() {
		return
	}
	c.trimmed.Store(before)
	if err := c.store.Trim(c.t.Context(), c.log, before); err != nil {
		c.t.Error(err)
	}
}

// receive watches until the window is over and all was seen, or enough.
func (c *audience) receive(r *receiver, over chan time.Time, head *atomic.Int64) {
	for n := 1; r.most == 0 || n < r.most; n++ {
		if err := c.step(r, over); err != nil {
			c.t.Errorf("watch %q: %v", r.tr.Name, err)
			return
		}
		select {
		case <-over:
			if r.shown && r.tr.Cursor().Revision >= head.Load() {
				return
			}
		default:
		}
	}
}

// step opens the watch, cuts it, or takes a message from it.
func (c *audience) step(r *receiver, quiet chan time.Time) error {
	if r.watch == nil {
		return c.resume(r)
	}
	if r.rnd.IntN(25) == 0 {
		r.cut()
		return nil
	}
	at := r.tr.Cursor()
	err := r.next(c.t.Context(), quiet)
	if err == nil {
		return nil
	}
	return c.lost(r, err, at.Text, 1)
}

func (c *audience) resume(r *receiver) error {
	var after *feed.Cursor
	if n := len(r.given); n > 0 {
		after = &r.given[n-1]
		if r.stuck {
			after = &r.given[0]
		}
	}
	err := r.open(c.t.Context(), c.pools[r.rnd.IntN(len(c.pools))], after)
	if err == nil || after == nil {
		return err
	}
	return c.lost(r, err, after.String(), 0)
}

// lost makes a receiver begin anew that can't go on after a cursor, if the
// history that it needs, from that many revisions behind it on, is gone.
func (c *audience) lost(r *receiver, err error, after string, needs int64) error {
	r.cut()
	r.given = nil
	c.keeping.Lock()
	defer c.keeping.Unlock()
	at, parseErr := feed.Parse(after)
	readErr := c.catchUp(c.t.Context())
	var expired *pool.CursorError
	if parseErr != nil || readErr != nil || !errors.As(err, &expired) || at.Revision >= c.reset && at.Revision+needs >= c.trimmed.Load() {
		return fmt.Errorf("after revision %d, history is kept from %d and began anew at %d: %w", at.Revision, c.trimmed.Load(), c.reset, err)
	}
	return nil
}

// judge holds what was seen in the window against what happened.
func (c *audience) judge() {
	if err := c.catchUp(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	page, err := c.pools[0].List(c.t.Context(), operator, pool.Query{Filter: pool.Filter{IncludeClosed: true}, Size: 1 << 20})
	if err != nil {
		c.t.Fatal(err)
	}
	listed, err := statesOf(page.Tasks)
	if err != nil {
		c.t.Fatal(err)
	}
	c.ref.Listings = map[int64][]pooltest.State{page.Cursor.Revision: listed}
	var all []*pooltest.Traffic
	for _, r := range c.receivers {
		all = append(all, &r.tr)
	}
	if err := pooltest.Validate(&c.ref, all...); err != nil {
		c.t.Fatal(err)
	}
	from := c.ref.Last
	for _, r := range c.receivers {
		if r.tr.Within() {
			r.cut() // it gets the whole of that revision again
		}
		r.tr.Forget()
		if len(r.given) == 0 { // it begins anew
			r.cut()
			r.tr.Streams = nil
			continue
		}
		r.given = r.given[len(r.given)-1:]
		from = min(from, r.tr.Cursor().Revision)
	}
	c.ref.Forget(from)
}

// TestWatch_guarantees lets many write and watch, with cuts, bursts larger
// than the ring, history that is let go of, receivers that fall behind, and
// other registries, and holds what they saw against what happened.
func TestWatch_guarantees(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *audience{
		"memory": func(t *testing.T) *audience { return newAudience(t, memory.New(), 1) },
		"shared": func(t *testing.T) *audience { return newAudience(t, memory.New(), 3) },
		"disk":   audienceOnDisk,
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			for n := range 3 {
				c.window(uint64(n), 50)
			}
		})
	}
}

func audienceOnDisk(t *testing.T) *audience {
	s, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newAudience(t, s, 1)
}
