package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// AppendLarge: the largest revision a pool makes, and a large value, fit.
func AppendLarge(t *testing.T, h Harness) {
	s := h.open(t)
	c := commit(1)
	for id := range int64(10_000) {
		c.Facts = append(c.Facts, set(id, fmt.Sprint("record ", id)))
	}
	mustAppend(t, s, batch("a", c))
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	mustAppend(t, s, batch("a", commit(2, set(-1, string(big)))))
	records, _ := load(t, s, "a")
	if len(records) != 10_001 || records[key(9_999)] != "record 9999" || records[key(-1)] != string(big) {
		t.Errorf("%d records", len(records))
	}
	if got := collect(t, s, "a", 1); len(got) != 2 || !sameCommit(got[0], c) {
		t.Errorf("%d commits", len(got))
	}
}

// AppendTooLarge: what is above MaxAppendBytes, in one log or in several, is
// refused as not applied and leaves nothing. It costs no memory here: all facts
// have the same bytes.
func AppendTooLarge(t *testing.T, h Harness) {
	s := h.open(t)
	value := bytes.Repeat([]byte("x"), 1<<20)
	of := func(revision int64, mib int) store.Commit {
		c := commit(revision)
		for id := range int64(mib) {
			c.Facts = append(c.Facts, store.Fact{Key: key(id), Value: value})
		}
		return c
	}
	const most = store.MaxAppendBytes >> 20
	for _, batches := range [][]store.Batch{
		{batch("a", of(1, most))},
		{batch("a", of(1, 1), of(2, most-1))},
		{batch("b", of(1, most/2)), batch("a", of(1, (most+1)/2))},
	} {
		err := s.Append(t.Context(), batches)
		if !errors.Is(err, store.ErrNotApplied) || !strings.Contains(err.Error(), fmt.Sprint(store.MaxAppendBytes)) {
			t.Errorf("%v, want ErrNotApplied and the bound", err)
		}
	}
	for _, log := range []string{"a", "b"} {
		if head := mustHead(t, s, log); head != (store.Head{}) {
			t.Errorf("the head of %s is %+v", log, head)
		}
	}
	fill(t, s, "a", 1)
	wantRecords(t, s, "a", map[store.Key]string{key(1): "1"})
}
