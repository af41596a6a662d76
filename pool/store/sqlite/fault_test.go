//go:build linux

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// fullUntil checks what every engine does while writes fail with want: nothing
// is applied, reads go on; and when it is lifted, so do appends.
func fullUntil(t *testing.T, s *Store, want error, lift func()) {
	t.Helper()
	big := strings.Repeat("x", 2000)
	append1 := func(rev int64) error {
		return s.Append(t.Context(), []store.Batch{{Log: "a", After: rev - 1, Commits: []store.Commit{
			{Revision: rev, Facts: []store.Fact{fact(rev, big)}},
		}}})
	}
	rev := int64(1)
	var err error
	for ; rev < 10_000; rev++ {
		if err = append1(rev); err != nil {
			break
		}
	}
	head := rev - 1
	for range 3 {
		if !errors.Is(err, want) || !errors.Is(err, store.ErrNotApplied) {
			t.Fatalf("append %d: %v, want %v", rev, err, want)
		}
		all, state := records(t, s, "a")
		if state.Head.Revision != head || int64(len(all)) != head {
			t.Fatalf("%d records at %+v, want %d", len(all), state, head)
		}
		if h, err := s.Head(t.Context(), "a"); err != nil || h.Revision != head {
			t.Fatalf("the head is %+v (%v), want %d", h, err, head)
		}
		if n := countCommits(t, s, "a", 1); int64(n) != head {
			t.Fatalf("%d commits, want %d", n, head)
		}
		// To several logs, and to a new one.
		err = s.Append(t.Context(), []store.Batch{
			{Log: "a", After: head, Commits: []store.Commit{{Revision: head + 1, Facts: []store.Fact{fact(1, big)}}}},
			{Log: "b", Commits: []store.Commit{{Revision: 1, Facts: []store.Fact{fact(1, big)}}}},
		})
	}
	if h, _ := s.Head(t.Context(), "b"); h.Revision != 0 {
		t.Fatalf("half of an append: %+v", h)
	}
	lift()
	for ; rev < head+10; rev++ {
		if err := append1(rev); err != nil {
			t.Fatalf("after it was lifted: %v", err)
		}
	}
	if all, _ := records(t, s, "a"); int64(len(all)) != rev-1 {
		t.Fatalf("%d records, want %d", len(all), rev-1)
	}
}

func TestFault_full(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), never)
	pragma(t, s, "max_page_count = 60")
	fullUntil(t, s, store.ErrNotApplied, func() { pragma(t, s, "max_page_count = 1000000") })
}

// Folding can't go on while the disk is full, and goes on after.
func TestFault_fullWhileFolding(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), eager)
	pragma(t, s, "max_page_count = 60")
	fullUntil(t, s, store.ErrNotApplied, func() { pragma(t, s, "max_page_count = 1000000") })
}

func TestFault_readOnly(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), never)
	if err := s.Append(t.Context(), step(1)); err != nil {
		t.Fatal(err)
	}
	pragma(t, s, "query_only = 1")
	if err := s.Append(t.Context(), step(2)); !errors.Is(err, store.ErrNotApplied) {
		t.Fatalf("a single row: %v", err)
	}
	if err := s.Append(t.Context(), step(3)[1:]); !errors.Is(err, store.ErrNotApplied) {
		t.Fatalf("a new log: %v", err)
	}
	records(t, s, "a")
	pragma(t, s, "query_only = 0")
	if err := s.Append(t.Context(), step(2)); err != nil {
		t.Fatal(err)
	}
	checkStepped(t, s, 2)
}

// A disk that is really full, if this user may mount one.
func TestFault_diskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=700k"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must try a full disk, and can't mount one:", err)
		}
		t.Skip("can't mount a small disk:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	s := mustOpen(t, dir, never)
	fullUntil(t, s, store.ErrNotApplied, func() {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
			t.Fatal(err)
		}
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Writes that really fail in the middle: see limitFileSize.
func TestFault_writeError(t *testing.T) {
	t.Parallel()
	lines, err := startChild(t, "limit", t.TempDir()).rest()
	if err != nil || len(lines) != 2 || !strings.HasPrefix(lines[0], "failed: ") || !strings.HasPrefix(lines[1], "end at ") {
		t.Fatalf("the child says %q and ends with %v", lines, err)
	}
	t.Log(lines)
}

// An outcome that is unknown becomes known by Head, whether it happened or not;
// until then, and then too, all goes on from what the file says.
func TestFault_unknown(t *testing.T) {
	t.Parallel()
	// To one log alone; to several; with a jump, also as a log's first.
	for _, at := range []int64{7, 6, 8, 4} {
		for _, how := range []string{"lost/head", "lost/append", "lost/reopen", "applied/head", "applied/append", "applied/reopen"} {
			applied, settle := strings.HasPrefix(how, "applied"), how[strings.Index(how, "/")+1:]
			t.Run(fmt.Sprint(at, "/", how), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				s := mustOpen(t, dir, never)
				for rev := int64(1); rev < at; rev++ {
					if err := s.Append(t.Context(), step(rev)); err != nil {
						t.Fatal(err)
					}
				}
				ioErr := errors.New("disk I/O error")
				fail := func() error {
					s.hook = hooks{}
					return ioErr
				}
				head := at - 1
				if applied {
					s.hook.afterCommit = fail
					head = at
				} else {
					s.hook.beforeCommit = fail
				}
				err := s.Append(t.Context(), step(at))
				if !errors.Is(err, store.ErrUnknown) || !errors.Is(err, ioErr) {
					t.Fatalf("the append: %v", err)
				}
				switch settle {
				case "head":
					if h, err := s.Head(t.Context(), "a"); err != nil || h.Revision != head {
						t.Fatalf("the head is %+v (%v), want %d", h, err, head)
					}
				case "append":
					if err := s.Append(t.Context(), step(2*at-head)); !errors.Is(err, store.ErrConflict) {
						t.Fatalf("after what did not become the head: %v", err)
					}
				case "reopen":
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = mustOpen(t, dir, never)
				}
				for rev := head + 1; rev < 12; rev++ {
					if err := s.Append(t.Context(), step(rev)); err != nil {
						t.Fatal(err)
					}
				}
				checkStepped(t, s, 11)
			})
		}
	}
}

// A follower learns of a commit whose outcome was unknown.
func TestFault_unknownIsFollowed(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), never)
	if err := s.Append(t.Context(), step(1)); err != nil {
		t.Fatal(err)
	}
	s.hook.afterCommit = func() error {
		s.hook = hooks{}
		return os.ErrDeadlineExceeded
	}
	if err := s.Append(t.Context(), step(2)); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	for c, err := range s.Follow(t.Context(), "a", 1) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Revision == 1 {
			if _, err := s.Head(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		if c.Revision == 2 {
			return
		}
	}
}
