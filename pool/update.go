package pool

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Update is a change that a member wants made to one task.
type Update struct {
	// ID names the task: an id, a key, or a unique prefix.
	ID string
	// ExpectedVersion refuses the change when the task has another; 0: any.
	ExpectedVersion int64
	// HoldToken, when carried, must be that of the task's hold.
	HoldToken string
	task.Patch
}

// Update changes one task, in the order edit, parent, dependencies, assignment,
// status, history: all of it in one revision, or nothing. One that changes
// nothing makes no revision.
//
// What is asked for together is judged together. Edges go before others come,
// so that only the end must be free of cycles. Where the status sends the task
// to open or blocked, dependencies are added after it, so that work can be put
// back because it turned out to need something. Who may move the task is asked
// of it as it was, so that a hand-over and a status in one update end as asked.
//
// Errors, in the order they are looked for: *InvalidError, *NotFoundError,
// *VersionError, *HoldLostError, and then those of each step: *HeldError,
// *DeniedError, *RuleError.
func (p *Pool) Update(ctx context.Context, r Request, u Update) (Result, error) {
	patch, violations := u.Check(p.limits)
	if len(violations) > 0 {
		return Result{}, invalidPatch(u.Patch, violations)
	}
	return p.mutate(ctx, "UpdateTask", r, func(tx *tx) ([]string, string, error) {
		n, err := tx.find("id", u.ID)
		if err != nil {
			return nil, "", err
		}
		if u.ExpectedVersion != 0 && u.ExpectedVersion != n.task.Version {
			return nil, "", &VersionError{Key: n.task.Key(), Expected: u.ExpectedVersion, Current: n.task.Version}
		}
		c := updating{tx: tx, id: n.task.ID, token: u.HoldToken, patch: patch, was: n.task}
		if c.holds, err = tx.holds(n, u.HoldToken); err != nil {
			return nil, "", err
		}
		if c.held = c.holds; c.holds {
			tx.sign(n.task)
		}
		steps := []func() error{c.editFields, c.drop, c.reparent, c.depend, c.assign, c.move, c.record}
		if s := patch.Status; s != nil && (*s == task.Ready || *s == task.Blocked) {
			steps = []func() error{c.editFields, c.drop, c.reparent, c.assign, c.move, c.depend, c.record}
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return nil, "", err
			}
		}
		return []string{c.id}, c.began, nil
	})
}

// invalidPatch tells a status that nobody can set apart, where it is all that is
// wrong.
func invalidPatch(p task.Patch, violations task.Violations) error {
	e := &InvalidError{Reason: ReasonInvalidField, Violations: violations}
	if s := p.Status; s != nil && (*s == task.Pending || *s == task.Failed) && len(violations) == 1 {
		e.Reason = ReasonStatusDerived
	}
	return e
}

// updating is an update under way.
type updating struct {
	*tx
	id    string
	token string
	// holds: the actor works on the task now; held: it did when this began.
	holds, held bool
	patch       task.Patch
	// was is the task when this began.
	was *task.Task
	// added and removed are dependencies.
	added, removed []string
	// began is the token of a hold that this update began, lease how long it lasts,
	// 0 for ever, and runID the dispatch it is for.
	began string
	lease time.Duration
	runID string
}

func (c *updating) task() *task.Task { return c.node(c.id).task }

// actor is who asks, as the table of moves sees it.
func (c *updating) who() task.Actor { return task.Actor{ID: c.actor, Holds: c.holds} }

func (c *updating) operator() bool { return c.actor == task.Operator }

