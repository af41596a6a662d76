package memory

import (
	"context"
	"errors"
	"iter"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Commits implements [store.Store].
func (s *Store) Commits(ctx context.Context, log string, from int64) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		commits, _, err := s.read(ctx, log, from)
		if err == nil {
			_, err = s.each(ctx, commits, yield)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(store.Commit{}, err)
		}
	}
}

// Follow implements [store.Store].
func (s *Store) Follow(ctx context.Context, log string, from int64) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		next := from
		for {
			commits, grown, err := s.read(ctx, log, next)
			if err == nil && len(commits) > 0 {
				next, err = s.each(ctx, commits, yield)
			}
			if errors.Is(err, errStopped) {
				return
			}
			if err != nil {
				yield(store.Commit{}, err)
				return
			}
			select {
			case <-grown:
			case <-ctx.Done():
			case <-s.closed:
			}
		}
	}
}

// errStopped: the receiver wants no more, not even an error.
var errStopped = stopped{}

type stopped struct{}

func (stopped) Error() string { return "stopped" }

// each yields copies of commits and returns the revision after the last.
func (s *Store) each(ctx context.Context, commits []store.Commit, yield func(store.Commit, error) bool) (next int64, err error) {
	for _, c := range commits {
		if err := s.alive(ctx); err != nil {
			return next, err
		}
		if !yield(c.Clone(), nil) {
			return next, errStopped
		}
		next = c.Revision + 1
	}
	return next, nil
}

// read returns the commits from revision from, and a channel that is closed
// when there are more.
func (s *Store) read(ctx context.Context, log string, from int64) ([]store.Commit, <-chan struct{}, error) {
	if err := s.alive(ctx); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil {
		return nil, nil, store.ErrClosed
	}
	l := s.logLocked(log)
	commits, err := l.from(log, max(from, 1))
	return commits, l.grown, err
}
