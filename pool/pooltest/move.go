package pooltest

import (
	"slices"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// role is who may.
type role int

const (
	holder role = 1 << iota
	assignee
	filer
	operator
	unassigned
	underRule
)

// allow refuses an actor that has none of the roles, now or before the update.
func (u *updating) allow(by role) []string {
	may := func(t *Task, holds bool) bool {
		return by&holder != 0 && holds ||
			by&assignee != 0 && t.Assignee == u.actor ||
			by&filer != 0 && t.CreatedBy == u.actor ||
			by&operator != 0 && u.actor == task.Human ||
			by&unassigned != 0 && t.Assignee == "" ||
			by&underRule != 0 && u.m.Rules.EditRule == task.EditByAnyone
	}
	switch {
	case may(u.t, u.holds), may(u.was, u.held):
		return nil
	case u.t.Holder != "" && by&holder != 0:
		return []string{"HELD"}
	}
	return []string{"NOT_PERMITTED"}
}

// rows is the table of moves, as far as a member can make them by a status.
var rows = []struct {
	from []task.Status
	to   task.Status
	by   role
}{
	{[]task.Status{task.Ready}, task.InProgress, assignee | unassigned},
	{[]task.Status{task.Ready}, task.Done, unassigned | assignee | filer | operator},
	{[]task.Status{task.InProgress}, task.Ready, holder | operator},
	{[]task.Status{task.InProgress}, task.Done, holder | operator},
	{[]task.Status{task.Pending, task.Ready, task.InProgress}, task.Blocked, holder | assignee | filer | operator},
	{[]task.Status{task.Blocked}, task.Ready, holder | assignee | filer | operator},
	{[]task.Status{task.Pending, task.Ready, task.InProgress, task.Blocked}, task.Cancelled, filer | operator},
	{[]task.Status{task.Done, task.Cancelled}, task.Ready, filer | operator | underRule},
	{[]task.Status{task.Done, task.Cancelled}, task.InProgress, filer | operator | underRule},
}

func (u *updating) move(newToken string) []string {
	if u.p.Status == nil {
		return nil
	}
	u.m.derive()
	t, to := u.t, *u.p.Status
	switch {
	case to == t.Status:
		return u.stay()
	case to == task.Ready && t.Status == task.Pending && u.was.Status != task.Pending:
		return nil
	case t.Status == task.Pending && (to == task.Ready || to == task.InProgress || to == task.Done):
		return u.inTheWay()
	case to == task.Review && t.Status == task.InProgress:
		return []string{"NOT_AVAILABLE_YET"}
	}
	for _, row := range rows {
		if row.to != to || !slices.Contains(row.from, t.Status) {
			continue
		}
		if refused := u.allow(row.by); refused != nil {
			return refused
		}
		if refused := u.unmet(to); refused != nil {
			return refused
		}
		u.make(to, newToken)
		return nil
	}
	return []string{"MOVE_NOT_ALLOWED"}
}

func (u *updating) inTheWay() []string {
	if len(u.t.Unfinished) > 0 {
		return []string{"DEPENDENCIES_UNFINISHED"}
	}
	return []string{"MOVE_NOT_ALLOWED"}
}

func (u *updating) stay() []string {
	t, p := u.t, u.p
	switch {
	case t.Status == task.InProgress && (!u.holds || !u.carried && u.actor == task.Anonymous):
		return []string{"HELD"}
	case t.Status == task.InProgress:
		u.began = t.Token
	case t.Status == task.Blocked && p.Reason != "" && p.Reason != t.BlockedReason:
		if refused := u.allow(holder | assignee | filer | operator); refused != nil {
			return refused
		}
		t.BlockedReason = p.Reason
		u.happened(task.EventStatus)
	}
	return nil
}

// unmet is what the task's state has against the move; any of it may be told.
func (u *updating) unmet(to task.Status) (refused []string) {
	t, p := u.t, u.p
	say := func(reason string, when bool) {
		if when {
			refused = append(refused, reason)
		}
	}
	force := p.Force && u.actor == task.Human
	say("NOT_PERMITTED", p.Force && !force)
	reopens := t.Status.Closed()
	if to == task.InProgress {
		say("NOT_PERMITTED", t.Assignee != "" && t.Assignee != u.actor && !(reopens && t.ByClaim))
		say("MOVE_NOT_ALLOWED", t.Later)
	}
	if to == task.InProgress || to == task.Done {
		say("DEPENDENCIES_UNFINISHED", len(t.Unfinished) > 0)
	}
	say("REASON_REQUIRED", to == task.Blocked && p.Reason == "")
	open := slices.ContainsFunc(u.m.Children(t.ID), func(c *Task) bool { return !c.Status.Closed() })
	say("CHILDREN_OPEN", to.Closed() && open && !force)
	say("PARENT_CLOSED", reopens && t.Parent != "" && u.m.ID(t.Parent).Status.Closed() && !force)
	return refused
}

func (u *updating) make(to task.Status, newToken string) {
	t, from := u.t, u.t.Status
	if from == task.InProgress && to == task.Ready {
		u.release()
		u.takeBack()
		return
	}
	t.Holder, t.Token = "", ""
	if from == task.InProgress {
		u.holds = false
	}
	if from.Closed() {
		u.takeBack()
	}
	t.BlockedReason = ""
	switch to {
	case task.InProgress:
		if from.Closed() {
			u.happened(task.EventStatus)
		}
		if t.Assignee == "" {
			t.Assignee, t.ByClaim = u.actor, true
		}
		t.Holder, t.Token, u.holds = u.actor, newToken, true
		u.began = newToken
		u.happened(task.EventClaimed)
	case task.Blocked:
		t.BlockedReason = u.p.Reason
		u.happened(task.EventStatus)
	default:
		u.happened(task.EventStatus)
	}
	if to == task.Ready {
		to = t.open()
	}
	t.Status = to
	u.tell(from)
}

// tell lets those around the task know what became of it.
func (u *updating) tell(from task.Status) {
	m, t := u.m, u.t
	if t.Status == task.Cancelled {
		for _, id := range m.Dependents(t.ID) {
			if d := m.ID(id); !d.Status.Closed() {
				d.event(task.SystemPool, task.EventDependency)
			}
		}
	}
	if t.Parent == "" || from.Closed() || !t.Status.Closed() || m.ID(t.Parent).Status.Closed() {
		return
	}
	if !slices.ContainsFunc(m.Children(t.Parent), func(c *Task) bool { return !c.Status.Closed() }) {
		m.ID(t.Parent).event(task.SystemPool, task.EventSubtask)
	}
}

func (u *updating) release() {
	u.m.derive() // a dependency may have gone just before
	t := u.t
	t.Holder, t.Token, t.Status, u.holds = "", "", t.open(), false
	u.happened(task.EventReleased)
}

func (u *updating) takeBack() {
	if u.t.ByClaim {
		u.t.Assignee, u.t.ByClaim = "", false
	}
}
