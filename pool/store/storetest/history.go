package storetest

import (
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Commits: the commits from a revision, inclusive, to the head; nothing from
// beyond it; only as many as are taken.
func Commits(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "b", 2)
	fill(t, s, "a", 7)
	mustAppend(t, s, batch("a", commit(8), commit(9), commit(10)), batch("b", commit(3)))
	for from := int64(1); from <= 10; from++ {
		wantRevisions(t, collect(t, s, "a", from), from, 10)
	}
	wantRevisions(t, collect(t, s, "b", 1), 1, 3)
	for _, from := range []int64{11, 12, 1000} {
		if got := collect(t, s, "a", from); len(got) > 0 {
			t.Errorf("from %d: %d commits", from, len(got))
		}
	}
	taken := 0
	for _, err := range s.Commits(t.Context(), "a", 3) {
		if err != nil {
			t.Fatal(err)
		}
		if taken++; taken == 2 {
			break
		}
	}
	// A sequence may be run again.
	again := s.Commits(t.Context(), "a", 9)
	for range 2 {
		n := 0
		for _, err := range again {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 2 {
			t.Errorf("%d commits from 9, want 2", n)
		}
	}
}

// CommitsExact: a commit comes back as it was given.
func CommitsExact(t *testing.T, h Harness) {
	s := h.open(t)
	reset := commit(2, store.Fact{Key: store.Key{Kind: 255, ID: -5, Sub: 1 << 40}, Value: []byte{0, 1, 255}, Expires: epoch.Add(1e15)})
	reset.Reset = true
	want := []store.Commit{commit(1, set(1, "one"), gone(2), set(3, "")), reset, commit(3)}
	mustAppend(t, s, batch("a", want...))
	check := func(s store.Store) {
		t.Helper()
		got := collect(t, s, "a", 1)
		wantRevisions(t, got, 1, 3)
		for i := range got {
			if !sameCommit(got[i], want[i]) {
				t.Errorf("got %+v, want %+v", got[i], want[i])
			}
		}
	}
	check(s)
	if h.Reopen != nil {
		check(h.reopen(t, s))
	}
}

// Reentrant: calls may be made while another call yields.
func Reentrant(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two"))))
	next := int64(2)
	state, err := s.Load(t.Context(), "a", func(store.Key, []byte) error {
		fill(t, s, "a", next)
		next++
		load(t, s, "a")
		collect(t, s, "a", 1)
		return s.Trim(t.Context(), "a", 1)
	})
	if err != nil || state.Head.Revision != 1 {
		t.Errorf("Load: %+v, %v", state, err)
	}
	for c, err := range s.Commits(t.Context(), "a", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Revision > 100 {
			t.Fatal("Commits never ends: it runs after what is appended meanwhile")
		}
		fill(t, s, "a", mustHead(t, s, "a").Revision+1)
		load(t, s, "a")
	}
}