// editFields changes text, plan, labels and not_before.
func (c *updating) editFields() error {
	before := c.task()
	if v := c.patch.CheckLabels(before, c.limits); len(v) > 0 {
		return &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	edited, fields := c.patch.Edit(before)
	if len(fields) == 0 {
		return nil
	}
	if err := c.mayEdit(before, fields...); err != nil {
		return err
	}
	set, removed := c.patch.LabelChanges(before)
	*c.editAs(c.id) = *edited
	c.emit(c.id, c.actor, task.EventEdited, "", task.EditedDetail{Fields: fields, SetLabels: set, RemovedLabels: removed})
	if slices.Contains(fields, "not_before") {
		c.unsettle(c.id)
	}
	return nil
}

// mayEdit keeps the pool's edit rule: title and body by filer and operator, the
// plan, of which dependencies and parent are part, by the holder too.
func (c *updating) mayEdit(t *task.Task, fields ...string) error {
	if c.rules.EditRule == task.EditByAnyone {
		return nil
	}
	by := task.ByFiler | task.ByOperator
	if !slices.Contains(fields, "title") && !slices.Contains(fields, "body") {
		by |= task.ByHolder
	}
	if by.Includes(t, task.Actor{ID: c.actor, Holds: c.held}, c.rules) {
		return nil
	}
	return denied("change "+strings.Join(fields, ", ")+" of "+t.Key(), by, t, c.rules)
}

// mayAssign are those who may give a task to another member.
const mayAssign = task.ByHolder | task.ByAssignee | task.ByFiler | task.ByOperator | task.ByAnyoneIfUnassigned

// assign hands the task to another member or to nobody. A hold ends with it and
// the work goes back. A closed task is handed over only by an update that reopens
// it too; what a claim had assigned counts as nobody's then.
func (c *updating) assign() error {
	if c.patch.Assignee == nil {
		return nil
	}
	to, err := resolveMember("assignee", *c.patch.Assignee, c.actor)
	if err != nil {
		return err
	}
	t := c.task()
	s := c.patch.Status
	reopens := s != nil && (*s == task.Ready || *s == task.InProgress)
	if t.Closed() && reopens {
		c.takeBack()
		t = c.task()
	}
	if to == t.Assignee {
		return nil
	}
	if t.Closed() && !reopens {
		return c.refuse(ReasonMoveNotAllowed, "assignee: %s is %s; set its status to ready with it to reopen it", t.Key(), t.Status)
	}
	if err := c.allow(mayAssign, "assign "+t.Key()); err != nil {
		return err
	}
	from := t.Assignee
	t = c.editAs(c.id)
	t.Assignee = to
	c.setByClaim(c.id, false)
	if t.Status == task.InProgress {
		reason := "assigned to another"
		switch {
		case c.patch.Reason != "" && (s == nil || *s == task.Ready):
			reason = c.patch.Reason
		case to == "":
			reason = "unassigned"
		}
		c.release(reason)
	}
	c.emit(c.id, c.actor, task.EventAssigned, "", task.AssignedDetail{From: from, To: to})
	return nil
}

// dropHold ends the hold there is, if any.
func (c *updating) dropHold() {
	t := c.editAs(c.id)
	t.Holder, t.HeldAt, t.Lease = "", zeroTime, 0
	c.setHold(c.id, hold{})
	c.holds = false
}

// beginHold makes the actor the holder, and the assignee where there was none.
func (c *updating) beginHold() {
	t := c.editAs(c.id)
	if t.Assignee == "" {
		t.Assignee = c.actor
		c.setByClaim(c.id, true)
	}
	t.Holder, t.HeldAt, t.Lease = c.actor, c.now, c.lease
	c.began = uuid.NewString()
	c.setHold(c.id, hold{token: c.began, runID: c.runID, expired: c.node(c.id).held().expired})
	c.holds = true
}

// release ends the hold and sends the work back.
func (c *updating) release(reason string) {
	t := c.editAs(c.id)
	holder := t.Holder
	c.dropHold()
	c.setStatus(c.id, c.openStatus(t))
	c.emit(c.id, c.actor, task.EventReleased, reason, task.ReleasedDetail{Holder: holder, Reason: reason})
}

// takeBack undoes an assignment that a claim made.
func (c *updating) takeBack() {
	if c.task().AssignedByClaim {
		c.editAs(c.id).Assignee = ""
		c.setByClaim(c.id, false)
	}
}

// allow checks the hold first, then who the actor is: towards the task as it is,
// or as it was before this update handed it over.
func (c *updating) allow(by task.Who, action string) error {
	t := c.task()
	if by.Includes(t, c.who(), c.rules) || by.Includes(c.was, task.Actor{ID: c.actor, Holds: c.held}, c.rules) {
		return nil
	}
	if t.Holder != "" && by&task.ByHolder != 0 {
		return c.heldBy(c.node(c.id))
	}
	return denied(action, by, t, c.rules)
}

// record appends to the progress log.
func (c *updating) record() error {
	if c.patch.HistoryEntry == nil {
		return nil
	}
	t := c.task()
	if err := c.threadOpen(t); err != nil {
		return err
	}
	line := task.HistoryLine(c.now, *c.patch.HistoryEntry)
	if !task.HistoryFits(t.HistoryLength, t.HistoryCount, line, c.limits) {
		return c.refuse(ReasonHistoryFull,
			"history_entry: the progress log of %s has %d characters of %d; this entry does not fit; shorten it, or record the rest in a new task",
			t.Key(), t.HistoryLength, c.limits.HistoryLength)
	}
	t = c.editAs(c.id)
	t.HistoryLength += task.Length(line)
	t.HistoryCount++
	c.emit(c.id, c.actor, task.EventProgress, *c.patch.HistoryEntry, nil)
	return nil
}
