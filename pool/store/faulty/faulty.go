// Package faulty wraps a store and makes it fail where a test wants it to.
//
// Everything is counted, nothing is random or timed: a test says which append,
// counted from now, ends how.
package faulty

import (
	"context"
	"fmt"
	"sync"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Outcome is how an append ends.
type Outcome int

const (
	// Applied: it succeeds, as if nothing had been asked for.
	Applied Outcome = iota
	// NotApplied: ErrNotApplied, as with a full disk.
	NotApplied
	// Lost: ErrUnknown, and nothing was appended.
	Lost
	// Kept: ErrUnknown, though everything was appended and is durable.
	Kept
	// Conflict: ErrConflict, though the head may be right. For a conflict with
	// commits that are really there, use Before and append them.
	Conflict
)

// Store is a store whose appends can be made to fail. All methods may be
// called concurrently. Calls that no test asked about go to the wrapped store.
type Store struct {
	store.Store

	mu      sync.Mutex
	appends int                // guarded by mu; appends begun
	plan    map[int]Outcome    // guarded by mu; by number of the append
	before  map[int][]Func     // guarded by mu; by number of the append
	always  Outcome            // guarded by mu; for appends not in plan
	heads   error              // guarded by mu; what Head returns
	gate    chan struct{}      // guarded by mu; not nil while paused
	arrived chan []store.Batch // one send for each append held at the gate
}

// Func is called with an append before it is made.
type Func func(ctx context.Context, batches []store.Batch)

// Wrap makes a store that behaves as s until told otherwise. Close closes s.
func Wrap(s store.Store) *Store {
	return &Store{
		Store:   s,
		plan:    make(map[int]Outcome),
		before:  make(map[int][]Func),
		arrived: make(chan []store.Batch, 1024),
	}
}

// Fail makes the nth append from now end as how; 1 is the next.
func (s *Store) Fail(n int, how Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan[s.appends+n] = how
}

// FailAll makes all appends end as how until Heal, but those that Fail names.
func (s *Store) FailAll(how Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = how
}

// FailHead makes Head return err until Heal.
func (s *Store) FailHead(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads = err
}

// Heal takes back all that Fail, FailAll, FailHead and Before asked for.
func (s *Store) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.plan)
	clear(s.before)
	s.always, s.heads = Applied, nil
}

// Before calls do before the nth append from now; 1 is the next. What do
// itself appends, it appends to the wrapped store: that makes a true conflict.
func (s *Store) Before(n int, do Func) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before[s.appends+n] = append(s.before[s.appends+n], do)
}

// Pause holds appends back, until Resume, before anything is done; each that
// arrives is sent on the channel. An append whose context ends is let go as not
// applied.
func (s *Store) Pause() <-chan []store.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate == nil {
		s.gate = make(chan struct{})
	}
	return s.arrived
}

// Resume lets go of all appends that Pause holds.
func (s *Store) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate != nil {
		close(s.gate)
		s.gate = nil
	}
}

// Appends is how many appends have begun, failed ones too.
func (s *Store) Appends() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appends
}

// Append implements [store.Store].
func (s *Store) Append(ctx context.Context, batches []store.Batch) error {
	s.mu.Lock()
	s.appends++
	n := s.appends
	how, planned := s.plan[n]
	if !planned {
		how = s.always
	}
	before, gate := s.before[n], s.gate
	delete(s.plan, n)
	delete(s.before, n)
	s.mu.Unlock()

	if gate != nil {
		s.arrived <- batches
		select {
		case <-gate:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", store.ErrNotApplied, ctx.Err())
		}
	}
	for _, do := range before {
		do(ctx, batches)
	}
	switch how {
	case NotApplied:
		return fmt.Errorf("%w: made to fail", store.ErrNotApplied)
	case Lost:
		return fmt.Errorf("%w: made to fail before it was applied", store.ErrUnknown)
	case Conflict:
		return fmt.Errorf("%w: made to fail", store.ErrConflict)
	case Kept:
		if err := s.Store.Append(ctx, batches); err != nil {
			return err
		}
		return fmt.Errorf("%w: made to fail after it was applied", store.ErrUnknown)
	default:
		return s.Store.Append(ctx, batches)
	}
}

// Head implements [store.Store].
func (s *Store) Head(ctx context.Context, log string) (store.Head, error) {
	s.mu.Lock()
	err := s.heads
	s.mu.Unlock()
	if err != nil {
		return store.Head{}, err
	}
	return s.Store.Head(ctx, log)
}
