package pool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
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
	// cycle is one among the tasks' edges, nil as it should be.
	cycle []string
}

func newLoading(codec Codec) *loading {
	return &loading{
		state: newState(), codec: codec,
		tasks: map[int64]*node{}, threads: map[int64][]*task.Event{}, claims: map[int64]claimRecord{},
	}
}

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
	l := newLoading(codec)
	at, err := s.Load(ctx, log, func(key store.Key, value []byte) error {
		l.mark(key)
		if err := l.record(key, value); err != nil {
			l.damaged = append(l.damaged, unreadable{key, err})
		}
		return nil
	})
	if err != nil {
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

func (l *loading) record(key store.Key, value []byte) (err error) {
	if key.ID > maxMark || key.Sub > maxMark {
		return fmt.Errorf("no record was ever given the number %d/%d", key.ID, key.Sub)
	}
	switch key.Kind {
	case kindMeta:
		if l.meta, err = decodeRecord[metaRecord](value); err == nil && max(l.meta.LastNumber, l.meta.LastEvent) > maxMark {
			l.meta, err = metaRecord{}, fmt.Errorf("the numbers %d and %d were never given out", l.meta.LastNumber, l.meta.LastEvent)
		}
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
		if e.ID != key.Sub {
			return fmt.Errorf("event %d says id %d", key.Sub, e.ID)
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

// twins finds tasks with the id of an older one.
func (l *loading) twins() {
	byID := make(map[string]int64, len(l.tasks))
	for _, number := range slices.Sorted(maps.Keys(l.tasks)) {
		id := l.tasks[number].task.ID
		if first, twice := byID[id]; twice {
			delete(l.tasks, number)
			l.damaged = append(l.damaged, unreadable{taskKey(number), fmt.Errorf("task %d has the id of task %d", number, first)})
			continue
		}
		byID[id] = number
	}
}

// assemble makes nodes, edges, order and indexes of the records.
func (l *loading) assemble() {
	s := l.state
	s.epoch, s.since = l.meta.Epoch, l.meta.since()
	s.number, s.event = max(s.number, l.meta.LastNumber), max(s.event, l.meta.LastEvent)
	numbers := slices.Sorted(maps.Keys(l.tasks))
	byID := make(map[string]*node, len(numbers))
	for _, number := range numbers {
		n := l.tasks[number]
		byID[n.task.ID] = n
		l.dress(n)
	}
	for _, number := range numbers {
		n := l.tasks[number]
		for i, dep := range n.task.Dependencies {
			if d := byID[dep]; d != nil && !slices.Contains(n.task.Dependencies[:i], dep) {
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
		if e.Kind == task.EventProgress {
			n.task.HistoryLength += task.Length(task.HistoryLine(e.At, e.Body))
		}
	}
	n.thread, n.task.EventCount = events, len(events)
	claim := l.claims[number]
	n.task.AssignedByClaim = claim.AssignedByClaim
	if n.task.Holder != "" {
		n.token = claim.Token
	}
}

// order puts every task after what it needs. Stored facts have no cycle; should
// damage have made one, those tasks keep the order of their numbers until they
// are put right.
func (l *loading) order(numbers []int64, byID map[string]*node) {
	ids := make([]string, len(numbers))
	for i, number := range numbers {
		ids[i] = l.tasks[number].task.ID
	}
	sorted, cycle := dag.Sort(ids, func(id string) seq { return byID[id].needs() })
	if cycle != nil {
		l.cycle = cycle
		sorted = ids
	}
	for i, id := range sorted {
		byID[id].order = int64(i+1) * dag.Step
	}
	l.state.firstOrder, l.state.lastOrder = 0, int64(len(sorted)+1)*dag.Step
}
