package pool

import (
	"context"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Renew shows that the holder of a task is there: its lease begins anew. A lease other
// than 0 is how long it lasts from then on. A hold without a lease has none to renew,
// and is not told so: it is as good. Result's ExpiresAt tells when the hold runs out.
//
// A renewal is a sign of life and no change: unless the lease becomes another it makes
// no revision, and a process that starts anew gives all holds their whole lease again.
//
// Errors: *InvalidError, *NotFoundError, *AmbiguousError; *HoldLostError when the token
// is not that of the task's hold, which says who holds it now.
func (p *Pool) Renew(ctx context.Context, r Request, id, token string, lease time.Duration) (Result, error) {
	var v task.Violations
	if lease != 0 {
		v = task.CheckLease(lease)
	}
	if token == "" {
		v.Add("hold_token", "is empty: send the one that the claim gave")
	}
	if len(v) > 0 {
		return Result{}, &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	return p.hold(p.mutate(ctx, "RenewHold", r, func(tx *tx) ([]string, string, error) {
		n, err := tx.find("id", id)
		if err != nil {
			return nil, "", err
		}
		if _, err := tx.holds(n, token); err != nil {
			return nil, "", err
		}
		id := n.task.ID
		if lease != 0 && lease != n.task.Lease {
			tx.edit(id).Lease = lease
		} else if p.store.Shared() && n.task.Lease > 0 {
			// Others count the lease by their own clocks, from what is stored.
			tx.edit(id)
			tx.changes[id].claim, tx.changes[id].renewed = true, tx.revision
		}
		tx.sign(tx.node(id).task)
		return []string{id}, token, nil
	}))
}
