package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Reopen: everything is there again, and the log goes on where it was.
func Reopen(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two")), commit(2, gone(2))), batch("b", commit(1, set(1, "b"))))
	for round := int64(0); round < 3; round++ {
		head := mustHead(t, s, "a")
		s = h.reopen(t, s)
		if got := mustHead(t, s, "a"); !sameHead(got, head) {
			t.Errorf("the head is %+v, was %+v", got, head)
		}
		if err := s.Append(t.Context(), []store.Batch{batch("a", commit(head.Revision))}); err == nil {
			t.Errorf("revision %d was appended twice", head.Revision)
		}
		wantRevisions(t, collect(t, s, "a", 1), 1, head.Revision)
		wantRevisions(t, collect(t, s, "b", 1), 1, 1)
		mustAppend(t, s, batch("a", commit(head.Revision+1, set(1, fmt.Sprint(round)))))
		wantRecords(t, s, "a", map[store.Key]string{key(1): fmt.Sprint(round)})
		wantRecords(t, s, "b", map[store.Key]string{key(1): "b"})
	}
}

// RandomHistory: a random run of all calls ends as a naive model says, with
// the store opened again now and then where it can be.
func RandomHistory(t *testing.T, h Harness) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomHistory(t, h, rand.New(rand.NewPCG(seed, 0))) })
	}
}

type model struct {
	records map[store.Key]string
	// commits are those since the last jump.
	commits []store.Commit
	head    int64
	trimmed int64
}

func randomHistory(t *testing.T, h Harness, rnd *rand.Rand) {
	s := h.open(t)
	logs := map[string]*model{}
	for _, name := range []string{"a", "b", "c"} {
		logs[name] = &model{records: make(map[store.Key]string)}
	}
	for range 150 {
		switch n := rnd.IntN(100); {
		case n < 80:
			var batches []store.Batch
			for name, m := range logs {
				if rnd.IntN(2) == 0 {
					batches = append(batches, m.next(name, rnd))
				}
			}
			mustAppend(t, s, batches...)
		case n < 90:
			for name, m := range logs {
				before := rnd.Int64N(m.head + 2)
				m.trimmed = max(m.trimmed, before)
				if err := s.Trim(t.Context(), name, before); err != nil {
					t.Fatal(err)
				}
			}
		case n < 94 && h.Reopen != nil:
			s = h.reopen(t, s)
		default:
			for name, m := range logs {
				m.check(t, s, name)
			}
		}
	}
	for name, m := range logs {
		m.check(t, s, name)
	}
}

// next makes a batch of one to three commits and applies it to the model.
func (m *model) next(log string, rnd *rand.Rand) store.Batch {
	b := store.Batch{Log: log, After: m.head}
	for n := range 1 + rnd.IntN(3) {
		c := commit(m.head + 1)
		c.Nonce = rnd.Uint64()
		if rnd.IntN(25) == 0 {
			c.Reset = true
			clear(m.records)
			if n == 0 && rnd.IntN(2) == 0 {
				c.Revision += 1 + rnd.Int64N(5)
				m.commits, m.trimmed = nil, c.Revision
			}
		}
		m.head = c.Revision
		for range rnd.IntN(8) {
			f := set(rnd.Int64N(40), fmt.Sprint(c.Revision, " ", rnd.IntN(1000)))
			switch rnd.IntN(8) {
			case 0, 1:
				f = gone(f.Key.ID)
				delete(m.records, f.Key)
			case 2:
				f.Past = true
			default:
				m.records[f.Key] = string(f.Value)
			}
			c.Facts = append(c.Facts, f)
		}
		m.commits = append(m.commits, c)
		b.Commits = append(b.Commits, c)
	}
	return b
}

func (m *model) check(t *testing.T, s store.Store, log string) {
	t.Helper()
	state := wantRecords(t, s, log, maps.Clone(m.records))
	if len(m.commits) == 0 {
		return
	}
	first := m.commits[0].Revision
	if !sameHead(state.Head, m.commits[m.head-first].Head()) {
		t.Fatalf("log %s: the head is %+v", log, state.Head)
	}
	if state.Oldest < first || state.Oldest > max(1, min(m.trimmed, m.head)) {
		t.Fatalf("log %s: the oldest is %d, trimmed before %d, at %d first", log, state.Oldest, m.trimmed, first)
	}
	got := collect(t, s, log, state.Oldest)
	wantRevisions(t, got, state.Oldest, m.head)
	for i, c := range got {
		if want := m.commits[state.Oldest-first+int64(i)]; !sameCommit(c, want) {
			t.Fatalf("log %s: got %+v, want %+v", log, c, want)
		}
	}
}
