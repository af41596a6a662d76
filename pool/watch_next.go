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
	// revision that has more comes in parts. Empty: nothing in view happened. The
	// slice is the watch's, and good until its next call.
	Changes []WatchChange
	// More: the revision, which this batch has alone, goes on in the next.
	More bool
	// Cursor is the position after this batch, zero with More.
	Cursor feed.Cursor
}

// Next returns what came next. It waits while that is nothing, until quiet is
// due: then it returns a batch without changes, whose cursor says how far the
// feed was looked at. A nil quiet is never due. What was found is handed out before
// more of the feed is read, however little that is and however much more there is.
//
// Errors: *CursorError when the pool was cleared or restored, or the history
// after the watch's position is gone; *UnavailableError; ctx's. After an error
// the watch is over.
func (w *Watch) Next(ctx context.Context, quiet <-chan time.Time) (WatchBatch, error) {
	if len(w.rest) > 0 {
		return w.part(), nil
	}
	b := WatchBatch{Changes: w.batch[:0]}
	bytes := 0
	for {
		if len(b.Changes) > 0 && len(w.ahead) == 0 {
			return w.end(b), nil
		}
		t, err := w.peek(ctx)
		switch {
		case err != nil:
			return WatchBatch{}, err
		case t == nil:
			w.batch, b.Changes = nil, nil // who waits keeps no more than it must
			due, err := w.wait(ctx, quiet)
			if err != nil {
				return WatchBatch{}, err
			}
			if due {
				return w.end(b), nil
			}
			continue
		}
		whole := len(b.Changes)
		b.Changes = w.view(b.Changes, t)
		seen := b.Changes[whole:]
		at := feed.Cursor{Epoch: w.at.Epoch, Revision: t.revision, Nonce: t.nonce}
		if n, size := fitting(seen, maxWatchChanges-whole, maxWatchBytes-bytes); n == len(seen) || whole == 0 && len(seen) == 1 {
			bytes += size
			w.pass(at)
		} else if whole > 0 { // it begins the next batch
			b.Changes = b.Changes[:whole]
			return w.end(b), nil
		} else {
			w.rest, w.restAt = seen, at
			return w.part(), nil
		}
		if len(b.Changes) == 0 && isDue(quiet) {
			return w.end(b), nil
		}
	}
}

// pass goes on to after the first commit that was read ahead.
func (w *Watch) pass(at feed.Cursor) {
	w.ahead[0] = nil // who is slow keeps no more than it must
	w.ahead, w.at = w.ahead[1:], at
}

// part is the next of a revision that is larger than a batch.
func (w *Watch) part() WatchBatch {
	n, _ := fitting(w.rest, maxWatchChanges, maxWatchBytes)
	n = max(n, 1) // what is larger than a batch comes alone
	b := WatchBatch{Changes: w.rest[:n:n], More: n < len(w.rest)}
	if w.rest = w.rest[n:]; b.More {
		return b
	}
	w.rest = nil
	w.pass(w.restAt)
	b.Cursor = w.Cursor()
	return b
}

// end completes a batch that ends with a whole revision.
func (w *Watch) end(b WatchBatch) WatchBatch {
	w.batch = b.Changes
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
