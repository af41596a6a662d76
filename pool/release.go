package pool

import (
	"context"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Release ends a hold and sends the work back, for anyone who can claim it; an
// assignment that the claim made ends with it. reason is for the thread, and may be
// empty. Only the holder and the operator may.
//
// Errors: *InvalidError, *NotFoundError, *AmbiguousError; *HoldLostError for a token
// that is not, or no longer, that of the hold; *HeldError where another holds it;
// *RuleError where nobody does.
func (p *Pool) Release(ctx context.Context, r Request, id, token, reason string) (Result, error) {
	reason, v := task.CheckReason(reason, p.limits)
	if len(v) > 0 {
		return Result{}, &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	return p.mutate(ctx, "ReleaseTask", r, func(tx *tx) ([]string, string, error) {
		n, err := tx.find("id", id)
		if err != nil {
			return nil, "", err
		}
		t := n.task
		c := updating{tx: tx, id: t.ID, token: token, was: t}
		if c.holds, err = tx.holds(n, token); err != nil {
			return nil, "", err
		}
		c.held = c.holds
		m, ok := task.FindMove(t, task.Ready, task.ViaRelease)
		if !ok {
			return nil, "", c.refuse(ReasonMoveNotAllowed, "id: %s is %s and nobody holds it, so there is nothing to release; %s", t.Key(), t.Status, c.couldBe())
		}
		if err := c.allow(m.By, "release "+t.Key()); err != nil {
			return nil, "", err
		}
		c.release(reason)
		c.takeBack()
		return []string{c.id}, "", nil
	})
}
