package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

const insertRow = `INSERT INTO journal (seq, log, first_rev, last_rev, payload) VALUES (?, ?, ?, ?, ?)`

// added is one batch on its way into the journal.
type added struct {
	log   *logState
	fresh bool
	// next is the log's row in logs as it becomes; nil if it stays as it is.
	next    *logRow
	row     rowRef
	payload []byte
	// over are the damages that end with this append.
	over []damage
}

// Append implements [store.Store]. The context is heeded until writing begins.
func (s *Store) Append(ctx context.Context, batches []store.Batch) error {
	if err := store.Check(batches); err != nil {
		return err
	}
	// Encoded before the turn is taken: nobody has to wait for it.
	payloads, err := s.encode(batches)
	if err != nil {
		return err
	}
	release, err := s.take(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrNotApplied, err)
	}
	defer release()
	if err := s.settle(); err != nil {
		return fmt.Errorf("%w: an earlier append has to be settled first: %w", store.ErrNotApplied, err)
	}
	rows, err := s.plan(batches, payloads)
	if err != nil || len(rows) == 0 {
		return err
	}
	if err := s.insert(rows); err != nil {
		return s.doubtful(err)
	}
	s.publish(rows)
	return nil
}

// encode makes the payload of each batch's row; nil for one without commits. All
// are measured before any is made.
func (s *Store) encode(batches []store.Batch) ([][]byte, error) {
	sizes, sum := make([]int, len(batches)), 0
	for i, b := range batches {
		sizes[i] = store.EncodedSize(b.Commits)
		sum += sizes[i]
	}
	if err := store.CheckSize(sum, s.tune.appendBytes); err != nil {
		return nil, err
	}
	payloads := make([][]byte, len(batches))
	for i, b := range batches {
		if len(b.Commits) > 0 {
			payloads[i] = newRow(b.Commits, sizes[i])
		}
	}
	return payloads, nil
}

// plan compares the heads and numbers the rows. The turn is held.
func (s *Store) plan(batches []store.Batch, payloads [][]byte) ([]added, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := make([]added, 0, len(batches))
	seq, id := s.index.nextSeq, s.index.nextLog
	for i, b := range batches {
		l := s.index.get(b.Log)
		if head := l.head(); head != b.After {
			return nil, fmt.Errorf("%w: %s is at revision %d, not %d", store.ErrConflict, b.Log, head, b.After)
		}
		if len(b.Commits) == 0 {
			continue
		}
		a := added{log: l, payload: payloads[i], over: l.damages[:l.told]}
		a.row = rowRef{seq: seq, first: b.Commits[0].Revision, last: b.Commits[len(b.Commits)-1].Revision}
		if l.id == 0 {
			l.id, a.fresh = id, true
			id++
		}
		if a.fresh || b.Jumps() {
			next := l.logRow
			if b.Jumps() {
				next.whole = a.row.first
			}
			a.next = &next
		}
		seq++
		sealRow(a.payload, l.id, a.row.seq)
		rows = append(rows, a)
	}
	return rows, nil
}

// insert writes the rows. One row of a log that is known is one statement, and
// so the usual append. A jump is written down beside its row, or the next start
// would take it for a loss.
func (s *Store) insert(rows []added) error {
	insert := func(a added) error {
		_, err := s.w.exec(insertRow, a.row.seq, a.log.id, a.row.first, a.row.last, a.payload)
		return err
	}
	if a := rows[0]; len(rows) == 1 && a.next == nil && len(a.over) == 0 {
		return s.w.autocommit(func() error { return insert(a) })
	}
	return s.w.tx(func() error {
		for _, a := range rows {
			if a.next != nil {
				statement := updateLog
				if a.fresh {
					statement = insertLog
				}
				if err := a.next.write(s.w, statement); err != nil {
					return err
				}
			}
			for _, d := range a.over {
				if _, err := s.w.exec("UPDATE damaged SET untold = 0 WHERE id = ?", d.id); err != nil {
					return err
				}
			}
			if err := insert(a); err != nil {
				return err
			}
		}
		return nil
	})
}

// publish brings the index up to what was written, and wakes who waits.
func (s *Store) publish(rows []added) {
	s.mu.Lock()
	for _, a := range rows {
		if a.next != nil {
			a.log.whole = a.next.whole
		}
		if a.fresh {
			s.index.add(a.log)
			if c := s.absent[a.log.name]; c != nil {
				close(c)
				delete(s.absent, a.log.name)
			}
		}
		s.index.place(a.log, a.row, len(a.payload))
		a.log.damages, a.log.told = a.log.damages[len(a.over):], a.log.told-len(a.over)
		close(a.log.grown)
		a.log.grown = make(chan struct{})
	}
	pending, bytes := len(s.index.pending), s.index.pendingBytes
	s.mu.Unlock()

	s.appended.Store(time.Now().UnixNano())
	// The folder is woken only when a threshold is crossed: a wake-up per append
	// would cost more than it is worth.
	before, size := pending-len(rows), 0
	for _, a := range rows {
		size += len(a.payload)
	}
	if crosses(before, pending, s.tune.idleRows) || crosses(before, pending, s.tune.lagRows) ||
		crosses(bytes-size, bytes, s.tune.lagBytes) {
		s.nudge()
	}
}

func crosses(before, after, threshold int) bool { return before < threshold && after >= threshold }

// settle finds out what became of a write whose outcome was unknown, if there
// is one. It begins the writer anew, as a start of the process would, and
// writes something: whatever half of the lost commit lies in the WAL is
// overwritten by that, so a later crash can't bring it back. The turn is held.
func (s *Store) settle() error {
	if !s.doubt.Load() {
		return nil
	}
	w, err := openWriter(s.path(), &s.hook)
	if err != nil {
		return err
	}
	_ = s.w.close()
	s.w = w
	err = w.tx(func() error {
		folded, err := readMeta(w)
		if err != nil {
			return err
		}
		return writeMeta(w, folded)
	})
	if err != nil {
		return err
	}
	x, err := s.readIndex()
	if err != nil {
		return err
	}
	s.become(x)
	s.doubt.Store(false)
	s.nudge()
	return nil
}

// become takes over an index that was read anew. The logs stay the same values:
// followers wait on them.
func (s *Store) become(x *index) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, l := range x.logs {
		old := s.index.logs[name]
		if old == nil {
			if c := s.absent[name]; c != nil {
				close(c)
				delete(s.absent, name)
			}
			continue
		}
		toldIDs := make(map[int64]bool)
		for _, d := range old.damages[:old.told] {
			toldIDs[d.id] = true
		}
		damages := l.damages
		l.damages = nil
		for _, d := range damages {
			l.addDamage(d, toldIDs[d.id])
		}
		for i, d := range old.damages {
			if d.id == 0 { // the file does not have it
				l.addDamage(d, i < old.told)
			}
		}
		close(old.grown)
		*old = *l
		x.logs[name], x.byID[l.id] = old, old
	}
	s.index = x
}

func isUnknown(err error) bool { return errors.Is(err, store.ErrUnknown) }
