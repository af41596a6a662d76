package sqlite

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/storetest"
)

// childEnv makes this test program a child: it says what to do, with which
// arguments, between blanks.
const childEnv = "TASKPOOL_STORE_CHILD"

// runChild is set where there are tests with children.
var runChild func(string)

func TestMain(m *testing.M) {
	if child := os.Getenv(childEnv); child != "" {
		runChild(child)
		return
	}
	goleak.VerifyTestMain(m)
}

// eager folds and splits as much as can be, to come through every branch.
func eager(s *Store) {
	s.tune.lagRows, s.tune.idle, s.tune.idleRows = 8, time.Millisecond, 1
	s.tune.roundRows, s.tune.pieceRows, s.tune.sweep = 5, 6, 0
}

// never leaves everything to be folded by the next start.
func never(s *Store) {
	s.tune.idle, s.tune.idleRows, s.tune.closing = time.Hour, 1<<30, -1
	s.tune.lagRows, s.tune.lagBytes = 1<<30, 1<<40
}

func mustOpen(t testing.TB, dir string, opts ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSuite(t *testing.T) {
	for name, opt := range map[string]Option{"default": func(*Store) {}, "eager": eager, "never": never} {
		if name == "never" && sparse > 1 {
			continue // a part of what the other two do
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(testing.TB) storetest.Harness {
				return storetest.Harness{
					New: func(t testing.TB) store.Store { return mustOpen(t, t.TempDir(), opt) },
					Reopen: func(t testing.TB, s store.Store) store.Store {
						if err := s.Close(); err != nil {
							t.Fatal(err)
						}
						return mustOpen(t, s.(*Store).dir, opt)
					},
				}
			})
		})
	}
}
