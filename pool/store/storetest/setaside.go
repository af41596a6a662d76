package storetest

import (
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// SetAside: the record is out of the state; Load tells it until the first
// append after; history and other records are as before; the key can be used
// again.
func SetAside(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two"))), batch("b", commit(1, set(1, "b"))))
	load(t, s, "a")
	if err := s.SetAside(t.Context(), "a", key(1), "it does not parse"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		state := wantRecords(t, s, "a", map[store.Key]string{key(2): "two"})
		wantDamage(t, state, "it does not parse")
	}
	wantDamage(t, wantRecords(t, s, "b", map[store.Key]string{key(1): "b"}))
	wantRevisions(t, collect(t, s, "a", 1), 1, 1)
	// The other log's appends leave it told.
	fill(t, s, "b", 2)
	wantDamage(t, wantRecords(t, s, "a", map[store.Key]string{key(2): "two"}), "it does not parse")
	mustAppend(t, s, batch("a", commit(2, set(3, "three"))))
	wantDamage(t, wantRecords(t, s, "a", map[store.Key]string{key(2): "two", key(3): "three"}))
	mustAppend(t, s, batch("a", commit(3, set(1, "again"))))
	wantRecords(t, s, "a", map[store.Key]string{key(1): "again", key(2): "two", key(3): "three"})
}

// SetAsideAbsent: a record that is not there is no damage.
func SetAsideAbsent(t *testing.T, h Harness) {
	s := h.open(t)
	fill(t, s, "a", 1)
	for _, log := range []string{"a", "none"} {
		if err := s.SetAside(t.Context(), log, key(9), "test"); err != nil {
			t.Fatal(err)
		}
		_, state := load(t, s, log)
		wantDamage(t, state)
	}
}

// ReopenSetAside: what was set aside stays so; a crash before the next append
// does not hide it, and the next append ends it.
func ReopenSetAside(t *testing.T, h Harness) {
	s := h.open(t)
	mustAppend(t, s, batch("a", commit(1, set(1, "one"), set(2, "two"))))
	load(t, s, "a")
	if err := s.SetAside(t.Context(), "a", key(1), "it does not parse"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s = h.reopen(t, s)
		wantDamage(t, wantRecords(t, s, "a", map[store.Key]string{key(2): "two"}), "it does not parse")
	}
	mustAppend(t, s, batch("a", commit(2)))
	s = h.reopen(t, s)
	wantDamage(t, wantRecords(t, s, "a", map[store.Key]string{key(2): "two"}))
}

// wantDamage: the state tells one damage for each reason, and names the place.
func wantDamage(t testing.TB, state store.State, why ...string) {
	t.Helper()
	if len(state.Damaged) != len(why) {
		t.Fatalf("Load tells %+v, want %v", state.Damaged, why)
	}
	for i, d := range state.Damaged {
		if d.Where == "" || !strings.Contains(d.Why, why[i]) {
			t.Errorf("Load tells %+v, want %q", d, why[i])
		}
	}
}
