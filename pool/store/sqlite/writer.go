package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	lib "modernc.org/sqlite/lib"
)

// dsn names the database file for a connection. The file must exist.
func dsn(path string, pragmas ...string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs)}
	u.RawQuery = url.Values{"mode": {"rw"}, "_pragma": append([]string{"busy_timeout(5000)"}, pragmas...)}.Encode()
	return u.String(), nil
}

// writer is the one connection that writes. Whoever uses it has the turn, or is
// Open or Close.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	hooks *hooks
	// stmts are the prepared statements, by text.
	stmts map[string]*sql.Stmt
	// queries counts what query was called.
	queries int
	// loose: the connection may be within a transaction that can't be ended.
	loose bool
}

// The connection is never interrupted: an interrupted write would be one more
// outcome nobody knows.
var uninterrupted = context.Background()

func openWriter(path string, h *hooks) (*writer, error) {
	// A page is 4 KiB, the WAL is checkpointed by the writer every 1000 pages:
	// larger ones, or a checkpoint in the background, were no faster.
	name, err := dsn(path, "page_size(4096)", "synchronous(FULL)", "wal_autocheckpoint(1000)",
		"cache_size(-8000)", "cell_size_check(1)", "trusted_schema(0)")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(uninterrupted)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return &writer{db: db, conn: conn, hooks: h, stmts: make(map[string]*sql.Stmt)}, nil
}

func (w *writer) close() error {
	for _, stmt := range w.stmts {
		stmt.Close()
	}
	w.conn.Close()
	return w.db.Close()
}

func (w *writer) prepare(query string) (*sql.Stmt, error) {
	stmt := w.stmts[query]
	if stmt == nil {
		var err error
		if stmt, err = w.conn.PrepareContext(uninterrupted, query); err != nil {
			return nil, err
		}
		w.stmts[query] = stmt
	}
	return stmt, nil
}

// exec runs a statement and returns how many rows it changed. The statement is
// kept prepared: it must be one of a few constant texts.
func (w *writer) exec(query string, args ...any) (int64, error) {
	stmt, err := w.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(uninterrupted, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// once runs a statement that is not kept. Pragmas need it: most do what they do
// while they are prepared.
func (w *writer) once(statement string) error {
	_, err := w.conn.ExecContext(uninterrupted, statement)
	return err
}

// query calls each for every row of the result.
func (w *writer) query(each func(*sql.Rows) error, query string, args ...any) error {
	w.queries++
	stmt, err := w.prepare(query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(uninterrupted, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// autocommit runs do, which makes one statement that is its own transaction.
func (w *writer) autocommit(do func() error) error {
	if err := call(w.hooks.beforeCommit); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return call(w.hooks.afterCommit)
}

// tx runs do within a transaction, which is durable when tx returns nil. When
// it returns an error that writeError does not call unknown, nothing of it is
// left.
func (w *writer) tx(do func() error) error {
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = call(w.hooks.beforeCommit)
	}
	if err == nil {
		if _, err = w.exec("COMMIT"); err == nil {
			return call(w.hooks.afterCommit)
		}
	}
	// SQLite may have rolled back by itself, then this is an SQLITE_ERROR.
	if _, rollback := w.exec("ROLLBACK"); rollback != nil && code(rollback) != lib.SQLITE_ERROR {
		w.loose = true
	}
	return err
}

// lazyTx is tx that need not be durable at once, for what can be done again:
// its frames in the WAL are synced with the next ones that are. What survives a
// loss of power is always a beginning of what was written.
func (w *writer) lazyTx(do func() error) error {
	if err := w.once("PRAGMA synchronous = NORMAL"); err != nil {
		return err
	}
	err := w.tx(do)
	if full := w.once("PRAGMA synchronous = FULL"); full != nil {
		w.loose = true
		return full
	}
	return err
}

func call(hook func() error) error {
	if hook == nil {
		return nil
	}
	return hook()
}
