package pool

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store"
)

// DefaultIdleAfter is how long a pool that nobody uses stays open.
const DefaultIdleAfter = 5 * time.Minute

// Config is what a Registry is made of. Store and Codec are required.
type Config struct {
	// Store keeps the commits. The Registry does not close it.
	Store store.Store
	Codec Codec
	// Getenv looks up limits in the environment; nil: there is none.
	Getenv func(string) (string, bool)
	// Logger hears of damage and of a store that fails; nil: nobody.
	Logger *slog.Logger
	// IdleAfter is when an unused pool is closed; 0: [DefaultIdleAfter].
	IdleAfter time.Duration
	// Retain is how many revisions of history are kept, RetainFor how long; what
	// is beyond either goes. 0: [DefaultRetain], [DefaultRetainFor].
	Retain    int64
	RetainFor time.Duration
	// RingEntries and RingBytes bound how much of a pool's newest history is held
	// in memory for its watchers; 0: [feed.DefaultEntries], [feed.DefaultBytes].
	RingEntries, RingBytes int
	// MaxWatchers may be open at once in all pools, MaxWatchersPerMember by one
	// member; 0: [DefaultMaxWatchers], [DefaultMaxWatchersPerMember].
	MaxWatchers, MaxWatchersPerMember int
}

// Registry opens pools on first use, closes idle ones, and owns the one writer
// of their store. Safe for concurrent use.
type Registry struct {
	cfg     Config
	writer  *writer
	catalog *catalog
	// watchers counts the open watches of all pools.
	watchers *watchers

	// ctx ends with Close; work is everything that runs until then.
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu   sync.Mutex
	open map[string]*entry
	// closed says that Close was called; over is closed when it is done.
	closed bool
	over   chan struct{}
}

// entry is a pool that is open or being opened. Registry.mu guards all but
// ready, which is closed once pool and err are there.
type entry struct {
	ready chan struct{}
	pool  *Pool
	err   error
	users int
	used  time.Time
	stop  context.CancelFunc
}

// Open reads the list of pools and starts the writer. It opens no pool, so it
// costs the same however many there are. Call Close at the end.
func Open(ctx context.Context, cfg Config) (*Registry, error) {
	cfg.IdleAfter = cmp.Or(cfg.IdleAfter, DefaultIdleAfter)
	cfg.Retain = cmp.Or(cfg.Retain, DefaultRetain)
	cfg.RetainFor = cmp.Or(cfg.RetainFor, DefaultRetainFor)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{
		cfg: cfg, writer: newWriter(cfg.Store), catalog: &catalog{store: cfg.Store, requests: newRequestLog()},
		watchers: newWatchers(cmp.Or(cfg.MaxWatchers, DefaultMaxWatchers), cmp.Or(cfg.MaxWatchersPerMember, DefaultMaxWatchersPerMember)),
		open:     map[string]*entry{}, over: make(chan struct{}),
	}
	r.catalog.damaged = func(damage []store.Damage) { r.report(systemLog, damage) }
	if err := r.catalog.load(ctx); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.writer.probe = r.probe
	go r.writer.loop() //nolint:contextcheck // it outlives the call; Close ends it
	r.work.Go(r.closeIdle)
	r.work.Go(r.retain)
	if cfg.Store.Shared() {
		r.work.Go(func() { r.follow(r.ctx, r.catalog, r.catalog.heads) })
	}
	return r, nil
}

// Close refuses new mutations, answers those that wait, and returns when
// nothing of the registry runs any more. Idempotent.
func (r *Registry) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		<-r.over
		return
	}
	r.closed = true
	defer close(r.over)
	entries := r.open
	r.open = map[string]*entry{}
	r.mu.Unlock()
	r.cancel()
	for _, e := range entries {
		<-e.ready
		if e.pool != nil {
			e.pool.alarm.stop()
		}
	}
	r.writer.close()
	r.work.Wait()
}

// Health is nil while the store takes changes, else why it does not. Reads go
// on either way.
func (r *Registry) Health() error { return r.writer.health.get() }

