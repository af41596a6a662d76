//go:build linux

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Every commit that was acknowledged is there after kill -9, wherever that
// meets appends, folding and Trim.
func TestKill_acknowledgedIsThere(t *testing.T) {
	t.Parallel()
	dir, acked := t.TempDir(), int64(0)
	for round := range 15 {
		c := startChild(t, "serve", dir)
		for range 7 + 5*round {
			line := c.line()
			rev, err := strconv.ParseInt(line, 10, 64)
			if err != nil {
				t.Fatalf("the child says %q", line)
			}
			acked = rev
		}
		for _, line := range c.kill() {
			// The last may be cut off, but then it is not a longer number.
			if rev, err := strconv.ParseInt(line, 10, 64); err == nil {
				acked = max(acked, rev)
			}
		}
		s := mustOpen(t, dir, never)
		checkStepped(t, s, acked)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The same at each of the first transactions, the making of the schema and
// pieces of folding among them; before and after the commit.
func TestKill_atEveryTransaction(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for n := 1; n <= 14; n += sparse {
			dir := t.TempDir()
			lines, err := startChild(t, "die", dir, strconv.Itoa(n), when).rest()
			if err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%s commit %d: the child ended with %v: %q", when, n, err, lines)
			}
			acked := int64(0)
			if len(lines) > 0 {
				acked, _ = strconv.ParseInt(lines[len(lines)-1], 10, 64)
			}
			s := mustOpen(t, dir, never)
			checkStepped(t, s, acked)
			// And it goes on from there.
			head, err := s.Head(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Append(t.Context(), step(head.Revision+1)); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestLock_secondProcessIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startChild(t, "serve", dir)
	first.line()
	_, err := Open(t.Context(), dir)
	var locked *store.LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("a second process gets %v", err)
	}
	host, _ := os.Hostname()
	for _, want := range []string{dir, fmt.Sprint("process ", first.cmd.Process.Pid), host, "started 20"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
		}
	}
	// The kernel gives the lock back with the process.
	first.kill()
	s := mustOpen(t, dir)
	if _, err := Open(t.Context(), dir); !errors.As(err, &locked) {
		t.Errorf("a second Open in this process gets %v", err)
	}
	if line := startChild(t, "open", dir).line(); !strings.Contains(line, fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("the second process says %q", line)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if line := startChild(t, "open", dir).line(); line != "ok" {
		t.Errorf("after Close it says %q", line)
	}
}
