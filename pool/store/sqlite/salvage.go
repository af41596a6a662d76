package sqlite

import (
	"database/sql"
	"fmt"
	"time"
)

// salvage places all rows of the journal, and sets aside what is wrong with
// them. It returns an error only if the file can't be read at all.
func (s *Store) salvage(x *index, rows []columns) error {
	next, explained := x.folded+1, false
	var missing []int64
	for _, c := range rows {
		if c.seq > x.folded {
			missing = append(missing, x.missing(next, c.seq)...)
			next = c.seq + 1
		}
		if l := x.byID[c.log]; l != nil && l.fits(c.rowRef) {
			x.place(l, c.rowRef, c.bytes)
			continue
		}
		explained = true
		if err := s.examine(x, c); err != nil {
			return err
		}
	}
	for _, l := range x.logs {
		if want := l.least(); l.head() < want {
			explained = true
			lost := plainLoss(l, "log "+l.name, fmt.Sprintf("its journal ends at revision %d, before %d", l.head(), want))
			lost.next.base, lost.next.whole = newHead(want), want+1
			_ = s.setAside(x, l, lost) // logged; opening goes on
		}
	}
	s.tellMissing(x, missing, explained)
	return nil
}

// examine looks at a row whose columns do not fit.
func (s *Store) examine(x *index, c columns) error {
	payload, err := s.readPayload(c.seq)
	if err != nil {
		return err
	}
	log, seq, commits, bad := openRow(payload)
	if l := x.byID[log]; bad == nil && l != nil && seq == c.seq {
		// The payload is sound, so it is the one to believe.
		r := rowRef{seq: seq, first: commits[0].Revision, last: commits[len(commits)-1].Revision}
		if !l.fits(r) && r.first > l.head() {
			lost := plainLoss(l, "log "+l.name, fmt.Sprintf("revisions %d-%d are missing", l.head()+1, r.first-1))
			lost.next.whole = r.first
			_ = s.setAside(x, l, lost) // logged; opening goes on
		}
		if l.fits(r) {
			x.place(l, r, c.bytes)
			s.repair(c, columns{rowRef: r, log: log})
			return nil
		}
		bad = fmt.Errorf("revisions %d-%d where the log is at %d", r.first, r.last, l.head())
	}
	if bad == nil {
		bad = fmt.Errorf("it says it is row %d of log %d", seq, log)
	}
	l := x.byID[c.log]
	if l == nil {
		// Nobody can say whose it was.
		for _, l := range x.logs {
			lost := rowLoss(l, c.rowRef, bad.Error())
			lost.next.whole, lost.next.base = l.whole, l.base
			_ = s.setAside(x, l, lost) // logged; opening goes on
		}
		return nil
	}
	lost := rowLoss(l, c.rowRef, bad.Error())
	if c.first != l.head()+1 || c.last < c.first {
		// Not to be believed; the next row will show a gap.
		lost.next.whole, lost.next.base = l.whole, l.base
	}
	_ = s.setAside(x, l, lost) // logged; opening goes on
	return nil
}

func (s *Store) readPayload(seq int64) (payload []byte, err error) {
	err = s.w.query(func(rows *sql.Rows) error { return rows.Scan(&payload) }, "SELECT payload FROM journal WHERE seq = ?", seq)
	return payload, err
}

// repair writes the columns of a row as its payload says they are.
func (s *Store) repair(is, want columns) {
	if is.rowRef == want.rowRef && is.log == want.log {
		return
	}
	err := s.w.tx(func() error {
		_, err := s.w.exec("UPDATE journal SET log = ?, first_rev = ?, last_rev = ? WHERE seq = ?",
			want.log, want.first, want.last, want.seq)
		return err
	})
	s.log.Warn("the columns of a journal row were repaired", "row", want.seq, "error", s.doubtful(err))
}

// tellMissing remembers rows that have vanished. If no log shows a gap, the
// last commits of one may be among them: then all logs are told.
func (s *Store) tellMissing(x *index, missing []int64, explained bool) {
	if len(missing) == 0 {
		return
	}
	if !explained {
		why := fmt.Sprintf("%d rows of the journal are missing, the first is %d; the last commits may be among them", len(missing), missing[0])
		for _, l := range x.logs {
			_ = s.setAside(x, l, plainLoss(l, "log "+l.name, why)) // logged; opening goes on
		}
	}
	err := s.w.tx(func() error {
		for _, seq := range missing {
			if _, err := s.w.exec(insertDamage, 0, seq, time.Now().UnixNano(), 0, fmt.Sprintf("journal row %d", seq), "missing", nil); err != nil {
				return err
			}
		}
		return nil
	})
	s.log.Warn("journal rows are missing", "rows", len(missing), "first", missing[0], "error", s.doubtful(err))
	for _, seq := range missing {
		x.lost[seq] = true
	}
}
