package sqlite

import (
	"context"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// Trim implements [store.Store]. It folds what it is going to delete, and
// deletes whole rows, in pieces; a row that also holds a later revision stays,
// and so does the last row.
func (s *Store) Trim(ctx context.Context, log string, before int64) error {
	seq, found, err := s.trimmable(ctx, log, before)
	if err != nil || !found {
		return err
	}
	if err := s.askFold(ctx, seq); err != nil {
		return s.readError(err)
	}
	for {
		more, err := s.trimPiece(ctx, log, before)
		if err != nil || !more {
			return err
		}
	}
}

// trimmable is the last row that Trim may delete.
func (s *Store) trimmable(ctx context.Context, log string, before int64) (seq int64, found bool, err error) {
	if s.isClosed() {
		return 0, false, store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if l := s.index.logs[log]; l != nil {
		if rows := l.trimmable(before, s.index.nextSeq); len(rows) > 0 {
			return rows[len(rows)-1].seq, true, nil
		}
	}
	return 0, false, nil
}

// trimmable lists the rows up to folded that end before a revision, without the
// last row of the log.
func (l *logState) trimmable(before, folded int64) []rowRef {
	n := 0
	for n < len(l.rows)-1 && l.rows[n].last < before && l.rows[n].seq <= folded {
		n++
	}
	return l.rows[:n]
}

func (s *Store) trimPiece(ctx context.Context, log string, before int64) (more bool, err error) {
	release, err := s.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if err := s.settle(); err != nil {
		return false, err
	}
	l := s.index.logs[log]
	rows := l.trimmable(before, s.index.folded)
	if len(rows) == 0 {
		return false, nil
	}
	if limit := s.tune.pieceRows - 2; len(rows) > limit {
		rows, more = rows[:limit], true
	}
	next, kept := l.logRow, l.rows[len(rows)]
	next.trimmed = kept.first
	err = s.w.lazyTx(func() error {
		for _, r := range rows {
			if _, err := s.w.exec(deleteRow, r.seq); err != nil {
				return err
			}
		}
		// A span stays as long as it has a row that stays.
		if _, err := s.w.exec("DELETE FROM spans WHERE log = ? AND seq < ?", l.id, kept.seq); err != nil {
			return err
		}
		return next.write(s.w, updateLog)
	})
	if err != nil {
		return false, s.doubtful(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.trimmed = next.trimmed
	l.rows = append([]rowRef(nil), l.rows[len(rows):]...)
	return more, nil
}