// Acquire returns a pool, opening it when it is not open. The caller calls
// release once when it is done with it. Errors: *NotFoundError where there is
// none such, *UnavailableError where it can't be opened now.
func (r *Registry) Acquire(ctx context.Context, name string) (p *Pool, release func(), err error) {
	if name == "" {
		name = DefaultName
	}
	info, err := r.Pool(name)
	if errors.As(err, new(*NotFoundError)) && r.cfg.Store.Shared() {
		if err := r.refresh(ctx, r.catalog); err != nil {
			return nil, nil, err
		}
		info, err = r.Pool(name) // another process may just have made it
	}
	if err != nil {
		return nil, nil, err
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, nil, &UnavailableError{Reason: ReasonDraining}
	}
	e := r.open[name]
	if e == nil {
		e = &entry{ready: make(chan struct{})}
		r.open[name] = e
		r.work.Go(func() { r.openEntry(e, info) }) //nolint:contextcheck // opened for all who wait, not for this caller
	}
	e.users++
	r.mu.Unlock()
	release = sync.OnceFunc(func() { r.release(e) })
	select {
	case <-e.ready:
	case <-ctx.Done():
		release()
		return nil, nil, ctx.Err()
	}
	if e.err != nil {
		release()
		return nil, nil, e.err
	}
	return e.pool, release, nil
}

func (r *Registry) release(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.users--
	e.used = time.Now()
}

// openEntry opens a pool in a goroutine of its own, so that the first caller's
// leaving does not spoil it for the others.
func (r *Registry) openEntry(e *entry, info Info) {
	defer close(e.ready)
	ctx, stop := context.WithCancel(r.ctx)
	p := r.pool(info)
	if err := r.openPool(ctx, p); err != nil {
		stop()
		p.alarm.stop()
		r.mu.Lock()
		delete(r.open, info.Name) // the next caller tries again
		r.mu.Unlock()
		if r.ctx.Err() != nil {
			err = &UnavailableError{Reason: ReasonDraining}
		} else if !errors.As(err, new(*UnavailableError)) {
			err = &UnavailableError{Reason: ReasonStoreUnavailable, Unread: true, Cause: err}
		}
		e.err = err // read only after ready
		return
	}
	r.mu.Lock()
	e.pool, e.stop, e.used = p, stop, time.Now()
	r.mu.Unlock()
	if r.cfg.Store.Shared() {
		r.work.Go(func() { r.follow(ctx, p, p.heads) })
	}
}

func (r *Registry) pool(info Info) *Pool {
	p := &Pool{
		name: info.Name, limits: r.Limits(info), rules: info.Rules, created: info.CreatedAt,
		codec: r.cfg.Codec, store: r.cfg.Store, writer: r.writer,
		closing: r.ctx.Done(), watchers: r.watchers, line: newLine(),
		ring: feed.Ring[*told]{Entries: r.cfg.RingEntries, Bytes: r.cfg.RingBytes},
	}
	p.alarm = &alarm{ring: func() {
		p.expire(r.ctx)
		p.wake(r.ctx)
	}}
	p.damaged = func(damage []store.Damage) {
		r.report(p.log(), damage)
		r.work.Go(func() { _ = p.found(r.ctx, true) }) // refused: the next load finds it again
	}
	return p
}

func (r *Registry) openPool(ctx context.Context, p *Pool) error {
	state, damage, err := load(ctx, r.cfg.Store, p.log(), r.cfg.Codec)
	if err != nil {
		return err
	}
	p.state = state
	p.ring.Reset(state.head.Revision)
	r.report(p.log(), damage)
	if state.epoch == "" || len(damage) > 0 {
		if err := p.found(ctx, len(damage) > 0); err != nil {
			return err
		}
	}
	p.arm()
	return nil
}

// reportAtMost rows of damage are named one by one.
const reportAtMost = 100

func (r *Registry) report(log string, damage []store.Damage) {
	for i, d := range damage {
		if i == reportAtMost {
			r.cfg.Logger.Error("there is more damage in the store", "log", log, "more", len(damage)-i)
			return
		}
		r.cfg.Logger.Error("damage in the store: what can't be used is set aside, the rest is put right", "log", log, "where", d.Where, "why", d.Why)
	}
}

// closeIdle lets go of pools that nobody has used for a while and that have
// nothing to do by themselves.
func (r *Registry) closeIdle() {
	ticker := time.NewTicker(max(r.cfg.IdleAfter/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-ticker.C:
		}
		var idle []*entry
		r.mu.Lock()
		for name, e := range r.open {
			if e.pool != nil && e.users == 0 && time.Since(e.used) >= r.cfg.IdleAfter && !e.pool.alarm.waiting() {
				delete(r.open, name)
				idle = append(idle, e)
			}
		}
		r.mu.Unlock()
		for _, e := range idle {
			e.stop()
			e.pool.alarm.stop()
		}
	}
}

// OpenPools is the number of pools that are open now.
func (r *Registry) OpenPools() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}
