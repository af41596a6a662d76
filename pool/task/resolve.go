package task

import "strings"

// UnknownMemberError says that a name is nobody a task can go to.
type UnknownMemberError struct {
	// Name is what the caller wrote.
	Name string
	// Why says what is wrong with it and what to write instead.
	Why string
}

// Error is a sentence for the caller.
func (e *UnknownMemberError) Error() string { return shown(e.Name) + " is no member: " + e.Why }

// AmbiguousMemberError says that a bare name stands for more than one member.
type AmbiguousMemberError struct {
	// Name is what the caller wrote, IDs whom it may mean.
	Name string
	IDs  []string
}

// Error is a sentence for the caller that names every id.
func (e *AmbiguousMemberError) Error() string {
	return shown(e.Name) + " may mean " + strings.Join(e.IDs, " or ") + ": write the one you mean"
}

const memberHelp = "write agent:NAME, ext:NAME, human or me; a name is 1 to 63 visible characters without white space and colons"

// ResolveMember turns what a caller wrote into a member id, where no directory
// of members is configured (den's Resolve): member ids, "me" (the actor), "you"
// and "human" (the operator). Empty stays empty: nobody. Without a directory
// every well-formed id is a member, so a bare name means both the agent and the
// key of that name and is refused with an [AmbiguousMemberError]; what can't be
// a member, and SystemPool, with an [UnknownMemberError]. White space around
// the name is ignored.
func ResolveMember(name, actor string) (string, error) {
	if name == "" {
		return "", nil
	}
	trimmed := strings.TrimSpace(name)
	switch trimmed {
	case "me":
		trimmed = actor
	case "you", Human:
		return Human, nil
	}
	switch {
	case trimmed == SystemPool:
		return "", &UnknownMemberError{Name: name, Why: "the pool does no tasks; leave it empty for nobody"}
	case ValidMember(trimmed):
		return trimmed, nil
	case ValidMemberName(trimmed):
		return "", &AmbiguousMemberError{Name: name, IDs: []string{AgentID(trimmed), ExternalID(trimmed)}}
	default:
		return "", &UnknownMemberError{Name: name, Why: memberHelp}
	}
}
