package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a consistent copy of the data directory dir, as it is at one
// moment, to the file dest, which must not exist. It may run while this or
// another process serves dir, and holds up neither reads nor appends. The copy
// is whole and durable when Backup returns nil; otherwise dest is not there. To
// restore it, put it into an empty directory under the name DatabaseName.
func Backup(ctx context.Context, dir, dest string) error {
	if err := backup(ctx, filepath.Join(dir, DatabaseName), dest); err != nil {
		return fmt.Errorf("back up %s to %s: %w", dir, dest, err)
	}
	return nil
}

func backup(ctx context.Context, source, dest string) (err error) {
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("the destination: %w", fs.ErrExist)
		}
		return err
	}
	if _, err := os.Stat(source); err != nil {
		return err
	}
	// An empty file, for this user alone, that SQLite fills.
	temp, err := os.CreateTemp(filepath.Dir(dest), ".taskpool-backup-*")
	if err != nil {
		return err
	}
	name := temp.Name()
	defer func() {
		if err != nil {
			_ = os.Remove(name)
			_ = os.Remove(name + "-journal")
		}
	}()
	if err := temp.Close(); err != nil {
		return err
	}
	if err := copyDatabase(ctx, source, name); err != nil {
		return err
	}
	if err := checkCopy(ctx, name); err != nil {
		return fmt.Errorf("the copy is not sound: %w", err)
	}
	if err := syncFile(name); err != nil {
		return err
	}
	if err := moveNew(name, dest); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dest))
}

// copyDatabase lets SQLite write what one read transaction sees. The copy API
// of SQLite would start again whenever another process writes.
func copyDatabase(ctx context.Context, source, dest string) error {
	name, err := dsn(source, "trusted_schema(0)", "cell_size_check(1)")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var application int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application); err != nil {
		return err
	}
	if application != applicationID {
		return errors.New("the source is no database of taskpool")
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", dest)
	return err
}

func checkCopy(ctx context.Context, path string) error {
	name, err := dsn(path, "query_only(1)")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return errors.New(verdict)
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// moveNew gives a file another name, unless that has come to exist meanwhile.
func moveNew(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("the destination: %w", fs.ErrExist)
	}
	// No hard links here: a rename, which looks before instead of at once.
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the destination: %w", fs.ErrExist)
	}
	return os.Rename(from, to)
}
