package sqlite

import (
	"fmt"
	"slices"
	"sort"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// rowRef is where a row of the journal lies and which revisions it holds.
type rowRef struct{ seq, first, last int64 }

// logState is what is known of a log without reading it. Whoever changes it
// has the turn and holds Store.mu; either is enough to read it.
type logState struct {
	id   int64
	name string
	// rows are the rows of the journal, by revision. Elements are never changed
	// in place, so a part of it may be read on without the lock.
	rows []rowRef
	// trimmed: rows that end before this revision have been deleted.
	trimmed int64
	// whole: a row before this revision was lost, so nothing before it is
	// served.
	whole int64
	// base is the head when its row was lost.
	base store.Head
	// records is the number of the log's rows in state.
	records int64
	// foldedRev is the last revision that was folded. It shows when rows are
	// lost behind it.
	foldedRev int64
	// damages are those not yet over; the first told ones were told by Load, or
	// by the caller itself, and end with the next append. Store.mu alone guards
	// both.
	damages []damage
	told    int
	// grown is closed, and replaced, when the log grows.
	grown chan struct{}
}

// damage is a row of damaged; its id is 0 if it could not be written.
type damage struct {
	id int64
	store.Damage
}

func (l *logState) head() int64 {
	if n := len(l.rows); n > 0 {
		return max(l.rows[n-1].last, l.base.Revision)
	}
	return l.base.Revision
}

// oldest is the first revision that can be served, one beyond the head if none.
func (l *logState) oldest() int64 {
	for _, r := range l.rows[l.search(l.whole):] {
		if r.first >= l.whole {
			return r.first
		}
	}
	return l.head() + 1
}

// search is the index of the row that holds revision rev, or of the next.
func (l *logState) search(rev int64) int {
	return sort.Search(len(l.rows), func(i int) bool { return l.rows[i].last >= rev })
}

// fits says whether r can be the next row of the log.
func (l *logState) fits(r rowRef) bool {
	if r.first < 1 || r.last < r.first {
		return false
	}
	if n := len(l.rows); n > 0 {
		last := l.rows[n-1].last
		return r.first == last+1 || r.first > last && r.first <= l.whole
	}
	return r.first <= max(l.trimmed, l.whole, 1)
}

// drop takes the row with the given seq out of rows.
func (l *logState) drop(seq int64) {
	kept := make([]rowRef, 0, len(l.rows))
	for _, r := range l.rows {
		if r.seq != seq {
			kept = append(kept, r)
		}
	}
	l.rows = kept
}

// addDamage remembers d; told says that the caller knows already.
func (l *logState) addDamage(d damage, told bool) {
	at := len(l.damages)
	if told {
		at = l.told
		l.told++
	}
	l.damages = slices.Insert(slices.Clone(l.damages), at, d)
}

func (l *logState) damagedList() []store.Damage {
	var list []store.Damage
	for _, d := range l.damages {
		list = append(list, d.Damage)
	}
	return list
}

// sum is the checksum of the log's row in logs.
func (l *logState) sum() int64 {
	c := integers(l.id, l.records, l.foldedRev, l.trimmed, l.whole, l.base.Revision, int64(l.base.Nonce), l.baseAt())
	return int64(store.Checksum(c, []byte(l.name)))
}

func (l *logState) baseAt() int64 {
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

// write writes the log's row in logs.
func (l *logState) write(w *writer, statement string) error {
	n, err := w.exec(statement, l.records, l.foldedRev, l.trimmed, l.whole, l.base.Revision, int64(l.base.Nonce),
		l.baseAt(), l.sum(), l.name, l.id)
	if err == nil && n != 1 {
		return fmt.Errorf("%w: log %s has no row in logs", store.ErrCorrupt, l.name)
	}
	return err
}
