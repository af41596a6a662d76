package task

import (
	"strconv"
	"time"
)

// Task is one unit of work, as every member sees it. A published Task is never
// changed: its slices and maps are shared between versions, and the map of labels
// between tasks, and must be treated as read-only.
//
// History and dependents are not here: history is the PROGRESS events of the
// task's thread, dependents are the other side of Dependencies; both are told
// when one task is read.
type Task struct {
	// ID is a random UUIDv4 in canonical lower-case form, chosen by the pool.
	ID string
	// Number is the creation number; Key shows it. Never reused within a pool.
	Number int64
	Title  string
	// Brief is the longer text.
	Brief  PackedBrief
	Labels map[string]string

	Priority Priority
	Type     Type
	Status   Status
	// AssignedByClaim: the assignment was made by a claim, so release, expiry
	// and reopening take it back.
	AssignedByClaim bool
	Submission      int32

	// Dependencies are ids in the order they were added, without duplicates.
	Dependencies []string
	// Unfinished are those of Dependencies that are not done, in the same order.
	Unfinished []string
	// HistoryCount counts the progress entries, HistoryLength the code points of
	// their rendered lines ([HistoryLine]) together, line breaks between them
	// excluded.
	HistoryCount  int
	HistoryLength int
	// EventCount counts the events of the thread.
	EventCount int

	Assignee  string
	CreatedBy string
	Reviewer  string
	ParentID  string
	// Depth is 0 for a top-level task.
	Depth         int
	ChildrenTotal int
	ChildrenDone  int
	// ChildrenOpen counts the children that are neither done nor cancelled.
	ChildrenOpen int

	// Holder is who works on the task now, "" when nobody does.
	Holder string
	HeldAt time.Time
	// Lease is 0 when the hold does not expire.
	Lease         time.Duration
	BlockedReason string

	CreatedAt time.Time
	UpdatedAt time.Time
	// ClosedAt is zero unless the task is closed.
	ClosedAt time.Time
	// Revision is that of the task's last change of any kind; Version is raised
	// only by members' changes to this task.
	Revision int64
	Version  int64
	// NotBefore is zero when nothing has to be waited for.
	NotBefore      time.Time
	DiscoveredFrom string
	Result         string
}

// Key is the short name of the task within its pool, "T-12".
func (t *Task) Key() string { return Key(t.Number) }

// Key is the short name of the task with that creation number.
func Key(number int64) string { return "T-" + strconv.FormatInt(number, 10) }

// Clone returns a copy whose fields may be set. It shares the slices and
// the maps, which must be replaced, never changed in place.
func (t *Task) Clone() *Task {
	c := *t
	return &c
}

// Closed says whether nothing more is expected of the task: done or cancelled.
func (t *Task) Closed() bool { return t.Status.Closed() }
