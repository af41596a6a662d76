package pool

import (
	"context"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// MaxWait is how long a claim may wait.
const MaxWait = time.Hour

// ClaimWait is ClaimNext that waits, for at most that long, until there is a task. It
// needs a lease: who waits may be gone by the time it is served. Those who wait are
// served in the order they came, each with the best task that fits then, and a task is
// offered to one of them at a time; one whose ctx has ended is passed over.
//
// Errors: those of ClaimNext; *InvalidError for the wait; *QuotaError when too many
// wait; ctx's; *UnavailableError when the pool closes meanwhile.
func (p *Pool) ClaimWait(ctx context.Context, r Request, c Next, wait time.Duration) (Result, string, error) {
	var v task.Violations
	if wait <= 0 || wait > MaxWait {
		v.Add("wait", "is %s: wait up to 1h, or leave it out", wait)
	}
	if c.Lease == 0 {
		v.Add("lease", "is absent: a claim that waits needs one, since its caller may be gone when a task comes")
	}
	if len(v) > 0 {
		return Result{}, "", &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	p.mu.RLock()
	match, err := c.Filter.compile(p.state, r.Actor)
	p.mu.RUnlock()
	if err != nil {
		return Result{}, "", err
	}
	w := p.line.join(match)
	if w == nil {
		return Result{}, "", p.line.full()
	}
	defer func() { p.offerAgain(p.line.looked(w, true)) }()
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		result, why, err := p.claimNext(ctx, r, c, w)
		if err != nil || why == "" {
			return result, why, err
		}
		p.offerAgain(p.line.looked(w, false)) // it fitted no more: perhaps another
		select {
		case <-w.woken:
		case <-over.C:
			return result, why, nil
		case <-ctx.Done():
			return Result{}, "", ctx.Err()
		case <-p.closing:
			return Result{}, "", &UnavailableError{Reason: ReasonDraining}
		}
	}
}
