//go:build linux

package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// restore makes a data directory of a backup.
func restore(t *testing.T, backup string) string {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, DatabaseName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Copies made while another process serves, appends, folds and trims are each
// as the data was at one moment, not before the copy was asked for.
func TestBackup_whileServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startChild(t, "serve", dir)
	for round := range 5 {
		var acked int64
		for range 10 {
			acked, _ = strconv.ParseInt(c.line(), 10, 64)
		}
		dest := filepath.Join(t.TempDir(), "copy.db")
		if err := Backup(t.Context(), dir, dest); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dest); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the copy: %v, %v", info.Mode(), err)
		}
		s := mustOpen(t, restore(t, dest), never)
		_, state := records(t, s, "a")
		if state.Head.Revision < acked {
			t.Errorf("round %d: the copy is at %d, %d was acknowledged before", round, state.Head.Revision, acked)
		}
		checkStepped(t, s, state.Head.Revision)
		if err := s.Append(t.Context(), step(state.Head.Revision+1)); err != nil {
			t.Fatal(err)
		}
	}
	if line := c.line(); line == "" || line[0] == 'e' {
		t.Errorf("the child says %q", line)
	}
}

// A killed process leaves a WAL; the copy has what is in it.
func TestBackup_afterKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := startChild(t, "serve", dir)
	for range 20 {
		c.line()
	}
	c.kill()
	dest := filepath.Join(t.TempDir(), "copy.db")
	if err := Backup(t.Context(), dir, dest); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, restore(t, dest), never)
	_, state := records(t, s, "a")
	if state.Head.Revision < 20 {
		t.Errorf("the copy is at %d", state.Head.Revision)
	}
	checkStepped(t, s, state.Head.Revision)
}

func TestBackup_failingLeavesNothing(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), t.TempDir()
	s := mustOpen(t, dir)
	if err := s.Append(t.Context(), step(1)); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, DatabaseName), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		ctx  context.Context
		from string
	}{
		"cancelled":   {gone, dir},
		"no data":     {t.Context(), t.TempDir()},
		"no taskpool": {t.Context(), foreign},
	} {
		if err := Backup(tt.ctx, tt.from, filepath.Join(to, "copy.db")); err == nil {
			t.Errorf("%s: no error", name)
		}
		if left, _ := os.ReadDir(to); len(left) > 0 {
			t.Errorf("%s: it leaves %v", name, left)
		}
	}
	taken := filepath.Join(to, "taken")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), dir, taken); !errors.Is(err, fs.ErrExist) {
		t.Errorf("to a file that is there: %v", err)
	}
	if b, _ := os.ReadFile(taken); string(b) != "mine" {
		t.Errorf("the file that was there is %q", b)
	}
	if err := Backup(t.Context(), dir, filepath.Join(to, "copy.db")); err != nil {
		t.Error(err)
	}
}
