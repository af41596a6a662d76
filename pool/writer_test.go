package pool

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// tally is the simplest ledger: it counts the commits it was told of.
type tally struct {
	head  store.Head
	store store.Store
}

func (t *tally) log() string           { return "tally" }
func (t *tally) published() store.Head { return t.head }
func (t *tally) begin() overlay        { return t }
func (t *tally) publish(h store.Head)  { t.head = h }
func (t *tally) settle()               {}

func (t *tally) catchUp(ctx context.Context) error {
	for c, err := range t.store.Commits(ctx, "tally", t.head.Revision+1) {
		if err != nil {
			return err
		}
		t.head = c.Head()
	}
	return nil
}

func (t *tally) job(ctx context.Context) *job {
	return &job{ctx: ctx, ledger: t, run: func(_ overlay, revision int64, now time.Time) (*store.Commit, error) {
		return &store.Commit{Revision: revision, At: now, Facts: []store.Fact{{Key: store.Key{Kind: 9, ID: revision}}}}, nil
	}}
}

// A writer whose queue is full refuses, at once and by reason; what it took is
// done all the same.
func TestWriter_queueFull(t *testing.T) {
	s := faulty.Wrap(memory.New())
	w := newWriter(s)
	w.queue = make(chan *job, 4)
	go w.loop()
	ledger := &tally{store: s}
	arrived := s.Pause()
	errs := make(chan error, 6)
	var work sync.WaitGroup
	work.Go(func() { errs <- w.do(ledger.job(context.Background())) })
	<-arrived
	for range cap(w.queue) {
		work.Go(func() { errs <- w.do(ledger.job(context.Background())) })
	}
	(&Pool{writer: w}).AwaitQueue(cap(w.queue))
	err := w.do(ledger.job(context.Background()))
	var quota *QuotaError
	if !errors.As(err, &quota) || quota.Reason != ReasonQueueFull || quota.RetryAfter == 0 {
		t.Errorf("a full queue answers %v", err)
	}
	s.Resume()
	work.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	w.close()
	if ledger.head.Revision != 5 {
		t.Errorf("%d commits, want 5", ledger.head.Revision)
	}
}

// A commit that resets its log is appended by itself, whatever waits with it.
func TestWriter_alone(t *testing.T) {
	s := faulty.Wrap(memory.New())
	w := newWriter(s)
	ledger := &tally{store: s}
	for i := range 5 {
		j := ledger.job(context.Background())
		j.alone, j.done = i == 2, make(chan struct{})
		w.queue <- j
	}
	go w.loop()
	w.close() // answers all that wait
	if ledger.head.Revision != 5 || s.Appends() != 3 {
		t.Errorf("%d commits in %d appends, want 5 in 3", ledger.head.Revision, s.Appends())
	}
}

// Commits that are together too large for one append go into several.
func TestWriter_largeBatch(t *testing.T) {
	s := &Nowhere{}
	w := newWriter(s)
	ledger := &tally{store: s}
	value := make([]byte, maxBatchBytes/2)
	for range 5 {
		w.queue <- &job{ctx: context.Background(), ledger: ledger, done: make(chan struct{}), run: func(_ overlay, revision int64, now time.Time) (*store.Commit, error) {
			return &store.Commit{Revision: revision, At: now, Facts: []store.Fact{{Key: store.Key{Kind: 9, ID: revision}, Value: value}}}, nil
		}}
	}
	go w.loop()
	w.close()
	if ledger.head.Revision != 5 || s.Appended.Load() != 3 {
		t.Errorf("%d commits in %d appends, want 5 in 3", ledger.head.Revision, s.Appended.Load())
	}
}

// A mutation that panics changes nothing and stops nobody.
func TestMutate_panic(t *testing.T) {
	r, err := Open(t.Context(), Config{Store: memory.New(), Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	before := p.State()
	_, err = p.mutate(t.Context(), "Test", Request{Actor: "agent:a", ID: "1"}, func(tx *tx) ([]string, string, error) {
		tx.event += 7
		panic("a fault of ours")
	})
	if err == nil || errors.As(err, new(*UnavailableError)) {
		t.Errorf("answered %v", err)
	}
	if p.State() != before {
		t.Error("it changed something")
	}
	if err := p.found(t.Context(), true); err != nil || p.Cursor().Revision != 2 {
		t.Errorf("the next mutation: revision %d, %v", p.Cursor().Revision, err)
	}
}

// What a batch left behind is not kept for the next.
func TestWriter_letsGo(t *testing.T) {
	w := newWriter(memory.New())
	ledger := &tally{store: w.store}
	for range 100 {
		j := ledger.job(context.Background())
		j.done = make(chan struct{})
		w.queue <- j
	}
	w.process(w.gather())
	if w.held != nil {
		t.Errorf("%d jobs are held, with room for %d", len(w.held), cap(w.held))
	}
}

// Request records go: four a mutation, by the mutations of one batch too, in the
// pool that appends as in one that follows.
func TestRequests_forgotten(t *testing.T) {
	now := time.Now()
	l := newRequestLog()
	for i := range int64(100) {
		l.add(&request{key: requestKey{id: string(rune('a' + i%90))}, revision: i + 1, at: now.Add(-25 * time.Hour)})
	}
	l.add(&request{key: requestKey{id: "new"}, revision: 101, at: now})
	forgotten := int64(0)
	for range 30 {
		for _, r := range l.stale(now, forgotten, 4) {
			if r.revision != forgotten+1 {
				t.Fatalf("revision %d comes after %d", r.revision, forgotten)
			}
			forgotten = r.revision
		}
	}
	if forgotten != 100 {
		t.Errorf("records up to revision %d could go, want 100", forgotten)
	}
	l.forget(95)
	if len(l.byKey) != 6 { // 96 to 100, and the new one
		t.Errorf("%d are known", len(l.byKey))
	}
	l.forget(100)
	if len(l.byKey) != 1 || l.get(requestKey{id: "new"}) == nil {
		t.Errorf("%d are known", len(l.byKey))
	}
}
