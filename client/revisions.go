package client

import (
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

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
		return c.deliver(revisions), nil
	}
	if m.GetCursor() == "" {
		return nil, violation("whole revisions without a cursor")
	}
	whole := c.deliver(revisions)
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
		for _, change := range tasks[:nt] {
			if change.GetKind() == taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED && change.GetTask() == nil {
				return nil, violation("revision %d has task %s without the task", revision, change.GetTaskId())
			}
		}
		for _, change := range graphs[:ng] {
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

// deliver gives whole revisions cursors that build on the last message's, and
// leaves out those that were delivered before.
func (c *conversation) deliver(revisions []Change) []Change {
	var out []Change
	for _, r := range revisions {
		if r.Revision > c.after.through {
			c.after.through = r.Revision
			r.Cursor = c.after.String()
			out = append(out, r)
		}
	}
	return out
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
