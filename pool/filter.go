package pool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Filter narrows a listing. The zero Filter is every task that is not closed.
// All that is set must fit.
type Filter struct {
	// Statuses: any of these. Closed tasks are listed when named here, or, where
	// none is, by IncludeClosed or ClosedSince: done tasks closed since Monday
	// are not the cancelled ones.
	Statuses      []task.Status
	IncludeClosed bool
	// ClosedSince: of the closed tasks only those closed at or after it.
	ClosedSince time.Time
	// Available: dependencies done and not done itself: ready and in progress.
	Available bool
	// Claimable: what the caller could claim now.
	Claimable bool
	// Priorities and Types: any of these; the unspecified one is of tasks
	// without.
	Priorities []task.Priority
	Types      []task.Type
	// Assignee, Holder, Reviewer and CreatedBy are names that ResolveMember
	// understands. Unassigned is ignored with Assignee.
	Assignee   string
	Unassigned bool
	Holder     string
	Reviewer   string
	CreatedBy  string
	// ParentID names a task. TopLevel: tasks without a parent; not both.
	ParentID string
	TopLevel bool
	Labels   map[string]string
	// Text is looked for in title, description, body and key, whatever its case.
	Text string
}

// predicate is a filter with its names resolved, for one caller.
type predicate struct {
	Filter
	actor    string
	statuses []task.Status // nil: any
	all      bool          // everything matches
	text     string
	// children are the numbers of those of ParentID, ascending.
	children []int64
}

// check gives what is wrong with a filter whatever the state is.
func (f Filter) check() error {
	var v task.Violations
	for i, s := range f.Statuses {
		if !s.Valid() {
			v.Add(fmt.Sprintf("filter.statuses[%d]", i), "has the unknown value %d: name a status", uint8(s))
		}
	}
	for i, p := range f.Priorities {
		if !p.Valid() {
			v.Add(fmt.Sprintf("filter.priorities[%d]", i), "has the unknown value %d: name a priority", uint8(p))
		}
	}
	for i, t := range f.Types {
		if !t.Valid() {
			v.Add(fmt.Sprintf("filter.types[%d]", i), "has the unknown value %d: name a type", uint8(t))
		}
	}
	if f.TopLevel && f.ParentID != "" {
		v.Add("filter.top_level", "is of tasks without a parent, so it goes with no parent_id: leave one out")
	}
	if len(v) > 0 {
		return &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	return nil
}

// compile resolves the names of a filter.
func (f Filter) compile(in ground, actor string) (*predicate, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	p := &predicate{Filter: f, actor: actor, text: strings.ToLower(f.Text)}
	for _, m := range []struct {
		field string
		name  *string
	}{
		{"filter.assignee", &p.Assignee},
		{"filter.holder", &p.Holder},
		{"filter.reviewer", &p.Reviewer},
		{"filter.created_by", &p.CreatedBy},
	} {
		id, err := resolveMember(m.field, *m.name, actor)
		if err != nil {
			return nil, err
		}
		*m.name = id
	}
	if f.ParentID != "" {
		n, err := find(in, "filter.parent_id", f.ParentID)
		if err != nil {
			return nil, err
		}
		p.ParentID = n.task.ID
	}
	p.statuses = f.wanted()
	p.all = p.statuses == nil && p.simple()
	return p, nil
}

// wanted lists the statuses that can fit; nil is any.
func (f Filter) wanted() []task.Status {
	closed := (f.IncludeClosed || !f.ClosedSince.IsZero()) && !slices.ContainsFunc(f.Statuses, task.Status.Closed)
	if len(f.Statuses) == 0 && closed {
		return nil
	}
	var statuses []task.Status
	for _, s := range task.Statuses() {
		switch {
		case slices.Contains(f.Statuses, s),
			s.Closed() && closed,
			len(f.Statuses) == 0 && !s.Closed():
			statuses = append(statuses, s)
		}
	}
	return statuses
}

// simple says whether the statuses decide alone, so that an index can count.
func (p *predicate) simple() bool {
	f := p.Filter
	return f.ClosedSince.IsZero() && !f.Available && !f.Claimable && len(f.Priorities) == 0 && len(f.Types) == 0 &&
		f.Assignee == "" && !f.Unassigned && f.Holder == "" && f.Reviewer == "" && f.CreatedBy == "" &&
		f.ParentID == "" && !f.TopLevel && len(f.Labels) == 0 && f.Text == ""
}

// matches says whether a task is part of the listing.
func (p *predicate) matches(t *task.Task) bool {
	switch {
	case p.all:
		return true
	case p.statuses != nil && !slices.Contains(p.statuses, t.Status),
		!p.ClosedSince.IsZero() && t.Closed() && t.ClosedAt.Before(p.ClosedSince),
		p.Available && !available(t),
		p.Claimable && !task.Claimable(t, p.actor),
		len(p.Priorities) > 0 && !slices.Contains(p.Priorities, t.Priority),
		len(p.Types) > 0 && !slices.Contains(p.Types, t.Type),
		p.Assignee != "" && t.Assignee != p.Assignee,
		p.Assignee == "" && p.Unassigned && t.Assignee != "",
		p.Holder != "" && t.Holder != p.Holder,
		p.Reviewer != "" && t.Reviewer != p.Reviewer,
		p.CreatedBy != "" && t.CreatedBy != p.CreatedBy,
		p.ParentID != "" && t.ParentID != p.ParentID,
		p.TopLevel && t.ParentID != "":
		return false
	}
	for k, v := range p.Labels {
		if have, ok := t.Labels[k]; !ok || have != v {
			return false
		}
	}
	return p.text == "" || p.mentioned(t)
}

// claims says whether a task is one that the caller can claim and that matches.
func (p *predicate) claims(t *task.Task) bool { return task.Claimable(t, p.actor) && p.matches(t) }

// available is llm-chat-task's: not done, and nothing it depends on unfinished.
// Of the statuses it did not have, none is available.
func available(t *task.Task) bool {
	return (t.Status == task.Ready || t.Status == task.InProgress) && len(t.Unfinished) == 0
}

func (p *predicate) mentioned(t *task.Task) bool {
	return contains(t.Title, p.text) || contains(t.Brief.Text(task.PartDescription), p.text) ||
		contains(t.Brief.Text(task.PartBody), p.text) || contains(t.Key(), p.text)
}

func contains(text, lower string) bool { return strings.Contains(strings.ToLower(text), lower) }
