package pool

import (
	"errors"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// find returns the task that a request names by id, key or a prefix of at least
// eight characters; field is the request's field, "" for its subject.
func (l *layer) find(field, name string) (*node, error) { return find(l, field, name) }

func find(in ground, field, name string) (*node, error) {
	missing := &NotFoundError{Reason: ReasonTaskNotFound, What: "task", Name: name, Field: field}
	ref, ok := task.ParseReference(name)
	if !ok {
		return nil, missing
	}
	var n *node
	switch ref.Kind {
	case task.ReferenceID:
		n = in.node(ref.ID)
	case task.ReferenceKey:
		n = in.numbered(ref.Number)
	case task.ReferencePrefix:
		ids := in.withPrefix(ref.ID)
		if len(ids) > 1 {
			return nil, &AmbiguousError{Reason: ReasonReferenceAmbiguous, Name: name, Field: field, Candidates: ids}
		}
		if len(ids) == 1 {
			n = in.node(ids[0])
		}
	}
	if n == nil {
		return nil, missing
	}
	return n, nil
}

// resolveMember turns what a field says into a member id.
func resolveMember(field, name, actor string) (string, error) {
	id, err := task.ResolveMember(name, actor)
	var ambiguous *task.AmbiguousMemberError
	switch {
	case err == nil:
		return id, nil
	case errors.As(err, &ambiguous):
		return "", &AmbiguousError{Reason: ReasonMemberAmbiguous, Name: name, Field: field, Candidates: ambiguous.IDs}
	}
	return "", &NotFoundError{Reason: ReasonMemberNotFound, What: "member", Name: name, Field: field}
}

// ResolveMember says which member a name stands for to the actor; "" is nobody.
func ResolveMember(name, actor string) (string, error) { return resolveMember("name", name, actor) }
