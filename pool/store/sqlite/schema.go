package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	// applicationID marks a database file as ours; it reads "tskp".
	applicationID = 0x74736b70
	// schemaVersion is the one this program writes. A later program may raise
	// it, and must then be able to read all earlier ones.
	schemaVersion = 1
	// leastSQLite has the fix for the reset of a WAL that could lose a commit.
	leastSQLite = "3.51.3"
)

// All keys are integers. state has no rowid: one b-tree instead of two, and the
// records of a log lie together. The index on expires has only those that do.
var schema = []string{
	`CREATE TABLE meta (
		id INTEGER PRIMARY KEY, folded INTEGER NOT NULL, sum INTEGER NOT NULL
	) STRICT`,
	`CREATE TABLE logs (
		id INTEGER PRIMARY KEY, name TEXT NOT NULL, records INTEGER NOT NULL, folded_rev INTEGER NOT NULL,
		trimmed INTEGER NOT NULL, whole INTEGER NOT NULL, base_rev INTEGER NOT NULL, base_nonce INTEGER NOT NULL, base_at INTEGER NOT NULL,
		sum INTEGER NOT NULL
	) STRICT`,
	`CREATE TABLE journal (
		seq INTEGER PRIMARY KEY, log INTEGER NOT NULL, first_rev INTEGER NOT NULL, last_rev INTEGER NOT NULL,
		payload BLOB NOT NULL
	) STRICT`,
	`CREATE TABLE spans (
		log INTEGER NOT NULL, seq INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (log, seq)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE state (
		log INTEGER NOT NULL, kind INTEGER NOT NULL, id INTEGER NOT NULL, sub INTEGER NOT NULL,
		expires INTEGER NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (log, kind, id, sub)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX state_expires ON state (expires) WHERE expires > 0`,
	`CREATE TABLE damaged (
		id INTEGER PRIMARY KEY, log INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
		untold INTEGER NOT NULL, place TEXT NOT NULL, why TEXT NOT NULL, payload BLOB
	) STRICT`,
	fmt.Sprintf("PRAGMA application_id = %d", applicationID),
	fmt.Sprintf("PRAGMA user_version = %d", schemaVersion),
}

// ensureSchema makes the tables, or finds them, and turns the WAL on. All of
// the schema is one transaction: a file in which it was not completed is empty.
func ensureSchema(w *writer) error {
	if err := checkSQLite(w); err != nil {
		return err
	}
	version, err := checkOwner(w)
	if err != nil {
		return err
	}
	if err := setPragma(w, "journal_mode", "wal"); err != nil {
		return err
	}
	if err := setPragma(w, "synchronous", "2"); err != nil {
		return err
	}
	if version == schemaVersion {
		return nil
	}
	return w.tx(func() error {
		for _, statement := range schema {
			if err := w.once(statement); err != nil {
				return err
			}
		}
		return writeMeta(w, 0)
	})
}

// checkOwner refuses a file that is not ours, or a later program's, before
// anything in it is changed. It returns 0 for a file without a schema.
func checkOwner(w *writer) (version int64, err error) {
	var application, tables int64
	for query, value := range map[string]*int64{
		"PRAGMA application_id":              &application,
		"PRAGMA user_version":                &version,
		"SELECT count(*) FROM sqlite_schema": &tables,
	} {
		if err := w.conn.QueryRowContext(uninterrupted, query).Scan(value); err != nil {
			return 0, err
		}
	}
	switch {
	case application == 0 && version == 0 && tables == 0:
		return 0, nil
	case application != applicationID:
		return 0, errors.New("it is an SQLite database, but not one of taskpool")
	case version > schemaVersion:
		return 0, fmt.Errorf("it was written by a newer taskpool (schema %d, this program knows up to %d); run that one, or restore a backup made before the upgrade", version, schemaVersion)
	case version != schemaVersion:
		return 0, fmt.Errorf("its schema %d is none this program knows", version)
	}
	return version, nil
}

func readInt(w *writer, query string, args ...any) (n int64, err error) {
	err = w.query(func(rows *sql.Rows) error { return rows.Scan(&n) }, query, args...)
	return n, err
}

// setPragma sets a pragma and makes sure: SQLite does not say when it can't.
func setPragma(w *writer, name, want string) error {
	if err := w.once("PRAGMA " + name + " = " + want); err != nil {
		return err
	}
	var got string
	if err := w.conn.QueryRowContext(uninterrupted, "PRAGMA "+name).Scan(&got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s is %q and can't be made %q on this file system", name, got, want)
	}
	return nil
}

func checkSQLite(w *writer) error {
	var version string
	err := w.query(func(rows *sql.Rows) error { return rows.Scan(&version) }, "SELECT sqlite_version()")
	if err != nil {
		return err
	}
	if versionLess(version, leastSQLite) {
		return fmt.Errorf("this program was built with SQLite %s, at least %s is needed", version, leastSQLite)
	}
	return nil
}

func versionLess(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x < y
		}
	}
	return len(as) < len(bs)
}
