package pool

import (
	"context"
	"errors"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// DefaultRetain is how many revisions of a log's history are kept.
const DefaultRetain = 1_000_000

// retainEvery is how often history is looked at.
const retainEvery = time.Minute

// retain lets go of history that is older than what is promised. Tasks and
// their threads are records and stay.
func (r *Registry) retain() {
	ticker := time.NewTicker(retainEvery)
	defer ticker.Stop()
	// trimmed is the first revision kept of a log, as far as this goroutine did it.
	trimmed := map[string]int64{}
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-ticker.C:
		}
		for log, head := range r.heads() {
			oldest := head.Revision - r.cfg.Retain + 1
			// A hundredth more may be kept, so that a busy log is not trimmed by crumbs.
			if oldest < 2 || oldest-trimmed[log] <= r.cfg.Retain/100 {
				continue
			}
			err := r.cfg.Store.Trim(r.ctx, log, oldest)
			switch {
			case err == nil:
				trimmed[log] = oldest
			case r.ctx.Err() == nil && !errors.Is(err, context.Canceled):
				r.cfg.Logger.Warn("old history could not be trimmed; it is tried again", "log", log, "before", oldest, "error", err)
			}
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
