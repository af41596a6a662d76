package pool

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Bounds of one revision, so that it fits one message of the feed's sender. The
// bytes are of what was asked for: what follows from a member's change comes on
// top, as nobody could split that, and a task that many large ones wait for must
// be closed all the same.
const (
	maxRevisionChanges = 10_000
	maxRevisionBytes   = 16 << 20
	// maxChangeBytes are of one task with what is added to its thread, which no
	// message can split. It leaves room for what only follows.
	maxChangeBytes = 15 << 20
)

// tx is one mutation under way: a layer of its own, what it changes, and the
// events it makes. When it is refused it is dropped.
type tx struct {
	*layer
	limits task.Limits
	rules  task.Rules
	codec  Codec

	// history is the epoch that this mutation is part of, unless it begins one.
	history string
	actor   string
	// revision, nonce and now are of the commit this will be.
	revision int64
	nonce    uint64
	now      time.Time

	changes map[string]*change
	// changed lists the tasks in the order they were first changed.
	changed []string
	// unsettled are tasks whose derived fields may have to move.
	unsettled []string
	asked     *request
	// told is what the feed tells of it, once it is sealed.
	told *told
	// note is kept with the request, for its repeat.
	note []byte
	// unbounded lifts the bounds of a revision, for one that begins an epoch,
	// which no watcher receives as changes.
	unbounded bool
	// published is the state that all layers lie on.
	published *state
}

// change is what a mutation does to one task.
type change struct {
	// before is nil for a new task.
	before *task.Task
	// number stays known when the task is gone.
	number int64
	// byMember: the actor changed it, so its version is raised.
	byMember bool
	gone     bool
	// claim: the hold or the origin of the assignment changed; renewed tells one
	// renewal from another where that has to be stored.
	claim   bool
	renewed int64
	events  []*task.Event
}

func newTx(p *Pool, under *layer, actor string, revision int64, now time.Time) *tx {
	return &tx{
		layer: newLayer(under, under.marks), limits: p.limits, rules: p.rules, codec: p.codec,
		history: cmp.Or(under.epoch, p.state.epoch),
		actor:   actor, revision: revision, nonce: rand.Uint64(), now: now,
		changes: map[string]*change{}, published: p.state,
	}
}

// edit returns the task in a version that this mutation may set fields of. The
// task exists.
func (tx *tx) edit(id string) *task.Task {
	n := tx.own(id)
	if tx.changes[id] == nil {
		tx.changes[id] = &change{before: n.task, number: n.task.Number}
		tx.changed = append(tx.changed, id)
		n.task = n.task.Clone()
	}
	return n.task
}

// editAs is edit for a change that the actor makes to this very task.
func (tx *tx) editAs(id string) *task.Task {
	t := tx.edit(id)
	tx.changes[id].byMember = true
	return t
}

// create brings in a new task without edges; needs says whether it will get
// dependencies.
func (tx *tx) create(t *task.Task, needs bool) {
	tx.add(t, needs)
	tx.changes[t.ID] = &change{number: t.Number, byMember: true}
	tx.changed = append(tx.changed, t.ID)
}

// remove takes a task and its records out.
func (tx *tx) remove(id string) {
	tx.edit(id)
	tx.changes[id].gone = true
	tx.drop(tx.node(id))
}

// setHold begins a hold, changes it, or ends it where it has no token.
func (tx *tx) setHold(id string, h hold) {
	n := tx.own(id)
	tx.edit(id)
	if n.held() != h {
		n.setHold(h)
		tx.changes[id].claim = true
	}
}

// setByClaim says whether a claim made the assignment.
func (tx *tx) setByClaim(id string, byClaim bool) {
	if t := tx.edit(id); t.AssignedByClaim != byClaim {
		t.AssignedByClaim = byClaim
		tx.changes[id].claim = true
	}
}

// emit adds an event to a task's thread. The task is part of the revision from
// then on.
func (tx *tx) emit(id, actor string, kind task.EventKind, body string, detail any) {
	tx.tell(&task.Event{TaskID: id, At: tx.now, Actor: actor, Kind: kind, Body: body, Detail: detail})
}

// tell adds an event as it is, but for its id.
func (tx *tx) tell(e *task.Event) {
	id := e.TaskID
	t := tx.edit(id)
	tx.event++
	e.ID = tx.event
	n := tx.own(id)
	n.hear(e)
	t.EventCount = len(n.thread)
	tx.changes[id].events = append(tx.changes[id].events, e)
}

// unsettle asks for a task's derived fields to be looked at before the end.
func (tx *tx) unsettle(ids ...string) { tx.unsettled = append(tx.unsettled, ids...) }

