package sqlite

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// readAll reads log a from revision from to revision to as a watcher would: at
// a CompactedError it goes on from the oldest that this names. It returns those,
// and checks that what is yielded has no gap but these.
func readAll(t *testing.T, s *Store, follow bool, from, to int64) (gaps []int64) {
	t.Helper()
	read := s.Commits
	if follow {
		read = s.Follow
	}
	for next := from; next <= to; {
		for c, err := range read(t.Context(), "a", next) {
			var gone *store.CompactedError
			if errors.As(err, &gone) {
				if gone.Log != "a" || gone.From != next || gone.Oldest <= next {
					t.Fatalf("at %d: %+v", next, gone)
				}
				next = gone.Oldest
				gaps = append(gaps, next)
				break
			}
			if err != nil || c.Revision != next || c.Nonce != uint64(next) {
				t.Fatalf("at %d: %+v, %v", next, c, err)
			}
			if next++; next > to {
				break
			}
		}
	}
	return gaps
}

// Damage that is met while history is read is never passed over: the reader is
// told from where history goes on, there it does, and so says Load.
func TestDamage_metByReaders(t *testing.T) {
	t.Parallel()
	const spoil = "UPDATE journal SET payload = CAST(substr(payload, 1, 40) || x'ff' || substr(payload, 42) AS BLOB) WHERE seq "
	for _, tt := range []struct {
		name   string
		damage string
		from   int64
		gaps   []int64
	}{
		// Row 2n-1 is revision n of log a; row 21 has 11 to 14, row 22 has 15.
		{"a commit", spoil + "= 9", 1, []int64{6}},
		{"the one asked for", spoil + "= 9", 5, []int64{6}},
		{"one before", spoil + "= 9", 6, nil},
		{"the first", spoil + "= 1", 1, []int64{2}},
		{"the head", spoil + "= 22", 1, []int64{16}},
		{"two apart", spoil + "IN (5, 15)", 1, []int64{4, 9}},
		{"two together", spoil + "IN (5, 7)", 1, []int64{4, 5}},
		{"one within the row", spoil + "= 21", 12, []int64{15}},
		{"a row that is gone", "DELETE FROM journal WHERE seq = 9", 1, []int64{6}},
		{"a row with several gone", "DELETE FROM journal WHERE seq = 21", 1, []int64{15}},
		{"another row's payload", "UPDATE journal SET payload = (SELECT payload FROM journal WHERE seq = 10) WHERE seq = 9", 1, []int64{6}},
		{"all", spoil + "> 0", 14, []int64{15, 16}},
	} {
		for _, follow := range []bool{false, true} {
			for _, full := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/follow=%t/full=%t", tt.name, follow, full), func(t *testing.T) {
					t.Parallel()
					dir := data(t, 10, true)
					s := mustOpen(t, dir, small)
					last := store.Batch{Log: "a", After: 10}
					for rev := int64(11); rev <= 14; rev++ {
						last.Commits = append(last.Commits, store.Commit{Revision: rev, Nonce: uint64(rev)})
					}
					if err := s.Append(t.Context(), []store.Batch{last}); err != nil {
						t.Fatal(err)
					}
					appendTo(t, s, "a", 15)
					if err := askAll(t, s); err != nil {
						t.Fatal(err)
					}
					alter(t, dir, tt.damage)
					if full {
						pragma(t, s, "query_only = 1")
					}
					if got := readAll(t, s, follow, tt.from, 15); !reflect.DeepEqual(got, tt.gaps) {
						t.Errorf("history went on at %v, want %v", got, tt.gaps)
					}
					// Whoever comes later meets the same end.
					if tt.gaps == nil {
						return
					}
					oldest := tt.gaps[len(tt.gaps)-1]
					for range 2 {
						if got := readAll(t, s, follow, oldest-1, 15); !reflect.DeepEqual(got, []int64{oldest}) {
							t.Errorf("later it went on at %v, want %d", got, oldest)
						}
						_, state := records(t, s, "a")
						if state.Oldest != oldest || state.Head.Revision != 15 || len(state.Damaged) != len(tt.gaps) {
							t.Errorf("%+v, want oldest %d and %d damages", state, oldest, len(tt.gaps))
						}
						if full {
							break
						}
						if err := s.Close(); err != nil {
							t.Fatal(err)
						}
						s = mustOpen(t, dir, never)
					}
				})
			}
		}
	}
}

