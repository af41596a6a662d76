package pool

import (
	"context"
	"errors"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store"
)

// Check compares a caller's cursor with the pool: nil when the pool is at it or
// beyond. Whether the history after it is still there is not looked at. Errors:
// *CursorError for one of another history or from the future.
func (p *Pool) Check(ctx context.Context, c feed.Cursor) error {
	head := p.Cursor()
	if !reaches(head, c) && p.store.Shared() {
		// Another process may have given it, and this one not heard of it yet.
		if err := p.writer.do(&job{ctx: ctx, ledger: p, refresh: true}); err != nil {
			return err
		}
		head = p.Cursor()
	}
	if !reaches(head, c) {
		return p.expired(ctx)
	}
	return nil
}

func reaches(head, c feed.Cursor) bool {
	return c.Epoch == head.Epoch && (c.Revision < head.Revision || c.Revision == head.Revision && c.Nonce == head.Nonce)
}

// resume returns the position that a cursor names, once it is certain that it is
// one of this history and that all after it can be read.
func (p *Pool) resume(ctx context.Context, c feed.Cursor) (feed.Cursor, error) {
	if err := p.Check(ctx, c); err != nil {
		return feed.Cursor{}, err
	}
	p.mu.RLock()
	head, since := cursorAt(p.state), p.state.since
	p.mu.RUnlock()
	if c.Revision == 0 && c.Nonce == 0 && since.empty {
		c.Revision, c.Nonce = since.revision, since.nonce // where nothing had happened yet
	}
	if c.Epoch != head.Epoch || c.Revision < max(since.revision, 1) {
		return feed.Cursor{}, p.expired(ctx)
	}
	nonce, err := p.nonceAt(ctx, c.Revision, since)
	if err != nil {
		return feed.Cursor{}, err
	}
	if nonce != c.Nonce {
		return feed.Cursor{}, p.expired(ctx)
	}
	c.Filter = 0
	return c, nil
}

// nonceAt is the nonce of a commit not beyond the head, which must be kept, but
// for the one that began the epoch: of that the next must be.
func (p *Pool) nonceAt(ctx context.Context, revision int64, since since) (uint64, error) {
	read := revision
	if revision == since.revision {
		read++
	}
	var one [1]*told
	p.mu.RLock()
	head := p.state.head
	n, inRing := p.ring.Read(one[:], read)
	p.mu.RUnlock()
	nonce := since.nonce
	switch {
	case revision == head.Revision:
		return head.Nonce, nil
	case inRing && n == 1:
		if read == revision {
			nonce = one[0].nonce
		}
		return nonce, nil
	}
	for c, err := range p.store.Commits(ctx, p.log(), read) {
		if err != nil {
			return 0, p.unread(ctx, err)
		}
		if read == revision {
			nonce = c.Nonce
		}
		return nonce, nil
	}
	return 0, p.expired(ctx)
}

// expired is the refusal of a cursor, with those that work.
func (p *Pool) expired(ctx context.Context) error {
	return &CursorError{Oldest: p.oldest(ctx).String(), Head: p.Cursor().String()}
}

// oldest is the first position of this epoch that can be resumed from, as far as
// the store tells; the head, if it does not.
func (p *Pool) oldest(ctx context.Context) feed.Cursor {
	p.mu.RLock()
	head, since := cursorAt(p.state), p.state.since
	p.mu.RUnlock()
	from := since.revision + 1
	for range 3 { // history may be trimmed meanwhile
		for c, err := range p.store.Commits(ctx, p.log(), from) {
			var gone *store.CompactedError
			if errors.As(err, &gone) {
				from = max(from+1, gone.Oldest)
				break
			}
			if err != nil || c.Revision > head.Revision {
				return head
			}
			if c.Revision == since.revision+1 && since.revision > 0 {
				return feed.Cursor{Epoch: head.Epoch, Revision: since.revision, Nonce: since.nonce}
			}
			return feed.Cursor{Epoch: head.Epoch, Revision: c.Revision, Nonce: c.Nonce}
		}
	}
	return head
}