// seal settles what is derived, stamps what changed and returns the commit. It
// is nil when the mutation came to nothing that has to be kept.
func (tx *tx) seal() (*store.Commit, error) {
	tx.settle()
	if len(tx.changes) == 0 && tx.asked == nil && tx.epoch == "" {
		return nil, nil
	}
	if len(tx.changes) > maxRevisionChanges && !tx.unbounded {
		return nil, tooLarge("it changes %d tasks; one revision holds at most %d", len(tx.changes), maxRevisionChanges)
	}
	facts := make([]store.Fact, 0, 3*len(tx.changed)+3)
	tx.told = &told{revision: tx.revision, nonce: tx.nonce, actor: tx.actor}
	if len(tx.changed) > 0 {
		facts = append(facts, store.Fact{Key: actorKey, Value: []byte(tx.actor), Past: true})
	}
	size, gone := 0, false
	for _, id := range tx.changed {
		c := tx.changes[id]
		if c.before != nil {
			was, err := tx.pastFact(c)
			if err != nil {
				return nil, err
			}
			facts = append(facts, was)
		}
		if c.gone {
			gone = true
			facts = append(facts, tx.erase(c)...)
			tx.told.add(taskChange{id: id, before: c.before})
			continue
		}
		t := tx.node(id).task
		t.Revision, t.UpdatedAt = tx.revision, tx.now
		if c.byMember {
			t.Version++
		}
		more, err := factsOf(tx.codec, tx.node(id), c)
		if err != nil {
			return nil, err
		}
		if c.byMember {
			for _, f := range more {
				size += len(f.Value)
			}
		}
		if size > maxRevisionBytes && !tx.unbounded {
			return nil, tooLarge("it takes more than %d bytes; one revision holds at most that", maxRevisionBytes)
		}
		facts = append(facts, more...)
		told := tx.toldOf(id, c, more)
		if size := told.size(); size > maxChangeBytes && c.byMember && !tx.unbounded {
			return nil, tooLarge("%s and what is added to its thread take %d bytes; one task holds at most %d", t.Key(), size, maxChangeBytes)
		}
		tx.told.add(told)
	}
	if gone || tx.epoch != "" {
		if tx.epoch != "" {
			tx.since = since{tx.revision, tx.nonce, tx.published.table.Len() == 0 && len(tx.changed) == 0}
		}
		value, err := encodeRecord(metaRecord{
			Epoch: cmp.Or(tx.epoch, tx.history), LastNumber: tx.number, LastEvent: tx.event,
			Since: tx.since.revision, SinceNonce: tx.since.nonce, SinceEmpty: tx.since.empty,
		})
		if err != nil {
			return nil, err
		}
		facts = append(facts, store.Fact{Key: metaKey, Value: value})
	}
	more, err := tx.requestFacts()
	if err != nil {
		return nil, err
	}
	return &store.Commit{Revision: tx.revision, Nonce: tx.nonce, At: tx.now, Facts: append(facts, more...)}, nil
}

// pastFact tells readers of history what a task was before.
func (tx *tx) pastFact(c *change) (store.Fact, error) {
	value, err := tx.codec.EncodeTask(past(c.before))
	return store.Fact{Key: taskKey(c.number), Value: value, Past: true}, err
}

// toldOf is what the feed tells of a change, whose facts factsOf made.
func (tx *tx) toldOf(id string, c *change, facts []store.Fact) taskChange {
	t := taskChange{id: id, before: c.before, after: tx.node(id).task, events: c.events, encoded: facts[0].Value}
	for _, f := range facts[1 : 1+len(c.events)] {
		t.eventsEncoded = append(t.eventsEncoded, f.Value)
	}
	return t
}

// factsOf encodes one changed task with its events. The feed relies on the
// order: a task, then its events.
func factsOf(codec Codec, n *node, c *change) ([]store.Fact, error) {
	value, err := codec.EncodeTask(n.task)
	if err != nil {
		return nil, err
	}
	facts := []store.Fact{{Key: taskKey(c.number), Value: value}}
	for _, e := range c.events {
		if value, err = codec.EncodeEvent(e); err != nil {
			return nil, err
		}
		facts = append(facts, store.Fact{Key: eventKey(c.number, e.ID), Value: value})
	}
	if !c.claim {
		return facts, nil
	}
	claim := claimRecord{Token: n.held().token, AssignedByClaim: n.task.AssignedByClaim, RunID: n.held().runID, Expired: n.held().expired, Renewed: c.renewed}
	if claim == (claimRecord{}) {
		return append(facts, store.Fact{Key: claimKey(c.number), Gone: true}), nil
	}
	if value, err = encodeRecord(claim); err != nil {
		return nil, err
	}
	return append(facts, store.Fact{Key: claimKey(c.number), Value: value}), nil
}

// erase leaves no record of a task behind.
func (tx *tx) erase(c *change) []store.Fact {
	facts := []store.Fact{{Key: taskKey(c.number), Gone: true}, {Key: claimKey(c.number), Gone: true}}
	for _, e := range tx.under.node(c.before.ID).thread {
		facts = append(facts, store.Fact{Key: eventKey(c.number, e.ID), Gone: true})
	}
	return facts
}

// requestFacts keeps this request's record and lets go of a few old ones.
func (tx *tx) requestFacts() ([]store.Fact, error) {
	if tx.asked == nil {
		return nil, nil
	}
	tx.asked.at, tx.asked.revision, tx.asked.nonce = tx.now, tx.revision, tx.nonce
	value, err := encodeRecord(tx.asked.record())
	if err != nil {
		return nil, err
	}
	tx.remember(tx.asked)
	facts := []store.Fact{{Key: tx.asked.storeKey(), Value: value, Expires: tx.now.Add(requestTTL)}}
	for _, old := range tx.published.requests.stale(tx.now, tx.forgotten, 4) {
		tx.forgotten = old.revision
		facts = append(facts, store.Fact{Key: old.storeKey(), Gone: true})
	}
	return facts, nil
}
