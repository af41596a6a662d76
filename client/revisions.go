package client

import (
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// maxChanges is how many changes a revision may have.
const maxChanges = 10_000

// changes takes one message of changes apart into its revisions, and puts one
// that comes in parts together.
func (c *conversation) changes(part *taskpoolv1.WatchChanges, m *taskpoolv1.WatchTasksResponse) ([]Change, error) {
	if c.phase != live {
		return nil, violation("changes before the watch is open or its snapshot complete")
	}
	revisions, err := c.revisions(part)
	if err != nil {
		return nil, err
	}
	if part.GetMore() {
		if len(revisions) == 0 {
			return nil, violation("a revision goes on that had not begun")
		}
		last := len(revisions) - 1
		c.part, revisions = &revisions[last], revisions[:last]
		return c.deliver(revisions)
	}
	if m.GetCursor() == "" {
		return nil, violation("whole revisions without a cursor")
	}
	whole, err := c.deliver(revisions)
	if err != nil {
		return nil, err
	}
	if len(whole) == 0 {
		return c.moved(m)
	}
	if err := c.reach(m); err != nil {
		return nil, err
	}
	whole[len(whole)-1].Cursor = c.after.String()
	return whole, nil
}

// revisions are those of a message, in order, the first with the parts that came
// before.
func (c *conversation) revisions(m *taskpoolv1.WatchChanges) ([]Change, error) {
	tasks, graphs := m.GetChanges(), m.GetGraphs()
	var revisions []Change
	if c.part != nil {
		revisions = append(revisions, *c.part)
	}
	for len(tasks) > 0 || len(graphs) > 0 {
		revision := first(tasks, graphs)
		nt, ng := prefix(tasks, revision), prefix(graphs, revision)
		if c.part == nil || c.part.Revision != revision {
			clear(c.seen)
		}
		for _, change := range tasks[:nt] {
			if err := c.once(revision, change.GetTaskId()); err != nil {
				return nil, err
			}
			if change.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED && change.GetTask() == nil {
				return nil, violation("revision %d has task %s without the task", revision, change.GetTaskId())
			}
		}
		for _, change := range graphs[:ng] {
			if err := c.once(revision, change.GetGraphId()); err != nil {
				return nil, err
			}
			if change.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED && change.GetGraph() == nil {
				return nil, violation("revision %d has graph %s without the graph", revision, change.GetGraphId())
			}
		}
		switch going := c.part; {
		case going != nil && going.Revision == revision:
			revisions[0].Tasks = append(revisions[0].Tasks, tasks[:nt]...)
			revisions[0].Graphs = append(revisions[0].Graphs, graphs[:ng]...)
		case going != nil:
			return nil, violation("revision %d begins while revision %d goes on", revision, going.Revision)
		case revision <= c.last:
			return nil, violation("revision %d after revision %d", revision, c.last)
		default:
			revisions = append(revisions, Change{Revision: revision, Tasks: tasks[:nt:nt], Graphs: graphs[:ng:ng]})
		}
		c.part, c.last = nil, revision
		tasks, graphs = tasks[nt:], graphs[ng:]
	}
	c.part = nil
	return revisions, nil
}

// once takes note of a change of a revision, and refuses what would let the
// revision grow without end.
func (c *conversation) once(revision int64, id string) error {
	if _, twice := c.seen[id]; twice {
		return violation("revision %d has %s twice", revision, id)
	}
	if len(c.seen) >= maxChanges {
		return violation("revision %d has more than %d changes", revision, maxChanges)
	}
	if c.seen == nil {
		c.seen = map[string]struct{}{}
	}
	c.seen[id] = struct{}{}
	return nil
}

// deliver gives whole revisions cursors that build on the last message's. It
// leaves out those that were delivered before, and makes sure that they are.
func (c *conversation) deliver(revisions []Change) ([]Change, error) {
	var out []Change
	for _, r := range revisions {
		switch {
		case c.owed && r.Revision < c.after.through:
			continue
		case c.owed:
			if r.Revision != c.after.through || fingerprint(r) != c.after.print {
				return nil, anotherHistory(c.after.through)
			}
			c.owed = false
			continue
		}
		c.after.through, c.after.print = r.Revision, fingerprint(r)
		r.Cursor = c.after.String()
		out = append(out, r)
	}
	return out, nil
}

// anotherHistory is what a server would say of a cursor at that revision, if it
// had given one: it is of a history that is no more.
func anotherHistory(revision int64) error {
	s := status.New(codes.OutOfRange, fmt.Sprintf("the server's revision %d is not the one that was delivered: a backup was restored, or another view is asked for", revision))
	if detailed, err := s.WithDetails(&errdetails.ErrorInfo{Domain: errorDomain, Reason: "CURSOR_EXPIRED"}); err == nil {
		s = detailed
	}
	return s.Err()
}

// first is the lowest revision at the head of either.
func first(tasks []*taskpoolv1.TaskChange, graphs []*taskpoolv1.GraphChange) int64 {
	switch {
	case len(graphs) == 0:
		return tasks[0].GetRevision()
	case len(tasks) == 0:
		return graphs[0].GetRevision()
	}
	return min(tasks[0].GetRevision(), graphs[0].GetRevision())
}

// prefix is how many at the head belong to the revision.
func prefix[C interface{ GetRevision() int64 }](changes []C, revision int64) int {
	for i, change := range changes {
		if change.GetRevision() != revision {
			return i
		}
	}
	return len(changes)
}
