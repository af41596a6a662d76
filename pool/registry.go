package pool

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
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
}

// Registry opens pools on first use, closes idle ones, and owns the one writer
// of their store. Safe for concurrent use.
type Registry struct {
	cfg     Config
	writer  *writer
	catalog *catalog

	// ctx ends with Close; work is everything that runs until then.
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	open   map[string]*entry
	closed bool
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
	if cfg.IdleAfter == 0 {
		cfg.IdleAfter = DefaultIdleAfter
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{
		cfg: cfg, writer: newWriter(cfg.Store), catalog: &catalog{store: cfg.Store},
		open: map[string]*entry{},
	}
	damage, err := r.catalog.load(ctx)
	if err != nil {
		return nil, err
	}
	r.report(systemLog, damage)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.writer.probe = r.probe
	go r.writer.loop() //nolint:contextcheck // it outlives the call; Close ends it
	r.work.Go(r.closeIdle)
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
		return
	}
	r.closed = true
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
	info, ok := r.catalog.info(name)
	if !ok {
		return nil, nil, &NotFoundError{Reason: ReasonPoolNotFound, What: "pool", Name: name}
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
	p, err := r.openPool(ctx, info)
	if err != nil {
		stop()
		r.mu.Lock()
		delete(r.open, info.Name) // the next caller tries again
		r.mu.Unlock()
		if r.ctx.Err() != nil {
			err = &UnavailableError{Reason: ReasonDraining}
		} else if !errors.As(err, new(*UnavailableError)) {
			err = &UnavailableError{Reason: ReasonStoreUnavailable, Cause: err}
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

func (r *Registry) openPool(ctx context.Context, info Info) (*Pool, error) {
	p := &Pool{
		name: info.Name, limits: r.Limits(info), rules: info.Rules, created: info.CreatedAt,
		codec: r.cfg.Codec, store: r.cfg.Store, writer: r.writer,
	}
	p.alarm = &alarm{ring: func() { p.wake(r.ctx) }}
	state, damage, err := load(ctx, r.cfg.Store, p.log(), r.cfg.Codec)
	if err != nil {
		return nil, err
	}
	p.state = state
	r.report(p.log(), damage)
	if state.epoch == "" || len(damage) > 0 {
		if err := p.found(ctx, len(damage) > 0); err != nil {
			return nil, err
		}
	}
	p.alarm.set(p.nextWake())
	return p, nil
}

func (r *Registry) report(log string, damage []store.Damage) {
	for _, d := range damage {
		r.cfg.Logger.Error("a stored row could not be read; it was set aside, and a new epoch begins", "log", log, "where", d.Where, "why", d.Why)
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

// follow lets the writer catch up with what others append to a ledger.
func (r *Registry) follow(ctx context.Context, l ledger, head func() store.Head) {
	for c, err := range r.cfg.Store.Follow(ctx, l.log(), head().Revision+1) {
		if err != nil {
			return // closed, or trimmed past us: the next append finds the conflict
		}
		if c.Revision > head().Revision {
			_ = r.writer.do(&job{ctx: ctx, ledger: l, refresh: true}) // refused: the next commit asks again
		}
	}
}

// poolName is what a pool may be called.
var poolName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CreatePool makes a new pool. replayed tells that this request made it before.
// Errors: *InvalidError, *ExistsError, *LaterError.
func (r *Registry) CreatePool(ctx context.Context, req Request, info Info) (made Info, replayed bool, err error) {
	if !poolName.MatchString(info.Name) {
		return Info{}, false, invalid("name", "%q is not a pool's name: 1 to 63 lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit", task.Preview(info.Name, 80))
	}
	if v := info.Limits.Check(); len(v) > 0 {
		return Info{}, false, &InvalidError{Reason: ReasonInvalidField, Violations: v.At("limits")}
	}
	if info.Rules.ReviewDefault != task.ReviewByNobody {
		return Info{}, false, &LaterError{Feature: "review", Field: "review_default"}
	}
	j := &job{ctx: ctx, ledger: r.catalog}
	j.run = func(o overlay, revision int64, now time.Time) (commit *store.Commit, err error) {
		made, replayed, commit, err = o.(*catalogOverlay).create(req, info, revision, now)
		return commit, err
	}
	if err := r.writer.do(j); err != nil {
		return Info{}, false, err
	}
	return made, replayed, nil
}

// Pool returns what is known of a pool without opening it.
func (r *Registry) Pool(name string) (Info, error) {
	if name == "" {
		name = DefaultName
	}
	info, ok := r.catalog.info(name)
	if !ok {
		return Info{}, &NotFoundError{Reason: ReasonPoolNotFound, What: "pool", Name: name}
	}
	return info, nil
}

// Limits are those that a pool has when it is opened now.
func (r *Registry) Limits(info Info) task.Limits {
	return task.ResolveLimits(info.Limits, r.cfg.Getenv)
}

// Pools lists pools by name, at most size, after the one named ("": from the
// first), and says whether there are more.
func (r *Registry) Pools(after string, size int) (infos []Info, more bool) {
	return r.catalog.page(after, size)
}

// probe is a commit without facts that tries a failing store.
func (r *Registry) probe() *job {
	return &job{
		ctx: r.ctx, ledger: r.catalog, done: make(chan struct{}),
		run: func(_ overlay, revision int64, now time.Time) (*store.Commit, error) {
			return &store.Commit{Revision: revision, Nonce: rand.Uint64(), At: now}, nil
		},
	}
}
