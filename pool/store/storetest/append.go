package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// EmptyLog: a log needs no creation; one never appended to is empty.
func EmptyLog(t *testing.T, h Harness) {
	s := h.open(t)
	if head := mustHead(t, s, "a"); head != (store.Head{}) {
		t.Errorf("the head is %+v", head)
	}
	state := wantRecords(t, s, "a", map[store.Key]string{})
	if state.Head != (store.Head{}) || state.Oldest != 1 || len(state.Damaged) > 0 {
		t.Errorf("the state is %+v", state)
	}
	if got := collect(t, s, "a", 1); len(got) > 0 {
		t.Errorf("it has commits: %v", got)
	}
	if err := s.Trim(t.Context(), "a", 10); err != nil {
		t.Errorf("Trim: %v", err)
	}
}

// AppendLoad: the last fact of a key wins, and one that is gone is gone.
func AppendLoad(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two"), set(3, "three"))))
	mustAppend(t, s,
		batch("a", commit(2, set(1, "uno"), gone(2)), commit(3), commit(4, gone(3), set(3, "tres"), gone(99))))
	state := wantRecords(t, s, "a", map[store.Key]string{key(1): "uno", key(3): "tres"})
	want := commit(4).Head()
	if !sameHead(state.Head, want) || state.Oldest != 1 {
		t.Errorf("the state is %+v, want head %+v", state, want)
	}
	if head := mustHead(t, s, "a"); !sameHead(head, want) {
		t.Errorf("the head is %+v, want %+v", head, want)
	}
	wantRecords(t, s, "b", map[store.Key]string{})
}

func sameHead(a, b store.Head) bool {
	return a.Revision == b.Revision && a.Nonce == b.Nonce && a.At.Equal(b.At)
}

// AppendConflict: an append after another head than the log's changes nothing.
func AppendConflict(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 3)
	for _, after := range []int64{0, 2, 4} {
		err := s.Append(t.Context(), []store.Batch{batch("a", commit(after+1, set(1, "wrong")))})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("after %d: %v, want ErrConflict", after, err)
		}
	}
	if head := mustHead(t, s, "a").Revision; head != 3 {
		t.Errorf("the head is %d", head)
	}
	wantRecords(t, s, "a", map[store.Key]string{key(1): "3"})
	fill(t, s, "a", 4)
}

// AppendMalformed: batches that can't be are refused as not applied.
func AppendMalformed(t *testing.T, h Harness) {
	s := h.open(t)
	pastGone, pastExpires := past(1, ""), past(1, "past")
	pastGone.Gone, pastExpires.Expires = true, epoch
	for name, batches := range map[string][]store.Batch{
		"past and gone":            {batch("a", commit(1, set(1, "one"), pastGone))},
		"past and expires":         {batch("a", commit(1), commit(2, pastExpires))},
		"a jump, but no reset":     {{Log: "a", After: 0, Commits: []store.Commit{commit(5)}}},
		"a jump within":            {batch("a", commit(1), resetting(5))},
		"a gap after a jump":       {{Log: "a", After: 0, Commits: []store.Commit{resetting(5), resetting(7)}}},
		"a jump that goes nowhere": {{Log: "a", After: 0, Commits: []store.Commit{resetting(0)}}},
		"a jump too far":           {{Log: "a", After: 0, Commits: []store.Commit{resetting(store.MaxRevision + 1)}}},
		"on after the last":        {{Log: "a", After: 0, Commits: []store.Commit{resetting(store.MaxRevision), commit(store.MaxRevision + 1)}}},
		"after what can't be":      {{Log: "a", After: math.MaxInt64, Commits: []store.Commit{resetting(math.MinInt64)}}},
		"a gap":                    {batch("a", commit(1), commit(3))},
		"not after":                {{Log: "a", After: 0, Commits: []store.Commit{commit(2)}}},
		"the log twice":            {batch("a", commit(1)), batch("a", commit(2))},
		"no log":                   {batch("", commit(1))},
		"before nothing":           {{Log: "a", After: -1, Commits: []store.Commit{commit(0)}}},
	} {
		if err := s.Append(t.Context(), batches); !errors.Is(err, store.ErrNotApplied) {
			t.Errorf("%s: %v, want ErrNotApplied", name, err)
		}
	}
	if head := mustHead(t, s, "a"); head != (store.Head{}) {
		t.Errorf("the head is %+v", head)
	}
}