// Damage before a revision that was lost, which nobody reads as history any
// more, is not passed over by who reads records.
func TestDamage_beforeALoss(t *testing.T) {
	t.Parallel()
	for _, folding := range []bool{false, true} {
		dir := data(t, 10, false)
		alter(t, dir, "UPDATE journal SET payload = x'00' WHERE seq IN (5, 9)")
		s := mustOpen(t, dir, never)
		if got := readAll(t, s, false, 5, 10); !reflect.DeepEqual(got, []int64{6}) {
			t.Fatalf("history goes on at %v", got)
		}
		if folding {
			if err := askAll(t, s); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			got, state := records(t, s, "a")
			if !reflect.DeepEqual(got, without("a", 10, 3, 5)) || len(state.Damaged) != 2 || state.Oldest != 6 {
				t.Errorf("folding %t: %v, %+v", folding, got, state)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, dir, never)
		}
	}
}

// What is missing because of a write in doubt is no damage.
func TestDamage_orInDoubt(t *testing.T) {
	t.Parallel()
	ioErr := errors.New("disk I/O error")
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, s *Store) error
		gaps []int64
	}{
		{"Trim", func(t *testing.T, s *Store) error { return s.Trim(t.Context(), "a", 6) }, []int64{6}},
		{"a jump", func(t *testing.T, s *Store) error {
			return s.Append(t.Context(), []store.Batch{{Log: "a", After: 10, Commits: []store.Commit{{Revision: 20, Nonce: 20, Reset: true}}}})
		}, []int64{20}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := data(t, 10, true)
			s := mustOpen(t, dir, never)
			s.hook.afterCommit = func() error {
				s.hook = hooks{}
				return ioErr
			}
			if err := tt.do(t, s); !errors.Is(err, store.ErrUnknown) {
				t.Fatal(err)
			}
			if tt.name == "a jump" {
				alter(t, dir, "DELETE FROM journal WHERE seq = 3")
			}
			if got := readAll(t, s, true, 2, tt.gaps[0]); !reflect.DeepEqual(got, tt.gaps) {
				t.Errorf("history goes on at %v, want %v", got, tt.gaps)
			}
			for range 2 {
				_, state := records(t, s, "a")
				for _, d := range state.Damaged {
					if tt.name == "Trim" || !strings.Contains(d.Where, "revisions 2-2") {
						t.Errorf("told is %+v", d)
					}
				}
				if state.Oldest != tt.gaps[0] {
					t.Errorf("the state is %+v", state)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = mustOpen(t, dir, never)
			}
		})
	}
}

// Damage that is met while a write is in doubt and can't be settled ends history
// for readers and is told, once, also after it was settled and met again.
func TestDamage_metInDoubt(t *testing.T) {
	t.Parallel()
	dir := data(t, 10, true)
	s := mustOpen(t, dir, never)
	alter(t, dir, "UPDATE journal SET payload = x'00' WHERE seq = 9")
	ioErr := errors.New("disk I/O error")
	s.hook.beforeCommit = func() error { return ioErr }
	if err := s.Append(t.Context(), step(11)); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if got := readAll(t, s, false, 1, 10); !reflect.DeepEqual(got, []int64{6}) {
			t.Errorf("history goes on at %v", got)
		}
		if got, state := records(t, s, "a"); len(got) != 10 || len(state.Damaged) != 1 || state.Oldest != 6 {
			t.Errorf("%v, %+v", got, state)
		}
	}
	check()
	check()
	s.hook = hooks{}
	if head, err := s.Head(t.Context(), "a"); err != nil || head.Revision != 10 {
		t.Fatalf("the head is %+v, %v", head, err)
	}
	if _, state := records(t, s, "a"); len(state.Damaged) != 1 {
		t.Errorf("once settled: %+v", state)
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dir, never)
	check()
}
