package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// alter runs statements on the closed database of a data directory.
func alter(t testing.TB, dir string, statements ...string) {
	t.Helper()
	name, err := dsn(filepath.Join(dir, DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestOpen_makesPrivateFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "data ?#%41")
	s := mustOpen(t, dir)
	if err := s.Append(t.Context(), step(1)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{
		dir: 0o700, s.path(): 0o600, s.path() + "-wal": 0o600, filepath.Join(dir, lockName): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %o", path, info.Mode(), want)
		}
	}
}

func TestOpen_refusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"a newer schema": {func(t *testing.T, dir string) {
			mustOpen(t, dir).Close()
			alter(t, dir, "PRAGMA user_version = 2")
		}, "written by a newer taskpool (schema 2, this program knows up to 1)"},
		"another program's": {func(t *testing.T, dir string) {
			if err := createFile(filepath.Join(dir, DatabaseName)); err != nil {
				t.Fatal(err)
			}
			alter(t, dir, "CREATE TABLE x (y)")
		}, "not one of taskpool"},
		"no database": {func(t *testing.T, dir string) {
			text := strings.Repeat("no database\n", 1000)
			if err := os.WriteFile(filepath.Join(dir, DatabaseName), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a database"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(t, dir)
			before, _ := os.ReadFile(filepath.Join(dir, DatabaseName))
			_, err := Open(t.Context(), dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if after, _ := os.ReadFile(filepath.Join(dir, DatabaseName)); string(after) != string(before) {
				t.Error("the file was changed")
			}
			// The lock is free again.
			if lock, err := lockDir(dir); err != nil {
				t.Error(err)
			} else {
				_ = lock.unlock()
			}
		})
	}
}

func TestOpen_setUp(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir())
	for name, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "page_size": "4096", "journal_size_limit": "-1",
		"wal_autocheckpoint": "1000", "mmap_size": "0", "locking_mode": "normal",
	} {
		var got string
		if err := s.w.conn.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	var got string
	if err := s.readers.QueryRow("PRAGMA query_only").Scan(&got); err != nil || got != "1" {
		t.Errorf("readers: query_only is %q (%v)", got, err)
	}
}

// After folding, which turns the sync off for a while, it is on again.
func TestFold_leavesSyncOn(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), never)
	for rev := int64(1); rev <= 3; rev++ {
		if err := s.Append(t.Context(), step(rev)); err != nil {
			t.Fatal(err)
		}
		if err := s.askFold(t.Context(), 1<<40); err != nil {
			t.Fatal(err)
		}
		var got int
		if err := s.w.conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&got); err != nil || got != 2 {
			t.Errorf("synchronous is %d (%v)", got, err)
		}
	}
	if rows, _ := s.lag(); rows != 0 {
		t.Errorf("%d rows are not folded", rows)
	}
}

func TestVersionLess(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"3.51.3", "3.51.3", false}, {"3.51.2", "3.51.3", true}, {"3.9.9", "3.51.3", true}, {"3.54.1", "3.51.3", false}, {"4.0", "3.51.3", false}} {
		if got := versionLess(tt.a, tt.b); got != tt.want {
			t.Errorf("%s < %s is %t", tt.a, tt.b, got)
		}
	}
}

// 10,000 logs cost nothing at open: no query per log, and the journal is not
// read.
func TestOpen_manyLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir)
	s.tune.closing = 1 << 40
	const logs = 10_000 / sparse
	fillLogs(t, s, logs)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// Were the journal read, this would be found out.
	alter(t, dir, "UPDATE journal SET first_rev = 99 WHERE seq > 100")
	s = mustOpen(t, dir, never)
	if len(s.index.logs) != logs || len(s.index.pending) != 0 {
		t.Errorf("%d logs, %d rows to fold", len(s.index.logs), len(s.index.pending))
	}
	if s.w.queries > 10 {
		t.Errorf("%d queries", s.w.queries)
	}
	if got, _ := records(t, s, "log 7"); got[1] != "value" {
		t.Errorf("a log holds %v", got)
	}
}
