package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// view is one log at one moment: a read transaction, and what the index said
// when it began.
type view struct {
	s    *Store
	conn *sql.Conn
	log  logState
	// pending are the rows of the log that state does not have yet.
	pending []rowRef
	now     int64

	// What load found.
	head       store.Head
	badRows    []badRow
	badRecords []badRecord
	missing    int64
}

// view begins a read; it returns nil for a log that is not there. It has the
// turn while it begins, so that no append or piece comes between file and
// index.
func (s *Store) view(ctx context.Context, log string) (*view, error) {
	if s.isClosed() {
		return nil, store.ErrClosed
	}
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return nil, err
	}
	v := &view{s: s, conn: conn, now: time.Now().UnixMilli()}
	found, err := v.begin(ctx, log)
	if err != nil || !found {
		v.close()
		return nil, err
	}
	return v, nil
}

func (v *view) begin(ctx context.Context, log string) (found bool, err error) {
	release, err := v.s.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	v.s.mu.RLock()
	l := v.s.index.logs[log]
	if l != nil {
		v.log = *l
		for _, p := range v.s.index.pending {
			if p.log == l.id {
				v.pending = append(v.pending, p.rowRef)
			}
		}
	}
	v.s.mu.RUnlock()
	if l == nil {
		return false, nil
	}
	if _, err := v.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return false, err
	}
	// The transaction sees what is there at its first read.
	var folded int64
	return true, v.conn.QueryRowContext(ctx, "SELECT folded FROM meta").Scan(&folded)
}

func (v *view) close() {
	if v.conn == nil {
		return
	}
	// Without effect if the transaction never began. A connection that can't
	// end it must not be used again.
	_, _ = v.conn.ExecContext(uninterrupted, "ROLLBACK")
	v.conn.Close()
	v.conn = nil
}

// alive is the error of a call that ctx or Close has ended.
func (v *view) alive(ctx context.Context) error {
	if v.s.isClosed() {
		return store.ErrClosed
	}
	return ctx.Err()
}
