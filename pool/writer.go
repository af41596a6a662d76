package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Bounds of the writer.
const (
	// maxQueued mutations may wait; further ones are refused.
	maxQueued = 8192
	// maxBatch mutations are appended together.
	maxBatch = 1024
	// maxBatchBytes of facts are appended together, unless one commit has more.
	maxBatchBytes = 32 << 20
	// gatherLooks and gatherTime bound how long the writer yields to let a
	// batch grow: it stops when the queue was the same that often.
	gatherLooks = 3
	gatherTime  = 300 * time.Microsecond
	// maxConflicts is how often a batch is run again because another process
	// appended first.
	maxConflicts = 64
	// probeEvery is how often a failing store is tried without being asked.
	probeEvery = time.Second
)

// ledger is one log with its published state, as the writer sees it. Only the
// writer calls these methods.
type ledger interface {
	log() string
	// published is the head of the published state.
	published() store.Head
	// begin returns a fresh layer over the published state.
	begin() overlay
	// catchUp publishes what others appended, up to the store's head.
	catchUp(ctx context.Context) error
}

// overlay is the changes of a batch to one ledger, not yet published.
type overlay interface {
	// publish swaps the changes into the published state, whose head is then
	// head, and wakes those who wait for it.
	publish(head store.Head)
}

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

// writer appends to one store, for all its ledgers, in one goroutine.
type writer struct {
	store store.Store
	queue chan *job
	stop  chan struct{}
	ended chan struct{}

	health health
	// held are jobs that were taken from the queue but belong to a later batch.
	held []*job
	// unsure are the ledgers whose head must be read again before anything is
	// appended.
	unsure map[ledger]bool
	// probe is a job of the owner's that appends nothing of meaning.
	probe func() *job
}

func newWriter(s store.Store) *writer {
	return &writer{
		store: s, queue: make(chan *job, maxQueued),
		stop: make(chan struct{}), ended: make(chan struct{}), unsure: map[ledger]bool{},
	}
}

// do queues a mutation and waits for its answer. When ctx ends first, whether it
// happens is not known to the caller.
func (w *writer) do(j *job) error {
	j.done = make(chan struct{})
	select {
	case <-w.stop:
		return &UnavailableError{Reason: ReasonDraining}
	default:
	}
	select {
	case w.queue <- j:
	default:
		return &QuotaError{
			Reason:     ReasonQueueFull,
			Message:    fmt.Sprintf("%d changes already wait to be stored; nothing was changed; wait a second and repeat", maxQueued),
			RetryAfter: time.Second,
		}
	}
	select {
	case <-j.done:
		return j.err
	case <-j.ctx.Done():
		return j.ctx.Err()
	case <-w.ended:
		select { // it may have been answered in the last batch
		case <-j.done:
			return j.err
		default:
			return &UnavailableError{Reason: ReasonDraining}
		}
	}
}

// close refuses new mutations, answers those that wait, and returns when the
// goroutine has ended.
func (w *writer) close() {
	close(w.stop)
	<-w.ended
}

func (w *writer) loop() {
	defer close(w.ended)
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		if len(w.held) > 0 {
			w.process(w.gather())
			continue
		}
		select {
		case j := <-w.queue:
			w.held = append(w.held, j)
		case <-ticker.C:
			if w.health.failing() && w.probe != nil {
				w.process([]*job{w.probe()})
			}
		case <-w.stop:
			w.drain()
			return
		}
	}
}

// drain answers what still waits.
func (w *writer) drain() {
	for {
		if len(w.held) == 0 {
			select {
			case j := <-w.queue:
				w.held = append(w.held, j)
			default:
				return
			}
		}
		w.process(w.gather())
	}
}

// gather takes the jobs of the next batch: what is held, and all that wait once
// the queue has stopped growing. Yielding lets callers that were just answered
// ask again, so that one sync serves more of them.
func (w *writer) gather() []*job {
	start := time.Now()
	for same, last := 0, -1; same < gatherLooks && len(w.queue) < maxBatch && time.Since(start) < gatherTime; {
		runtime.Gosched()
		if n := len(w.queue); n == last {
			same++
		} else {
			same, last = 0, n
		}
	}
	for len(w.held) < maxBatch && len(w.queue) > 0 {
		w.held = append(w.held, <-w.queue) // the only receiver, so it does not wait
	}
	n := min(len(w.held), maxBatch)
	for i, j := range w.held[:n] {
		if j.alone {
			n = max(i, 1)
			break
		}
	}
	batch := w.held[:n:n]
	w.held = w.held[n:]
	return batch
}

// process runs a batch until it is appended or refused, and answers everyone.
func (w *writer) process(batch []*job) {
	defer func() {
		for _, j := range batch {
			close(j.done)
		}
	}()
	for _, j := range batch {
		if j.refresh {
			w.unsure[j.ledger] = true
		}
	}
	ctx := context.Background() // an append is not given up because one caller left
	for try := 0; ; try++ {
		if err := w.settleUnsure(ctx); err != nil {
			w.fail(batch, &UnavailableError{Reason: ReasonStoreUnavailable, Cause: err})
			return
		}
		run, ran := w.run(batch)
		if ran < len(batch) {
			w.held = append(batch[ran:len(batch):len(batch)], w.held...)
			batch = batch[:ran]
		}
		if len(run.batches) == 0 {
			return // only refusals and no-ops, all seen in published state
		}
		err := w.store.Append(ctx, run.batches)
		switch {
		case err == nil:
			w.health.set(nil)
			run.publish()
			return
		case errors.Is(err, store.ErrConflict):
			for l := range run.overlays {
				w.unsure[l] = true
			}
			if try == maxConflicts {
				w.fail(batch, &UnavailableError{Reason: ReasonStoreUnavailable, Cause: err})
				return
			}
		case errors.Is(err, store.ErrNotApplied):
			w.health.set(err)
			w.fail(batch, &UnavailableError{Reason: ReasonStoreUnavailable, Cause: err})
			return
		default:
			w.health.set(err)
			for l := range run.overlays {
				w.unsure[l] = true
			}
			w.fail(batch, &UnavailableError{Reason: ReasonCommitUnknown, Cause: err})
			return
		}
	}
}

// settleUnsure reads the heads again of ledgers whose last append is not known,
// or lost, before anything else is appended to them.
func (w *writer) settleUnsure(ctx context.Context) error {
	for l := range w.unsure {
		if err := l.catchUp(ctx); err != nil {
			w.health.set(err)
			return err
		}
		delete(w.unsure, l)
	}
	return nil
}

// fail answers the whole batch alike: a refusal, too, may have been decided on
// what was then not stored.
func (w *writer) fail(batch []*job, err error) {
	for _, j := range batch {
		j.err = err
	}
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
		if commit, j.err = j.run(o, head.Revision+1, now); j.err != nil || commit == nil {
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
