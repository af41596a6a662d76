package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// follower collects in the background what Follow yields.
type follower struct {
	from   int64
	cancel context.CancelFunc
	seen   chan store.Commit
	done   chan error // what it ended with, once
}

// buffer is more commits than any test appends, so that Follow is never held up.
const buffer = 4096

func follow(t testing.TB, s store.Store, log string, from int64) *follower {
	ctx, cancel := context.WithCancel(t.Context())
	f := &follower{from: from, cancel: cancel, seen: make(chan store.Commit, buffer), done: make(chan error, 1)}
	go func() {
		defer close(f.done)
		defer close(f.seen)
		for c, err := range s.Follow(ctx, log, from) {
			if err != nil {
				f.done <- err
				continue // an error is the last thing it yields: the range must end
			}
			f.seen <- c
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range f.done {
		}
	})
	return f
}

// want takes the commits from revision from to revision to.
func (f *follower) want(t testing.TB, from, to int64) {
	t.Helper()
	for r := from; r <= to; r++ {
		select {
		case c, ok := <-f.seen:
			if !ok {
				t.Fatalf("Follow ended before %d: %v", r, <-f.done)
			}
			if c.Revision != r {
				t.Fatalf("Follow yields %d, want %d", c.Revision, r)
			}
		case <-t.Context().Done():
			t.Fatalf("Follow did not yield %d", r)
		}
	}
}

// end waits for Follow to end and returns its error.
func (f *follower) end(t testing.TB) error {
	t.Helper()
	for c := range f.seen {
		t.Errorf("Follow also yields %d", c.Revision)
	}
	return <-f.done
}

// Follow: what is there, then what is appended, until the context ends, whose
// error comes last.
func Follow(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 3)
	f := follow(t, s, "a", 2)
	f.want(t, 2, 3)
	fill(t, s, "b", 2)
	fill(t, s, "a", 5)
	f.want(t, 4, 5)
	mustAppend(t, s, batch("b", commit(3)), batch("a", commit(6), commit(7)))
	f.want(t, 6, 7)
	f.cancel()
	if err := f.end(t); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	// A receiver that has enough ends it as well.
	for c, err := range s.Follow(t.Context(), "a", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Revision == 4 {
			break
		}
	}
}

// FollowAhead: a log, or a revision, that is not there yet is waited for.
func FollowAhead(t *testing.T, h Harness) {
	s := h.open(t)
	fresh, ahead := follow(t, s, "a", 1), follow(t, s, "a", 3)
	fill(t, s, "a", 4)
	fresh.want(t, 1, 4)
	ahead.want(t, 3, 4)
}

// FollowMany: several followers see every commit once and in order, also those
// that start in the middle of appends.
func FollowMany(t *testing.T, h Harness) {
	s := h.open(t)
	const followers, revisions = 8, 200
	var started []*follower
	for r := int64(1); r <= revisions; r += 2 {
		if len(started) < followers && r >= int64(len(started)*revisions/followers) {
			started = append(started, follow(t, s, "a", max(1, r-5)))
		}
		mustAppend(t, s, batch("a", commit(r, set(1, fmt.Sprint(r))), commit(r+1)))
	}
	var waiting sync.WaitGroup
	for _, f := range started {
		waiting.Go(func() { f.wantTo(t, revisions) })
	}
	waiting.Wait()
}

// wantTo is want, from where it started, for a goroutine that may not end the
// test.
func (f *follower) wantTo(t testing.TB, to int64) {
	for r := f.from; r <= to; r++ {
		if c, ok := <-f.seen; !ok || c.Revision != r {
			t.Errorf("Follow yields %d (%t), want %d", c.Revision, ok, r)
			return
		}
	}
}
