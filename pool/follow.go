package pool

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// followAgain is when a follower that the store let down tries again.
const followAgain = time.Second

// follow lets the writer catch up with what others append to a ledger, until
// ctx ends.
func (r *Registry) follow(ctx context.Context, l ledger, head func() store.Head) {
	for {
		for c, err := range r.cfg.Store.Follow(ctx, l.log(), head().Revision+1) {
			if err != nil {
				break // trimmed past us, or the store is away: catching up tells
			}
			if c.Revision > head().Revision && r.refresh(ctx, l) != nil {
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(followAgain):
			_ = r.refresh(ctx, l) // refused: the next round asks again
		}
	}
}

func (r *Registry) refresh(ctx context.Context, l ledger) error {
	return r.writer.do(&job{ctx: ctx, ledger: l, refresh: true})
}

// probe is a commit without facts that tries a failing store.
func (r *Registry) probe() *job {
	return &job{
		ctx: r.ctx, ledger: r.catalog, done: make(chan struct{}),
		run: func(_ overlay, revision int64, now time.Time) (*store.Commit, error) {
			return &store.Commit{Revision: revision, Nonce: rand.Uint64(), At: now}, nil
		},
	}
}
