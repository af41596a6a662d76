package task

import "strings"

// Operator is the one member with operator's rights.
const Operator = Human

// Actor is who asks for a change, as far as the table of moves must know.
type Actor struct {
	// ID is the member id.
	ID string
	// Holds: the actor is the proven holder of the task's hold, which the pool
	// decides (hold token, or same member where the hold has no lease).
	Holds bool
}

// Who is a set of roles towards a task: any of them will do.
type Who uint16

// The roles.
const (
	// ByAnyone: every member.
	ByAnyone Who = 1 << iota
	// ByHolder: the proven holder.
	ByHolder
	// ByAssignee: who the task is assigned to.
	ByAssignee
	// ByFiler: who created the task.
	ByFiler
	// ByOperator: the operator.
	ByOperator
	// ByReviewer: who is named as the reviewer.
	ByReviewer
	// ByPool: the pool itself.
	ByPool
	// ByAnyoneIfUnassigned: every member while nobody is assigned.
	ByAnyoneIfUnassigned
	// ByAnyoneUnderEditRule: every member where the pool's edit rule is anyone.
	ByAnyoneUnderEditRule
)

// Includes says whether the actor has one of the roles towards t.
func (w Who) Includes(t *Task, a Actor, rules Rules) bool {
	return w&ByAnyone != 0 ||
		w&ByHolder != 0 && a.Holds ||
		w&ByAssignee != 0 && t.Assignee != "" && t.Assignee == a.ID ||
		w&ByFiler != 0 && t.CreatedBy != "" && t.CreatedBy == a.ID ||
		w&ByOperator != 0 && a.ID == Operator ||
		w&ByReviewer != 0 && t.Reviewer != "" && t.Reviewer == a.ID ||
		w&ByPool != 0 && a.ID == SystemPool ||
		w&ByAnyoneIfUnassigned != 0 && t.Assignee == "" ||
		w&ByAnyoneUnderEditRule != 0 && rules.EditRule == EditByAnyone
}

// Describe names who has the roles towards t now, for a sentence: "the holder
// (agent:a), the filer (ext:b) or the operator (human)". Roles that nobody has
// are left out; "nobody" when that leaves none.
func (w Who) Describe(t *Task, rules Rules) string {
	var names []string
	role := func(bit Who, name, id string) {
		if w&bit != 0 && id != "" {
			names = append(names, name+" ("+id+")")
		}
	}
	if w.Includes(t, Actor{}, rules) { // somebody without any role may
		return "anyone"
	}
	role(ByHolder, "the holder", t.Holder)
	role(ByAssignee, "the assignee", t.Assignee)
	role(ByFiler, "the filer", t.CreatedBy)
	role(ByReviewer, "the reviewer", t.Reviewer)
	role(ByOperator, "the operator", Operator)
	role(ByPool, "the pool", SystemPool)
	switch n := len(names); n {
	case 0:
		return "nobody"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
}
