package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Whatever byte of the file flips: what is loaded is what was there, or damage
// is told, or there is an error. Never is anything silently wrong.
func TestDamage_anyByte(t *testing.T) {
	t.Parallel()
	for _, folded := range []bool{false, true} {
		dir := data(t, 40, folded)
		addJump(t, dir, folded)
		path := filepath.Join(dir, DatabaseName)
		alter(t, dir, "PRAGMA wal_checkpoint(TRUNCATE)")
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		outcomes := make(map[string]int)
		step := len(sound)/250*sparse | 1
		for at := 0; at < len(sound); at += step {
			flipped := append([]byte(nil), sound...)
			flipped[at] ^= 1 << (at % 8)
			for _, side := range []string{"-wal", "-shm"} {
				_ = os.Remove(path + side)
			}
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			outcome := judge(t, dir, 40)
			outcomes[outcome]++
			if strings.HasPrefix(outcome, "wrong") {
				t.Errorf("folded %t, byte %d of %d: %s", folded, at, len(sound), outcome)
			}
		}
		t.Log(outcomes)
	}
}

// addJump appends revisions 1 and 2 to log c, and after a jump 39 and 40.
func addJump(t *testing.T, dir string, folded bool) {
	s := mustOpen(t, dir, never)
	after := int64(0)
	for _, rev := range []int64{1, 2, 39, 40} {
		c := store.Commit{Revision: rev, Nonce: uint64(rev), Reset: rev == 39, Facts: []store.Fact{fact(rev, fmt.Sprint("c ", rev))}}
		if err := s.Append(t.Context(), []store.Batch{{Log: "c", After: after, Commits: []store.Commit{c}}}); err != nil {
			t.Fatal(err)
		}
		after = rev
	}
	if folded {
		if err := askAll(t, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// judge opens and reads everything, and says what came of it.
func judge(t *testing.T, dir string, n int64) string {
	s, err := Open(t.Context(), dir, never)
	if err != nil {
		return "error at Open"
	}
	defer s.Close()
	outcome := "sound"
	for _, log := range []string{"a", "b", "c"} {
		got := make(map[int64]string)
		state, err := s.Load(t.Context(), log, func(k store.Key, v []byte) error {
			got[k.ID] = string(v)
			return nil
		})
		if err != nil {
			return "error at Load"
		}
		if len(state.Damaged) > 0 {
			outcome = "told"
			for id, value := range got {
				if value != fmt.Sprintf("%s %d", log, id) {
					return fmt.Sprintf("wrong: record %d of %s is %q", id, log, value)
				}
			}
			continue
		}
		want := without(log, n)
		if log == "c" {
			want = map[int64]string{n - 1: fmt.Sprint("c ", n-1), n: fmt.Sprint("c ", n)}
		}
		if !maps.Equal(got, want) || state.Head.Revision != n || log == "c" && state.Oldest < n-1 {
			return fmt.Sprintf("wrong: log %s holds %d records at %+v", log, len(got), state)
		}
		rev := state.Oldest
		for c, err := range s.Commits(t.Context(), log, rev) {
			if errors.Is(err, store.ErrCompacted) || err != nil {
				return "error at Commits"
			}
			if c.Revision != rev || c.Nonce != uint64(rev) || string(c.Facts[0].Value) != fmt.Sprintf("%s %d", log, rev) {
				return fmt.Sprintf("wrong: commit %+v of %s", c, log)
			}
			rev++
		}
		if rev != n+1 {
			return fmt.Sprintf("wrong: the commits of %s end before %d", log, rev)
		}
	}
	return outcome
}
