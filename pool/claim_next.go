package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Next asks for whichever task comes next.
type Next struct {
	// Filter selects among the tasks that the actor can claim; the zero Filter: any.
	Filter Filter
	// Lease and RunID are as in a [Claim].
	Lease time.Duration
	RunID string
}

// nothing says why there is no task to claim. It is an answer, not a refusal.
type nothing struct{ text string }

func (n nothing) Error() string { return n.text }

// ClaimNext gives the actor the best of the tasks that it can claim: the most urgent,
// of these the one that the longest chain of unfinished tasks waits for, of these the
// oldest. Where there is none, Result has no task and why says so; such an answer is
// not kept for a repeat, which may find one.
//
// Errors: *InvalidError, *NotFoundError and *AmbiguousError for the filter; those of
// every mutation.
func (p *Pool) ClaimNext(ctx context.Context, r Request, c Next) (result Result, why string, err error) {
	return p.claimNext(ctx, r, c, nil)
}

// claimNext is ClaimNext for one in line, or, where w is nil, for one who does not
// wait. It passes over what is kept for others.
func (p *Pool) claimNext(ctx context.Context, r Request, c Next, w *waiter) (result Result, why string, err error) {
	run, err := checkHold(c.Lease, c.RunID)
	if err != nil {
		return Result{}, "", err
	}
	result, err = p.hold(p.mutate(ctx, "ClaimTask", r, func(tx *tx) ([]string, string, error) {
		match, err := c.Filter.compile(tx, tx.actor)
		if err != nil {
			return nil, "", err
		}
		n := tx.next(match, func(number int64) bool { return p.line.keptFrom(w, number) })
		if n == nil {
			return nil, "", nothing{p.whyNothing(tx.actor)}
		}
		u := updating{tx: tx, id: n.task.ID, was: n.task, lease: c.Lease, runID: run}
		if err := u.claim(n); err != nil {
			return nil, "", err
		}
		return []string{u.id}, u.began, nil
	}))
	if none, ok := errors.AsType[nothing](err); ok {
		return Result{Cursor: p.Cursor()}, none.text, nil
	}
	return result, "", err
}

// next is the best task that the actor can claim, that matches and that is not kept for
// another, nil when there is none: of those that are published, and of those that this batch changed, whose
// heights are not counted yet.
func (tx *tx) next(match *predicate, kept func(number int64) bool) *node {
	var best *node
	var first rank
	consider := func(n *node) bool {
		_, place, ok := rankOf(n)
		if !ok || !match.claims(n.task) || best != nil && !place.before(first) || kept(n.task.Number) {
			return false
		}
		best, first = n, place
		return true
	}
	for _, by := range []string{"", tx.actor} {
		if of := tx.published.ranking[by]; of != nil {
			of.Scan(func(place rank) bool {
				if best != nil && !place.before(first) {
					return false
				}
				n := tx.numbered(place.number)
				return n == nil || !consider(n)
			})
		}
	}
	for in := ground(tx.layer); ; {
		l, ok := in.(*layer)
		if !ok {
			return best
		}
		for id, n := range l.nodes {
			if n != nil && tx.node(id) == n {
				consider(n)
			}
		}
		in = l.under
	}
}

// whyNothing is why there is nothing to claim, in numbers. The writer calls it.
func (p *Pool) whyNothing(actor string) string {
	count := func(s task.Status) int { return p.state.byStatus[s].Len() }
	ready := "no task is ready"
	if n := count(task.Ready); n > 0 {
		ready = fmt.Sprintf("of %d ready tasks none fits and is free for %s", n, actor)
	}
	return fmt.Sprintf("%s; %d wait for others, %d are in progress, %d are blocked", ready, count(task.Pending), count(task.InProgress), count(task.Blocked))
}
