package storetest

import (
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Past: a fact that is past comes back in history and nowhere else: whether its
// key has a record or not, before it and after it, it changes nothing, also
// beside a reset.
func Past(t *testing.T, h Harness) {
	s := h.open(t)
	reset := commit(4, past(1, "d"), set(2, "zwei"), past(2, "e"), past(4, "f"))
	reset.Reset = true
	commits := []store.Commit{
		commit(1, past(1, "a"), set(1, "one"), set(2, "two"), past(2, ""), set(3, "three")),
		commit(2, past(1, "b"), gone(2), past(2, "c")),
		commit(3, past(1, "b"), past(1, "b"), past(9, "never a record")),
		reset,
		commit(5, past(2, "g"), past(4, "g")),
	}
	records := []map[store.Key]string{
		{key(1): "one", key(2): "two", key(3): "three"},
		{key(1): "one", key(3): "three"},
		{key(1): "one", key(3): "three"},
		{key(2): "zwei"},
		{key(2): "zwei"},
	}
	f := follow(t, s, "a", 1)
	check := func(upTo int) {
		t.Helper()
		wantRecords(t, s, "a", records[upTo-1])
		got := collect(t, s, "a", 1)
		wantRevisions(t, got, 1, int64(upTo))
		for i := range got {
			if !sameCommit(got[i], commits[i]) {
				t.Errorf("got %+v, want %+v", got[i], commits[i])
			}
		}
	}
	for i, c := range commits {
		mustAppend(t, s, batch("a", c))
		check(i + 1)
		if got := <-f.seen; !sameCommit(got, c) {
			t.Errorf("Follow yields %+v, want %+v", got, c)
		}
		if h.Reopen != nil && i%2 == 1 { // so that some are folded and some are not
			f.cancel()
			s = h.reopen(t, s)
			check(i + 1)
			f = follow(t, s, "a", int64(i)+2)
		}
	}
	// What is no record can't be set aside either.
	if err := s.SetAside(t.Context(), "a", key(4), "test"); err != nil {
		t.Fatal(err)
	}
	wantDamage(t, wantRecords(t, s, "a", records[4]))
	if err := s.Trim(t.Context(), "a", 5); err != nil {
		t.Fatal(err)
	}
	wantRecords(t, s, "a", records[4])
}
