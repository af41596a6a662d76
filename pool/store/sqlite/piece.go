package sqlite

import (
	"database/sql"
	"strings"
)

// piece is one transaction of folding.
type piece struct {
	s *Store
	// rows and bytes are what it changes.
	rows, bytes int
	// logs are the logs whose rows in logs change, as they will be.
	logs map[int64]*logRow
}

func (s *Store) newPiece() *piece {
	return &piece{s: s, logs: make(map[int64]*logRow)}
}

func (p *piece) full() bool {
	return p.rows >= p.s.tune.pieceRows || p.bytes >= p.s.tune.pieceBytes
}

func (p *piece) log(id int64) *logRow {
	l := p.logs[id]
	if l == nil {
		next := p.s.index.byID[id].logRow
		l = &next
		p.logs[id] = l
		p.rows++
	}
	return l
}

// foldPiece does the next part of a round. The turn is held.
func (s *Store) foldPiece(r *round) error {
	p := s.newPiece()
	next, done := r.next, false
	err := s.w.lazyTx(func() error {
		for next < len(r.changes) && !p.full() {
			n, err := p.apply(r.changes[next:])
			if err != nil {
				return err
			}
			next += n
		}
		if next == len(r.changes) && (!p.full() || next == r.next) {
			done = true
			if err := p.finish(r); err != nil {
				return err
			}
		}
		return p.writeLogs()
	})
	if err != nil {
		return s.doubtful(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.publishLocked()
	r.next = next
	if done {
		r.done = true
		s.index.foldedLocked(r.rows)
	}
	return nil
}

// apply makes the first of changes, or some, and returns how many; 0 says that
// the first has to be gone on with.
func (p *piece) apply(changes []change) (int, error) {
	c, k := changes[0], changes[0].key
	l := p.log(c.log)
	switch {
	case c.reset:
		n, err := deleteRecords(p.s.w, c.log, max(p.s.tune.pieceRows-p.rows, 1))
		l.records -= n
		p.rows += int(n)
		if n == 0 {
			return 1, err
		}
		return 0, err
	case c.gone:
		n, err := p.s.w.exec(deleteRecord, c.log, int64(k.Kind), k.ID, k.Sub)
		l.records -= n
		p.rows++
		return 1, err
	}
	many := changes[:min(len(changes), len(insertMany), max(p.s.tune.pieceRows-p.rows, 1))]
	for i, c := range many {
		if i > 0 && (c.log != l.id || c.gone || c.reset || p.full()) {
			many = many[:i]
			break
		}
		p.rows++
		p.bytes += c.size()
	}
	args := make([]any, 0, 6*len(many))
	for _, c := range many {
		args = append(args, c.log, int64(c.key.Kind), c.key.ID, c.key.Sub, c.expires, sealRecord(c.stateKey, c.expires, c.value))
	}
	// Inserted first, because the number of records has to be right; if some
	// were there already, all are written again.
	n, err := p.s.w.exec(insertMany[len(many)-1], args...)
	l.records += n
	if err == nil && n < int64(len(many)) {
		_, err = p.s.w.exec(upsertMany[len(many)-1], args...)
	}
	return len(many), err
}

// insertMany and upsertMany write so many records at once: half of what a
// statement costs is not the record's.
var insertMany, upsertMany [16]string

func init() {
	for i := range insertMany {
		statement := "INSERT INTO state (log, kind, id, sub, expires, payload) VALUES (?, ?, ?, ?, ?, ?)" +
			strings.Repeat(", (?, ?, ?, ?, ?, ?)", i)
		insertMany[i] = statement + " ON CONFLICT DO NOTHING"
		upsertMany[i] = statement + " ON CONFLICT DO UPDATE SET expires = excluded.expires, payload = excluded.payload"
	}
}

// finish is the end of a round: its rows count as folded.
func (p *piece) finish(r *round) error {
	for _, sp := range r.spans {
		last := sp.rows[len(sp.rows)-1]
		l := p.log(sp.log)
		l.foldedRev = max(l.foldedRev, last.last)
		if _, err := p.s.w.exec("INSERT OR REPLACE INTO spans (log, seq, entries) VALUES (?, ?, ?)",
			sp.log, last.seq, encodeSpan(sp.log, sp.rows)); err != nil {
			return err
		}
	}
	return writeMeta(p.s.w, r.rows[len(r.rows)-1].seq)
}

func (p *piece) writeLogs() error {
	for _, l := range p.logs {
		if err := l.write(p.s.w, updateLog); err != nil {
			return err
		}
	}
	return nil
}

func (p *piece) publishLocked() {
	for id, next := range p.logs {
		l := p.s.index.byID[id]
		l.records, l.foldedRev = next.records, next.foldedRev
	}
}

// foldedLocked takes rows off the front of pending.
func (x *index) foldedLocked(rows []pendingRow) {
	last := rows[len(rows)-1].seq
	n := 0
	for n < len(x.pending) && x.pending[n].seq <= last {
		x.pendingBytes -= x.pending[n].bytes
		n++
	}
	x.pending = append([]pendingRow(nil), x.pending[n:]...)
	x.folded = last
	for seq := range x.lost {
		if seq <= last {
			delete(x.lost, seq)
		}
	}
}

// deleteRecords deletes the first records of a log, at most limit.
func deleteRecords(w *writer, log int64, limit int) (int64, error) {
	var last []int64
	err := w.query(func(rows *sql.Rows) error {
		last = make([]int64, 3)
		return rows.Scan(&last[0], &last[1], &last[2])
	}, "SELECT kind, id, sub FROM state WHERE log = ? ORDER BY kind, id, sub LIMIT 1 OFFSET ?", log, limit-1)
	if err != nil {
		return 0, err
	}
	if last == nil {
		return w.exec("DELETE FROM state WHERE log = ?", log)
	}
	return w.exec("DELETE FROM state WHERE log = ? AND (kind, id, sub) <= (?, ?, ?)", log, last[0], last[1], last[2])
}
