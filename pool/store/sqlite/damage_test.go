package sqlite

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// data makes a closed data directory with n commits to log a, each setting the
// record of its number, and as many to log b; folded or not.
func data(t testing.TB, n int64, folded bool) string {
	t.Helper()
	dir := t.TempDir()
	opt := never
	if folded {
		opt = func(s *Store) { s.tune.closing = 1 << 40 }
	}
	s := mustOpen(t, dir, opt)
	for rev := int64(1); rev <= n; rev++ {
		for _, log := range []string{"a", "b"} {
			if err := s.Append(t.Context(), []store.Batch{{Log: log, After: rev - 1, Commits: []store.Commit{
				{Revision: rev, Nonce: uint64(rev), Facts: []store.Fact{fact(rev, fmt.Sprintf("%s %d", log, rev))}},
			}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// without is what log holds after n commits, but those given.
func without(log string, n int64, lost ...int64) map[int64]string {
	all := make(map[int64]string)
	for rev := int64(1); rev <= n; rev++ {
		all[rev] = fmt.Sprintf("%s %d", log, rev)
	}
	for _, rev := range lost {
		delete(all, rev)
	}
	return all
}

// A flipped byte, or a row that is gone: Load names it, sets it aside, goes on
// with the rest, and tells it until the first append after Load; and the other
// log is as before.
func TestDamage(t *testing.T) {
	t.Parallel()
	const flip = "CAST(substr(payload, 1, 40) || x'ff' || substr(payload, 42) AS BLOB)"
	for _, tt := range []struct {
		name   string
		folded bool
		damage string
		lost   []int64 // of log a
		oldest int64
		head   int64
		want   string
	}{
		// In the journal, row 2n-1 is revision n of log a.
		{"a commit", false, "UPDATE journal SET payload = " + flip + " WHERE seq = 9", []int64{5}, 6, 10, "revisions 5-5 of log a"},
		{"the first commit", false, "UPDATE journal SET payload = " + flip + " WHERE seq = 1", []int64{1}, 2, 10, "revisions 1-1 of log a"},
		{"the head commit", false, "UPDATE journal SET payload = " + flip + " WHERE seq = 19", []int64{10}, 11, 10, "revisions 10-10 of log a"},
		{"a header", false, "UPDATE journal SET payload = CAST(x'01ff' || substr(payload, 3) AS BLOB) WHERE seq = 9", []int64{5}, 6, 10, "revisions 5-5 of log a"},
		{"a payload cut off", false, "UPDATE journal SET payload = x'' WHERE seq = 9", []int64{5}, 6, 10, "revisions 5-5 of log a"},
		{"another row's payload", false, "UPDATE journal SET payload = (SELECT payload FROM journal WHERE seq = 10) WHERE seq = 9", []int64{5}, 6, 10, "revisions 5-5 of log a"},
		{"a column, which is repaired", false, "UPDATE journal SET first_rev = 99 WHERE seq = 9", nil, 1, 10, ""},
		{"the log, which is repaired", false, "UPDATE journal SET log = 77 WHERE seq = 19", nil, 1, 10, ""},
		{"a row gone", false, "DELETE FROM journal WHERE seq = 9", []int64{5}, 6, 10, "revisions 5-5 are missing"},
		{"the first row gone", false, "DELETE FROM journal WHERE seq = 1", []int64{1}, 2, 10, "revisions 1-1 are missing"},
		{"the head row gone", false, "DELETE FROM journal WHERE seq = 19", []int64{10}, 1, 9, "rows of the journal are missing"},
		{"a record", true, "UPDATE state SET payload = CAST(substr(payload, 1, 4) || x'ff' || substr(payload, 6) AS BLOB) WHERE log = 1 AND id = 5", []int64{5}, 1, 10, "record 1/5/0 of log a"},
		{"a record's key", true, "UPDATE state SET id = 555 WHERE log = 1 AND id = 5", []int64{5}, 1, 10, "record 1/555/0 of log a"},
		{"a record's kind", true, "UPDATE state SET kind = 999 WHERE log = 1 AND id = 5", []int64{5}, 1, 10, "record 999/5/0 of log a"},
		{"a record's expiry", true, "UPDATE state SET expires = 1 WHERE log = 1 AND id = 5", []int64{5}, 1, 10, "record 1/5/0 of log a"},
		{"a record's log", true, "UPDATE state SET log = 4711 WHERE log = 1 AND id = 5", []int64{5}, 1, 10, "record 1/5/0 of log a"},
		{"a record gone", true, "DELETE FROM state WHERE log = 1 AND id = 5", []int64{5}, 1, 10, "1 are missing"},
		{"the folded head", true, "UPDATE journal SET payload = " + flip + " WHERE seq = 19", nil, 11, 10, "revisions 10-10 of log a"},
		{"the folded head gone", true, "DELETE FROM journal WHERE seq = 19", nil, 11, 10, "revisions 10-10 of log a"},
		{"a span, which is not needed", true, "UPDATE spans SET entries = x'00000000' WHERE log = 1", nil, 1, 10, ""},
		{"a span gone", true, "DELETE FROM spans WHERE log = 1", nil, 1, 10, ""},
		{"the whole journal", true, "DELETE FROM journal", nil, 11, 10, "of log a"},
		{"the whole journal and its spans", true, "DELETE FROM journal; DELETE FROM spans", nil, 11, 10, "ends at revision 0, before 10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := data(t, 10, tt.folded)
			alter(t, dir, tt.damage)
			var head store.Head
			for round := range 3 {
				s := mustOpen(t, dir, never)
				got, state := records(t, s, "a")
				if want := without("a", 10, tt.lost...); !reflect.DeepEqual(got, want) {
					t.Fatalf("round %d: log a holds %v, want %v", round, got, want)
				}
				if state.Head.Revision != tt.head || state.Oldest != tt.oldest {
					t.Errorf("round %d: the state is %+v, want head %d, oldest %d", round, state, tt.head, tt.oldest)
				}
				if tt.want == "" && len(state.Damaged) > 0 || tt.want != "" && (len(state.Damaged) == 0 || !strings.Contains(fmt.Sprint(state.Damaged), tt.want)) {
					t.Errorf("round %d: told is %q, want %q", round, state.Damaged, tt.want)
				}
				if n := countCommits(t, s, "a", state.Oldest); int64(n) != tt.head-tt.oldest+1 {
					t.Errorf("round %d: %d commits", round, n)
				}
				if h, err := s.Head(t.Context(), "a"); err != nil || h != state.Head {
					t.Errorf("round %d: Head is %+v (%v), Load says %+v", round, h, err, state.Head)
				}
				if round > 0 && state.Head != head {
					t.Errorf("round %d: the head is %+v, was %+v", round, state.Head, head)
				}
				head = state.Head
				if b, _ := records(t, s, "b"); !reflect.DeepEqual(b, without("b", 10)) {
					t.Errorf("round %d: log b holds %v", round, b)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			// The first append after Load ends it, also for the next start.
			s := mustOpen(t, dir, never)
			records(t, s, "a")
			appendTo(t, s, "a", head.Revision+1)
			for range 2 {
				got, state := records(t, s, "a")
				if len(state.Damaged) > 0 || state.Head.Revision != head.Revision+1 {
					t.Errorf("after the append the state is %+v", state)
				}
				if want := without("a", 10, tt.lost...); len(got) != len(want)+1 {
					t.Errorf("after the append log a holds %v", got)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = mustOpen(t, dir, func(s *Store) { s.tune.closing = 1 << 40 })
			}
		})
	}
}

func appendTo(t testing.TB, s *Store, log string, rev int64) {
	t.Helper()
	if err := s.Append(t.Context(), []store.Batch{{Log: log, After: rev - 1, Commits: []store.Commit{
		{Revision: rev, Nonce: uint64(rev), Facts: []store.Fact{fact(-rev, "new")}},
	}}}); err != nil {
		t.Fatal(err)
	}
}

// Damage that the folder meets is told at the next start, not passed over.
func TestDamage_metByFolding(t *testing.T) {
	t.Parallel()
	dir := data(t, 10, false)
	alter(t, dir, "UPDATE journal SET payload = x'00' WHERE seq = 9")
	s := mustOpen(t, dir, eager)
	if err := s.askFold(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	// Nobody was told yet, so an append does not end it.
	appendTo(t, s, "a", 11)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, never)
	got, state := records(t, s, "a")
	want := without("a", 10, 5)
	want[-11] = "new"
	if !reflect.DeepEqual(got, want) || len(state.Damaged) != 1 || state.Oldest != 6 {
		t.Errorf("%v, %+v", got, state)
	}
}

// Damage that is met while the disk is full is told all the same, and set aside
// when it can be.
func TestDamage_whileFull(t *testing.T) {
	t.Parallel()
	dir := data(t, 10, false)
	alter(t, dir, "UPDATE journal SET payload = x'00' WHERE seq = 9")
	s := mustOpen(t, dir, never)
	pragma(t, s, "query_only = 1")
	for range 2 {
		if got, state := records(t, s, "a"); len(got) != 9 || len(state.Damaged) != 1 {
			t.Errorf("%v, %+v", got, state)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, never)
	if got, state := records(t, s, "a"); len(got) != 9 || len(state.Damaged) != 1 {
		t.Errorf("%v, %+v", got, state)
	}
}

// The row of meta, or of a log, can't be set aside: opening says so.
func TestDamage_ofWhatIsNeeded(t *testing.T) {
	t.Parallel()
	for _, damage := range []string{
		"UPDATE meta SET folded = folded + 64",
		"UPDATE meta SET id = 3",
		"UPDATE logs SET name = 'c' WHERE id = 1",
		"UPDATE logs SET records = 4 WHERE id = 1",
		"UPDATE logs SET id = 3 WHERE id = 1",
	} {
		dir := data(t, 3, true)
		alter(t, dir, damage)
		_, err := Open(t.Context(), dir)
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "restore a backup") {
			t.Errorf("%s: %v", damage, err)
		}
	}
}
