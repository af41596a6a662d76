package storetest

import (
	"errors"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// CloseEndsFollow: Close ends followers with ErrClosed.
func CloseEndsFollow(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 2)
	f := follow(t, s, "a", 1)
	f.want(t, 1, 2)
	closeStore(t, s)
	if err := f.end(t); !errors.Is(err, store.ErrClosed) {
		t.Errorf("it ended with %v", err)
	}
}

// CloseEndsReads: Close, also by who receives, ends Load and Commits.
func CloseEndsReads(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two"), set(3, "three"))))
	_, err := s.Load(t.Context(), "a", func(store.Key, []byte) error { return s.Close() })
	if !errors.Is(err, store.ErrClosed) {
		t.Errorf("Load ends with %v", err)
	}
	s = h.open(t)
	fill(t, s, "a", 3)
	n := 0
	for _, err = range s.Commits(t.Context(), "a", 1) {
		if n++; n == 1 {
			closeStore(t, s)
		}
	}
	if n != 2 || !errors.Is(err, store.ErrClosed) {
		t.Errorf("Commits ends with %v after %d", err, n)
	}
}

// Closed: every call on a closed store says so; Close may be called again.
func Closed(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 2)
	closeStore(t, s)
	closeStore(t, s)
	err := s.Append(t.Context(), []store.Batch{batch("a", commit(3))})
	if !errors.Is(err, store.ErrNotApplied) || !errors.Is(err, store.ErrClosed) {
		t.Errorf("Append: %v", err)
	}
	for call, err := range callEach(t.Context(), s) {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: %v", call, err)
		}
	}
}
