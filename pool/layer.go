package pool

import (
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/dag"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// ground is what a layer lies on: the published state, or another layer.
type ground interface {
	node(id string) *node
	numbered(number int64) *node
	withPrefix(prefix string) []string
	request(requestKey) *request
}

// layer is a private set of changes over a state or over another layer. It has
// no way to change what it lies on, so dropping it undoes everything. One
// goroutine uses it.
type layer struct {
	under ground
	marks
	// last is the head after the newest commit that this layer took in; zero
	// when it took in none.
	last store.Head
	// epoch is set where a new one begins with this layer.
	epoch string
	// nodes are the changed ones; nil is one that is gone.
	nodes map[string]*node
	// created lists the ids of new nodes by number; nil until there is one.
	created map[int64]string
	// requests are new records in order, asked those by key; nil until there is
	// one.
	requests []*request
	asked    map[requestKey]*request
	// signs are the numbers of tasks whose leases begin anew.
	signs []int64
}

func newLayer(under ground, m marks) *layer {
	return &layer{under: under, marks: m, nodes: map[string]*node{}}
}

func (l *layer) node(id string) *node {
	if n, changed := l.nodes[id]; changed {
		return n
	}
	return l.under.node(id)
}

func (l *layer) numbered(number int64) *node {
	if id, ok := l.created[number]; ok {
		return l.node(id)
	}
	n := l.under.numbered(number)
	if n == nil {
		return nil
	}
	return l.node(n.task.ID)
}

func (l *layer) withPrefix(prefix string) []string {
	ids := slices.DeleteFunc(l.under.withPrefix(prefix), func(id string) bool { return l.node(id) == nil })
	for _, id := range l.created {
		if strings.HasPrefix(id, prefix) && l.node(id) != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (l *layer) request(k requestKey) *request {
	if r := l.asked[k]; r != nil {
		return r
	}
	return l.under.request(k)
}

// own returns a version of the node that this layer may change; nil when there
// is no such node. Its task and slices are still shared.
func (l *layer) own(id string) *node {
	if n, mine := l.nodes[id]; mine {
		return n
	}
	n := l.under.node(id)
	if n == nil {
		return nil
	}
	c := *n
	l.nodes[id] = &c
	return &c
}

// add brings in a new node without edges. One that will need something goes to
// the end of the order, where its dependencies agree; any other to the front,
// where a parent of it agrees.
func (l *layer) add(t *task.Task, needs bool) *node {
	n := &node{task: t}
	if needs {
		l.lastOrder += dag.Step
		n.order = l.lastOrder
	} else {
		l.firstOrder -= dag.Step
		n.order = l.firstOrder
	}
	l.nodes[t.ID] = n
	if l.created == nil {
		l.created = map[int64]string{}
	}
	l.created[t.Number] = t.ID
	l.number = max(l.number, t.Number)
	return n
}

// remember keeps a request's record.
func (l *layer) remember(r *request) {
	l.requests = append(l.requests, r)
	if l.asked == nil {
		l.asked = map[requestKey]*request{}
	}
	l.asked[r.key] = r
}

// absorb takes over what a layer on top of this one holds, which is done with.
func (l *layer) absorb(top *layer) {
	l.marks = top.marks
	if top.epoch != "" {
		l.epoch = top.epoch
	}
	if len(l.nodes) == 0 {
		l.nodes = top.nodes
	} else {
		maps.Copy(l.nodes, top.nodes)
	}
	if l.created == nil {
		l.created = top.created
	} else {
		maps.Copy(l.created, top.created)
	}
	for _, r := range top.requests {
		l.remember(r)
	}
	l.signs = append(l.signs, top.signs...)
}

// drop takes a node out, with its edges.
func (l *layer) drop(n *node) {
	for _, dep := range n.task.Dependencies {
		l.unlink(n.task.ID, dep)
	}
	l.leave(n.task.ID, n.task.ParentID)
	l.nodes[n.task.ID] = nil
}

// link makes id a dependent of dep; unlink undoes it. join and leave are the
// same for a child and its parent. The order of nodes is connect's to keep.
func (l *layer) link(id, dep string) {
	if d := l.own(dep); d != nil {
		d.dependents = l.place(d.dependents, id)
	}
}

func (l *layer) unlink(id, dep string) {
	if d := l.own(dep); d != nil {
		d.dependents = without(d.dependents, id)
	}
}

func (l *layer) join(id, parent string) {
	if p := l.own(parent); p != nil {
		p.children = l.place(p.children, id)
	}
}

func (l *layer) leave(id, parent string) {
	if parent == "" {
		return
	}
	if p := l.own(parent); p != nil {
		p.children = without(p.children, id)
	}
}

// place returns ids, which are in creation order, with id among them. So they
// have the same order in every pool over the same log, and after a restart.
func (l *layer) place(ids []string, id string) []string {
	number := l.node(id).task.Number
	if last := len(ids) - 1; last < 0 || l.node(ids[last]).task.Number < number {
		return append(ids, id) // sharing the array with older versions, see node.hear
	}
	at := sort.Search(len(ids), func(i int) bool {
		n := l.node(ids[i])
		return n != nil && n.task.Number > number
	})
	return slices.Insert(slices.Clip(ids), at, id)
}

// connect keeps the order of nodes right for a new edge: from needs to. When
// the edge would close a cycle nothing changes and the cycle is returned, first
// and last equal.
func (l *layer) connect(from, to string) (cycle []string) {
	moves, cycle := dag.AddEdge(view{l}, from, to)
	if cycle != nil {
		return cycle
	}
	for _, m := range moves {
		l.own(m.Node).order = m.Order
		l.firstOrder, l.lastOrder = min(l.firstOrder, m.Order), max(l.lastOrder, m.Order)
	}
	return nil
}

// adopt makes a task what the store tells, with its edges. It is how commits
// made by others become state; nothing is checked. The task is there already,
// if only as a stub.
func (l *layer) adopt(t *task.Task) {
	n := l.own(t.ID)
	old := n.task
	n.task = t
	dependencies, parent := t.Dependencies, t.ParentID
	// dag sees each edge from both of its ends, so they change together.
	t.Dependencies, t.ParentID = slices.Clone(old.Dependencies), old.ParentID
	for _, dep := range old.Dependencies {
		if !slices.Contains(dependencies, dep) {
			t.Dependencies = without(t.Dependencies, dep)
			l.unlink(t.ID, dep)
		}
	}
	if old.ParentID != parent {
		l.leave(t.ID, old.ParentID)
		t.ParentID = ""
		if l.node(parent) != nil {
			l.connect(parent, t.ID)
			t.ParentID = parent
			l.join(t.ID, parent)
		}
	}
	for _, dep := range dependencies {
		if !slices.Contains(old.Dependencies, dep) && l.node(dep) != nil {
			l.connect(t.ID, dep)
			t.Dependencies = with(t.Dependencies, dep)
			l.link(t.ID, dep)
		}
	}
	t.Dependencies, t.ParentID = dependencies, parent // in the store's order
}

// view shows a layer to dag.
type view struct{ l *layer }

func (v view) Order(id string) int64 { return v.l.node(id).order }

func (v view) Needs(id string) iter.Seq[string] { return v.present(v.l.node(id).needs()) }

func (v view) NeededBy(id string) iter.Seq[string] { return v.present(v.l.node(id).neededBy()) }

// present leaves out ids of tasks that are gone.
func (v view) present(ids iter.Seq[string]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range ids {
			if v.l.node(id) != nil && !yield(id) {
				return
			}
		}
	}
}
