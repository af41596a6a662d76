package sqlite

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// small makes small pieces, and folds only when asked.
func small(s *Store) {
	never(s)
	s.tune.pieceRows, s.tune.roundRows = 5, 7
}

func askAll(t testing.TB, s *Store) error {
	t.Helper()
	return s.askFold(t.Context(), 1<<40)
}

// count is how many rows a table has.
func count(t testing.TB, s *Store, what string) (n int) {
	t.Helper()
	if err := s.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM "+what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Folding that ends after any of its pieces, in a reset too, leaves what a Load
// needs, and is gone on with by the next.
func TestFold_stoppedAnywhere(t *testing.T) {
	t.Parallel()
	const revisions = 40 // with two resets, of 22 records
	stopped := errors.New("stopped")
	for stop := 1; ; stop += sparse {
		dir, pieces := t.TempDir(), 0
		s := mustOpen(t, dir, small)
		for rev := int64(1); rev <= revisions; rev++ {
			if err := s.Append(t.Context(), step(rev)); err != nil {
				t.Fatal(err)
			}
			if rev == 16 { // so that the reset meets records
				if err := askAll(t, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		release, err := s.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.hook.piece = func() error {
			if pieces++; pieces == stop {
				return stopped
			}
			return nil
		}
		release()
		err = askAll(t, s)
		checkStepped(t, s, revisions)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = mustOpen(t, dir, small)
		checkStepped(t, s, revisions)
		if err := askAll(t, s); err != nil {
			t.Fatal(err)
		}
		checkStepped(t, s, revisions)
		if got, want := count(t, s, "state WHERE log = 1"), len(stepped(revisions)); got != want {
			t.Fatalf("stopped after %d: state has %d records, want %d", stop, got, want)
		}
		s.Close()
		if err == nil {
			if stop < 10 {
				t.Errorf("folding took only %d pieces", pieces)
			}
			return
		}
		if !errors.Is(err, stopped) {
			t.Fatal(err)
		}
	}
}

// No transaction of folding, of a reset or of Trim changes more than a piece.
func TestFold_pieces(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), small)
	most := int64(0)
	var last int64
	measure := func() error {
		now, err := readInt(s.w, "SELECT total_changes()")
		most, last = max(most, now-last), now
		return err
	}
	for rev := int64(1); rev <= 60; rev++ {
		if err := s.Append(t.Context(), step(rev)); err != nil {
			t.Fatal(err)
		}
	}
	release, err := s.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := measure(); err != nil {
		t.Fatal(err)
	}
	most = 0
	s.hook.afterCommit = measure
	release()
	if err := s.Trim(t.Context(), "a", 50); err != nil {
		t.Fatal(err)
	}
	// Besides the rows of the piece: meta, and a span and the row in logs for
	// each of three logs. A statement that finds some of its records writes twice.
	if limit := int64(2*s.tune.pieceRows + 7); most > limit {
		t.Errorf("a transaction changes %d rows, want at most %d", most, limit)
	}
	checkStepped(t, s, 60)
}

// Records that expire are not folded, and those that have been are deleted.
func TestFold_expires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, small)
	now := time.Now()
	c := store.Commit{Revision: 1}
	for id := range int64(60) {
		f := fact(id, "value")
		switch {
		case id < 20:
			f.Expires = now.Add(-time.Second)
		case id < 40:
			f.Expires = now.Add(time.Hour)
		}
		c.Facts = append(c.Facts, f)
	}
	if err := s.Append(t.Context(), []store.Batch{{Log: "a", Commits: []store.Commit{c}}}); err != nil {
		t.Fatal(err)
	}
	if err := askAll(t, s); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, "state"); n != 40 {
		t.Errorf("%d records were folded, want 40", n)
	}
	// As if two hours had passed.
	if err := s.sweep(t.Context(), now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, "state"); n != 20 {
		t.Errorf("%d records are left, want 20", n)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, small)
	if got, state := records(t, s, "a"); len(got) != 20 || len(state.Damaged) > 0 {
		t.Errorf("%d records, %+v", len(got), state)
	}
}

// When the store idles, it folds by itself.
func TestFold_idle(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), func(s *Store) { s.tune.idle, s.tune.idleRows = time.Millisecond, 10 })
	folded := make(chan struct{}, 100)
	s.hook.piece = func() error { folded <- struct{}{}; return nil }
	for rev := int64(1); rev <= 10; rev++ {
		if err := s.Append(t.Context(), step(rev)); err != nil {
			t.Fatal(err)
		}
	}
	<-folded
	checkStepped(t, s, 10)
}

// Appends, folding, loads, trims and history at once: all stays as it should.
func TestFold_amidEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, eager)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	loop := func(do func() error) {
		others.Go(func() {
			for ctx.Err() == nil {
				if err := do(); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	loop(func() error {
		got := make(map[int64]string)
		state, err := s.Load(ctx, "a", func(k store.Key, v []byte) error {
			got[k.ID] = string(v)
			return nil
		})
		if err == nil && (len(state.Damaged) > 0 || !reflect.DeepEqual(got, stepped(state.Head.Revision))) {
			return fmt.Errorf("at %+v: %v", state, got)
		}
		return err
	})
	loop(func() error {
		head, err := s.Head(ctx, "a")
		if err != nil {
			return err
		}
		next := max(head.Revision-5, 1)
		for c, err := range s.Commits(ctx, "a", next) {
			if errors.Is(err, store.ErrCompacted) {
				return nil
			}
			if err != nil || c.Revision != next {
				return fmt.Errorf("%d: %+v, %w", next, c, err)
			}
			next++
		}
		return s.Trim(ctx, "a", head.Revision-3)
	})
	const revisions = 300
	for rev := int64(1); rev <= revisions; rev++ {
		if err := s.Append(t.Context(), step(rev)); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	others.Wait()
	checkStepped(t, s, revisions)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkStepped(t, mustOpen(t, dir, eager), revisions)
}
