package sqlite

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// step is what is appended as revision rev of log a: at every third, also to
// log b; at every fourth, with a jump of log c, and to that at the next; at every
// 17th, with a reset.
func step(rev int64) []store.Batch {
	c := store.Commit{Revision: rev, Nonce: uint64(rev), Reset: rev%17 == 0}
	for i := range int64(9) {
		c.Facts = append(c.Facts, fact((rev*i)%23, fmt.Sprint(rev)))
	}
	c.Facts = append(c.Facts, store.Fact{Key: store.Key{Kind: 1, ID: rev % 23}, Gone: true})
	batches := []store.Batch{{Log: "a", After: rev - 1, Commits: []store.Commit{c}}}
	if rev%3 == 0 {
		b := store.Commit{Revision: rev / 3, Nonce: uint64(rev), Facts: []store.Fact{fact(1, fmt.Sprint(rev))}}
		batches = append(batches, store.Batch{Log: "b", After: rev/3 - 1, Commits: []store.Commit{b}})
	}
	if head, oldest := steppedC(rev); rev >= 4 && rev%4 <= 1 {
		before, _ := steppedC(rev - 1)
		past := fact(3, "past")
		past.Past = true
		c := store.Commit{Revision: head, Nonce: uint64(head), Reset: head == oldest, Facts: []store.Fact{fact(rev%4, fmt.Sprint(rev)), past}}
		batches = append(batches, store.Batch{Log: "c", After: before, Commits: []store.Commit{c}})
	}
	return batches
}

// steppedC is the head and the oldest revision of log c when log a is at rev.
func steppedC(rev int64) (head, oldest int64) {
	if rev < 4 {
		return 0, 1
	}
	oldest = rev / 4 * 10
	return oldest + min(rev%4, 1), oldest
}

func fact(id int64, value string) store.Fact {
	return store.Fact{Key: store.Key{Kind: 1, ID: id}, Value: []byte(value)}
}

// stepped is what log a holds at revision rev.
func stepped(rev int64) map[int64]string {
	records := make(map[int64]string)
	for r := int64(1); r <= rev; r++ {
		c := step(r)[0].Commits[0]
		if c.Reset {
			clear(records)
		}
		for _, f := range c.Facts {
			if records[f.Key.ID] = string(f.Value); f.Gone {
				delete(records, f.Key.ID)
			}
		}
	}
	return records
}

// records loads a log of one kind.
func records(t testing.TB, s *Store, log string) (map[int64]string, store.State) {
	t.Helper()
	all := make(map[int64]string)
	state, err := s.Load(t.Context(), log, func(k store.Key, v []byte) error {
		all[k.ID] = string(v)
		return nil
	})
	if err != nil {
		t.Fatalf("Load %s: %v", log, err)
	}
	return all, state
}

// checkStepped: log a is at acked or one further, and a, b, c and the history
// are as they should be there.
func checkStepped(t *testing.T, s *Store, acked int64) {
	t.Helper()
	got, state := records(t, s, "a")
	rev := state.Head.Revision
	if rev < acked || rev > acked+1 {
		t.Fatalf("the head is %d, acknowledged was %d", rev, acked)
	}
	if want := stepped(rev); !reflect.DeepEqual(got, want) {
		t.Fatalf("at %d: %v, want %v", rev, got, want)
	}
	if len(state.Damaged) > 0 {
		t.Fatalf("damaged: %+v", state.Damaged)
	}
	b, stateB := records(t, s, "b")
	if stateB.Head.Revision != rev/3 || rev >= 3 && b[1] != fmt.Sprint(rev-rev%3) {
		t.Fatalf("log b is at %d with %v, log a at %d", stateB.Head.Revision, b, rev)
	}
	c, stateC := records(t, s, "c")
	headC, oldestC := steppedC(rev)
	want := make(map[int64]string)
	for r := headC; r >= oldestC; r-- {
		want[r-oldestC] = fmt.Sprint(rev/4*4 + r - oldestC)
	}
	if stateC.Head.Revision != headC || stateC.Oldest != oldestC || len(stateC.Damaged) > 0 || !reflect.DeepEqual(c, want) {
		t.Fatalf("log c is %+v with %v, log a at %d", stateC, c, rev)
	}
	for log, state := range map[string]store.State{"a": state, "c": stateC} {
		next := state.Oldest
		for c, err := range s.Commits(t.Context(), log, next) {
			if err != nil || c.Revision != next || c.Nonce != uint64(next) {
				t.Fatalf("commit %d of log %s: %+v, %v", next, log, c, err)
			}
			next++
		}
		if next != state.Head.Revision+1 {
			t.Fatalf("the history of log %s ends at %d, the head is %d", log, next-1, state.Head.Revision)
		}
	}
}

func countCommits(t testing.TB, s *Store, log string, from int64) (n int) {
	t.Helper()
	for _, err := range s.Commits(t.Context(), log, from) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// pragma runs a pragma on the connection that writes.
func pragma(t testing.TB, s *Store, text string) {
	t.Helper()
	release, err := s.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := s.w.once("PRAGMA " + text); err != nil {
		t.Fatal(err)
	}
}

// fillLogs appends a commit to each of n logs.
func fillLogs(t testing.TB, s *Store, n int) {
	t.Helper()
	for done := 0; done < n; done += 500 {
		var batches []store.Batch
		for i := done; i < min(done+500, n); i++ {
			batches = append(batches, store.Batch{Log: fmt.Sprint("log ", i), Commits: []store.Commit{{Revision: 1, Facts: []store.Fact{
				{Key: store.Key{Kind: 1, ID: 1}, Value: []byte("value")},
			}}}})
		}
		if err := s.Append(t.Context(), batches); err != nil {
			t.Fatal(err)
		}
	}
}
