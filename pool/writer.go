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
	// settle ends a batch that has nothing to append.
	settle()
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
	// appended to them, each with why that failed last, if it was tried.
	unsure map[ledger]error
	// probe is a job of the owner's that appends nothing of meaning.
	probe func() *job
}

func newWriter(s store.Store) *writer {
	return &writer{
		store: s, queue: make(chan *job, maxQueued),
		stop: make(chan struct{}), ended: make(chan struct{}), unsure: map[ledger]error{},
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
			Message:    fmt.Sprintf("%d changes already wait to be stored; nothing was changed; wait a second and repeat", cap(w.queue)),
			RetryAfter: time.Second,
		}
	}
	select {
	case <-j.done:
		return j.err
	case <-j.ctx.Done():
		return j.answer(j.ctx.Err())
	case <-w.ended: // it may have been answered in the last batch
		return j.answer(&UnavailableError{Reason: ReasonDraining})
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
			if w.health.failing() {
				w.tryAgain()
			}
		case <-w.stop:
			w.drain()
			return
		}
	}
}

// tryAgain looks whether a failing store is well again. A head that can't be
// read says that it is not: a probe could not end that, and each would leave a
// commit behind.
func (w *writer) tryAgain() {
	w.settleUnsure(context.Background())
	if len(w.unsure) == 0 && w.probe != nil {
		w.process([]*job{w.probe()})
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
	if w.held = w.held[n:]; len(w.held) == 0 {
		w.held = nil // its array would keep jobs that were answered long ago
	}
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
			w.unsure[j.ledger] = nil
		}
	}
	ctx := context.Background() // an append is not given up because one caller left
	for try := 0; ; try++ {
		w.settleUnsure(ctx)
		run, ran := w.run(batch)
		if ran < len(batch) {
			w.held = append(batch[ran:len(batch):len(batch)], w.held...)
			batch = batch[:ran]
		}
		if len(run.batches) == 0 {
			// Only refusals and no-ops, all seen in published state; where others
			// append too, that may be behind.
			if try < maxConflicts && w.behind(ctx, run) {
				continue
			}
			run.settle()
			return
		}
		if w.store.Shared() {
			run.pin()
		}
		err := w.store.Append(ctx, run.batches)
		switch {
		case err == nil:
			if len(w.unsure) == 0 {
				w.health.set(nil)
			}
			run.publish()
			return
		case errors.Is(err, store.ErrConflict):
			w.doubt(run)
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
			w.doubt(run)
			w.fail(batch, &UnavailableError{Reason: ReasonCommitUnknown, Cause: err})
			return
		}
	}
}

// behind says whether others appended to a ledger of a run that has nothing to
// append itself, which would have told.
func (w *writer) behind(ctx context.Context, r *running) bool {
	if !w.store.Shared() {
		return false
	}
	w.doubt(r)
	w.settleUnsure(ctx)
	for l, p := range r.parts {
		if _, unsure := w.unsure[l]; unsure || l.published() != p.head {
			return true
		}
	}
	return false
}

// doubt has the heads of a run's ledgers read again.
func (w *writer) doubt(r *running) {
	for l := range r.parts {
		w.unsure[l] = nil
	}
}

// settleUnsure reads the heads again of ledgers whose last append is not known,
// or lost. One that can't be read now stays unsure; it is no reason to stop the
// others.
func (w *writer) settleUnsure(ctx context.Context) {
	for l := range w.unsure {
		if err := l.catchUp(ctx); err != nil {
			w.unsure[l] = err
			w.health.set(err)
			continue
		}
		delete(w.unsure, l)
	}
}

// fail answers the whole batch alike: a refusal, too, may have been decided on
// what was then not stored.
func (w *writer) fail(batch []*job, err error) {
	for _, j := range batch {
		j.err = err
	}
}
