package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/taskpool-dev/taskpool/pool/dag"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// loading gathers the records of a log, which come in no order.
type loading struct {
	state    *state
	nodes    []*node
	events   []placedEvent
	claims   map[int64]claimRecord
	requests []*request
	meta     metaRecord
	damaged  []unreadable
	// cycle is one among the tasks' edges, nil as it should be.
	cycle []string
}

// placedEvent is an event with the number of its task.
type placedEvent struct {
	number int64
	event  *task.Event
}

func newLoading() *loading { return &loading{state: newState(), claims: map[int64]claimRecord{}} }

// unreadable is a record that the engine kept well but that means nothing.
type unreadable struct {
	key store.Key
	why error
}

// maxMark is the highest number or event id that a record may have.
const maxMark = task.MaxMark

// load reads the state of a log at its head, and what of it is damaged: rows
// that can't be read, which are set aside, and tasks that do not agree with the
// others. The state is of what is left.
func load(ctx context.Context, s store.Store, log string, codec Codec) (_ *state, _ []store.Damage, err error) {
	defer func() {
		// One pool whose records are odd beyond all checks must not end the
		// others' process.
		if p := recover(); p != nil {
			err = fmt.Errorf("loading %s panicked: %v\n%s", log, p, debug.Stack())
		}
	}()
	l := newLoading()
	d := newDecoding(codec, l.take)
	at, err := s.Load(ctx, log, d.add)
	if err = errors.Join(err, d.end()); err != nil {
		return nil, nil, err
	}
	damage := at.Damaged
	l.twins()
	for _, u := range l.damaged {
		if err := s.SetAside(ctx, log, u.key, u.why.Error()); err != nil {
			return nil, nil, err
		}
		damage = append(damage, u.damage(log))
	}
	l.state.head = at.Head
	l.assemble()
	return l.state, append(damage, l.unsound(log)...), nil
}

func (u unreadable) damage(log string) store.Damage {
	return store.Damage{Where: fmt.Sprintf("record %d/%d/%d of log %q", u.key.Kind, u.key.ID, u.key.Sub, log), Why: u.why.Error()}
}

// mark keeps the numbers in use from being given out again, also those of
// records that can't be read: a new task must not come by the thread or the
// hold of one that was lost.
func (l *loading) mark(key store.Key) {
	switch key.Kind {
	case kindTask, kindEvent, kindClaim:
		if key.ID <= maxMark {
			l.state.number = max(l.state.number, key.ID)
		}
	}
	if key.Kind == kindEvent && key.Sub <= maxMark {
		l.state.event = max(l.state.event, key.Sub)
	}
}

// take takes in a record.
func (l *loading) take(r *decoded) {
	l.mark(r.key)
	if r.err != nil {
		l.damaged = append(l.damaged, unreadable{r.key, r.err})
		return
	}
	switch r.key.Kind {
	case kindMeta:
		l.meta = r.meta
	case kindTask:
		l.nodes = append(l.nodes, &node{task: r.task})
	case kindEvent:
		l.events = append(l.events, placedEvent{r.key.ID, r.event})
	case kindClaim:
		l.claims[r.key.ID] = r.claim
	case kindRequest:
		l.requests = append(l.requests, r.request)
	}
}

// sort puts what came in no order into the order of tasks and of events.
func (l *loading) sort() {
	slices.SortFunc(l.nodes, func(a, b *node) int { return cmp.Compare(a.task.Number, b.task.Number) })
	slices.SortFunc(l.events, func(a, b placedEvent) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.event.ID, b.event.ID))
	})
	slices.SortFunc(l.requests, func(a, b *request) int { return cmp.Compare(a.revision, b.revision) })
	slices.SortFunc(l.damaged, func(a, b unreadable) int {
		return cmp.Or(cmp.Compare(a.key.Kind, b.key.Kind), cmp.Compare(a.key.ID, b.key.ID), cmp.Compare(a.key.Sub, b.key.Sub))
	})
}

