package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// LoadStops: the first error of yield ends Load and comes back.
func LoadStops(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two"), set(3, "three"))))
	enough, calls := errors.New("enough"), 0
	_, err := s.Load(t.Context(), "a", func(store.Key, []byte) error {
		calls++
		if calls == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if records, _ := load(t, s, "a"); len(records) != 3 {
		t.Errorf("then %d records", len(records))
	}
}

// LoadOneHead: what Load yields is of exactly one head, the one it returns,
// whatever is appended meanwhile.
func LoadOneHead(t *testing.T, h Harness) {
	s := h.open(t)
	const records, revisions = 100, 150
	var appending sync.WaitGroup
	appending.Go(func() {
		for r := int64(1); r <= revisions; r++ {
			c := commit(r)
			// Record -r lives in revision r alone.
			c.Facts = append(c.Facts, gone(-r+1), set(-r, fmt.Sprint(r)))
			for id := range int64(records) {
				c.Facts = append(c.Facts, set(id, fmt.Sprint(r)))
			}
			if err := s.Append(t.Context(), []store.Batch{batch("a", c)}); err != nil {
				t.Errorf("Append %d: %v", r, err)
				return
			}
		}
	})
	defer appending.Wait()
	for head := int64(0); head < revisions && !t.Failed(); {
		got, state := load(t, s, "a")
		if state.Head.Revision < head {
			t.Fatalf("the head went back from %d to %d", head, state.Head.Revision)
		}
		head = state.Head.Revision
		if head > 0 && len(got) != records+1 {
			t.Fatalf("%d records at %d", len(got), head)
		}
		for k, v := range got {
			if v != fmt.Sprint(head) {
				t.Fatalf("record %v is of revision %s, the head is %d", k, v, head)
			}
		}
	}
}

// Reset: every record is gone before the facts of a commit that resets; other
// logs keep theirs, and the history stays.
func Reset(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two"))), batch("b", commit(1, set(1, "b"))))
	reset := commit(3, set(2, "zwei"))
	reset.Reset = true
	mustAppend(t, s, batch("a", commit(2, set(3, "three")), reset, commit(4, set(4, "vier"))))
	want := map[store.Key]string{key(2): "zwei", key(4): "vier"}
	wantRecords(t, s, "a", want)
	wantRecords(t, s, "b", map[store.Key]string{key(1): "b"})
	got := collect(t, s, "a", 1)
	wantRevisions(t, got, 1, 4)
	if !sameCommit(got[2], reset) {
		t.Errorf("the commit reads %+v", got[2])
	}
	if h.Reopen == nil {
		return
	}
	s = h.reopen(t, s)
	wantRecords(t, s, "a", want)
	reset = commit(5)
	reset.Reset = true
	mustAppend(t, s, batch("a", reset))
	wantRecords(t, s, "a", map[store.Key]string{})
	s = h.reopen(t, s)
	wantRecords(t, s, "a", map[store.Key]string{})
	wantRecords(t, s, "b", map[store.Key]string{key(1): "b"})
}

// Expires: a record is kept until it expires; written again without an expiry
// it stays for good.
func Expires(t *testing.T, h Harness) {
	s := h.open(t)
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	expiring := func(id int64, at time.Time) store.Fact {
		f := set(id, "expires")
		f.Expires = at
		return f
	}
	mustAppend(t, s, batch("a",
		commit(1, expiring(1, past), expiring(2, future), expiring(3, past), expiring(4, past)),
		commit(2, set(3, "stays"), expiring(4, future), set(5, "first")),
		commit(3, expiring(5, past))))
	check := func(s store.Store) {
		t.Helper()
		got, _ := load(t, s, "a")
		for id, want := range map[int64]string{2: "expires", 3: "stays", 4: "expires"} {
			if got[key(id)] != want {
				t.Errorf("record %d is %q, want %q", id, got[key(id)], want)
			}
		}
		// It may be yielded for longer, but never as what it was before.
		if v, ok := got[key(5)]; ok && v != "expires" {
			t.Errorf("record 5 is %q again", v)
		}
		for _, c := range collect(t, s, "a", 1) {
			if c.Revision == 3 && !c.Facts[0].Expires.Equal(past) {
				t.Errorf("the commit tells expiry %v, want %v", c.Facts[0].Expires, past)
			}
		}
	}
	check(s)
	if h.Reopen != nil {
		check(h.reopen(t, s))
	}
}
