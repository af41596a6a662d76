package pool

import (
	"fmt"
	"slices"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// move sets the status, by the table of moves.
func (c *updating) move() error {
	if c.patch.Status == nil {
		return nil
	}
	if slices.Contains(c.unsettled, c.id) {
		// This update changed a dependency or not_before just before. Time alone
		// opens a task in the pool's own revision only: until then it is pending
		// for every reader, and so it is here.
		c.derive(c.id)
	}
	to, t := *c.patch.Status, c.task()
	switch {
	case to == t.Status:
		return c.stay(t)
	case to == task.Ready && t.Status == task.Pending && c.was.Status != task.Pending:
		return nil // this update has made it open already, and that is what it comes to
	}
	m, err := c.findMove(t, to)
	if err != nil {
		return err
	}
	if err := c.mayMove(t, m); err != nil {
		return err
	}
	past, err := c.conditions(t, m)
	if err != nil {
		return err
	}
	c.make(t, m, past)
	return nil
}

// stay answers a status that the task already has: nothing changes, but a claim
// by another is refused, and a block may get another reason.
func (c *updating) stay(t *task.Task) error {
	n := c.node(c.id)
	switch t.Status {
	case task.InProgress:
		if !c.holds || (c.token == "" && c.actor == task.Anonymous) {
			return c.heldBy(n)
		}
		c.began = n.held().token
	case task.Blocked:
		if c.patch.Reason == "" || c.patch.Reason == t.BlockedReason {
			return nil
		}
		m, _ := task.FindMove(t, task.Ready, task.ViaSet)
		if err := c.allow(m.By, "give another reason why "+t.Key()+" is blocked"); err != nil {
			return err
		}
		c.editAs(c.id).BlockedReason = c.patch.Reason
		c.emit(c.id, c.actor, task.EventStatus, "", task.StatusDetail{From: task.Blocked, To: task.Blocked, Reason: c.patch.Reason})
	}
	return nil
}

// findMove looks the move up in the table.
func (c *updating) findMove(t *task.Task, to task.Status) (task.Move, error) {
	if t.Status == task.Pending && (to == task.Ready || to == task.InProgress || to == task.Done) {
		return task.Move{}, c.inTheWay(t)
	}
	m, ok := task.FindMove(t, to, task.ViaSet)
	switch {
	case !ok:
		return m, c.refuse(ReasonMoveNotAllowed, "status: %s is %s and can't be set to %s; %s", t.Key(), t.Status, to, c.couldBe())
	case m.Feature != "":
		return m, &LaterError{Feature: m.Feature, Field: "status"}
	}
	return m, nil
}

// inTheWay names what keeps a task from being started or closed.
func (c *updating) inTheWay(t *task.Task) error {
	if len(t.Unfinished) == 0 && !c.now.Before(t.NotBefore) {
		return c.refuse(ReasonMoveNotAllowed, "status: %s waited until %s and is about to become ready; claim it once it is listed as claimable", t.Key(), stamp(t.NotBefore))
	}
	if len(t.Unfinished) == 0 {
		return c.refuse(ReasonMoveNotAllowed, "status: %s waits until %s; change not_before to start it sooner", t.Key(), stamp(t.NotBefore))
	}
	e := c.refuse(ReasonDependenciesUnfinished, "status: %s waits for %s; finish them first, or remove the dependency%s",
		t.Key(), naming(c, t.Unfinished), givenUp(c, t.Unfinished))
	e.Related = t.Unfinished
	return e
}

// mayMove checks the hold first, then who the actor is.
func (c *updating) mayMove(t *task.Task, m task.Move) error {
	action := fmt.Sprintf("set %s from %s to %s", t.Key(), t.Status, m.To)
	if m.To == task.InProgress && t.Status == task.Ready {
		action = "start " + t.Key() + ", which is assigned to " + t.Assignee
	}
	return c.allow(m.By, action)
}

// forced is what an operator went past.
type forced struct {
	used bool
	// open are children of a task that is closed all the same.
	open []string
}

// conditions checks what the move needs, and what of it an operator's force goes
// past: open children, and the closed parent of a child that is reopened. Force
// is the operator's alone also where it is not needed.
func (c *updating) conditions(t *task.Task, m task.Move) (past forced, err error) {
	if c.patch.Force && !c.operator() {
		return past, notOperator("force " + t.Key() + " to " + m.To.String())
	}
	unmet := m.Unmet(t, c.who())
	switch {
	case unmet&task.DependenciesDone != 0:
		return past, c.inTheWay(t)
	case unmet&task.MayTake != 0:
		return past, denied("take "+t.Key()+", which is assigned to "+t.Assignee, task.ByAssignee, t, c.rules)
	case m.When&task.NotBeforeReached != 0 && c.now.Before(t.NotBefore):
		return past, c.inTheWay(t)
	case m.When&task.ReasonRequired != 0 && c.patch.Reason == "":
		return past, c.refuse(ReasonReasonRequired, "reason: is required to set %s to %s; say why", t.Key(), m.To)
	case unmet&task.ChildrenClosed != 0:
		past.used, past.open = true, c.openChildren()
		if !c.patch.Force {
			e := c.refuse(ReasonChildrenOpen, "status: %s has open children: %s; close or cancel them first, or move them elsewhere", t.Key(), naming(c, past.open))
			e.Related = past.open
			return past, e
		}
	case c.underClosed(t, m):
		past.used = true
		if !c.patch.Force {
			p := c.node(t.ParentID).task
			e := c.refuse(ReasonParentClosed, "status: the parent of %s, %s, is %s; reopen %s first", t.Key(), p.Key(), p.Status, p.Key())
			e.Related = []string{t.ParentID}
			return past, e
		}
	}
	return past, nil
}

// openChildren are those neither done nor cancelled.
func (c *updating) openChildren() []string {
	return slices.DeleteFunc(slices.Clone(c.node(c.id).children), func(id string) bool { return c.node(id).task.Closed() })
}

// underClosed says whether the move would reopen a child of a closed parent.
func (c *updating) underClosed(t *task.Task, m task.Move) bool {
	if !t.Closed() || m.To.Closed() || t.ParentID == "" {
		return false
	}
	p := c.node(t.ParentID)
	return p != nil && p.task.Closed()
}

// make changes what the move changes, and tells the thread. A reopening that is a
// claim too is told as both; a claim alone, and work put back, by CLAIMED and
// RELEASED.
func (c *updating) make(t *task.Task, m task.Move, past forced) {
	from, reason := t.Status, c.patch.Reason
	if from == task.InProgress && m.To == task.Ready {
		c.release(reason)
		c.takeBack()
		return
	}
	if m.DropsHold && t.Holder != "" {
		c.dropHold()
	}
	reopens := from.Closed() || from == task.Failed
	if reopens && !m.To.Closed() {
		c.takeBack()
		c.setHold(c.id, hold{}) // holds that ran out before count no more
	}
	t = c.editAs(c.id)
	switch m.To {
	case task.InProgress:
		if reopens {
			c.emit(c.id, c.actor, task.EventStatus, "", task.StatusDetail{From: from, To: task.Ready, Reason: reason, Forced: past.used})
		}
		c.beginHold()
		c.setStatus(c.id, task.InProgress)
		c.emit(c.id, c.actor, task.EventClaimed, "", task.ClaimedDetail{Holder: c.actor, Lease: c.lease, RunID: c.runID})
		return
	case task.Ready:
		c.setStatus(c.id, c.openStatus(t))
	default:
		c.setStatus(c.id, m.To)
	}
	if m.To == task.Blocked {
		t.BlockedReason = reason
	}
	told := task.StatusDetail{From: from, To: t.Status, Reason: reason, Forced: past.used, OpenChildren: past.open}
	if t.Status == task.Pending {
		told.Unfinished = t.Unfinished
	}
	c.emit(c.id, c.actor, task.EventStatus, "", told)
}

func (c *updating) allowed() []task.Status { return task.AllowedNow(c.task(), c.who(), c.rules) }

// couldBe is allowed as the end of a sentence.
func (c *updating) couldBe() string {
	allowed := c.allowed()
	if len(allowed) == 0 {
		return "you can't set its status now"
	}
	names := make([]string, len(allowed))
	for i, s := range allowed {
		names[i] = s.String()
	}
	return "now it can be set to " + list(names)
}
