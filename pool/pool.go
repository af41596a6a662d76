package pool

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Pool is one namespace of tasks: its own limits, lock, revisions and feed. It
// belongs to a [Registry], which opens and closes it. Safe for concurrent use.
type Pool struct {
	name    string
	limits  task.Limits
	rules   task.Rules
	created time.Time
	codec   Codec
	store   store.Store
	writer  *writer
	alarm   *alarm
	// damaged is told, on the writer's goroutine, of what a reload set aside.
	damaged func([]store.Damage)

	// closing ends with the registry.
	closing <-chan struct{}
	// watchers counts those of all pools.
	watchers *watchers

	// mu guards state and ring. The writer alone changes them, so it reads them
	// unlocked.
	mu    sync.RWMutex
	state *state
	// ring holds what the feed tells of the newest commits of this epoch.
	ring feed.Ring[*told]
	// strip is what watchers are sent of it.
	strip strip
	// bell wakes those who wait for the next commit.
	bell bell
	// line is the claims that wait.
	line *line

	// viewMu, and mu too, guard view: the snapshot of the state as it is, nil
	// until somebody wants one. Who holds mu for writing needs no viewMu.
	viewMu sync.Mutex
	view   *snapshot
}

// Name is the pool's name.
func (p *Pool) Name() string { return p.name }

// Limits are those captured when the pool was opened.
func (p *Pool) Limits() task.Limits { return p.limits }

// Rules are the pool's settings.
func (p *Pool) Rules() task.Rules { return p.rules }

// CreatedAt is when the pool was created, zero for one that needed no creation.
func (p *Pool) CreatedAt() time.Time { return p.created }

// Cursor is the position after the pool's newest commit.
func (p *Pool) Cursor() feed.Cursor {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return cursorAt(p.state)
}

func cursorAt(s *state) feed.Cursor {
	return feed.Cursor{Epoch: s.epoch, Revision: s.head.Revision, Nonce: s.head.Nonce}
}

// Stat returns the pool's newest position, and how many tasks had each status
// there.
func (p *Pool) Stat() (feed.Cursor, map[task.Status]int64) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	counts := map[task.Status]int64{}
	for _, s := range task.Statuses() {
		counts[s] = int64(p.state.byStatus[s].Len())
	}
	return cursorAt(p.state), counts
}

// heads is the head of the published state, for those who are not the writer.
func (p *Pool) heads() store.Head {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.state.head
}

// The writer's side: Pool is a ledger.

func (p *Pool) log() string { return poolLog(p.name) }

func (p *Pool) published() store.Head { return p.state.head }

func (p *Pool) begin() overlay { return &poolOverlay{pool: p, layer: newLayer(p.state, p.state.marks)} }

// poolOverlay is a batch's changes to one pool.
type poolOverlay struct {
	pool  *Pool
	layer *layer
	// fresh replaces the whole state, where a commit reset the log.
	fresh *state
	// told is what the feed tells of the batch's commits.
	told []*told
}

func (o *poolOverlay) publish(head store.Head) {
	p := o.pool
	if o.fresh == nil {
		o.layer.raise(p.state)
	}
	p.mu.Lock()
	epoch := p.state.epoch
	if o.fresh != nil {
		p.state = o.fresh
	}
	p.state.merge(o.layer, head)
	p.view = nil // it would keep what is gone
	if o.fresh != nil || p.state.epoch != epoch {
		p.ring.Reset(head.Revision) // what was before is no history of this epoch
	} else {
		for _, t := range o.told {
			p.ring.Push(t.revision, t, 2*t.size) // with the elements made of it
		}
	}
	p.armLocked()
	p.bell.ring()
	p.mu.Unlock()
	o.offer()
}

// offer offers what can be claimed since this batch to those who wait for it.
func (o *poolOverlay) offer() {
	p := o.pool
	if p.line.len() == 0 {
		return
	}
	if o.fresh != nil {
		p.state.table.Scan(func(_ int64, n *node) bool {
			if _, _, ok := rankOf(n); ok {
				p.line.offer(n)
			}
			return true
		})
		return
	}
	var free []*node
	for id := range o.layer.nodes {
		if n := p.state.node(id); n != nil && n.task.Status == task.Ready {
			free = append(free, n)
		}
	}
	slices.SortFunc(free, func(a, b *node) int { // the best to whoever came first
		_, first, _ := rankOf(a)
		_, second, _ := rankOf(b)
		if first.before(second) {
			return -1
		}
		return 1
	})
	for _, n := range free {
		if _, _, ok := rankOf(n); ok {
			p.line.offer(n)
		}
	}
}

