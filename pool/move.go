package pool

import (
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// move sets the status, by the table of moves.
func (c *updating) move() error {
	if c.patch.Status == nil {
		return nil
	}
	c.derive(c.id) // a dependency or not_before may have changed just before
	to, t := *c.patch.Status, c.task()
	if to == t.Status {
		return c.stay(t)
	}
	m, err := c.findMove(t, to)
	if err != nil {
		return err
	}
	if err := c.mayMove(t, m); err != nil {
		return err
	}
	forced, err := c.conditions(t, m)
	if err != nil {
		return err
	}
	c.make(t, m, forced)
	return nil
}

// stay answers a status that the task already has: nothing changes, but a claim
// by another is refused, and a block may get another reason.
func (c *updating) stay(t *task.Task) error {
	n := c.node(c.id)
	switch t.Status {
	case task.InProgress:
		if !c.holds || (c.token == "" && c.actor == task.Anonymous) {
			return heldBy(n)
		}
		c.began = n.token
	case task.Blocked:
		if c.patch.Reason == "" || c.patch.Reason == t.BlockedReason {
			return nil
		}
		m, _ := task.FindMove(t, task.Ready, task.ViaSet)
		if err := c.mayMove(t, m); err != nil {
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

// inTheWay names what keeps a pending task from being started.
func (c *updating) inTheWay(t *task.Task) error {
	if len(t.Unfinished) == 0 {
		return c.refuse(ReasonDependenciesUnfinished, "status: %s waits until %s; change not_before to start it sooner", t.Key(), stamp(t.NotBefore))
	}
	e := c.refuse(ReasonDependenciesUnfinished, "status: %s waits for %s; finish them first, or remove the dependency%s",
		t.Key(), naming(c, t.Unfinished), givenUp(c, t.Unfinished))
	e.Related = t.Unfinished
	return e
}

// mayMove checks the hold first, then who the actor is.
func (c *updating) mayMove(t *task.Task, m task.Move) error {
	if m.By.Includes(t, c.who(), c.rules) {
		return nil
	}
	if t.Holder != "" && !c.holds && m.By&task.ByHolder != 0 {
		return heldBy(c.node(c.id))
	}
	if m.To == task.InProgress && t.Status == task.Ready {
		return &DeniedError{Action: "start " + t.Key() + ", which is assigned to " + t.Assignee, May: []string{t.Assignee}}
	}
	return &DeniedError{Action: fmt.Sprintf("set %s from %s to %s", t.Key(), t.Status, m.To), May: []string{m.By.Describe(t, c.rules)}}
}

// conditions checks what the move needs. forced lists the open children that an
// operator went past.
func (c *updating) conditions(t *task.Task, m task.Move) (forced []string, err error) {
	unmet := m.Unmet(t, c.who())
	switch {
	case unmet&task.DependenciesDone != 0:
		return nil, c.inTheWay(t)
	case unmet&task.MayTake != 0:
		return nil, &DeniedError{Action: "take " + t.Key() + ", which is assigned to " + t.Assignee, May: []string{t.Assignee}}
	case unmet&task.ChildrenClosed != 0:
		if forced, err = c.pastChildren(t); err != nil {
			return nil, err
		}
	}
	if m.When&task.NotBeforeReached != 0 && c.now.Before(t.NotBefore) {
		return nil, c.inTheWay(t)
	}
	if m.When&task.ReasonRequired != 0 && c.patch.Reason == "" {
		return nil, c.refuse(ReasonReasonRequired, "reason: is required to set %s to %s; say why", t.Key(), m.To)
	}
	if t.Closed() && t.ParentID != "" && !m.To.Closed() {
		if p := c.node(t.ParentID); p != nil && p.task.Closed() && (!c.patch.Force || !c.operator()) {
			e := c.refuse(ReasonParentClosed, "status: the parent of %s, %s, is %s; reopen %s first", t.Key(), p.task.Key(), p.task.Status, p.task.Key())
			e.Related = []string{t.ParentID}
			return nil, e
		}
	}
	return forced, nil
}

// pastChildren refuses to close over open children, unless an operator forces it.
func (c *updating) pastChildren(t *task.Task) ([]string, error) {
	var open []string
	for _, id := range c.node(c.id).children {
		if !c.node(id).task.Closed() {
			open = append(open, id)
		}
	}
	if c.patch.Force {
		if c.operator() {
			return open, nil
		}
		return nil, &DeniedError{Action: "force " + t.Key() + " closed over open children", May: []string{"the operator (human)"}}
	}
	e := c.refuse(ReasonChildrenOpen, "status: %s has open children: %s; close or cancel them first, or move them elsewhere", t.Key(), naming(c, open))
	e.Related = open
	return nil, e
}

// make changes what the move changes, and tells the thread.
func (c *updating) make(t *task.Task, m task.Move, forced []string) {
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
	}
	t = c.editAs(c.id)
	switch m.To {
	case task.InProgress:
		if reopens {
			c.emit(c.id, c.actor, task.EventStatus, "", task.StatusDetail{From: from, To: task.Ready, Reason: reason})
		}
		c.beginHold()
		c.setStatus(c.id, task.InProgress)
		c.emit(c.id, c.actor, task.EventClaimed, "", task.ClaimedDetail{Holder: c.actor})
		return
	case task.Ready:
		c.setStatus(c.id, c.openStatus(t))
	default:
		c.setStatus(c.id, m.To)
	}
	if m.To == task.Blocked {
		t.BlockedReason = reason
	}
	c.emit(c.id, c.actor, task.EventStatus, "", task.StatusDetail{
		From: from, To: t.Status, Reason: reason, Forced: len(forced) > 0, OpenChildren: forced,
	})
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
