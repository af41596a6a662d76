package storetest

import (
	"errors"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Trim: commits before a revision may be let go of, none after it; asking for
// one that is gone is ErrCompacted, for Commits and Follow; records stay.
func Trim(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 5)
	mustAppend(t, s, batch("a", commit(6, set(2, "two")), commit(7), commit(8)))
	fill(t, s, "a", 12)
	fill(t, s, "b", 5)
	most := int64(1)
	for _, before := range []int64{0, 1, 3, 7, 7, 2, 11} {
		if err := s.Trim(t.Context(), "a", before); err != nil {
			t.Fatalf("Trim before %d: %v", before, err)
		}
		most = max(most, before)
		checkOldest(t, s, "a", most, 12)
	}
	if _, state := load(t, s, "b"); state.Oldest != 1 {
		t.Errorf("the oldest of the other log is %d", state.Oldest)
	}
	want := map[store.Key]string{key(1): "12", key(2): "two"}
	wantRecords(t, s, "a", want)
	if h.Reopen != nil {
		s = h.reopen(t, s)
		checkOldest(t, s, "a", 11, 12)
		wantRecords(t, s, "a", want)
	}
	fill(t, s, "a", 15)
	checkOldest(t, s, "a", 11, 15)
}

// checkOldest: an engine may keep more than it must, but says what it keeps.
func checkOldest(t *testing.T, s store.Store, log string, most, head int64) {
	t.Helper()
	_, state := load(t, s, log)
	if state.Oldest < 1 || state.Oldest > max(most, 1) {
		t.Fatalf("the oldest is %d after Trim before %d", state.Oldest, most)
	}
	wantRevisions(t, collect(t, s, log, state.Oldest), state.Oldest, head)
	if state.Oldest == 1 {
		return
	}
	for _, from := range []int64{1, state.Oldest - 1} {
		if err := commitsErr(t, s, log, from); !errors.Is(err, store.ErrCompacted) {
			t.Fatalf("Commits from %d, the oldest is %d: %v", from, state.Oldest, err)
		}
		if err := follow(t, s, log, from).end(t); !errors.Is(err, store.ErrCompacted) {
			t.Fatalf("Follow from %d, the oldest is %d: %v", from, state.Oldest, err)
		}
	}
}

// TrimHead: the head commit is always kept, and so are head and nonce.
func TrimHead(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 6)
	want := mustHead(t, s, "a")
	check := func(s store.Store) {
		t.Helper()
		if head := mustHead(t, s, "a"); !sameHead(head, want) {
			t.Errorf("the head is %+v, want %+v", head, want)
		}
		_, state := load(t, s, "a")
		if !sameHead(state.Head, want) || state.Oldest > 6 {
			t.Errorf("the state is %+v", state)
		}
		wantRevisions(t, collect(t, s, "a", 6), 6, 6)
	}
	for _, before := range []int64{6, 7, 1000} {
		if err := s.Trim(t.Context(), "a", before); err != nil {
			t.Fatal(err)
		}
		check(s)
	}
	if h.Reopen != nil {
		s = h.reopen(t, s)
		check(s)
	}
	fill(t, s, "a", 8)
	wantRevisions(t, collect(t, s, "a", 6), 6, 8)
}

// TrimWhileFollowed: a follower at the head, and commits already asked for,
// lose nothing to Trim.
func TrimWhileFollowed(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 20)
	f := follow(t, s, "a", 1)
	f.want(t, 1, 20)
	for r := int64(21); r <= 40; r++ {
		fill(t, s, "a", r)
		f.want(t, r, r)
		if err := s.Trim(t.Context(), "a", r); err != nil {
			t.Fatal(err)
		}
	}
}
