package pool

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// job is a mutation on its way through the writer.
type job struct {
	ctx    context.Context
	ledger ledger
	// run makes the mutation's changes in the overlay, or changes nothing and
	// returns why. It may be called again, on another overlay. A nil commit
	// means that nothing has to be stored.
	run func(o overlay, revision int64, now time.Time) (*store.Commit, error)
	// refresh has no run: the ledger catches up with what others appended.
	refresh bool
	// alone keeps others out of its batch: its commit resets the log.
	alone bool

	done chan struct{}
	// err is the answer once done is closed.
	err error
}

// answer is the job's own where it has one by now, else the other.
func (j *job) answer(other error) error {
	select {
	case <-j.done:
		return j.err
	default:
		return other
	}
}

// attempt is run, where a panic is that mutation's own failure: what it did so
// far is in a layer that nobody will look at.
func (j *job) attempt(o overlay, revision int64, now time.Time) (commit *store.Commit, err error) {
	defer func() {
		if p := recover(); p != nil {
			commit, err = nil, fmt.Errorf("a mutation panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return j.run(o, revision, now)
}

// running is one batch, run but not yet appended.
type running struct {
	parts   map[ledger]*part
	batches []store.Batch
}

// part is what a batch does to one ledger.
type part struct {
	overlay overlay
	head    store.Head
	// batch is the place in batches, -1 while there is nothing to append.
	batch int
}

func (r *running) part(l ledger) *part {
	p := r.parts[l]
	if p == nil {
		p = &part{overlay: l.begin(), head: l.published(), batch: -1}
		r.parts[l] = p
	}
	return p
}

// add takes a commit in.
func (r *running) add(l ledger, p *part, c *store.Commit) {
	if p.batch < 0 {
		p.batch = len(r.batches)
		r.batches = append(r.batches, store.Batch{Log: l.log(), After: p.head.Revision})
	}
	r.batches[p.batch].Commits = append(r.batches[p.batch].Commits, *c)
	p.head = c.Head()
}

// pin makes the append depend also on the heads of ledgers that have nothing to
// append: what was refused there was decided on them.
func (r *running) pin() {
	for l, p := range r.parts {
		if p.batch < 0 {
			r.batches = append(r.batches, store.Batch{Log: l.log(), After: p.head.Revision})
		}
	}
}

func (r *running) publish() {
	for _, p := range r.parts {
		if p.batch >= 0 {
			p.overlay.publish(p.head)
		} else {
			p.overlay.settle()
		}
	}
}

func (r *running) settle() {
	for _, p := range r.parts {
		p.overlay.settle()
	}
}

// run runs each job in the overlay of its ledger, in order, and says how many it
// ran: fewer than all when their commits grow too large for one append.
func (w *writer) run(batch []*job) (*running, int) {
	r := &running{parts: map[ledger]*part{}}
	now := time.Now().UTC().Round(0)
	size := 0
	for n, j := range batch {
		if size >= maxBatchBytes {
			return r, n
		}
		j.err = nil // it may be run again
		if err, unsure := w.unsure[j.ledger]; unsure {
			j.err = &UnavailableError{Reason: ReasonStoreUnavailable, Cause: err}
			continue
		}
		if j.refresh {
			continue
		}
		if err := j.ctx.Err(); err != nil {
			j.err = err // the caller has gone before it began
			continue
		}
		p := r.part(j.ledger)
		var commit *store.Commit
		if commit, j.err = j.attempt(p.overlay, p.head.Revision+1, now); j.err != nil || commit == nil {
			continue
		}
		r.add(j.ledger, p, commit)
		for _, f := range commit.Facts {
			size += len(f.Value)
		}
	}
	return r, len(batch)
}
