package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store"
)

// Bounds of what is read ahead: commits, and their bytes, unless one has more.
// What is read ahead stays in memory after it left the ring.
const (
	aheadCommits = 256
	aheadBytes   = 1 << 20
)

// peek returns the next commit, nil when the watch is at the head.
func (w *Watch) peek(ctx context.Context) (*told, error) {
	if len(w.ahead) == 0 {
		if err := w.read(ctx); err != nil {
			return nil, err
		}
		if len(w.ahead) == 0 {
			return nil, nil
		}
	}
	return w.ahead[0], nil
}

// read reads the commits after the watch's position: from the ring, or, where
// that begins later, from the store.
func (w *Watch) read(ctx context.Context) error {
	p := w.pool
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closing:
		return &UnavailableError{Reason: ReasonDraining}
	default:
	}
	if w.room == nil {
		w.room = make([]*told, aheadCommits)
	}
	p.mu.RLock()
	head := cursorAt(p.state)
	n, inRing := p.ring.Read(w.room, w.at.Revision+1)
	p.mu.RUnlock()
	switch {
	case head.Epoch != w.at.Epoch:
		return p.expired(ctx)
	case head.Revision == w.at.Revision || inRing:
		w.ahead = w.room[:within(w.room[:n])]
		return nil
	}
	return w.readStore(ctx, head)
}

// within is how many of the commits may be kept, and lets go of the others.
func within(ahead []*told) int {
	bytes := 0
	for i, t := range ahead {
		if bytes += t.size; i > 0 && bytes > aheadBytes {
			clear(ahead[i:])
			return i
		}
	}
	return len(ahead)
}

// readStore reads commits up to head, which is published: no watcher sees what
// a crash could take back.
func (w *Watch) readStore(ctx context.Context, head feed.Cursor) error {
	p := w.pool
	w.ahead = w.room[:0]
	bytes, next := 0, w.at.Revision+1
	for c, err := range p.store.Commits(ctx, p.log(), next) {
		if err != nil {
			return p.unread(ctx, err)
		}
		if c.Revision > head.Revision {
			return nil
		}
		if c.Revision != next || c.Reset {
			return p.expired(ctx) // begun anew since head was looked at
		}
		t, err := tell(c, p.codec)
		if err != nil {
			return fmt.Errorf("pool %s: revision %d: %w", p.name, c.Revision, err)
		}
		w.ahead = append(w.ahead, t)
		next++
		if bytes += t.size; len(w.ahead) == aheadCommits || bytes >= aheadBytes {
			return nil
		}
	}
	return nil
}

// unread is what a watch ends with when history can't be read.
func (p *Pool) unread(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, store.ErrCompacted):
		return p.expired(ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &UnavailableError{Reason: ReasonStoreUnavailable, Unread: true, Cause: err}
}