// twins finds tasks with the id of an older one.
func (l *loading) twins() {
	slices.SortFunc(l.nodes, func(a, b *node) int { return cmp.Compare(a.task.Number, b.task.Number) })
	byID := make(map[string]int64, len(l.nodes))
	l.nodes = slices.DeleteFunc(l.nodes, func(n *node) bool {
		number := n.task.Number
		first, twice := byID[n.task.ID]
		if twice {
			l.damaged = append(l.damaged, unreadable{taskKey(number), fmt.Errorf("task %d has the id of task %d", number, first)})
		} else {
			byID[n.task.ID] = number
		}
		return twice
	})
}

// assemble makes nodes, edges, order and indexes of the records.
func (l *loading) assemble() {
	l.sort()
	s := l.state
	s.epoch, s.since = l.meta.Epoch, l.meta.since()
	s.number, s.event = max(s.number, l.meta.LastNumber), max(s.event, l.meta.LastEvent)
	s.ids = newIDIndex(len(l.nodes))
	rest := l.events
	for _, n := range l.nodes {
		s.ids.set(n)
		rest = l.dress(n, rest)
	}
	for _, n := range l.nodes {
		for i, dep := range n.task.Dependencies {
			if d := s.node(dep); d != nil && !slices.Contains(n.task.Dependencies[:i], dep) {
				n.task.Dependencies[i] = d.task.ID // share one string
				d.dependents = append(d.dependents, n.task.ID)
			}
		}
		if p := s.node(n.task.ParentID); p != nil {
			n.task.ParentID = p.task.ID
			p.children = append(p.children, n.task.ID)
			if !n.task.Closed() {
				p.task.ChildrenOpen++
			}
		}
	}
	l.order()
	for _, n := range l.nodes {
		s.load(n)
	}
	for _, r := range l.requests {
		s.requests.add(r)
	}
}

// dress gives a task its thread, which is the first of the events that is of no
// older task, and what follows from it. It gives the events that are left.
func (l *loading) dress(n *node, events []placedEvent) []placedEvent {
	number := n.task.Number
	for len(events) > 0 && events[0].number < number {
		events = events[1:] // of a task that is lost
	}
	count := 0
	for count < len(events) && events[count].number == number {
		count++
	}
	if count > 0 {
		n.thread = make([]*task.Event, count)
	}
	for i := range n.thread {
		e := events[i].event
		n.thread[i], e.TaskID = e, n.task.ID
		switch e.Kind {
		case task.EventProgress:
			n.task.HistoryLength += task.Length(task.HistoryLine(e.At, e.Body))
		case task.EventCreated:
			if d, ok := e.Detail.(task.CreatedDetail); ok && d.Title == n.task.Title {
				d.Title = n.task.Title // share one string
				e.Detail = d
			}
		}
	}
	n.task.EventCount = count
	claim := l.claims[number]
	n.task.AssignedByClaim = claim.AssignedByClaim
	if n.task.Holder != "" {
		n.setHold(claim.hold())
	} else {
		n.setHold(hold{expired: claim.Expired})
	}
	return events[count:]
}

// order puts every task after what it needs. Stored facts have no cycle; should
// damage have made one, those tasks keep the order of their numbers until they
// are put right.
func (l *loading) order() {
	ids, last := make([]string, 0, len(l.nodes)), int64(0)
	next := func(n *node) { last++; n.order = last * dag.Step }
	for _, n := range l.nodes {
		if len(n.task.Dependencies)+len(n.children)+len(n.dependents) == 0 && n.task.ParentID == "" {
			next(n) // anywhere will do
		} else {
			ids = append(ids, n.task.ID)
		}
	}
	sorted, cycle := dag.Sort(ids, func(id string) seq { return l.state.node(id).needs() })
	if cycle != nil {
		l.cycle = cycle
		sorted = ids
	}
	for _, id := range sorted {
		next(l.state.node(id))
	}
	for _, id := range slices.Backward(sorted) { // who waits comes after what it waits for
		n := l.state.node(id)
		for by := range n.neededBy() {
			if d := l.state.node(by); d != nil && !d.task.Closed() {
				n.height = min(max(n.height, d.height+1), maxHeight)
			}
		}
	}
	l.state.firstOrder, l.state.lastOrder = 0, (last+1)*dag.Step
}
