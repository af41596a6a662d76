package task

import "fmt"

// Type says what sort of work a task is.
type Type uint8

// The types. The zero value is "none given", which a task may have.
const (
	TypeUnspecified Type = iota
	Feature
	Bug
	Refactor
	Chore
	Research

	typeCount
)

var typeNames = [typeCount]string{"unspecified", "feature", "bug", "refactor", "chore", "research"}

// String returns the lower-case name, "unspecified" where none was given.
func (t Type) String() string {
	if t < typeCount {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// Valid says whether a task may have t: a declared type, or none.
func (t Type) Valid() bool { return t < typeCount }

// ParseType reads "feature", "bug", "refactor", "chore" or "research", exactly;
// false for anything else, the empty string and "unspecified" too.
func ParseType(name string) (Type, bool) {
	for t := Feature; t < typeCount; t++ {
		if typeNames[t] == name {
			return t, true
		}
	}
	return TypeUnspecified, false
}
