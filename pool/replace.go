package pool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// replacement is a pool's whole content on its way in. It was checked before:
// ids are unique, and so are numbers and event ids that are set; dependencies
// and parents are among the tasks and make no cycle; who is in progress has a
// holder, and nobody else has.
//
// What follows from the rest is derived whatever the tasks say: Unfinished,
// Depth, the counts, and which open tasks are pending and which are ready. Where
// not_before alone decides, what the task says is kept: the pool opens it when it
// has come.
type replacement struct {
	// tasks are in creation order. One with the Number 0 gets the next, one with
	// the Revision 0 that of the commit, and its time and the Version 1 where it
	// has none.
	tasks []*task.Task
	// threads are the events of each task, by its id, oldest first. One with the
	// ID 0 gets the next.
	threads map[string][]*task.Event
	// lastNumber and lastEvent were given out, to whomever: what is new comes
	// after them.
	lastNumber, lastEvent int64
	// revision is one that the commit must be above.
	revision int64
	// note is kept with the request, for its repeat.
	note []byte
}

// replace makes the pool what content says, at once and in a new epoch, by one
// commit that is not held to a revision's limits, but to what a store appends.
// Every hold gets a fresh token. Every cursor of before is expired, and every
// request_id of before is forgotten, but this one is kept.
//
// allowed refuses by the state that there is; nil allows always. It runs again in
// the writer. What takes long, which is to build the content and to encode it, is
// done before the writer's turn, and there only where the pool has moved on
// meanwhile: others wait for the writer. content may run more than once, too; what
// it returns is not changed.
func (p *Pool) replace(ctx context.Context, method string, r Request, allowed func(*state) error, content func(now time.Time) (*replacement, error)) (Result, error) {
	key := requestKey{r.Actor, method, r.ID}
	before, err := p.before(key, allowed)
	if err != nil {
		return Result{}, err
	}
	var ready *built
	if !before.answered {
		if ready, err = p.build(content, before.marks, before.head.Revision+1, time.Now().UTC().Round(0)); err != nil {
			return Result{}, err
		}
	}
	var out Result
	j := &job{ctx: ctx, ledger: p, alone: true}
	j.run = func(o overlay, revision int64, now time.Time) (*store.Commit, error) {
		batch := o.(*poolOverlay)
		out = Result{}
		if old := batch.layer.request(key); r.ID != "" && old != nil && old.current(now) {
			return nil, p.replay(batch.layer, old, r, &out)
		}
		if allowed != nil {
			if err := allowed(p.state); err != nil {
				return nil, err
			}
		}
		if !ready.serves(p.state.marks, revision) {
			var err error
			if ready, err = p.build(content, p.state.marks, revision, now); err != nil {
				return nil, err
			}
		}
		fresh := ready.state
		tx := newTx(p, newLayer(fresh, fresh.marks), r.Actor, ready.at, now)
		tx.published, tx.epoch = fresh, newEpoch()
		if r.ID != "" {
			tx.asked = &request{key: key, digest: r.Digest, note: ready.note}
		}
		commit, err := tx.sealWhole(ready.facts, store.MaxAppendBytes)
		if err != nil {
			return nil, err
		}
		batch.fresh, batch.layer = fresh, tx.layer
		out.Cursor = feed.Cursor{Epoch: tx.epoch, Revision: ready.at, Nonce: tx.nonce}
		return commit, nil
	}
	if err := p.writer.do(j); err != nil {
		return Result{}, err
	}
	return out, nil
}

// before is what a replacement of the pool begins with.
type before struct {
	marks marks
	head  store.Head
	// answered: the request was answered before.
	answered bool
}

func (p *Pool) before(key requestKey, allowed func(*state) error) (b before, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	b.marks, b.head = p.state.marks, p.state.head
	if old := p.state.request(key); key.id != "" && old != nil && old.current(time.Now()) {
		b.answered = true
		return b, nil
	}
	if allowed != nil {
		err = allowed(p.state)
	}
	return b, err
}

// built is a replacement that only has to be committed: the state, in which nobody
// else can see anything yet, and the facts that make it.
type built struct {
	*replacement
	// number and event are the marks that it was built on; at is what it is of.
	number, event, at int64
	state             *state
	facts             []store.Fact
}

// serves says whether it would be built the same on that.
func (b *built) serves(before marks, revision int64) bool {
	return b != nil && b.number == before.number && b.event == before.event && b.at == max(revision, b.revision+1)
}

