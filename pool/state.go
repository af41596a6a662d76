package pool

import (
	"time"

	"github.com/tidwall/btree"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// state is everything a pool is at one revision. The writer alone changes it,
// under Pool.mu.
type state struct {
	epoch string
	head  store.Head
	marks

	ids idIndex
	// table holds the nodes in creation order, byStatus the numbers of each
	// status. Readers copy them in O(1); from then on they copy what they change.
	table    btree.Map[int64, *node]
	byStatus [int(task.Failed) + 1]btree.Map[int64, struct{}]
	// waiting is the pending tasks whose not_before may still come.
	waiting *btree.BTreeG[waiting]

	// leases are the holds that expire.
	leases leases
	// ranking is the tasks that can be claimed, in their order.
	ranking ranking

	requests requestLog
}

// since is the commit that began an epoch. It may hold a whole pool, so nobody
// reads it just to know its nonce.
type since struct {
	revision int64
	nonce    uint64
	// empty: no task was there after it, so who starts there sees everything.
	empty bool
}

// marks are the last values given out, and where the epoch began.
type marks struct {
	// number and event are the last task number and event id.
	number, event int64
	// since is where the epoch began.
	since since
	// firstOrder and lastOrder are the ends of the order of nodes.
	firstOrder, lastOrder int64
	// forgotten is the revision up to which request records are gone.
	forgotten int64
}

// waiting is a task that not_before holds back.
type waiting struct {
	until  time.Time
	number int64
}

func waitingLess(a, b waiting) bool {
	if !a.until.Equal(b.until) {
		return a.until.Before(b.until)
	}
	return a.number < b.number
}

func newState() *state {
	return &state{
		ids:      newIDIndex(0),
		waiting:  btree.NewBTreeGOptions(waitingLess, btree.Options{NoLocks: true}),
		leases:   newLeases(),
		ranking:  ranking{},
		requests: newRequestLog(),
	}
}

func (s *state) node(id string) *node { return s.ids.get(id) }

func (s *state) numbered(number int64) *node {
	n, _ := s.table.Get(number)
	return n
}

func (s *state) withPrefix(prefix string) []string { return s.ids.withPrefix(prefix) }

func (s *state) request(k requestKey) *request { return s.requests.get(k) }

// set publishes a new version of a node, or a new node.
func (s *state) set(n *node) {
	if old := s.numbered(n.task.Number); old != nil {
		s.unindex(old)
	}
	s.ids.set(n)
	s.table.Set(n.task.Number, n)
	s.byStatus[n.task.Status].Set(n.task.Number, struct{}{})
	if w, ok := waitsFor(n.task); ok {
		s.waiting.Set(w)
	}
	s.leases.set(n)
	s.ranking.set(n)
}

// load is set for a new node that comes after all others, and whose id is indexed
// already.
func (s *state) load(n *node) {
	s.table.Load(n.task.Number, n)
	s.byStatus[n.task.Status].Load(n.task.Number, struct{}{})
	if w, ok := waitsFor(n.task); ok {
		s.waiting.Set(w)
	}
	s.leases.set(n)
	s.ranking.set(n)
}

// remove takes a node out for ever.
func (s *state) remove(n *node) {
	s.unindex(n)
	s.ids.remove(n.task.ID)
	s.leases.drop(n.task.Number)
	s.table.Delete(n.task.Number)
}

func (s *state) unindex(old *node) {
	s.ranking.drop(old)
	s.byStatus[old.task.Status].Delete(old.task.Number)
	if w, ok := waitsFor(old.task); ok {
		s.waiting.Delete(w)
	}
}

// waitsFor says when the pool must look at a task again by itself: a pending
// one that nothing but time may hold back.
func waitsFor(t *task.Task) (waiting, bool) {
	if t.Status != task.Pending || t.NotBefore.IsZero() || len(t.Unfinished) > 0 {
		return waiting{}, false
	}
	return waiting{until: t.NotBefore, number: t.Number}, true
}

// merge publishes what a layer holds. The caller holds Pool.mu for writing and
// has made sure that the layer lies on this state as it is.
func (s *state) merge(l *layer, head store.Head) {
	if l.epoch != "" {
		s.epoch = l.epoch
	}
	s.marks = l.marks
	for id, n := range l.nodes {
		if n != nil {
			s.set(n)
		} else if old := s.node(id); old != nil {
			s.remove(old)
		}
	}
	for _, number := range l.signs {
		s.leases.renew(s.numbered(number))
	}
	for _, r := range l.requests {
		s.requests.add(r)
	}
	s.requests.forget(l.forgotten)
	s.head = head
}
