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
	overlays map[ledger]overlay
	heads    map[ledger]store.Head
	batches  []store.Batch
}

func (r *running) publish() {
	for l, o := range r.overlays {
		if head := r.heads[l]; head != l.published() {
			o.publish(head)
		}
	}
}

// run runs each job in the overlay of its ledger, in order, and says how many it
// ran: fewer than all when their commits grow too large for one append.
func (w *writer) run(batch []*job) (*running, int) {
	r := &running{overlays: map[ledger]overlay{}, heads: map[ledger]store.Head{}}
	at := map[ledger]int{}
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
		o := r.overlays[j.ledger]
		if o == nil {
			o = j.ledger.begin()
			r.overlays[j.ledger], r.heads[j.ledger] = o, j.ledger.published()
		}
		head := r.heads[j.ledger]
		var commit *store.Commit
		if commit, j.err = j.attempt(o, head.Revision+1, now); j.err != nil || commit == nil {
			continue
		}
		i, ok := at[j.ledger]
		if !ok {
			i = len(r.batches)
			at[j.ledger] = i
			r.batches = append(r.batches, store.Batch{Log: j.ledger.log(), After: head.Revision})
		}
		r.batches[i].Commits = append(r.batches[i].Commits, *commit)
		r.heads[j.ledger] = store.Head{Revision: commit.Revision, Nonce: commit.Nonce, At: commit.At}
		for _, f := range commit.Facts {
			size += len(f.Value)
		}
	}
	return r, len(batch)
}
