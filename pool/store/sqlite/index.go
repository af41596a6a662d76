package sqlite

import (
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// index is what is known of all logs without reading the journal. Whoever
// changes it has the turn and holds Store.mu; either is enough to read it.
type index struct {
	logs map[string]*logState
	byID map[int64]*logState
	// pending are the rows behind folded, by seq. Elements are never changed
	// in place.
	pending      []pendingRow
	pendingBytes int
	folded       int64
	nextSeq      int64
	nextLog      int64
	// lost are the rows behind folded that are known to be missing.
	lost map[int64]bool
}

// pendingRow is a row of the journal that is not folded yet.
type pendingRow struct {
	rowRef
	log   int64
	bytes int
}

// get returns the log, made new if it is not there. A new one has id 0 and is
// not in the index: it gets both with its first append.
func (x *index) get(name string) *logState {
	if l := x.logs[name]; l != nil {
		return l
	}
	return &logState{logRow: logRow{name: name}, grown: make(chan struct{})}
}

func (x *index) add(l *logState) {
	x.logs[l.name], x.byID[l.id] = l, l
	x.nextLog = max(x.nextLog, l.id+1)
}

// place puts a row behind the rows of its log, which it fits.
func (x *index) place(l *logState, r rowRef, bytes int) {
	l.rows = append(l.rows, r)
	if r.seq > x.folded {
		x.pending = append(x.pending, pendingRow{rowRef: r, log: l.id, bytes: bytes})
		x.pendingBytes += bytes
	}
	x.nextSeq = max(x.nextSeq, r.seq+1)
}

// forget takes a row out that is lost or folded no more.
func (x *index) forget(l *logState, seq int64) {
	l.drop(seq)
	x.pending = slices.Clone(x.pending)
	x.pending = slices.DeleteFunc(x.pending, func(p pendingRow) bool {
		if p.seq == seq {
			x.pendingBytes -= p.bytes
		}
		return p.seq == seq
	})
}

// readIndex makes the index from the file. If anything in it does not add up,
// the whole journal is looked through and what is wrong is set aside.
func (s *Store) readIndex() (*index, error) {
	x, err := readKnown(s.w)
	if err != nil {
		return nil, err
	}
	sound, err := x.readSpans(s.w)
	if err != nil {
		return nil, err
	}
	if sound {
		columns, err := readColumns(s.w, x.folded)
		if err != nil {
			return nil, err
		}
		if x.placeAll(columns) {
			return x, nil
		}
	}
	if x, err = readKnown(s.w); err != nil {
		return nil, err
	}
	columns, err := readColumns(s.w, -1)
	if err != nil {
		return nil, err
	}
	return x, s.salvage(x, columns)
}

// readKnown reads all but which rows there are.
func readKnown(w *writer) (*index, error) {
	x := &index{logs: make(map[string]*logState), byID: make(map[int64]*logState), nextLog: 1, lost: make(map[int64]bool)}
	var err error
	if x.folded, err = readMeta(w); err != nil {
		return nil, err
	}
	x.nextSeq = x.folded + 1
	err = w.query(func(rows *sql.Rows) error {
		l := &logState{grown: make(chan struct{})}
		var nonce, at, sum int64
		err := rows.Scan(&l.id, &l.name, &l.records, &l.foldedRev, &l.trimmed, &l.whole, &l.base.Revision, &nonce, &at, &sum)
		if err != nil {
			return err
		}
		l.base.Nonce = uint64(nonce)
		if at != 0 {
			l.base.At = time.Unix(0, at).UTC()
		}
		if sum != l.sum() {
			return fmt.Errorf("%w: the row of log %d (%q) in logs; restore a backup", store.ErrCorrupt, l.id, l.name)
		}
		x.add(l)
		return nil
	}, "SELECT id, name, records, folded_rev, trimmed, whole, base_rev, base_nonce, base_at, sum FROM logs")
	if err != nil {
		return nil, err
	}
	return x, w.query(func(rows *sql.Rows) error {
		var d damage
		var log, seq, untold int64
		if err := rows.Scan(&d.id, &log, &seq, &untold, &d.Where, &d.Why); err != nil {
			return err
		}
		if seq > x.folded {
			x.lost[seq] = true
		}
		x.nextSeq = max(x.nextSeq, seq+1)
		if l := x.byID[log]; l != nil && untold > 0 {
			l.damages = append(l.damages, d)
		}
		return nil
	}, "SELECT id, log, seq, untold, place, why FROM damaged ORDER BY id")
}

// readSpans places the folded rows. It returns false if a span is damaged.
func (x *index) readSpans(w *writer) (sound bool, err error) {
	sound = true
	err = w.query(func(rows *sql.Rows) error {
		var logColumn, seqColumn any
		var entries []byte
		if err := rows.Scan(&logColumn, &seqColumn, &entries); err != nil {
			return err
		}
		log, _ := column(logColumn)
		seq, _ := column(seqColumn)
		span, err := decodeSpan(log, seq, entries)
		l := x.byID[log]
		if err != nil || l == nil {
			sound = false
			return nil //nolint:nilerr // sound says so
		}
		for _, r := range span {
			switch {
			case r.last < l.trimmed:
			case l.fits(r) && r.seq <= x.folded:
				x.place(l, r, 0)
			default:
				sound = false
			}
		}
		return nil
	}, "SELECT log, seq, entries FROM spans ORDER BY log, seq")
	return sound, err
}

// columns are those of a journal row; log is 0 and last is -1 where they could
// not be read.
type columns struct {
	rowRef
	log   int64
	bytes int
}

func readColumns(w *writer, after int64) ([]columns, error) {
	var all []columns
	err := w.query(func(rows *sql.Rows) error {
		var c columns
		var log, first, last, bytes any
		if err := rows.Scan(&c.seq, &log, &first, &last, &bytes); err != nil {
			return err
		}
		var ok [3]bool
		c.log, ok[0] = column(log)
		c.first, ok[1] = column(first)
		c.last, ok[2] = column(last)
		if ok != [3]bool{true, true, true} {
			c.log, c.last = 0, -1
		}
		n, _ := column(bytes)
		c.bytes = int(n)
		all = append(all, c)
		return nil
	}, "SELECT seq, log, first_rev, last_rev, length(payload) FROM journal WHERE seq > ? ORDER BY seq", after)
	return all, err
}

// placeAll places rows behind the folded ones. It returns false if one does not
// fit, or is missing.
func (x *index) placeAll(rows []columns) bool {
	next := x.folded + 1
	for _, c := range rows {
		l := x.byID[c.log]
		if l == nil || !l.fits(c.rowRef) || x.missing(next, c.seq) != nil {
			return false
		}
		x.place(l, c.rowRef, c.bytes)
		next = c.seq + 1
	}
	for _, l := range x.logs {
		if l.head() < l.least() {
			return false
		}
	}
	return true
}

// missing lists the rows from seq from to before seq to that should be there.
func (x *index) missing(from, to int64) []int64 {
	var list []int64
	for seq := from; seq < to && len(list) < maxMissing; seq++ {
		if !x.lost[seq] {
			list = append(list, seq)
		}
	}
	return list
}

// maxMissing bounds how many missing rows are told one by one.
const maxMissing = 1000