// AppendNothing: no batches, and a batch without commits, add nothing; After is
// compared all the same.
func AppendNothing(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s)
	mustAppend(t, s, store.Batch{Log: "a"})
	fill(t, s, "a", 2)
	mustAppend(t, s, store.Batch{Log: "a", After: 2}, batch("b", commit(1)))
	if err := s.Append(t.Context(), []store.Batch{{Log: "a", After: 1}}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("after 1: %v, want ErrConflict", err)
	}
	if head := mustHead(t, s, "a").Revision; head != 2 {
		t.Errorf("the head is %d", head)
	}
}

// AppendSeveralLogs: an append to several logs is all or nothing.
func AppendSeveralLogs(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "a"))), batch("b", commit(1, set(1, "b")), commit(2)))
	for _, batches := range [][]store.Batch{
		{batch("a", commit(2, set(1, "wrong"))), batch("b", commit(2))},
		{batch("b", commit(2)), batch("a", commit(2, set(1, "wrong")))},
		{batch("new", commit(1)), batch("a", commit(1))},
		{batch("b", commit(3)), {Log: "a"}},
	} {
		if err := s.Append(t.Context(), batches); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%v, want ErrConflict", err)
		}
	}
	for log, want := range map[string]int64{"a": 1, "b": 2, "new": 0} {
		if head := mustHead(t, s, log).Revision; head != want {
			t.Errorf("log %s is at %d, want %d", log, head, want)
		}
	}
	wantRecords(t, s, "a", map[store.Key]string{key(1): "a"})
	wantRecords(t, s, "b", map[store.Key]string{key(1): "b"})
}

// AppendCopies: the bytes of caller and engine are apart, both ways.
func AppendCopies(t *testing.T, h Harness) {
	s := h.open(t)
	value, c := []byte("value"), commit(1)
	c.Facts = []store.Fact{{Key: key(1), Value: value}}
	mustAppend(t, s, batch("a", c))
	copy(value, "WRONG")
	c.Facts[0] = gone(1)
	for range 2 {
		_, err := s.Load(t.Context(), "a", func(_ store.Key, v []byte) error {
			if string(v) != "value" {
				t.Errorf("Load yields %q", v)
			}
			copy(v, "WRONG")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range collect(t, s, "a", 1) {
			if got := c.Facts[0]; got.Gone || string(got.Value) != "value" {
				t.Errorf("Commits yields %+v", got)
			}
			copy(c.Facts[0].Value, "WRONG")
			c.Facts[0] = gone(1)
		}
	}
}

// Keys: keys are three integers of their full range; all three tell records
// apart. A record may be empty.
func Keys(t *testing.T, h Harness) {
	s := h.open(t)
	want := make(map[store.Key]string)
	c := commit(1)
	numbers := []int64{math.MinInt64, -1, 0, 1, math.MaxInt64}
	for _, kind := range []uint8{0, 1, 255} {
		for _, id := range numbers {
			for _, sub := range numbers {
				k := store.Key{Kind: kind, ID: id, Sub: sub}
				want[k] = fmt.Sprint(k)
				c.Facts = append(c.Facts, store.Fact{Key: k, Value: []byte(want[k])})
			}
		}
	}
	c.Facts = append(c.Facts, store.Fact{Key: store.Key{Kind: 7}})
	want[store.Key{Kind: 7}] = ""
	mustAppend(t, s, batch("a", c))
	wantRecords(t, s, "a", want)
	if h.Reopen != nil {
		wantRecords(t, h.reopen(t, s), "a", want)
	}
}

// Context: a call whose context has ended does nothing and returns its error;
// an append says that it was not applied.
func Context(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Append(ctx, []store.Batch{batch("a", commit(4))})
	if !errors.Is(err, store.ErrNotApplied) || !errors.Is(err, context.Canceled) {
		t.Errorf("Append: %v", err)
	}
	for call, err := range callEach(ctx, s) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if head := mustHead(t, s, "a").Revision; head != 3 {
		t.Errorf("the head is %d", head)
	}
}

// callEach makes every call but Append and Close on log "a".
func callEach(ctx context.Context, s store.Store) map[string]error {
	errs := make(map[string]error)
	_, errs["Load"] = s.Load(ctx, "a", func(store.Key, []byte) error { return nil })
	_, errs["Head"] = s.Head(ctx, "a")
	errs["SetAside"] = s.SetAside(ctx, "a", key(1), "test")
	errs["Trim"] = s.Trim(ctx, "a", 2)
	for _, errs["Commits"] = range s.Commits(ctx, "a", 1) {
	}
	for _, errs["Follow"] = range s.Follow(ctx, "a", 1) {
	}
	return errs
}
