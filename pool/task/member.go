package task

import (
	"strings"
	"unicode/utf8"
)

// Member ids: "agent:<name>", "ext:<key name>" or Human (den), so that an agent
// and a key of the same name are never taken for each other; and SystemPool.
const (
	AgentPrefix    = "agent:"
	ExternalPrefix = "ext:"
	// Human is the operator.
	Human = "human"
	// SystemPool is the actor of what the pool does by itself. No task is ever
	// assigned to it.
	SystemPool = "system:pool"
	// Anonymous is who comes without any identity.
	Anonymous = ExternalPrefix + "anonymous"
)

// MaxMemberNameLength is how long the name in a member id can be, in code points.
const MaxMemberNameLength = 63

// AgentID is the member id of an agent.
func AgentID(name string) string { return AgentPrefix + name }

// ExternalID is the member id of an API key's holder.
func ExternalID(keyName string) string { return ExternalPrefix + keyName }

// MemberName is the name in an agent's or a key's member id; any other id is
// its own name.
func MemberName(id string) string {
	if name, ok := strings.CutPrefix(id, AgentPrefix); ok {
		return name
	}
	if name, ok := strings.CutPrefix(id, ExternalPrefix); ok {
		return name
	}
	return id
}

// ValidMemberName says whether name can stand in a member id: 1 to
// MaxMemberNameLength visible characters, without white space and colons.
func ValidMemberName(name string) bool {
	if name == "" || !utf8.ValidString(name) || strings.Contains(name, ":") || Length(name) > MaxMemberNameLength {
		return false
	}
	_, bad := firstInvisible(name)
	return !bad
}

// ValidMember says whether id is a well-formed member id, SystemPool included.
func ValidMember(id string) bool {
	if id == Human || id == SystemPool {
		return true
	}
	name := MemberName(id)
	return name != id && ValidMemberName(name)
}

// IsAgent says whether id is that of an agent.
func IsAgent(id string) bool { return strings.HasPrefix(id, AgentPrefix) }
