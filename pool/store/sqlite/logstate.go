package sqlite

import (
	"slices"
	"sort"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// rowRef is where a row of the journal lies and which revisions it holds.
type rowRef struct{ seq, first, last int64 }

// logState is what is known of a log without reading it.
type logState struct {
	// Whoever changes these has the turn and holds Store.mu; either is enough
	// to read them.
	logRow
	// rows are the rows of the journal, by revision. Elements are never changed
	// in place, so a part of it may be read on without the lock.
	rows []rowRef

	// damages are those not yet over; the first told ones were told by Load, or
	// by the caller itself, and end with the next append.
	damages []damage // guarded by Store.mu
	told    int      // guarded by Store.mu
	// grown is closed, and replaced, when the log grows.
	grown chan struct{} // guarded by Store.mu
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

// has says whether r is a row of the log.
func (l *logState) has(r rowRef) bool {
	i := l.search(r.last)
	return i < len(l.rows) && l.rows[i] == r
}

// fits says whether r can be the next row of the log: it follows without a gap,
// or with one that is before whole, and whole is not within it.
func (l *logState) fits(r rowRef) bool {
	if r.first < 1 || r.last < r.first || r.first < l.whole && l.whole <= r.last {
		return false
	}
	if n := len(l.rows); n > 0 {
		last := l.rows[n-1].last
		return r.first == last+1 || r.first > last && r.first <= l.whole
	}
	return r.first <= max(l.trimmed, l.whole, 1)
}

// least is the lowest head that the log can have: a lower one shows that the
// last rows are lost. Nothing but a row that is lost (the one that jumped, or one
// behind another that was lost) leaves the head two below whole.
func (l *logState) least() int64 {
	least := max(l.foldedRev, 1)
	if l.head() < l.whole-1 {
		least = max(least, l.whole)
	}
	return least
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

// addDamage remembers d, in place of the same when that could not be written;
// told says that the caller knows already.
func (l *logState) addDamage(d damage, told bool) {
	for i, same := range l.damages {
		if same.id == 0 && same.Where == d.Where {
			l.damages = slices.Clone(l.damages)
			l.damages[i] = d
			return
		}
	}
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
