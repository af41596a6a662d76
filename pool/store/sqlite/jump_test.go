package sqlite

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// jumped makes a closed data directory with revisions 1 to 3 of log a, a jump to
// 10, and 11 and 12, each setting the record of its number, in rows 1 to 6; and
// one of log b in row 7.
func jumped(t testing.TB, folded bool) string {
	t.Helper()
	dir := t.TempDir()
	s := mustOpen(t, dir, never)
	after := int64(0)
	for _, rev := range []int64{1, 2, 3, 10, 11, 12} {
		c := store.Commit{Revision: rev, Nonce: uint64(rev), Reset: rev == 10, Facts: []store.Fact{fact(rev, fmt.Sprint(rev))}}
		if err := s.Append(t.Context(), []store.Batch{{Log: "a", After: after, Commits: []store.Commit{c}}}); err != nil {
			t.Fatal(err)
		}
		after = rev
	}
	appendTo(t, s, "b", 1)
	if folded {
		if err := askAll(t, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A jump is no loss, and hides none: not that of its own row, nor of one around
// it.
func TestDamage_aroundJump(t *testing.T) {
	t.Parallel()
	const spoil = "UPDATE journal SET payload = x'00' WHERE seq = "
	for _, tt := range []struct {
		name         string
		folded       bool
		damage       string
		oldest, head int64
		want         string
		records      []int64
	}{
		{"none", false, "SELECT 1", 10, 12, "", []int64{10, 11, 12}},
		{"none, folded", true, "SELECT 1", 10, 12, "", []int64{10, 11, 12}},
		{"the spans", true, "DELETE FROM spans", 10, 12, "", []int64{10, 11, 12}},
		{"its columns, which are repaired", false, "UPDATE journal SET first_rev = 4 WHERE seq = 4", 10, 12, "", []int64{10, 11, 12}},
		{"its columns, and the spans", true, "UPDATE journal SET first_rev = 4 WHERE seq = 4; DELETE FROM spans", 10, 12, "", []int64{10, 11, 12}},
		{"its payload", false, spoil + "4", 11, 12, "revisions 10-10", []int64{1, 2, 3, 11, 12}},
		{"its columns and payload", false, "UPDATE journal SET first_rev = 4, payload = x'00' WHERE seq = 4", 11, 12, "revisions 4-10 of log a", []int64{1, 2, 3, 11, 12}},
		{"its row gone", false, "DELETE FROM journal WHERE seq = 4", 11, 12, "revisions 4-10 are missing", []int64{1, 2, 3, 11, 12}},
		{"its row and all behind", false, "DELETE FROM journal WHERE seq IN (4, 5, 6)", 11, 10, "ends at revision 3, before 10", []int64{1, 2, 3}},
		{"its row and all that there are", false, "DELETE FROM journal WHERE seq >= 4", 11, 10, "ends at revision 3, before 10", []int64{1, 2, 3}},
		{"the whole journal", false, "DELETE FROM journal", 11, 10, "ends at revision 0, before 10", nil},
		{"the whole journal, folded", true, "DELETE FROM journal; DELETE FROM spans", 13, 12, "ends at revision 0, before 12", []int64{10, 11, 12}},
		{"the row before gone", false, "DELETE FROM journal WHERE seq = 3", 10, 12, "rows of the journal are missing", []int64{10, 11, 12}},
		{"the row behind gone", false, "DELETE FROM journal WHERE seq = 5", 12, 12, "revisions 11-11 are missing", []int64{10, 12}},
		{"the row behind", false, spoil + "5", 12, 12, "revisions 11-11", []int64{10, 12}},
		{"the head", true, spoil + "6", 13, 12, "revisions 12-12", []int64{10, 11, 12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := jumped(t, tt.folded)
			alter(t, dir, tt.damage)
			want := make(map[int64]string)
			for _, rev := range tt.records {
				want[rev] = fmt.Sprint(rev)
			}
			check := func(s *Store, head int64, damage string) {
				t.Helper()
				got, state := records(t, s, "a")
				if !reflect.DeepEqual(got, want) || state.Head.Revision != head || state.Oldest != tt.oldest {
					t.Fatalf("log a holds %v at %+v, want %v, revisions %d to %d", got, state, want, tt.oldest, head)
				}
				if told := fmt.Sprint(state.Damaged); !strings.Contains(told, damage) || damage == "" && len(state.Damaged) > 0 {
					t.Errorf("told is %s, want %q", told, damage)
				}
				if got := readAll(t, s, false, 1, head); !reflect.DeepEqual(got, []int64{tt.oldest}) {
					t.Errorf("history goes on at %v, want %d", got, tt.oldest)
				}
			}
			for range 3 {
				s := mustOpen(t, dir, never)
				check(s, tt.head, tt.want)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			// It goes on from there, folded or not.
			s := mustOpen(t, dir, never)
			records(t, s, "a")
			appendTo(t, s, "a", tt.head+1)
			want[-tt.head-1] = "new"
			for range 2 {
				check(s, tt.head+1, "")
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = mustOpen(t, dir, func(s *Store) { s.tune.closing = 1 << 40 })
			}
		})
	}
}

// Damage of a jump, and of what is before it, that a reader is the first to meet.
func TestDamage_jumpMetByReaders(t *testing.T) {
	t.Parallel()
	for seq, want := range map[int64][]int64{3: {10}, 4: {10, 11}, 5: {10, 12}, 6: {10, 13}} {
		for _, folded := range []bool{false, true} {
			dir := jumped(t, folded)
			s := mustOpen(t, dir, never)
			alter(t, dir, fmt.Sprint("DELETE FROM journal WHERE seq = ", seq))
			if got := readAll(t, s, true, 3, 12); !reflect.DeepEqual(got, want) {
				t.Errorf("row %d, folded %t: history goes on at %v, want %v", seq, folded, got, want)
			}
		}
	}
}

// The rows before a jump go with the next Trim that reaches it.
func TestTrim_beforeJump(t *testing.T) {
	t.Parallel()
	dir := jumped(t, false)
	s := mustOpen(t, dir, small)
	if err := s.Trim(t.Context(), "a", 10); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, "journal"); n != 4 {
		t.Errorf("the journal has %d rows, want 4", n)
	}
	for range 2 {
		if got := readAll(t, s, false, 1, 12); !reflect.DeepEqual(got, []int64{10}) {
			t.Errorf("history goes on at %v", got)
		}
		if got, state := records(t, s, "a"); len(got) != 3 || len(state.Damaged) > 0 {
			t.Errorf("%v, %+v", got, state)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = mustOpen(t, dir, small)
	}
}
