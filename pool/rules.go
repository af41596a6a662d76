package pool

import (
	"fmt"
	"strings"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// The checks and refusals that more than one mutation needs.

func invalid(field, format string, args ...any) error {
	var v task.Violations
	v.Add(field, format, args...)
	return &InvalidError{Reason: ReasonInvalidField, Violations: v}
}

func tooLarge(format string, args ...any) error {
	return &QuotaError{Reason: ReasonRevisionTooLarge, Message: fmt.Sprintf("this change is too large: "+format+"; split it", args...)}
}

func tooDeep(field string, depth, limit int) error {
	return &RuleError{Reason: ReasonDepthExceeded, Message: fmt.Sprintf(
		"%s: the task would lie at depth %d; this pool nests at most %d deep; choose a parent higher up", field, depth, limit)}
}

// cycleError shows a cycle; path and names have the first last, too.
func cycleError(field string, path, names []string) error {
	return &RuleError{Reason: ReasonCycle, Path: path, Message: fmt.Sprintf(
		"%s: this would close a cycle: %s; take one of these edges out", field, strings.Join(names, " → "))}
}

// denied says that none of the roles is the actor's.
func denied(action string, by task.Who, t *task.Task, rules task.Rules) error {
	e := &DeniedError{Action: action, Who: by.Describe(t, rules)}
	for _, role := range []struct {
		bit      task.Who
		word, id string
	}{
		{task.ByHolder, "holder", t.Holder},
		{task.ByAssignee, "assignee", t.Assignee},
		{task.ByFiler, "filer", t.CreatedBy},
		{task.ByReviewer, "reviewer", t.Reviewer},
		{task.ByOperator, "operator", task.Operator},
	} {
		if by&role.bit != 0 && role.id != "" {
			e.May = append(e.May, role.word)
		}
	}
	return e
}

// notOperator refuses what the operator alone may do.
func notOperator(action string) error {
	return denied(action, task.ByOperator, &task.Task{}, task.Rules{})
}

func duplicateDependency(field, name, id string) error {
	return &RuleError{Reason: ReasonDuplicateDependency, Related: []string{id}, Message: fmt.Sprintf(
		"%s: it already depends on %s; name each dependency once", field, name)}
}

// keys are the short names of tasks, for people.
func keys(in ground, ids []string) []string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		if n := in.node(id); n != nil {
			keys[i] = n.task.Key()
		} else {
			keys[i] = id
		}
	}
	return keys
}

// naming joins the keys of tasks, not more than a reader takes in.
func naming(in ground, ids []string) string {
	const most = 10
	s := strings.Join(keys(in, ids[:min(len(ids), most)]), ", ")
	if len(ids) > most {
		s += fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return s
}

// givenUp tells of dependencies that nobody will finish as they are.
func givenUp(in ground, unfinished []string) string {
	var stuck []string
	for _, id := range unfinished {
		if n := in.node(id); n != nil && (n.task.Status == task.Cancelled || n.task.Status == task.Failed) {
			stuck = append(stuck, n.task.Key()+" is "+n.task.Status.String())
		}
	}
	if len(stuck) == 0 {
		return ""
	}
	return " (" + strings.Join(stuck, ", ") + ": reopen it or remove it)"
}

// roomForDependent refuses one dependent too many.
func (tx *tx) roomForDependent(field, dep string) error {
	n := tx.node(dep)
	if len(n.dependents) < tx.limits.Dependents {
		return nil
	}
	return &RuleError{Reason: ReasonDependentsExceeded, Related: []string{dep}, Message: fmt.Sprintf(
		"%s: %d tasks already depend on %s, the most this pool allows; let one task gather several of them", field, len(n.dependents), n.task.Key())}
}

// adoptable says whether a task may get one more child.
func (tx *tx) adoptable(field, parent string, force bool) error {
	n := tx.node(parent)
	switch {
	case n.task.Closed() && !force:
		return &RuleError{Reason: ReasonParentClosed, Related: []string{parent}, Message: fmt.Sprintf(
			"%s: %s is %s; reopen it first, or choose another parent", field, n.task.Key(), n.task.Status)}
	case len(n.children) >= tx.limits.Children:
		return &RuleError{Reason: ReasonChildrenExceeded, Related: []string{parent}, Message: fmt.Sprintf(
			"%s: %s already has %d children, the most this pool allows; put a task between", field, n.task.Key(), len(n.children))}
	}
	return nil
}

// noteGivenUp tells a task's thread of dependencies that will not be done.
func (tx *tx) noteGivenUp(id string, dependencies []string) {
	for _, dep := range dependencies {
		if n := tx.node(dep); n.task.Status == task.Cancelled || n.task.Status == task.Failed {
			tx.emit(id, task.SystemPool, task.EventDependency, "", task.DependencyDetail{GivenUp: dep})
		}
	}
}

// threadOpen refuses an entry where the thread is full. Edits and moves, and
// what the pool derives, are never refused for it: a task whose thread is full
// can still be put right and closed.
func (tx *tx) threadOpen(t *task.Task) error {
	if t.EventCount < tx.limits.EventsPerTask {
		return nil
	}
	return &RuleError{Reason: ReasonThreadFull, Message: fmt.Sprintf(
		"the thread of %s has %d events, the most this pool keeps; close it and go on in a new task", t.Key(), t.EventCount)}
}

// heldBy says who holds a task.
func (tx *tx) heldBy(n *node) error {
	e := &HeldError{
		Key: n.task.Key(), Holder: n.task.Holder, Since: n.task.HeldAt, ExpiresAt: tx.published.leases.end(n),
		Yours: n.task.Holder == tx.actor && n.task.Lease > 0,
	}
	if e.ExpiresAt.IsZero() && n.task.Lease > 0 { // it began in this batch
		e.ExpiresAt = time.Now().Add(n.task.Lease)
	}
	return e
}

func holdLost(n *node, s *state) error {
	e := &HoldLostError{Key: n.task.Key(), Holder: n.task.Holder}
	if n.task.Holder != "" {
		e.Since, e.ExpiresAt = n.task.HeldAt, s.leases.end(n)
	}
	return e
}

// holds says whether the actor works on the task. A token that is carried must
// be that of the hold, whatever the actor's name, and proves the hold, whatever
// the actor's name: who carries it acts for the holder. Without one the name
// counts, ext:anonymous too, but only for a hold without a lease: of one with a
// lease there may be two who bear the name, and the one who lost it does not know.
// So whoever bears it has to carry the token, the operator apart.
func (tx *tx) holds(n *node, token string) (bool, error) {
	t := n.task
	switch {
	case token != "" && token != n.held().token:
		return false, holdLost(n, tx.published)
	case token != "":
		return true, nil
	case t.Holder == "" || t.Holder != tx.actor:
		return false, nil
	case t.Lease > 0 && tx.actor != task.Operator:
		return false, tx.heldBy(n)
	}
	return true, nil
}

// sign has the lease of a task begin anew, as its holder has shown to be there.
func (tx *tx) sign(t *task.Task) {
	if t.Lease > 0 {
		tx.signs = append(tx.signs, t.Number)
	}
}
