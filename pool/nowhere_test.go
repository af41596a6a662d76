package pool

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Nowhere is a store that forgets everything at once, to measure what a pool
// itself costs.
type Nowhere struct{ Appended atomic.Int64 }

// Append implements [store.Store].
func (s *Nowhere) Append(context.Context, []store.Batch) error {
	s.Appended.Add(1)
	return nil
}

// Load implements [store.Store].
func (s *Nowhere) Load(context.Context, string, func(store.Key, []byte) error) (store.State, error) {
	return store.State{}, nil
}

// Head implements [store.Store].
func (s *Nowhere) Head(context.Context, string) (store.Head, error) { return store.Head{}, nil }

// Commits implements [store.Store].
func (s *Nowhere) Commits(context.Context, string, int64) iter.Seq2[store.Commit, error] {
	return func(func(store.Commit, error) bool) {}
}

// Follow implements [store.Store].
func (s *Nowhere) Follow(ctx context.Context, _ string, _ int64) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		<-ctx.Done()
		yield(store.Commit{}, ctx.Err())
	}
}

// SetAside implements [store.Store].
func (s *Nowhere) SetAside(context.Context, string, store.Key, string) error { return nil }

// Trim implements [store.Store].
func (s *Nowhere) Trim(context.Context, string, int64) error { return nil }

// Shared implements [store.Store].
func (s *Nowhere) Shared() bool { return false }

// Close implements [store.Store].
func (s *Nowhere) Close() error { return nil }
