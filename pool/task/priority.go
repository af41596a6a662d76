package task

import "fmt"

// Priority says how urgent a task is. Values compare in order of urgency:
// an absent priority means "no urgency" and sorts below low (llm-chat-task).
type Priority uint8

// The priorities. The zero value is "none given", which a task may have.
const (
	PriorityUnspecified Priority = iota
	Low
	Medium
	High

	priorityCount
)

var priorityNames = [priorityCount]string{"unspecified", "low", "medium", "high"}

// String returns the lower-case name, "unspecified" where none was given.
func (p Priority) String() string {
	if p < priorityCount {
		return priorityNames[p]
	}
	return fmt.Sprintf("priority(%d)", uint8(p))
}

// Valid says whether a task may have p: a declared priority, or none.
func (p Priority) Valid() bool { return p < priorityCount }

// ParsePriority reads "low", "medium" or "high", exactly; false for anything
// else, the empty string and "unspecified" too: absence has no name.
func ParsePriority(name string) (Priority, bool) {
	for p := Low; p < priorityCount; p++ {
		if priorityNames[p] == name {
			return p, true
		}
	}
	return PriorityUnspecified, false
}
