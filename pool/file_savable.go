package pool

import (
	"context"
	"fmt"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// UnsavableError says: the pool has what llm-chat-task's file has no place for.
// Nothing was written.
type UnsavableError struct {
	// Tasks are the first of those in the way, in creation order; Total is how
	// many there are.
	Tasks []UnsavableTask
	Total int
}

// UnsavableTask is a task that a file can't hold.
type UnsavableTask struct {
	ID, Key string
	// Fields are what the file has no place for, by the API's names.
	Fields []string
}

// unsavableShown is how many tasks are named.
const unsavableShown = 10

func (e *UnsavableError) Error() string {
	var b strings.Builder
	b.WriteString("a task file has no place for ")
	for i, t := range e.Tasks {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s of %s", strings.Join(t.Fields, ", "), t.Key)
	}
	if more := e.Total - len(e.Tasks); more > 0 {
		fmt.Fprintf(&b, "; and for something of %d more", more)
	}
	b.WriteString("; nothing was written; use ExportPool, which keeps everything")
	return b.String()
}

// unsavable is one thing that the file has no place for.
type unsavable struct {
	name string
	set  func(*task.Task) bool
}

// unsavables are those that the task itself shows. What a task has beside them is
// in the file, follows from what is, or begins anew, as [Pool.Save] says.
var unsavables = [...]unsavable{
	{"status", func(t *task.Task) bool { return !taskfile.HasStatus(t.Status) }},
	{"parent_id", func(t *task.Task) bool { return t.ParentID != "" }},
	{"labels", func(t *task.Task) bool { return len(t.Labels) > 0 }},
	{"body", func(t *task.Task) bool { return t.Brief.Text(task.PartBody) != "" }},
	{"not_before", func(t *task.Task) bool { return !t.NotBefore.IsZero() }},
	// One that a claim made goes with the claim, also when the work is done; where
	// it outlasted the hold it says who shall go on.
	{"assignee", func(t *task.Task) bool { return t.Assignee != "" && (!t.AssignedByClaim || t.Status.Open()) }},
	{"reviewer", func(t *task.Task) bool { return t.Reviewer != "" }},
	{"blocked_reason", func(t *task.Task) bool { return t.BlockedReason != "" }},
	{"discovered_from_id", func(t *task.Task) bool { return t.DiscoveredFrom != "" }},
	{"result", func(t *task.Task) bool { return t.Result != "" }},
	{"submission", func(t *task.Task) bool { return t.Submission != 0 }},
	{"lease", func(t *task.Task) bool { return t.Lease != 0 }},
}

// unsavableEvents are the kinds of event that hold what members had to say or
// earned, rather than that something was done, and what to call them.
var unsavableEvents = map[task.EventKind]string{
	task.EventComment:   "comments",
	task.EventSubmitted: "submissions",
	task.EventGate:      "gates",
	task.EventVerdict:   "verdicts",
	task.EventRetried:   "retries",
}

// unsavable lists what of a node a file has no place for.
func (n *node) unsavable() (fields []string) {
	for _, u := range unsavables {
		if u.set(n.task) {
			fields = append(fields, u.name)
		}
	}
	told := map[string]bool{}
	for _, e := range n.thread {
		if name := unsavableEvents[e.Kind]; name != "" && !told[name] {
			told[name] = true
			fields = append(fields, name)
		}
	}
	return fields
}

// savable refuses a pool of which a file would lose something.
func (s *snapshot) savable(ctx context.Context) error {
	var found UnsavableError
	for n, err := range s.all(ctx) {
		if err != nil {
			return err
		}
		fields := n.unsavable()
		if len(fields) == 0 {
			continue
		}
		if found.Total++; found.Total <= unsavableShown {
			found.Tasks = append(found.Tasks, UnsavableTask{ID: n.task.ID, Key: n.task.Key(), Fields: fields})
		}
	}
	if found.Total > 0 {
		return &found
	}
	return nil
}
