package sqlite

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Trim deletes from the file what it lets go of, spans too, and no records.
func TestTrim_deletes(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), small)
	for rev := int64(1); rev <= 60; rev++ {
		if err := s.Append(t.Context(), step(rev)); err != nil {
			t.Fatal(err)
		}
	}
	for _, log := range []string{"a", "b", "c"} {
		if err := s.Trim(t.Context(), log, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, s, "journal"); n != 3 {
		t.Errorf("the journal has %d rows, want the three heads", n)
	}
	if n := count(t, s, "spans"); n > 3 {
		t.Errorf("%d spans", n)
	}
	checkStepped(t, s, 60)
}

// Close folds for a bounded time; the rest waits for the next start.
func TestClose_isBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, func(s *Store) { never(s); s.tune.closing = time.Nanosecond })
	for rev := int64(1); rev <= 30; rev++ {
		if err := s.Append(t.Context(), step(rev)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, never)
	if rows, _ := s.lag(); rows == 0 {
		t.Error("all was folded")
	}
	checkStepped(t, s, 30)
}

// An append may take exactly so much, and not a byte more, all logs together.
func TestAppend_bound(t *testing.T) {
	t.Parallel()
	commits := []store.Commit{{Revision: 1, Facts: []store.Fact{fact(1, strings.Repeat("x", 1000))}}}
	one := store.EncodedSize(commits)
	both := []store.Batch{{Log: "a", Commits: commits}, {Log: "b", Commits: commits}}
	for _, tt := range []struct {
		bound   int
		batches []store.Batch
		fits    bool
	}{
		{one, both[:1], true},
		{one - 1, both[:1], false},
		{2 * one, both, true},
		{2*one - 1, both, false},
	} {
		s := mustOpen(t, t.TempDir(), func(s *Store) { s.tune.appendBytes = tt.bound })
		err := s.Append(t.Context(), tt.batches)
		if tt.fits && err != nil || !tt.fits && !errors.Is(err, store.ErrNotApplied) {
			t.Errorf("%d bytes with the bound %d: %v", len(tt.batches)*one, tt.bound, err)
		}
		want := 0
		if tt.fits {
			want = len(tt.batches)
		}
		if n := count(t, s, "journal"); n != want {
			t.Errorf("%d bytes with the bound %d: %d rows were written", len(tt.batches)*one, tt.bound, n)
		}
	}
}

// The largest revision a pool makes, of 16 MiB.
func TestAppend_largestRevision(t *testing.T) {
	if sparse > 1 {
		t.Skip("slow under the race detector, and not about races")
	}
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir)
	c := store.Commit{Revision: 1}
	for id := range int64(1000) {
		c.Facts = append(c.Facts, store.Fact{Key: store.Key{ID: id}, Value: make([]byte, 16<<10)})
	}
	if err := s.Append(t.Context(), []store.Batch{{Log: "a", Commits: []store.Commit{c}}}); err != nil {
		t.Fatal(err)
	}
	if err := askAll(t, s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir)
	if got, _ := records(t, s, "a"); len(got) != 1000 || countCommits(t, s, "a", 1) != 1 {
		t.Errorf("%d records", len(got))
	}
}
