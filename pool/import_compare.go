package pool

import (
	"context"
	"fmt"
	"strings"
)

// compareAtOnce tasks are looked up under one hold of the lock.
const compareAtOnce = 256

// compare sees how the tasks of an import differ from the pool's, and where each
// id comes first. It is the long part of a merge, which so keeps nobody waiting:
// the writer looks again only at what changed since.
func (m *Import) compare(ctx context.Context) (byID map[string]int, err error) {
	byID = make(map[string]int, len(m.tasks))
	for i, t := range m.tasks {
		if t.task == nil {
			continue
		}
		if _, twice := byID[t.task.ID]; !twice {
			byID[t.task.ID] = i
		}
	}
	nodes := make([]*node, compareAtOnce)
	for from := 0; from < len(m.tasks); from += compareAtOnce {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tasks := m.tasks[from:min(from+compareAtOnce, len(m.tasks))]
		m.pool.nodes(nodes, tasks)
		for i, t := range tasks {
			if t.later == nil && len(t.wrong) == 0 && nodes[i] != nil {
				t.meet(nodes[i])
			}
		}
	}
	return byID, nil
}

// nodes reads what is published under the ids of tasks.
func (p *Pool) nodes(to []*node, tasks []*imported) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for i, t := range tasks {
		to[i] = nil
		if t.task != nil {
			to[i] = p.state.node(t.task.ID)
		}
	}
}

// meet compares a task with what the pool has under its id, if it was not
// compared with that before: nodes do not change.
func (t *imported) meet(n *node) {
	if t.met == n {
		return
	}
	t.met, t.differs = n, ""
	if fields := differences(n, t); len(fields) > 0 {
		t.differs = fmt.Sprintf("%s differs here in %s; it was left as it is", n.task.Key(), strings.Join(fields, ", "))
	}
}
