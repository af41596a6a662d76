package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff chooses how long to wait after each failure in a row.
type backoff struct {
	least, most time.Duration
	bound       time.Duration // of the next wait; 0: least
}

// next is anything up to a bound that doubles each time: full jitter, so that
// those who failed together don't come back together.
func (b *backoff) next() time.Duration {
	bound := min(max(b.bound, b.least), b.most)
	b.bound = 2 * bound
	return time.Duration(rand.Int64N(int64(bound) + 1))
}

// reset has the next wait be one after a first failure.
func (b *backoff) reset() { b.bound = 0 }

// sleep waits that long, or until the context is done, and tells whether it
// isn't.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
