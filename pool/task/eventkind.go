package task

import "fmt"

var eventKindNames = [eventKindCount]string{
	"unspecified", "created", "comment", "claimed", "released", "status",
	"assigned", "subtask", "edited", "progress", "dependency", "hold_expired",
	"submitted", "gate", "verdict", "retried", "imported",
}

// String returns the lower-case name: "created", "hold_expired".
func (k EventKind) String() string {
	if k < eventKindCount {
		return eventKindNames[k]
	}
	return fmt.Sprintf("event_kind(%d)", uint8(k))
}

// Valid says whether k is a kind an event can have.
func (k EventKind) Valid() bool { return k > EventUnspecified && k < eventKindCount }

// EventKinds lists every kind an event can have, in the order they are declared.
func EventKinds() []EventKind {
	all := make([]EventKind, 0, eventKindCount-1)
	for k := EventCreated; k < eventKindCount; k++ {
		all = append(all, k)
	}
	return all
}

// ParseEventKind reads the name String writes; false when there is none such.
func ParseEventKind(name string) (EventKind, bool) {
	for k := EventCreated; k < eventKindCount; k++ {
		if eventKindNames[k] == name {
			return k, true
		}
	}
	return EventUnspecified, false
}
