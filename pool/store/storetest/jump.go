package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// wantHistory: what can be read of log a is the commits from oldest to head, and
// who asks for one before is told so.
func wantHistory(t *testing.T, s store.Store, oldest, head int64) {
	t.Helper()
	_, state := load(t, s, "a")
	if state.Oldest != oldest || state.Head.Revision != head || mustHead(t, s, "a").Revision != head {
		t.Fatalf("the state is %+v, want revisions %d to %d", state, oldest, head)
	}
	wantDamage(t, state)
	checkOldest(t, s, "a", oldest, head)
	// Nothing is in front of the head, so nothing is gone there.
	if got := collect(t, s, "a", head+1); len(got) > 0 {
		t.Errorf("from beyond the head: %v", got)
	}
}

// Jump: a commit that resets may skip revisions; the history before it ends,
// for those who ask and for those who follow, records and revisions go on from
// it, other logs do not notice, and so it stays.
func Jump(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 5)
	f, ahead, behind := follow(t, s, "a", 1), follow(t, s, "a", 100), follow(t, s, "a", 50)
	f.want(t, 1, 5)
	jump := store.Batch{Log: "a", After: 5, Commits: []store.Commit{resetting(100, set(2, "two")), commit(101, set(3, "three"))}}
	for _, after := range []int64{0, 4, 6, 99} {
		wrong := jump
		wrong.After = after
		if err := s.Append(t.Context(), []store.Batch{batch("b", commit(1)), wrong}); !errors.Is(err, store.ErrConflict) {
			t.Fatalf("after %d: %v, want ErrConflict", after, err)
		}
	}
	wantHistory(t, s, 1, 5)
	mustAppend(t, s, batch("b", commit(1, set(1, "b"))), jump)
	wantCompacted(t, f.end(t), "a", 6, 100)
	wantCompacted(t, behind.end(t), "a", 50, 100)
	ahead.want(t, 100, 101)

	records := map[store.Key]string{key(2): "two", key(3): "three"}
	check := func(oldest, head int64) {
		t.Helper()
		wantRecords(t, s, "a", records)
		wantHistory(t, s, oldest, head)
		wantRevisions(t, collect(t, s, "b", 1), 1, 1)
	}
	again := func(oldest, head int64) {
		t.Helper()
		check(oldest, head)
		if h.Reopen != nil {
			s = h.reopen(t, s)
			check(oldest, head)
		}
	}
	again(100, 101)
	if got := collect(t, s, "a", 100); !sameCommit(got[0], jump.Commits[0]) || !sameCommit(got[1], jump.Commits[1]) {
		t.Errorf("got %+v, want %+v", got, jump.Commits)
	}
	for _, before := range []int64{3, 50, 100} {
		if err := s.Trim(t.Context(), "a", before); err != nil {
			t.Fatal(err)
		}
		check(100, 101)
	}
	fill(t, s, "a", 105)
	records[key(1)] = "105"
	again(100, 105)
	// A reset that is next is no jump.
	mustAppend(t, s, batch("a", resetting(106, set(4, "four"))))
	records = map[store.Key]string{key(4): "four"}
	again(100, 106)
	// One past a single revision is.
	mustAppend(t, s, store.Batch{Log: "a", After: 106, Commits: []store.Commit{resetting(108, set(5, "five"))}})
	records = map[store.Key]string{key(5): "five"}
	again(108, 108)
	// The last there can be.
	mustAppend(t, s, store.Batch{Log: "a", After: 108, Commits: []store.Commit{resetting(store.MaxRevision - 1)}})
	mustAppend(t, s, batch("a", commit(store.MaxRevision, set(6, "six"))))
	records = map[store.Key]string{key(6): "six"}
	again(store.MaxRevision-1, store.MaxRevision)
	if err := s.Append(t.Context(), []store.Batch{batch("a", commit(store.MaxRevision+1))}); !errors.Is(err, store.ErrNotApplied) {
		t.Errorf("beyond the last revision: %v, want ErrNotApplied", err)
	}
	check(store.MaxRevision-1, store.MaxRevision)
}

// JumpFirst: a log may begin with a jump, and be trimmed after it.
func JumpFirst(t *testing.T, h Harness) {
	s := h.open(t)
	fresh := follow(t, s, "a", 1)
	mustAppend(t, s, store.Batch{Log: "a", Commits: []store.Commit{resetting(40, set(1, "40"))}})
	wantCompacted(t, fresh.end(t), "a", 1, 40)
	wantHistory(t, s, 40, 40)
	if h.Reopen != nil {
		s = h.reopen(t, s)
		wantHistory(t, s, 40, 40)
	}
	fill(t, s, "a", 50)
	wantHistory(t, s, 40, 50)
	if err := s.Trim(t.Context(), "a", 45); err != nil {
		t.Fatal(err)
	}
	checkOldest(t, s, "a", 45, 50)
	if h.Reopen != nil {
		s = h.reopen(t, s)
		checkOldest(t, s, "a", 45, 50)
	}
	wantRecords(t, s, "a", map[store.Key]string{key(1): "50"})
}

// JumpUnderReader: who reads history while it ends gets every commit in order,
// up to the head there was or to a CompactedError, and no commit behind a gap.
func JumpUnderReader(t *testing.T, h Harness) {
	type reader func(store.Store, context.Context, string, int64) iter.Seq2[store.Commit, error]
	for name, read := range map[string]reader{"Commits": store.Store.Commits, "Follow": store.Store.Follow} {
		t.Run(name, func(t *testing.T) {
			s := h.open(t)
			const head, jump = 100, 1000
			fill(t, s, "a", head)
			next, ended := int64(1), false
			for c, err := range read(s, t.Context(), "a", next) {
				if err != nil {
					wantCompacted(t, err, "a", next, jump)
					ended = true
					break
				}
				if c.Revision != next || next > head {
					t.Fatalf("%d follows %d", c.Revision, next-1)
				}
				if next == 1 {
					mustAppend(t, s, store.Batch{Log: "a", After: head, Commits: []store.Commit{resetting(jump, set(1, fmt.Sprint(jump)))}})
				}
				next++
			}
			if !ended && (name == "Follow" || next <= head) {
				t.Errorf("it ended before %d", next)
			}
			wantHistory(t, s, jump, jump)
		})
	}
}
