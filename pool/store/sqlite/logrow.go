package sqlite

import (
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// logRow is a log's row in logs.
type logRow struct {
	id   int64
	name string
	// records is the number of the log's rows in state.
	records int64
	// foldedRev is the last revision that was folded. It shows when rows are
	// lost behind it.
	foldedRev int64
	// trimmed: rows that end before this revision have been deleted.
	trimmed int64
	// whole: a row before this revision was lost, or the log jumped to it, so
	// nothing before it is served.
	whole int64
	// base is the head when its row was lost.
	base store.Head
}

// sum is the checksum of the row.
func (l *logRow) sum() int64 {
	c := integers(l.id, l.records, l.foldedRev, l.trimmed, l.whole, l.base.Revision, int64(l.base.Nonce), l.baseAt())
	return int64(store.Checksum(c, []byte(l.name)))
}

func (l *logRow) baseAt() int64 {
	if l.base.At.IsZero() {
		return 0
	}
	return l.base.At.UnixNano()
}

const (
	insertLog = `INSERT INTO logs (records, folded_rev, trimmed, whole, base_rev, base_nonce, base_at, sum, name, id)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateLog = `UPDATE logs SET records = ?, folded_rev = ?, trimmed = ?, whole = ?, base_rev = ?, base_nonce = ?,
		base_at = ?, sum = ? WHERE name = ? AND id = ?`
)

// write writes the row.
func (l *logRow) write(w *writer, statement string) error {
	n, err := w.exec(statement, l.records, l.foldedRev, l.trimmed, l.whole, l.base.Revision, int64(l.base.Nonce),
		l.baseAt(), l.sum(), l.name, l.id)
	if err == nil && n != 1 {
		return fmt.Errorf("%w: log %s has no row in logs", store.ErrCorrupt, l.name)
	}
	return err
}
