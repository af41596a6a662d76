package pool

import (
	"context"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Claim asks for a task to work on.
type Claim struct {
	// ID names the task: an id, a key, or a unique prefix.
	ID string
	// Lease is how long the hold lasts without a sign of the holder, 0 for ever.
	Lease time.Duration
	// RunID is the dispatch that the claim is for, "" for none. With it, claiming
	// again what one holds with a lease is no conflict.
	RunID string
}

// Claim gives the actor a task to work on: it is in progress and held from then on,
// and assigned to the actor, if it was not. Result's Token proves the hold, and its
// ExpiresAt tells when it runs out. Claiming what the actor holds changes nothing and
// gives the same token: without a lease by the name alone (but never to
// ext:anonymous, who may be anybody), with one by the name and RunID, and that renews
// the lease.
//
// Errors: *InvalidError, *NotFoundError, *AmbiguousError; *HeldError where another
// holds it; what [Pool.Explain] tells of a task that can't be claimed, as *RuleError
// or *DeniedError.
func (p *Pool) Claim(ctx context.Context, r Request, c Claim) (Result, error) {
	run, err := checkHold(c.Lease, c.RunID)
	if err != nil {
		return Result{}, err
	}
	return p.hold(p.mutate(ctx, "ClaimTask", r, func(tx *tx) ([]string, string, error) {
		n, err := tx.find("id", c.ID)
		if err != nil {
			return nil, "", err
		}
		u := updating{tx: tx, id: n.task.ID, was: n.task, lease: c.Lease, runID: run}
		if n.task.Holder != "" {
			if !u.claimedBefore(n) {
				return nil, "", tx.heldBy(n)
			}
			tx.sign(n.task)
			return []string{u.id}, n.held().token, nil
		}
		if err := u.claim(n); err != nil {
			return nil, "", err
		}
		return []string{u.id}, u.began, nil
	}))
}

// checkHold checks what a claim says of the hold it wants, and gives the run's name as
// it is to be kept.
func checkHold(lease time.Duration, run string) (string, error) {
	var v task.Violations
	if lease != 0 {
		v = task.CheckLease(lease)
	}
	run, wrong := task.CheckRunID(run)
	if v = append(v, wrong...); len(v) > 0 {
		return "", &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	return run, nil
}

// claimedBefore says whether the hold there is now is what this claim asks for.
func (c *updating) claimedBefore(n *node) bool {
	switch t := n.task; {
	case t.Status != task.InProgress || t.Holder != c.actor:
		return false
	case t.Lease > 0:
		return c.runID != "" && c.runID == n.held().runID
	}
	return c.actor != task.Anonymous
}

// claim begins the hold, or says why it can't be: by the checks of readiness, as all
// who ask are told.
func (c *updating) claim(n *node) error {
	t := n.task
	for _, check := range readiness(c, t, c.actor, c.now) {
		if check.Holds {
			continue
		}
		switch check.Name {
		case task.CheckAssignee:
			return denied("claim "+t.Key()+", which is assigned to "+t.Assignee, task.ByAssignee, t, c.rules)
		case task.CheckDependencies:
			e := c.refuse(ReasonDependenciesUnfinished, "id: %s %s", t.Key(), check.Detail)
			e.Related = t.Unfinished
			return e
		}
		return c.refuse(ReasonMoveNotAllowed, "id: %s can't be claimed: %s", t.Key(), check.Detail)
	}
	m, ok := task.FindMove(t, task.InProgress, task.ViaClaim)
	if !ok {
		return c.refuse(ReasonMoveNotAllowed, "id: %s is %s and can't be claimed; %s", t.Key(), t.Status, c.couldBe())
	}
	c.make(t, m, forced{})
	return nil
}

// hold adds to a result when its hold runs out.
func (p *Pool) hold(r Result, err error) (Result, error) {
	if err != nil || len(r.Tasks) == 0 {
		return r, err
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if n := p.state.node(r.Tasks[0].ID); n != nil {
		r.ExpiresAt = p.state.leases.end(n)
	}
	return r, nil
}
