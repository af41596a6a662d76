package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
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
	for _, from := range []int64{-1, 0, 1, state.Oldest - 1} {
		wantCompacted(t, commitsErr(t, s, log, from), log, from, state.Oldest)
		wantCompacted(t, follow(t, s, log, from).end(t), log, from, state.Oldest)
	}
}

// wantCompacted: err says that revision from of log was asked for and is gone,
// and which is the oldest.
func wantCompacted(t testing.TB, err error, log string, from, oldest int64) {
	t.Helper()
	var gone *store.CompactedError
	if !errors.Is(err, store.ErrCompacted) || !errors.As(err, &gone) {
		t.Fatalf("from %d, the oldest is %d: %v, want a CompactedError", from, oldest, err)
	}
	if want := (store.CompactedError{Log: log, From: max(from, 1), Oldest: oldest}); *gone != want {
		t.Fatalf("got %+v, want %+v", *gone, want)
	}
	for _, want := range []string{log, fmt.Sprint(gone.From), fmt.Sprint(oldest)} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
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

// TrimUnderReader: who reads history while it is trimmed gets every commit in
// order, up to the head or to a CompactedError that says where to go on.
func TrimUnderReader(t *testing.T, h Harness) {
	type reader func(store.Store, context.Context, string, int64) iter.Seq2[store.Commit, error]
	for name, read := range map[string]reader{"Commits": store.Store.Commits, "Follow": store.Store.Follow} {
		t.Run(name, func(t *testing.T) {
			s := h.open(t)
			const head = 200
			fill(t, s, "a", head)
			next := int64(1)
			for c, err := range read(s, t.Context(), "a", next) {
				if err != nil {
					_, state := load(t, s, "a")
					wantCompacted(t, err, "a", next, state.Oldest)
					next = state.Oldest
					break
				}
				if c.Revision != next {
					t.Fatalf("%d follows %d", c.Revision, next-1)
				}
				if next == 1 {
					if err := s.Trim(t.Context(), "a", head-10); err != nil {
						t.Fatal(err)
					}
				}
				if next++; next > head {
					break
				}
			}
			wantRevisions(t, collect(t, s, "a", next), next, head)
		})
	}
}
