// Package pooltest has a pool as simple as can be, for tests to compare the real
// one with.
package pooltest

import (
	"maps"
	"slices"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Model is a pool in a list. It is written from what the pool promises, not from
// how the pool does it: everything that is derived is derived anew after every
// change, every cycle is looked for by walking, and a mutation is made on a copy
// that is thrown away when it is refused.
type Model struct {
	Limits task.Limits
	Rules  task.Rules
	// Revision is that of the pool.
	Revision int64
	Tasks    []*Task // by number
	last     int64   // the highest number given out
	asked    map[string]answer
	cleared  bool // in this mutation
}

// Task is a task of the model.
type Task struct {
	ID                                  string
	Number                              int64
	Title                               string
	Priority                            task.Priority
	Labels                              map[string]string
	Status                              task.Status
	Later                               bool // not_before is to come
	Dependencies                        []string
	Parent, CreatedBy, Assignee, Holder string
	ByClaim                             bool
	Token, BlockedReason                string
	History                             []string
	Version                             int64
	Unfinished                          []string
	Depth, ChildrenTotal, ChildrenDone  int
	Events                              map[string]int // "actor KIND"
	fresh                               bool
}

// answer is what is known of a request_id.
type answer struct {
	digest, token string
	ids           []string
}

// New is an empty pool after its founding commit.
func New(limits task.Limits, rules task.Rules) *Model {
	return &Model{Limits: limits, Rules: rules, Revision: 1, asked: map[string]answer{}}
}

// Request is who asks. Key scopes the request_id: actor and method and id.
type Request struct{ Actor, Key, Digest string }

// Try runs a mutation on a copy of the model and takes the copy over when it is
// not refused. invalid is what is wrong with it whatever the state is. run
// returns the reasons for which it may be refused, none when it must be
// accepted; the ids and the token are what a replay answers with.
func (m *Model) Try(r Request, invalid []string, run func(*Model) (ids []string, token string, refused []string)) (refused []string, replayed bool) {
	if invalid != nil {
		return invalid, false
	}
	if old, known := m.asked[r.Key]; known && r.Key != "" {
		return m.replay(r, old), true
	}
	next := m.copy()
	ids, token, refused := run(next)
	if len(refused) > 0 {
		return refused, false
	}
	next.derive()
	if r.Key != "" {
		next.asked[r.Key] = answer{r.Digest, token, ids}
	}
	if r.Key != "" || !m.equal(next) {
		next.Revision++
	}
	*m = *next
	return nil, false
}

// Restored makes the model one that was cleared and restored from its own export,
// and is at a revision: only holds have new tokens, and no request is known.
func (m *Model) Restored(revision int64, token func(id string) string) {
	m.Revision, m.asked = revision, map[string]answer{}
	for _, t := range m.Tasks {
		t.Token = token(t.ID)
	}
}

func (m *Model) replay(r Request, old answer) []string {
	if old.digest != r.Digest {
		return []string{"REQUEST_ID_REUSED"}
	}
	for _, id := range old.ids {
		t := m.ID(id)
		switch {
		case t == nil && len(old.ids) == 1:
			return []string{"TASK_NOT_FOUND"}
		case t != nil && old.token != "" && t.Token != old.token:
			return []string{"HOLD_LOST"}
		}
	}
	return nil
}

func (m *Model) copy() *Model {
	c := *m
	c.asked, c.cleared = maps.Clone(m.asked), false
	c.Tasks = nil
	for _, t := range m.Tasks {
		d := *t
		d.Labels, d.Events = maps.Clone(t.Labels), maps.Clone(t.Events)
		d.Dependencies, d.History, d.Unfinished = slices.Clone(t.Dependencies), slices.Clone(t.History), slices.Clone(t.Unfinished)
		c.Tasks = append(c.Tasks, &d)
	}
	return &c
}

// equal says whether nothing happened: whatever happens is told by an event, or
// takes a task away.
func (m *Model) equal(next *Model) bool {
	return !next.cleared && slices.EqualFunc(m.Tasks, next.Tasks, func(a, b *Task) bool { return a.ID == b.ID && maps.Equal(a.Events, b.Events) })
}

// ID finds a task by its id, nil when there is none.
func (m *Model) ID(id string) *Task {
	for _, t := range m.Tasks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// Find finds a task by id, key or prefix.
func (m *Model) Find(name string) *Task {
	var found *Task
	for _, t := range m.Tasks {
		if t.ID == name || task.Key(t.Number) == name {
			return t
		}
		if len(name) >= 8 && strings.HasPrefix(t.ID, name) {
			found = t // that two tasks share eight digits, no test lives to see
		}
	}
	return found
}

// Children are those of a task, in creation order.
func (m *Model) Children(id string) (children []*Task) {
	for _, t := range m.Tasks {
		if t.Parent == id && id != "" {
			children = append(children, t)
		}
	}
	return children
}

// Dependents are the ids of those that depend on a task, in creation order.
func (m *Model) Dependents(id string) (ids []string) {
	for _, t := range m.Tasks {
		if slices.Contains(t.Dependencies, id) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// Claimable says whether the actor could claim a task.
func (m *Model) Claimable(t *Task, actor string) bool {
	return t.Status == task.Ready && (t.Assignee == "" || t.Assignee == actor)
}

// derive computes all that follows from the rest, and tells of open tasks whose
// status changed by it.
func (m *Model) derive() {
	for _, t := range m.Tasks {
		t.Unfinished, t.Depth = nil, 0
		for _, id := range t.Dependencies {
			if m.ID(id).Status != task.Done {
				t.Unfinished = append(t.Unfinished, id)
			}
		}
		for up := t.Parent; up != ""; up = m.ID(up).Parent {
			t.Depth++
		}
		t.ChildrenTotal, t.ChildrenDone = 0, 0
		for _, c := range m.Children(t.ID) {
			t.ChildrenTotal++
			if c.Status.Closed() {
				t.ChildrenDone++
			}
		}
		if want := t.open(); t.Status.Open() && t.Status != want {
			t.Status = want
			if !t.fresh {
				t.event(task.SystemPool, task.EventStatus)
			}
		}
		t.fresh = false
	}
}

// open is what "open" comes to for a task whose unfinished dependencies are known.
func (t *Task) open() task.Status {
	if len(t.Unfinished) > 0 || t.Later {
		return task.Pending
	}
	return task.Ready
}

func (t *Task) event(actor string, kind task.EventKind) {
	if t.Events == nil {
		t.Events = map[string]int{}
	}
	t.Events[actor+" "+kind.String()]++
}

// needs says whether one task needs another, by dependencies and children.
func (m *Model) needs(from, to string) bool {
	seen := map[string]bool{}
	var walk func(string) bool
	walk = func(id string) bool {
		if id == to {
			return true
		}
		if seen[id] || m.ID(id) == nil {
			return false
		}
		seen[id] = true
		for _, c := range m.Children(id) {
			if walk(c.ID) {
				return true
			}
		}
		return slices.ContainsFunc(m.ID(id).Dependencies, walk)
	}
	return walk(from)
}

// Clear takes everything out.
func (m *Model) Clear() {
	m.Tasks, m.cleared = nil, true
	clear(m.asked)
}

// Delete takes a task out.
func (m *Model) Delete(actor, name string, version int64) (refused []string) {
	t := m.Find(name)
	if t == nil {
		return []string{"TASK_NOT_FOUND"}
	}
	if version != 0 && version != t.Version {
		return []string{"VERSION_MISMATCH"}
	}
	if len(m.Dependents(t.ID)) > 0 {
		refused = append(refused, "HAS_DEPENDENTS")
	}
	if len(m.Children(t.ID)) > 0 {
		refused = append(refused, "HAS_CHILDREN")
	}
	if refused == nil && t.Parent != "" {
		m.ID(t.Parent).event(actor, task.EventSubtask)
	}
	m.Tasks = slices.DeleteFunc(m.Tasks, func(o *Task) bool { return o == t })
	return refused
}
