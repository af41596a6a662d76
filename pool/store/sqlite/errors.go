package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// code is SQLite's primary result code within err, or 0.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// writeError wraps the error of a write that was begun. Only with these codes
// has SQLite certainly rolled back: it says them before the commit frame, or
// instead of it. With an I/O error the commit may be in the file and come to
// life at the next start.
func writeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotApplied), errors.Is(err, store.ErrUnknown):
		return err
	}
	switch code(err) {
	case lib.SQLITE_FULL, lib.SQLITE_READONLY, lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %w", store.ErrNotApplied, err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, err)
}

// readError is err as a reader should see it.
func (s *Store) readError(err error) error {
	if err != nil && s.isClosed() {
		return store.ErrClosed
	}
	return corrupt(err)
}

// corrupt says what to do about a file in which more is wrong than rows.
func corrupt(err error) error {
	switch code(err) {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w; restore a backup", store.ErrCorrupt, err)
	}
	return err
}

func (s *Store) isClosed() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}
