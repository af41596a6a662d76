package pool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/taskpool-dev/taskpool/pool/dag"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// loading gathers the records of a log, which come in no order.
type loading struct {
	state    *state
	codec    Codec
	tasks    map[int64]*node
	threads  map[int64][]*task.Event
	claims   map[int64]claimRecord
	requests []*request
	meta     metaRecord
	damaged  []unreadable
}

// unreadable is a record that the engine kept well but that means nothing.
type unreadable struct {
	key store.Key
	why error
}

// load reads the state of a log at its head, and what of it was damaged. The
// damaged rows are set aside; the state is of the others.
func load(ctx context.Context, s store.Store, log string, codec Codec) (*state, []store.Damage, error) {
	l := &loading{
		state: newState(), codec: codec,
		tasks: map[int64]*node{}, threads: map[int64][]*task.Event{}, claims: map[int64]claimRecord{},
	}
	at, err := s.Load(ctx, log, func(key store.Key, value []byte) error {
		if err := l.record(key, value); err != nil {
			l.damaged = append(l.damaged, unreadable{key, err})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	damage := at.Damaged
	for _, u := range l.damaged {
		where := fmt.Sprintf("record %d/%d/%d of log %q", u.key.Kind, u.key.ID, u.key.Sub, log)
		if err := s.SetAside(ctx, log, u.key, u.why.Error()); err != nil {
			return nil, nil, err
		}
		damage = append(damage, store.Damage{Where: where, Why: u.why.Error()})
	}
	l.state.head = at.Head
	l.assemble()
	return l.state, damage, nil
}

func (l *loading) record(key store.Key, value []byte) (err error) {
	switch key.Kind {
	case kindMeta:
		l.meta, err = decodeRecord[metaRecord](value)
	case kindTask:
		var t *task.Task
		if t, err = l.codec.DecodeTask(value); err != nil {
			return err
		}
		if t.Number != key.ID || !t.Status.Valid() {
			return fmt.Errorf("task %d says number %d and status %s", key.ID, t.Number, t.Status)
		}
		l.tasks[key.ID] = &node{task: t}
	case kindEvent:
		var e *task.Event
		if e, err = l.codec.DecodeEvent(value); err != nil {
			return err
		}
		l.threads[key.ID] = append(l.threads[key.ID], e)
	case kindClaim:
		l.claims[key.ID], err = decodeRecord[claimRecord](value)
	case kindRequest:
		var r requestRecord
		if r, err = decodeRecord[requestRecord](value); err == nil {
			l.requests = append(l.requests, r.request(key.ID))
		}
	}
	return err
}

// assemble makes nodes, edges, order and indexes of the records.
func (l *loading) assemble() {
	s := l.state
	s.epoch = l.meta.Epoch
	s.number, s.event = l.meta.LastNumber, l.meta.LastEvent
	numbers := slices.Sorted(maps.Keys(l.tasks))
	byID := make(map[string]*node, len(numbers))
	for _, number := range numbers {
		n := l.tasks[number]
		byID[n.task.ID] = n
		l.dress(n)
		s.number = max(s.number, number)
	}
	for _, number := range numbers {
		n := l.tasks[number]
		for i, dep := range n.task.Dependencies {
			if d := byID[dep]; d != nil {
				n.task.Dependencies[i] = d.task.ID // share one string
				d.dependents = append(d.dependents, n.task.ID)
			}
		}
		if p := byID[n.task.ParentID]; p != nil {
			n.task.ParentID = p.task.ID
			p.children = append(p.children, n.task.ID)
			if !n.task.Closed() {
				p.task.ChildrenOpen++
			}
		}
	}
	l.order(numbers, byID)
	for _, number := range numbers {
		s.set(l.tasks[number])
	}
	slices.SortFunc(l.requests, func(a, b *request) int { return cmp.Compare(a.revision, b.revision) })
	for _, r := range l.requests {
		s.requests.add(r)
	}
}

// dress gives a task its thread and what follows from it.
func (l *loading) dress(n *node) {
	number := n.task.Number
	events := l.threads[number]
	slices.SortFunc(events, func(a, b *task.Event) int { return cmp.Compare(a.ID, b.ID) })
	for _, e := range events {
		e.TaskID = n.task.ID
		l.state.event = max(l.state.event, e.ID)
		if e.Kind == task.EventProgress {
			n.task.HistoryLength += task.Length(task.HistoryLine(e.At, e.Body))
		}
	}
	n.thread, n.task.EventCount = events, len(events)
	claim := l.claims[number]
	n.token, n.task.AssignedByClaim = claim.Token, claim.AssignedByClaim
}

// order puts every task after what it needs. Stored facts have no cycle; should
// damage have made one, those tasks keep the order of their numbers.
func (l *loading) order(numbers []int64, byID map[string]*node) {
	ids := make([]string, len(numbers))
	for i, number := range numbers {
		ids[i] = l.tasks[number].task.ID
	}
	sorted, _ := dag.Sort(ids, func(id string) seq { return byID[id].needs() })
	if len(sorted) != len(ids) {
		sorted = ids
	}
	for i, id := range sorted {
		byID[id].order = int64(i+1) * dag.Step
	}
	l.state.firstOrder, l.state.lastOrder = 0, int64(len(sorted)+1)*dag.Step
}
