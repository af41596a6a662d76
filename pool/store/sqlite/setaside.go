package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// SetAside implements [store.Store]. It folds the log first, so that the record
// is in state and nowhere else.
func (s *Store) SetAside(ctx context.Context, log string, key store.Key, why string) error {
	for {
		if err := s.foldLog(ctx, log); err != nil {
			return s.readError(err)
		}
		again, err := s.trySetAside(ctx, log, key, why)
		if err != nil || !again {
			return err
		}
	}
}

func (s *Store) foldLog(ctx context.Context, log string) error {
	if s.isClosed() {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	seq, found := s.index.lastPending(log)
	s.mu.RUnlock()
	if !found {
		return nil
	}
	return s.askFold(ctx, seq)
}

// lastPending is the last row of a log that is not folded.
func (x *index) lastPending(log string) (seq int64, found bool) {
	l := x.logs[log]
	if l == nil {
		return 0, false
	}
	for _, p := range x.pending {
		if p.log == l.id {
			seq, found = p.seq, true
		}
	}
	return seq, found
}

// trySetAside returns true if the log was appended to since it was folded.
func (s *Store) trySetAside(ctx context.Context, log string, key store.Key, why string) (again bool, err error) {
	release, err := s.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if err := s.settle(); err != nil {
		return false, err
	}
	if _, pending := s.index.lastPending(log); pending {
		return true, nil
	}
	l := s.index.logs[log]
	if l == nil {
		return false, nil
	}
	var payload []byte
	err = s.w.query(func(rows *sql.Rows) error { return rows.Scan(&payload) },
		"SELECT payload FROM state WHERE log = ? AND kind = ? AND id = ? AND sub = ?", l.id, int64(key.Kind), key.ID, key.Sub)
	if err != nil || payload == nil {
		return false, err
	}
	lost := plainLoss(l, fmt.Sprintf("record %d/%d/%d of log %s", key.Kind, key.ID, key.Sub, log), why)
	lost.caller = true
	lost.next.records--
	lost.insert = func(w *writer) error {
		_, err := w.exec(insertDamage, l.id, 0, time.Now().UnixNano(), 1, lost.Where, why, payload)
		return err
	}
	lost.remove = func(w *writer) error {
		_, err := w.exec(deleteRecord, l.id, int64(key.Kind), key.ID, key.Sub)
		return err
	}
	return false, s.setAside(s.index, l, lost)
}
