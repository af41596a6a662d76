package pool

import (
	"context"
	"time"

	"github.com/taskpool-dev/taskpool/pool/feed"
)

// Bounds of a batch. They are of what is handed out, not of what is looked at.
const (
	maxWatchChanges = 256
	maxWatchBytes   = 1 << 20
)

// WatchBatch is some of what happened, in order.
type WatchBatch struct {
	// Changes are whole revisions: at most 256 changes and about 1 MiB. A
	// revision that has more comes in parts. Empty: nothing in view happened.
	Changes []WatchChange
	// More: the revision, which this batch has alone, goes on in the next.
	More bool
	// Cursor is the position after this batch, zero with More.
	Cursor feed.Cursor
}

// Next returns what came next. It waits while that is nothing, until quiet is
// due: then it returns a batch without changes, whose cursor says how far the
// feed was looked at. A nil quiet is never due.
//
// Errors: *CursorError when the pool was cleared or restored, or the history
// after the watch's position is gone; *UnavailableError; ctx's. After an error
// the watch is over.
func (w *Watch) Next(ctx context.Context, quiet <-chan time.Time) (WatchBatch, error) {
	var b WatchBatch
	bytes := 0
	for {
		if len(w.rest) == 0 {
			t, err := w.peek(ctx)
			switch {
			case (err != nil || t == nil) && len(b.Changes) > 0:
				return w.end(b), nil // an error comes again with the next batch
			case err != nil:
				return WatchBatch{}, err
			case t == nil:
				due, err := w.wait(ctx, quiet)
				if err != nil {
					return WatchBatch{}, err
				}
				if due {
					return w.end(b), nil
				}
				continue
			}
			w.ahead[0] = nil // who is slow keeps no more than it must
			w.ahead = w.ahead[1:]
			w.rest, w.restAt = w.view(t), feed.Cursor{Epoch: w.at.Epoch, Revision: t.revision, Nonce: t.nonce}
		}
		n, size := fitting(w.rest, maxWatchChanges-len(b.Changes), maxWatchBytes-bytes)
		if len(b.Changes) == 0 && len(w.rest) > 0 {
			n = max(n, 1) // what is larger than a batch comes alone
		}
		if n < len(w.rest) {
			if len(b.Changes) > 0 {
				return w.end(b), nil // it begins the next batch
			}
			b.Changes, b.More = w.rest[:n:n], true
			w.rest, w.parted = w.rest[n:], true
			return b, nil
		}
		b.Changes = append(b.Changes, w.rest...)
		bytes += size
		w.rest, w.at = nil, w.restAt
		if w.parted || len(b.Changes) == 0 && isDue(quiet) {
			w.parted = false
			return w.end(b), nil
		}
	}
}

// end completes a batch that ends with a whole revision.
func (w *Watch) end(b WatchBatch) WatchBatch {
	b.Cursor = w.Cursor()
	return b
}

// fitting is how many of the changes fit, and how many bytes those take.
func fitting(changes []WatchChange, most, bytes int) (n, size int) {
	for n < len(changes) && n < most && size+changes[n].size <= bytes {
		size += changes[n].size
		n++
	}
	return n, size
}

// isDue says whether it is, without waiting.
func isDue(quiet <-chan time.Time) bool {
	select {
	case <-quiet:
		return true
	default:
		return false
	}
}

// wait returns when something was committed, or when quiet is due.
func (w *Watch) wait(ctx context.Context, quiet <-chan time.Time) (due bool, err error) {
	p := w.pool
	p.bell.listen()
	defer p.bell.stop()
	p.mu.RLock()
	wake, news := p.bell.next(), p.state.head.Revision != w.at.Revision || p.state.epoch != w.at.Epoch
	p.mu.RUnlock()
	if news {
		return false, nil
	}
	select {
	case <-wake:
		return false, nil
	case <-quiet:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-p.closing:
		return false, &UnavailableError{Reason: ReasonDraining}
	}
}
