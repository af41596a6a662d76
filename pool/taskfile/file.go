package taskfile

import (
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Record is one task as a file holds it.
type Record struct {
	// Task has ID, Title, Brief (but no Body), Priority, Type, Status and
	// Dependencies. Nothing else of it is written, and nothing else is set in one
	// that was read.
	Task *task.Task
	// History is the progress log, oldest first.
	History []Entry
}

// Entry is one entry of a progress log.
type Entry struct {
	// At is zero where a file gives no time; one that is written has a time.
	At   time.Time
	Text string
}

// File is what a file says.
type File struct {
	// Records are the tasks in the order of the file. Their ids are canonical
	// UUIDs, each another; their dependencies are among them, each once, and make
	// no cycle. The statuses are the file's: that a pending or ready task is what
	// follows from its dependencies is not checked.
	Records []Record
	// Pruned are the dependencies that were left out, as the file writes them, by
	// the id of the task that had them; nil when there are none.
	Pruned map[string][]string
}

// savable are the statuses that a file knows.
var savable = task.SetOf(task.Pending, task.Ready, task.InProgress, task.Done)

// HasStatus says whether a task of that status can be in a file.
func HasStatus(s task.Status) bool { return savable.Has(s) }
