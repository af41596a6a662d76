package task

import "time"

// EventKind says what a thread event tells.
type EventKind uint8

// The kinds of event: den's eight, then ours.
const (
	EventUnspecified EventKind = iota
	EventCreated
	EventComment
	EventClaimed
	EventReleased
	EventStatus
	EventAssigned
	EventSubtask
	EventEdited
	EventProgress
	EventDependency
	EventHoldExpired
	EventSubmitted
	EventGate
	EventVerdict
	EventRetried
	// EventImported: the task was brought in from an export, with the thread that
	// stands before it.
	EventImported

	eventKindCount
)

// Event is one row of a task's thread, and what the feed carries beside the
// task. Immutable once published.
type Event struct {
	// ID increases within the pool.
	ID     int64
	TaskID string
	At     time.Time
	Actor  string
	Kind   EventKind
	// Body is text for people.
	Body string
	// Detail is one of the …Detail types of this package, for programs; nil
	// where the kind says all.
	Detail any
}

// CreatedDetail tells of a task's first values.
type CreatedDetail struct{ Title, ParentID, DiscoveredFrom string }

// ClaimedDetail tells of a hold that began. Lease is 0 when it does not expire.
type ClaimedDetail struct {
	Holder string
	Lease  time.Duration
	RunID  string
}

// HoldExpiredDetail tells of a hold whose lease ran out.
type HoldExpiredDetail struct {
	// Holder had it since HeldAt, for RunID, with a lease of Lease.
	Holder string
	HeldAt time.Time
	Lease  time.Duration
	RunID  string
	// InARow counts the holds that ran out one after the other, with this one.
	InARow int
}

// ReleasedDetail tells of a hold that ended without a result.
type ReleasedDetail struct{ Holder, Reason string }

// StatusDetail tells of a move.
type StatusDetail struct {
	From, To Status
	Reason   string
	// Forced: an operator went past open children, named in OpenChildren.
	Forced       bool
	OpenChildren []string
	// Unfinished are the dependencies in the way where To is Pending.
	Unfinished []string
}

// AssignedDetail tells of a task handed to another; "" is nobody.
type AssignedDetail struct{ From, To string }

// SubtaskChange says what happened among a task's children.
type SubtaskChange uint8

// The changes among a task's children.
const (
	SubtaskUnspecified SubtaskChange = iota
	// SubtaskAdded: a child was created under, or moved to, this task.
	SubtaskAdded
	// SubtaskRemoved: a child was moved away or deleted.
	SubtaskRemoved
	// SubtasksAllClosed: the last open child was closed.
	SubtasksAllClosed
)

// SubtaskDetail tells of a change among a task's children.
type SubtaskDetail struct {
	ChildID string
	Change  SubtaskChange
}

// EditedDetail names the fields that changed, by their API names in a fixed
// order, and the label keys set and removed.
type EditedDetail struct {
	Fields                   []string
	SetLabels, RemovedLabels []string
}

// DependencyDetail tells of dependencies added and removed, or of one that was
// given up (cancelled or failed) and so keeps this task pending.
type DependencyDetail struct {
	Added, Removed []string
	GivenUp        string
}

// ImportedDetail tells which key an imported task had where it was exported.
type ImportedDetail struct{ Key string }
