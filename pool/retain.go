package pool

import (
	"context"
	"errors"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// How much of a log's history is kept: what is older than either goes.
const (
	DefaultRetain    = 1_000_000
	DefaultRetainFor = 7 * 24 * time.Hour
)

// retainEvery is how often history is looked at.
const retainEvery = time.Minute

// oldest is the first revision kept of a log, and when it was committed; zero
// where that is not known.
type oldest struct {
	revision int64
	at       time.Time
}

// retain lets go of history that is older than what is promised. Tasks and
// their threads are records and stay.
func (r *Registry) retain() {
	ticker := time.NewTicker(retainEvery)
	defer ticker.Stop()
	// kept is what this goroutine knows of each log, lest it read a commit again
	// and again that may hold a whole pool.
	kept := map[string]oldest{}
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-ticker.C:
		}
		for log, head := range r.heads() {
			first, err := r.retained(r.ctx, log, head, kept[log])
			if err == nil && first.revision > max(kept[log].revision, 1) {
				err = r.cfg.Store.Trim(r.ctx, log, first.revision)
			}
			switch {
			case err == nil:
				kept[log] = first
			case r.ctx.Err() == nil && !errors.Is(err, context.Canceled):
				r.cfg.Logger.Warn("old history could not be trimmed; it is tried again", "log", log, "before", first.revision, "error", err)
			}
		}
	}
}

// retained is the first commit of a log that has to be kept, where all before
// kept are gone.
func (r *Registry) retained(ctx context.Context, log string, head store.Head, kept oldest) (oldest, error) {
	first := max(kept.revision, 1)
	// A hundredth more may be kept, so that a busy log is not trimmed by crumbs.
	if byCount := head.Revision - r.cfg.Retain + 1; byCount-first > r.cfg.Retain/100 {
		first = byCount
	}
	since := time.Now().Add(-r.cfg.RetainFor)
	if first == kept.revision && !kept.at.IsZero() && !kept.at.Before(since) {
		return kept, nil
	}
	return r.firstSince(ctx, log, first, head, since)
}

// firstSince is the first commit from revision low on that was made at or after a
// time, the head if none was. It reads one commit at a time, about as often as
// the distance can be halved, and one where nothing is that old.
func (r *Registry) firstSince(ctx context.Context, log string, low int64, head store.Head, since time.Time) (oldest, error) {
	high := oldest{head.Revision, head.At}
	for at := low; low < high.revision; at = low + (high.revision-low)/2 {
		c, err := r.firstFrom(ctx, log, at)
		switch {
		case err != nil:
			return oldest{revision: low}, err
		case c.Revision == 0 || c.Revision >= high.revision:
			if at == low {
				return high, nil
			}
			high.revision = at // nothing is kept between
		case c.At.Before(since):
			low = c.Revision + 1
		case at == low:
			return oldest{c.Revision, c.At}, nil
		default:
			high = oldest{c.Revision, c.At}
		}
	}
	return high, nil
}

// firstFrom is the first commit kept from a revision on, zero where there is none.
func (r *Registry) firstFrom(ctx context.Context, log string, from int64) (store.Commit, error) {
	for {
		var gone *store.CompactedError
		for c, err := range r.cfg.Store.Commits(ctx, log, from) {
			if errors.As(err, &gone) && gone.Oldest > from {
				from = gone.Oldest
				break
			}
			return c, err
		}
		if gone == nil || ctx.Err() != nil {
			return store.Commit{}, ctx.Err()
		}
	}
}

// heads are those of the system log and of the pools that are open.
func (r *Registry) heads() map[string]store.Head {
	heads := map[string]store.Head{systemLog: r.catalog.heads()}
	r.mu.Lock()
	var pools []*Pool
	for _, e := range r.open {
		if e.pool != nil {
			pools = append(pools, e.pool)
		}
	}
	r.mu.Unlock()
	for _, p := range pools {
		heads[p.log()] = p.heads()
	}
	return heads
}
