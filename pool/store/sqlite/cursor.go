package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// cursor reads a log on from revision next.
type cursor struct {
	s    *Store
	ctx  context.Context
	log  string
	next int64
}

func (c *cursor) alive() error {
	if c.s.isClosed() {
		return store.ErrClosed
	}
	return c.ctx.Err()
}

// look returns the head, and a channel that is closed when it moves.
func (c *cursor) look() (head int64, grown <-chan struct{}, err error) {
	if err := c.alive(); err != nil {
		return 0, nil, err
	}
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.index.logs[c.log]; l != nil {
		return l.head(), l.grown, nil
	}
	if s.absent[c.log] == nil {
		s.absent[c.log] = make(chan struct{})
	}
	return 0, s.absent[c.log], nil
}

// read yields the commits up to revision end.
func (c *cursor) read(end int64, yield func(store.Commit, error) bool) error {
	for c.next <= end {
		l, rows, err := c.rows(end)
		if err != nil {
			return err
		}
		commits, err := c.s.readChunk(c.ctx, l.id, rows)
		if err != nil {
			if err := c.missed(l, rows[0], err); err != nil {
				return err
			}
			continue
		}
		for _, commit := range commits {
			if commit.Revision < c.next || commit.Revision > end {
				continue
			}
			if err := c.alive(); err != nil {
				return err
			}
			if !yield(commit, nil) {
				return errEnough
			}
			c.next = commit.Revision + 1
		}
	}
	return nil
}

// rows picks the rows of the next chunk.
func (c *cursor) rows(end int64) (logState, []rowRef, error) {
	if err := c.alive(); err != nil {
		return logState{}, nil, err
	}
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	l := *c.s.index.logs[c.log]
	if oldest := l.oldest(); c.next < oldest {
		return l, nil, &store.CompactedError{Log: c.log, From: c.next, Oldest: oldest}
	}
	rows := l.rows[l.search(c.next):]
	n := 0
	for n < len(rows) && n < chunkRows && rows[n].first <= end {
		n++
	}
	if n == 0 {
		// The head that there was has vanished from the file.
		return l, nil, fmt.Errorf("%w: revisions %d-%d of %s are gone", store.ErrCorrupt, c.next, end, c.log)
	}
	return l, rows[:n], nil
}

// missed decides what it means that the first row of a chunk could not be read:
// nil when asking again tells, because it was trimmed meanwhile, or is set aside
// now.
func (c *cursor) missed(l logState, r rowRef, err error) error {
	if !errors.Is(err, store.ErrCorrupt) {
		return c.s.readError(err)
	}
	c.s.mu.RLock()
	trimmed := r.last < c.s.index.logs[c.log].trimmed
	c.s.mu.RUnlock()
	if trimmed {
		return nil
	}
	// History ends here; from now on the log says so itself.
	if err := c.s.loseRow(c.ctx, l.id, r, err.Error()); err != nil && c.alive() != nil {
		return c.alive()
	}
	return nil
}