// build makes the content ready to be committed at a revision, or at a later one
// where it knows of such: the store lets a commit that resets jump.
func (p *Pool) build(content func(now time.Time) (*replacement, error), before marks, revision int64, now time.Time) (*built, error) {
	c, err := content(now)
	if err != nil {
		return nil, err
	}
	b := &built{replacement: c, number: before.number, event: before.event, at: max(revision, c.revision+1)}
	if b.state, err = c.state(before, b.at, now); err != nil {
		return nil, err
	}
	b.facts, err = factsOfAll(b.state, p.codec, store.MaxAppendBytes)
	return b, err
}

// sealWhole is seal for a commit that begins the log anew with all these facts, and
// may take so many bytes.
func (tx *tx) sealWhole(facts []store.Fact, most int) (*store.Commit, error) {
	commit, err := tx.seal()
	if err != nil {
		return nil, err
	}
	commit.Reset, commit.Facts = true, append(slices.Clip(facts), commit.Facts...)
	if store.EncodedSize([]store.Commit{*commit}) > most {
		return nil, tooWhole(most)
	}
	return commit, nil
}

// factsOfAll are the facts that make a whole state, which may take so many bytes.
func factsOfAll(s *state, codec Codec, most int) (facts []store.Fact, err error) {
	size := 0
	s.table.Scan(func(number int64, n *node) bool {
		var more []store.Fact
		c := &change{number: number, events: n.thread, claim: n.hold != nil || n.task.AssignedByClaim}
		if more, err = factsOf(codec, n, c); err != nil {
			return false
		}
		for _, f := range more {
			size += len(f.Value)
		}
		if facts = append(facts, more...); size > most { // what is beyond is not encoded in vain
			err = tooWhole(most)
		}
		return err == nil
	})
	return facts, err
}

func tooWhole(most int) error {
	return &QuotaError{Reason: ReasonRevisionTooLarge, Message: fmt.Sprintf(
		"this is too large: a pool is replaced by at most %d bytes at once; bring it in by parts, by merging", most)}
}

// state is the content as a state of its own, nothing of which others can see.
func (c *replacement) state(before marks, revision int64, now time.Time) (*state, error) {
	l := newLoading()
	s := l.state
	s.number, s.event = max(before.number, c.lastNumber), max(before.event, c.lastEvent)
	for _, t := range c.tasks {
		s.number = max(s.number, t.Number)
		for _, e := range c.threads[t.ID] {
			s.event = max(s.event, e.ID)
		}
	}
	tasks := make([]*task.Task, len(c.tasks))
	for i, t := range c.tasks {
		t = t.Clone()
		t.Dependencies = slices.Clone(t.Dependencies)
		if t.Number == 0 {
			s.number++
			t.Number = s.number
		}
		if t.Revision == 0 {
			t.Revision, t.UpdatedAt, t.Version = revision, now, max(t.Version, 1)
		}
		tasks[i] = t
		l.nodes = append(l.nodes, &node{task: t})
		for _, e := range s.withIDs(c.threads[t.ID]) {
			l.events = append(l.events, placedEvent{t.Number, e})
		}
		claim := claimRecord{AssignedByClaim: t.AssignedByClaim}
		if t.Holder != "" {
			claim.Token = uuid.NewString()
		}
		l.claims[t.Number] = claim
	}
	derive(tasks, c.threads)
	l.assemble()
	return s, l.contradiction()
}

// withIDs gives the events in a slice of their own, those without an id with the
// next.
func (s *state) withIDs(events []*task.Event) []*task.Event {
	events = slices.Clone(events)
	for i, e := range events {
		if e.ID == 0 {
			s.event++
			numbered := *e
			numbered.ID = s.event
			events[i] = &numbered
		}
	}
	return events
}

// contradiction is an error where what was brought in does not hold together,
// which whoever checked it should have found. Nothing of it gets into the store.
func (l *loading) contradiction() (err error) {
	if l.cycle != nil {
		return fmt.Errorf("the new content has a cycle: %v", keys(l.state, l.cycle))
	}
	if got, want := l.state.table.Len(), len(l.nodes); got != want {
		return fmt.Errorf("the new content has %d tasks of %d", got, want)
	}
	l.state.table.Scan(func(_ int64, n *node) bool {
		if why := l.state.unsound(n); why != "" {
			err = fmt.Errorf("%s of the new content: %s", n.task.Key(), why)
		}
		return err == nil
	})
	return err
}
