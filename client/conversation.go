package client

import (
	"fmt"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// protocolError tells how a server broke the protocol of a watch.
type protocolError struct{ what string }

func (e *protocolError) Error() string { return "the server broke the protocol of a watch: " + e.what }

func violation(format string, args ...any) error {
	return &protocolError{what: fmt.Sprintf(format, args...)}
}

// phase is what a conversation is at.
type phase int

const (
	beginning  phase = iota // `opened` has not come
	inSnapshot              // `snapshot_end` has not come
	live
)

// conversation makes Changes of the messages of one stream, and holds them
// against the protocol: what it gives is whole and in order.
type conversation struct {
	phase phase
	// snapshot: the stream begins with one. A cursor before its end would skip
	// what is missing of it.
	snapshot bool
	// after is where the server would resume, and what of that was delivered
	// already.
	after position
	// owed: the server has yet to send the revision after.through again, which
	// proves that its history is the one it was delivered from.
	owed bool
	idle string // the cursor of the last progress while that is owed
	// last is the highest revision that came, 0 if none is known.
	last int64

	collected Change  // of a snapshot, so far
	part      *Change // a revision that goes on
	// seen are the ids of the last revision that came, while there are more.
	seen map[string]struct{}
}

// take gives the Changes that a message completes, in order; one without tasks
// and graphs only moves the cursor. Each has its Cursor. An error means that the
// server can't be relied upon: nothing more may be read.
func (c *conversation) take(m *taskpoolv1.WatchTasksResponse) ([]Change, error) {
	switch part := m.GetMessage().(type) {
	case *taskpoolv1.WatchTasksResponse_Opened:
		return c.opened(m)
	case *taskpoolv1.WatchTasksResponse_Snapshot:
		return nil, c.collect(part.Snapshot)
	case *taskpoolv1.WatchTasksResponse_SnapshotEnd:
		return c.snapshotEnd(m)
	case *taskpoolv1.WatchTasksResponse_Changes:
		return c.changes(part.Changes, m)
	case *taskpoolv1.WatchTasksResponse_Progress:
		return c.progress(m)
	}
	// A kind of tomorrow: what it says is not for this client, its cursor is.
	if m.GetCursor() == "" || !c.betweenRevisions() {
		return nil, nil
	}
	return c.moved(m)
}

// betweenRevisions tells whether there is something to resume after.
func (c *conversation) betweenRevisions() bool { return c.phase == live && c.part == nil }

// reach takes the cursor of a message for the position.
func (c *conversation) reach(m *taskpoolv1.WatchTasksResponse) error {
	// Older servers say no revision.
	if r := m.GetRevision(); r != 0 && r < c.last {
		return violation("the cursor of revision %d after revision %d", r, c.last)
	}
	c.last = max(c.last, m.GetRevision())
	if c.owed && c.last >= c.after.through {
		return anotherHistory(c.after.through)
	}
	if c.after.cursor = m.GetCursor(); c.last >= c.after.through {
		c.after.through, c.after.print = 0, 0 // the cursor is as far
	}
	return nil
}

// moved is the Change of a cursor without a change.
func (c *conversation) moved(m *taskpoolv1.WatchTasksResponse) ([]Change, error) {
	if err := c.reach(m); err != nil {
		return nil, err
	}
	return []Change{{Cursor: c.after.String(), Revision: max(c.last, c.after.through)}}, nil
}

func (c *conversation) opened(m *taskpoolv1.WatchTasksResponse) ([]Change, error) {
	if c.phase != beginning {
		return nil, violation("a watch that was open is opened again")
	}
	if c.snapshot {
		c.phase = inSnapshot
		return nil, nil
	}
	c.phase = live
	switch {
	case c.after.cursor != "":
		return nil, nil // it resumes where this client said
	case m.GetCursor() == "":
		return nil, violation("it is open from now on, and doesn't say where that is")
	}
	return c.moved(m)
}

func (c *conversation) collect(s *taskpoolv1.WatchSnapshot) error {
	if c.phase != inSnapshot {
		return violation("a part of a snapshot out of place")
	}
	for _, t := range s.GetTasks() {
		c.collected.Revision = max(c.collected.Revision, t.GetRevision())
		c.collected.Tasks = append(c.collected.Tasks, &taskpoolv1.TaskChange{
			Revision: t.GetRevision(), TaskId: t.GetId(), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED, Task: t,
		})
	}
	for _, g := range s.GetGraphs() {
		c.collected.Revision = max(c.collected.Revision, g.GetRevision())
		c.collected.Graphs = append(c.collected.Graphs, &taskpoolv1.GraphChange{
			Revision: g.GetRevision(), GraphId: g.GetId(), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED, Graph: g,
		})
	}
	return nil
}

func (c *conversation) snapshotEnd(m *taskpoolv1.WatchTasksResponse) ([]Change, error) {
	if c.phase != inSnapshot {
		return nil, violation("the end of a snapshot out of place")
	}
	if m.GetCursor() == "" {
		return nil, violation("a snapshot without a cursor")
	}
	whole := c.collected
	c.collected = Change{}
	c.phase, c.last = live, whole.Revision
	if err := c.reach(m); err != nil {
		return nil, err
	}
	whole.Cursor, whole.Snapshot, whole.Revision = m.GetCursor(), true, c.last
	return []Change{whole}, nil
}

func (c *conversation) progress(m *taskpoolv1.WatchTasksResponse) ([]Change, error) {
	switch {
	case c.phase == beginning:
		return nil, violation("progress before the watch is open")
	case m.GetCursor() == "":
		return nil, nil // a sign of life, nothing more
	case !c.betweenRevisions():
		return nil, violation("progress within a snapshot or a revision")
	case c.owed && m.GetCursor() == c.idle:
		// It has nothing more to send: its history ends before that revision.
		return nil, anotherHistory(c.after.through)
	}
	c.idle = m.GetCursor()
	return c.moved(m)
}
