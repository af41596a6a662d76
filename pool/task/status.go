package task

import "fmt"

// Status says where a task stands. Pending and Ready are derived by the pool.
type Status uint8

// The statuses. The zero value stands for "not said" and is never that of a task.
const (
	StatusUnspecified Status = iota
	// Pending: something is in the way: a dependency, or not_before.
	Pending
	// Ready: nothing is in the way, and nobody works on it.
	Ready
	// InProgress: held by a member.
	InProgress
	// Review: handed in, waiting for a verdict.
	Review
	// Blocked: set by hand, with a reason.
	Blocked
	// Done: finished.
	Done
	// Cancelled: given up.
	Cancelled
	// Failed: its attempts are used up; it waits for someone.
	Failed

	statusCount
)

var statusNames = [statusCount]string{"unspecified", "pending", "ready", "in_progress", "review", "blocked", "done", "cancelled", "failed"}

// String returns the lower-case name, as tools and the command line write it.
func (s Status) String() string {
	if s < statusCount {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Closed says whether nothing more is expected: done or cancelled. Failed waits
// for someone, so it is not closed.
func (s Status) Closed() bool { return s == Done || s == Cancelled }

// Open says whether the status is one the pool derives: pending or ready.
func (s Status) Open() bool { return s == Pending || s == Ready }

// Valid says whether s is a status a task can have.
func (s Status) Valid() bool { return s > StatusUnspecified && s < statusCount }

// Statuses lists every status a task can have, in the order they are declared.
func Statuses() []Status {
	all := make([]Status, 0, statusCount-1)
	for s := Pending; s < statusCount; s++ {
		all = append(all, s)
	}
	return all
}

// ParseStatus reads the name String writes; false when there is none such.
func ParseStatus(name string) (Status, bool) {
	for s := Pending; s < statusCount; s++ {
		if statusNames[s] == name {
			return s, true
		}
	}
	return StatusUnspecified, false
}