// settle is publish for a batch that came to nothing that has to be kept: what is
// left of it is that holders have shown to be there.
func (o *poolOverlay) settle() {
	if len(o.layer.signs) == 0 {
		return
	}
	p := o.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, number := range o.layer.signs {
		p.state.leases.renew(p.state.numbered(number))
	}
	p.armLocked()
}

// Result is the answer to a mutation.
type Result struct {
	// Tasks are the tasks it was about, in request order, as they are after it.
	// Where a batch is replayed, a task that was deleted since has its ID alone,
	// and Number 0.
	Tasks []*Detail
	// Token is that of the hold it began, else ""; ExpiresAt is when that runs out,
	// by this process's clock, where it was asked for and does.
	Token     string
	ExpiresAt time.Time
	// Cursor is the position after the mutation.
	Cursor feed.Cursor
	// Replayed: the request was answered before; Token and Cursor are the first
	// answer's, Tasks are as they are now.
	Replayed bool
	// note is what the first answer said beside that, of a replay.
	note []byte
}

// mutate runs one mutation: run makes its changes in the tx and returns the ids
// of the tasks that the answer shows, and the token of a hold it began.
func (p *Pool) mutate(ctx context.Context, method string, r Request, run func(*tx) (ids []string, token string, err error)) (Result, error) {
	var out Result
	j := &job{ctx: ctx, ledger: p}
	j.run = func(o overlay, revision int64, now time.Time) (*store.Commit, error) {
		overlay := o.(*poolOverlay)
		batch := overlay.layer
		out = Result{}
		key := requestKey{r.Actor, method, r.ID}
		if r.ID != "" {
			if old := batch.request(key); old != nil && old.current(now) {
				return nil, p.replay(batch, old, r, &out)
			}
		}
		tx := newTx(p, batch, r.Actor, revision, now)
		ids, token, err := run(tx)
		if err != nil {
			return nil, err
		}
		if r.ID != "" {
			tx.asked = &request{key: key, digest: r.Digest, ids: ids, token: token, note: tx.note}
		}
		commit, err := tx.seal()
		if err != nil {
			return nil, err
		}
		out.Token = token
		for _, id := range ids {
			out.Tasks = append(out.Tasks, detailOf(tx.node(id)))
		}
		if commit == nil {
			batch.signs = append(batch.signs, tx.signs...)
			out.Cursor = p.cursorIn(batch, revision-1)
			return nil, nil
		}
		batch.absorb(tx.layer)
		overlay.told = append(overlay.told, tx.told)
		batch.last = store.Head{Revision: revision, Nonce: tx.nonce, At: now}
		out.Cursor = p.cursorIn(batch, revision)
		return commit, nil
	}
	if err := p.writer.do(j); err != nil {
		return Result{}, err
	}
	return out, nil
}

// cursorIn is the position in a batch at its newest commit, which is revision.
func (p *Pool) cursorIn(batch *layer, revision int64) feed.Cursor {
	c := cursorAt(p.state)
	if batch.epoch != "" {
		c.Epoch = batch.epoch
	}
	if batch.last.Revision == revision {
		c.Revision, c.Nonce = revision, batch.last.Nonce
	}
	return c
}

// replay answers a request that was answered before.
func (p *Pool) replay(batch *layer, old *request, r Request, out *Result) error {
	if old.digest != r.Digest {
		return &ReusedError{RequestID: r.ID}
	}
	out.Replayed, out.Token, out.note = true, old.token, old.note
	epoch := p.state.epoch
	if batch.epoch != "" {
		epoch = batch.epoch
	}
	out.Cursor = feed.Cursor{Epoch: epoch, Revision: old.revision, Nonce: old.nonce}
	for _, id := range old.ids {
		n := batch.node(id)
		if n == nil {
			if len(old.ids) == 1 {
				return &NotFoundError{Reason: ReasonTaskNotFound, What: "task", Name: id, Field: "id"}
			}
			out.Tasks = append(out.Tasks, &Detail{Task: &task.Task{ID: id}})
			continue
		}
		if old.token != "" && n.held().token != old.token {
			return holdLost(n, p.state)
		}
		out.Tasks = append(out.Tasks, detailOf(n))
	}
	return nil
}
