package storetest

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// epoch is when the suite's commits are made; it has nanoseconds, which an
// engine must keep.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)

func (h Harness) open(t testing.TB) store.Store {
	t.Helper()
	s := h.New(t)
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

// reopen skips the rest of the test for an engine that keeps nothing.
func (h Harness) reopen(t testing.TB, s store.Store) store.Store {
	t.Helper()
	if h.Reopen == nil {
		t.Skip("this engine keeps nothing")
	}
	s = h.Reopen(t, s)
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t testing.TB, s store.Store) {
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func key(id int64) store.Key { return store.Key{Kind: 1, ID: id} }

// set is the fact that record id has become value.
func set(id int64, value string) store.Fact {
	return store.Fact{Key: key(id), Value: []byte(value)}
}

// past is a fact about key id that is for history only.
func past(id int64, value string) store.Fact {
	return store.Fact{Key: key(id), Value: []byte(value), Past: true}
}

func gone(id int64) store.Fact { return store.Fact{Key: key(id), Gone: true} }

func commit(revision int64, facts ...store.Fact) store.Commit {
	return store.Commit{
		Revision: revision,
		Nonce:    uint64(revision) * 0x9E3779B97F4A7C15,
		At:       epoch.Add(time.Duration(revision) * time.Second),
		Facts:    facts,
	}
}

// resetting is a commit that resets its log.
func resetting(revision int64, facts ...store.Fact) store.Commit {
	c := commit(revision, facts...)
	c.Reset = true
	return c
}

func batch(log string, commits ...store.Commit) store.Batch {
	b := store.Batch{Log: log, Commits: commits}
	if len(commits) > 0 {
		b.After = commits[0].Revision - 1
	}
	return b
}

func mustAppend(t testing.TB, s store.Store, batches ...store.Batch) {
	t.Helper()
	if err := s.Append(t.Context(), batches); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

// fill appends commits up to revision to, each setting record 1 to its number.
func fill(t testing.TB, s store.Store, log string, to int64) {
	t.Helper()
	for r := mustHead(t, s, log).Revision + 1; r <= to; r++ {
		mustAppend(t, s, batch(log, commit(r, set(1, fmt.Sprint(r)))))
	}
}

func mustHead(t testing.TB, s store.Store, log string) store.Head {
	t.Helper()
	head, err := s.Head(t.Context(), log)
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	return head
}

// load returns all records of log, and fails on one that comes twice.
func load(t testing.TB, s store.Store, log string) (map[store.Key]string, store.State) {
	t.Helper()
	records := make(map[store.Key]string)
	state, err := s.Load(t.Context(), log, func(k store.Key, v []byte) error {
		if _, twice := records[k]; twice {
			t.Errorf("Load yields %v twice", k)
		}
		records[k] = string(v)
		return nil
	})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return records, state
}

func wantRecords(t testing.TB, s store.Store, log string, want map[store.Key]string) store.State {
	t.Helper()
	got, state := load(t, s, log)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("log %s holds %v, want %v", log, got, want)
	}
	return state
}

func collect(t testing.TB, s store.Store, log string, from int64) []store.Commit {
	t.Helper()
	var commits []store.Commit
	for c, err := range s.Commits(t.Context(), log, from) {
		if err != nil {
			t.Fatalf("Commits from %d: %v", from, err)
		}
		commits = append(commits, c)
	}
	return commits
}

// commitsErr is the error that Commits from revision from ends with.
func commitsErr(t testing.TB, s store.Store, log string, from int64) error {
	t.Helper()
	for _, err := range s.Commits(t.Context(), log, from) {
		if err != nil {
			return err
		}
	}
	return nil
}

func wantRevisions(t testing.TB, commits []store.Commit, from, to int64) {
	t.Helper()
	for i, c := range commits {
		if c.Revision != from+int64(i) {
			t.Fatalf("commit %d has revision %d, want %d", i, c.Revision, from+int64(i))
		}
	}
	if got := int64(len(commits)); got != to-from+1 {
		t.Fatalf("%d commits from %d, want up to %d", got, from, to)
	}
}

// sameCommit compares all of a commit; nil and empty are the same.
func sameCommit(a, b store.Commit) bool {
	if a.Revision != b.Revision || a.Nonce != b.Nonce || !a.At.Equal(b.At) || a.Reset != b.Reset || len(a.Facts) != len(b.Facts) {
		return false
	}
	for i, f := range a.Facts {
		g := b.Facts[i]
		if f.Key != g.Key || f.Gone != g.Gone || f.Past != g.Past || !f.Expires.Equal(g.Expires) || !bytes.Equal(f.Value, g.Value) {
			return false
		}
	}
	return true
}
