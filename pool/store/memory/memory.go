// Package memory is the engine that keeps its logs in RAM and loses them with
// the process.
//
// Several pools may use one [Store] at once; they stay correct against each
// other as they would over a store that several processes share.
package memory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Store keeps logs in RAM. It copies what it is given and what it yields, so
// neither side can change the other's bytes. All methods may be called
// concurrently, also from within an iteration.
type Store struct {
	// closed is closed by Close.
	closed chan struct{}

	mu   sync.RWMutex
	logs map[string]*logState // guarded by mu; nil once closed
}

var _ store.Store = (*Store)(nil)

// New makes an empty store. It needs a Close only to end its followers.
func New() *Store {
	return &Store{closed: make(chan struct{}), logs: make(map[string]*logState)}
}

// Append implements [store.Store].
func (s *Store) Append(ctx context.Context, batches []store.Batch) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrNotApplied, err)
	}
	if err := store.Check(batches); err != nil {
		return err
	}
	size := 0
	for _, b := range batches {
		size += store.EncodedSize(b.Commits)
	}
	if err := store.CheckSize(size, store.MaxAppendBytes); err != nil {
		return err
	}
	// Copied before the lock is taken: readers should not wait for it.
	copies := make([][]store.Commit, len(batches))
	for i, b := range batches {
		copies[i] = make([]store.Commit, len(b.Commits))
		for j, c := range b.Commits {
			copies[i][j] = c.Clone()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil {
		return fmt.Errorf("%w: %w", store.ErrNotApplied, store.ErrClosed)
	}
	for _, b := range batches {
		if head := s.headLocked(b.Log).Revision; head != b.After {
			return fmt.Errorf("%w: %s is at revision %d, not %d", store.ErrConflict, b.Log, head, b.After)
		}
	}
	now := time.Now()
	for i, b := range batches {
		if len(b.Commits) > 0 {
			s.logLocked(b.Log).append(copies[i], now)
		}
	}
	return nil
}

// Load implements [store.Store]. It yields outside the lock.
func (s *Store) Load(ctx context.Context, log string, yield func(store.Key, []byte) error) (store.State, error) {
	s.mu.Lock()
	if s.logs == nil {
		s.mu.Unlock()
		return store.State{}, store.ErrClosed
	}
	l := s.logLocked(log)
	state, damages := l.state(), len(l.damaged)
	records := l.live(time.Now())
	s.mu.Unlock()

	for _, r := range records {
		if err := s.alive(ctx); err != nil {
			return store.State{}, err
		}
		if err := yield(r.key, append([]byte(nil), r.value...)); err != nil {
			return store.State{}, err
		}
	}
	if err := s.alive(ctx); err != nil {
		return store.State{}, err
	}
	s.mu.Lock()
	l.told = max(l.told, damages)
	s.mu.Unlock()
	return state, nil
}

// Head implements [store.Store].
func (s *Store) Head(ctx context.Context, log string) (store.Head, error) {
	if err := s.alive(ctx); err != nil {
		return store.Head{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.headLocked(log), nil
}

// SetAside implements [store.Store]. A record that is not there is none to set
// aside.
func (s *Store) SetAside(ctx context.Context, log string, key store.Key, why string) error {
	if err := s.alive(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil {
		return store.ErrClosed
	}
	if l := s.logs[log]; l != nil {
		l.setAside(log, key, why)
	}
	return nil
}

// Trim implements [store.Store].
func (s *Store) Trim(ctx context.Context, log string, before int64) error {
	if err := s.alive(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.logs[log]; l != nil {
		l.trim(before)
	}
	return nil
}

// Shared implements [store.Store]: another pool in this process may append.
func (s *Store) Shared() bool { return true }

// Close implements [store.Store]. The logs are gone after it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs != nil {
		s.logs = nil
		close(s.closed)
	}
	return nil
}

// alive is the error of a call that ctx or Close has ended.
func (s *Store) alive(ctx context.Context) error {
	select {
	case <-s.closed:
		return store.ErrClosed
	default:
		return ctx.Err()
	}
}

// logLocked makes the log if it is new; s.logs must not be nil.
func (s *Store) logLocked(name string) *logState {
	l := s.logs[name]
	if l == nil {
		l = &logState{records: make(map[store.Key]record), grown: make(chan struct{})}
		s.logs[name] = l
	}
	return l
}

func (s *Store) headLocked(name string) store.Head {
	if l := s.logs[name]; l != nil {
		return l.head
	}
	return store.Head{}
}
