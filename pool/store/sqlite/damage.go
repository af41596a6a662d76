package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

const (
	insertDamage = `INSERT INTO damaged (log, seq, at, untold, place, why, payload) VALUES (?, ?, ?, ?, ?, ?, ?)`
	// moveRow takes the payload along if there is one.
	moveRow = `INSERT INTO damaged (log, seq, at, untold, place, why, payload)
		VALUES (?, ?, ?, ?, ?, ?, (SELECT payload FROM journal WHERE seq = ?))`
	deleteRow = `DELETE FROM journal WHERE seq = ?`
)

// loss is something of a log that is to be set aside.
type loss struct {
	damage
	// seq is the journal row, or 0.
	seq int64
	// next is the log as it is without.
	next logRow
	// remove deletes it from where it was; the first statement inserts it into
	// damaged.
	insert, remove func(w *writer) error
	// caller: whoever asks knows of it.
	caller bool
	// unsettled is why it can't be written: an earlier write is in doubt.
	unsettled error
}

// setAside writes the loss and remembers it. When it can't be written (the disk
// may be full, which should not stop anyone from reading) it is only
// remembered, and will be met again after the next start; unless the caller
// asked for it, who can ask again. The turn is held.
func (s *Store) setAside(x *index, l *logState, lost loss) error {
	err := s.moveAside(&lost)
	if err != nil {
		lost.id = 0
		err = s.doubtful(err)
		if lost.caller {
			return err
		}
	}
	s.log.Warn("damaged data was set aside", "where", lost.Where, "why", lost.Why, "error", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	l.whole, l.base = lost.next.whole, lost.next.base
	if err == nil {
		l.records = lost.next.records
	}
	if lost.seq != 0 {
		x.forget(l, lost.seq)
		x.lost[lost.seq] = true
		x.nextSeq = max(x.nextSeq, lost.seq+1)
	}
	l.addDamage(lost.damage, lost.caller)
	return err
}

// moveAside writes the loss, and sets its id.
func (s *Store) moveAside(lost *loss) error {
	if lost.unsettled != nil {
		return lost.unsettled
	}
	return s.w.tx(func() error {
		if err := lost.insert(s.w); err != nil {
			return err
		}
		id, err := readInt(s.w, "SELECT last_insert_rowid()")
		if err != nil {
			return err
		}
		lost.id = id
		if lost.remove != nil {
			if err := lost.remove(s.w); err != nil {
				return err
			}
		}
		return lost.next.write(s.w, updateLog)
	})
}

// newHead stands for a head whose commit is lost. Its nonce is a new one, so
// that whoever saw the lost commit does not take it for that.
func newHead(revision int64) store.Head {
	return store.Head{Revision: revision, Nonce: rand.Uint64(), At: time.Now().UTC()}
}

// rowLoss is that of a journal row.
func rowLoss(l *logState, r rowRef, why string) loss {
	lost := loss{seq: r.seq, next: l.logRow}
	lost.Where = fmt.Sprintf("journal row %d, revisions %d-%d of log %s", r.seq, r.first, r.last, l.name)
	lost.Why = why
	lost.next.whole = max(l.whole, r.last+1)
	if r.last >= l.head() {
		lost.next.base = newHead(r.last)
	}
	lost.insert = func(w *writer) error {
		_, err := w.exec(moveRow, l.id, r.seq, time.Now().UnixNano(), 1, lost.Where, lost.Why, r.seq)
		return err
	}
	lost.remove = func(w *writer) error {
		_, err := w.exec(deleteRow, r.seq)
		return err
	}
	return lost
}

// plainLoss is that of something of which only the absence is left.
func plainLoss(l *logState, where, why string) loss {
	lost := loss{next: l.logRow}
	lost.Where, lost.Why = where, why
	lost.insert = func(w *writer) error {
		_, err := w.exec(insertDamage, l.id, 0, time.Now().UnixNano(), 1, where, why, nil)
		return err
	}
	return lost
}

// lose sets aside what was met damaged of a log: what says what that is, or that
// it is not there any more. The error tells that it was not written; readers go
// on all the same.
//
// An earlier write whose outcome is unknown is settled first. Before that the
// index may be behind the file: what is missing may just have been trimmed, and
// to write what is known of the log could undo what the file says.
func (s *Store) lose(ctx context.Context, log int64, what func(l *logState) (lost loss, found bool)) error {
	release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	unsettled := s.settle()
	l := s.index.byID[log]
	if l == nil {
		return nil
	}
	lost, found := what(l)
	if !found {
		return nil
	}
	lost.unsettled = unsettled
	return s.setAside(s.index, l, lost)
}

// loseRow sets a journal row aside, unless that was done since it was met, or
// it was trimmed.
func (s *Store) loseRow(ctx context.Context, log int64, r rowRef, why string) error {
	return s.lose(ctx, log, func(l *logState) (loss, bool) {
		return rowLoss(l, r, why), l.has(r)
	})
}

// loseRowHeld is loseRow for one who has the turn, with nothing in doubt.
func (s *Store) loseRowHeld(log int64, r rowRef, why string) error {
	l := s.index.byID[log]
	if l == nil || !l.has(r) {
		return nil
	}
	return s.setAside(s.index, l, rowLoss(l, r, why))
}

// badRecord is a row of state that can't be read. Its columns may be anything.
type badRecord struct {
	log, kind, id, sub any
	payload            []byte
	why                string
}

const (
	deleteRecord = `DELETE FROM state WHERE log = ? AND kind = ? AND id = ? AND sub = ?`
	// findRecord does not trust the order of the keys.
	findRecord = `DELETE FROM state WHERE +log IS ? AND +kind IS ? AND +id IS ? AND +sub IS ?`
)

// loseRecord sets a row of state aside.
func (s *Store) loseRecord(ctx context.Context, log int64, bad badRecord) error {
	return s.lose(ctx, log, func(l *logState) (loss, bool) {
		where := fmt.Sprintf("record %v/%v/%v of log %s", bad.kind, bad.id, bad.sub, l.name)
		lost := plainLoss(l, where, bad.why)
		lost.next.records--
		lost.insert = func(w *writer) error {
			_, err := w.exec(insertDamage, l.id, 0, time.Now().UnixNano(), 1, where, bad.why, bad.payload)
			return err
		}
		lost.remove = func(w *writer) error {
			for _, statement := range []string{deleteRecord, findRecord} {
				if n, err := w.exec(statement, bad.log, bad.kind, bad.id, bad.sub); n > 0 || err != nil {
					return err
				}
			}
			return nil
		}
		return lost, true
	})
}

// loseCount tells that records have vanished without a trace, and counts anew.
func (s *Store) loseCount(ctx context.Context, log int64, missing int64) error {
	return s.lose(ctx, log, func(l *logState) (loss, bool) {
		lost := plainLoss(l, "records of log "+l.name, fmt.Sprintf("%d are missing", missing))
		lost.next.records -= missing
		return lost, true
	})
}

// doubtful wraps the error of a write, and remembers if its outcome is unknown.
// The turn is held.
func (s *Store) doubtful(err error) error {
	err = writeError(err)
	if isUnknown(err) || s.w.loose {
		s.doubt.Store(true)
	}
	return err
}
