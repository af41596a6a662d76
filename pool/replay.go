package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// catchUp publishes what others appended since the published head, one commit
// at a time. Where the store no longer has those commits, or one of them begins
// an epoch on what another process found damaged, the state is loaded anew.
func (p *Pool) catchUp(ctx context.Context) error {
	for c, err := range p.store.Commits(ctx, p.log(), p.state.head.Revision+1) {
		if errors.Is(err, store.ErrCompacted) {
			return p.reload(ctx)
		}
		if err != nil {
			return err
		}
		o := p.begin().(*poolOverlay)
		if err := o.replay(c, p.codec); err != nil {
			return fmt.Errorf("pool %s: revision %d: %w", p.name, c.Revision, err)
		}
		if !c.Reset && o.layer.epoch != "" && p.state.epoch != "" && o.layer.epoch != p.state.epoch {
			return p.reload(ctx) // no commit tells what was set aside
		}
		if !c.Reset { // no watcher receives that as changes
			t, err := tell(c, p.codec)
			if err != nil {
				return fmt.Errorf("pool %s: revision %d: %w", p.name, c.Revision, err)
			}
			o.told = append(o.told, t)
		}
		o.publish(c.Head())
	}
	return nil
}

// replay takes in a commit. One that begins the log anew has all that there is
// from then on, so its facts are loaded as records are.
func (o *poolOverlay) replay(c store.Commit, codec Codec) error {
	if !c.Reset {
		return o.layer.replay(c, codec)
	}
	l := newLoading()
	l.state.number, l.state.event = o.layer.number, o.layer.event
	for _, f := range c.Facts {
		if f.Gone {
			continue
		}
		d := decode(codec, f.Key, f.Value)
		if d.err != nil {
			return d.err
		}
		l.take(&d)
	}
	l.assemble()
	o.fresh, o.layer = l.state, newLayer(l.state, l.state.marks)
	o.layer.epoch = l.state.epoch
	return nil
}

func (p *Pool) reload(ctx context.Context) error {
	fresh, damage, err := load(ctx, p.store, p.log(), p.codec)
	if err != nil {
		return err
	}
	(&poolOverlay{pool: p, fresh: fresh, layer: newLayer(fresh, fresh.marks)}).publish(fresh.head)
	if len(damage) > 0 && p.damaged != nil {
		p.damaged(damage)
	}
	return nil
}

// replay takes in the facts of a commit. It validates nothing and reads no
// clock: facts are what has become.
func (l *layer) replay(c store.Commit, codec Codec) error {
	told := map[int64]*task.Task{}
	for _, f := range c.Facts {
		if f.Key.Kind != kindTask || f.Gone || f.Past {
			continue
		}
		t, err := codec.DecodeTask(f.Value)
		if err != nil {
			return err
		}
		if l.node(t.ID) == nil {
			// All new tasks first, so that each has the others to have edges to.
			l.add(&task.Task{ID: t.ID, Number: t.Number, Status: t.Status}, len(t.Dependencies) > 0)
		}
		told[f.Key.ID] = t
	}
	for _, f := range c.Facts {
		if f.Past {
			continue
		}
		if err := l.replayFact(f, codec, told); err != nil {
			return err
		}
	}
	counted := map[string]bool{"": true}
	for _, t := range told {
		for _, id := range []string{t.ID, t.ParentID} {
			if !counted[id] {
				counted[id] = true
				l.recount(id)
			}
		}
	}
	return nil
}

func (l *layer) replayFact(f store.Fact, codec Codec, told map[int64]*task.Task) error {
	switch f.Key.Kind {
	case kindMeta:
		meta, err := decodeRecord[metaRecord](f.Value)
		if err != nil {
			return err
		}
		l.epoch, l.since = meta.Epoch, meta.since()
		l.number, l.event = max(l.number, meta.LastNumber), max(l.event, meta.LastEvent)
	case kindTask:
		if f.Gone {
			if n := l.numbered(f.Key.ID); n != nil {
				l.drop(n)
			}
			return nil
		}
		t := told[f.Key.ID]
		old := l.node(t.ID).task
		t.HistoryLength, t.EventCount, t.AssignedByClaim = old.HistoryLength, old.EventCount, old.AssignedByClaim
		t.ChildrenOpen = old.ChildrenOpen
		if t.Lease > 0 { // whoever wrote may have been the holder: better too late than too early
			l.signs = append(l.signs, t.Number)
		}
		l.adopt(t)
	case kindEvent:
		n := l.numbered(f.Key.ID)
		if f.Gone || n == nil {
			return nil
		}
		e, err := codec.DecodeEvent(f.Value)
		if err != nil {
			return err
		}
		n = l.own(n.task.ID)
		n.hear(e)
		n.task = n.task.Clone()
		n.task.EventCount = len(n.thread)
		if e.Kind == task.EventProgress {
			n.task.HistoryLength += task.Length(task.HistoryLine(e.At, e.Body))
		}
		l.event = max(l.event, e.ID)
	case kindClaim:
		n := l.numbered(f.Key.ID)
		if n == nil {
			return nil
		}
		var claim claimRecord
		if !f.Gone {
			var err error
			if claim, err = decodeRecord[claimRecord](f.Value); err != nil {
				return err
			}
		}
		n = l.own(n.task.ID)
		n.task = n.task.Clone()
		n.setHold(claim.hold())
		n.task.AssignedByClaim = claim.AssignedByClaim
		l.signs = append(l.signs, n.task.Number)
	case kindRequest:
		if f.Gone {
			l.forgotten = max(l.forgotten, f.Key.ID) // always the oldest go
			return nil
		}
		r, err := decodeRecord[requestRecord](f.Value)
		if err != nil {
			return err
		}
		l.remember(r.request(f.Key.ID))
	}
	return nil
}

// recount sets what a task knows of its open children. The other counts are
// facts.
func (l *layer) recount(id string) {
	n := l.node(id)
	if n == nil {
		return
	}
	open := 0
	for _, child := range n.children {
		if c := l.node(child); c != nil && !c.task.Closed() {
			open++
		}
	}
	if open != n.task.ChildrenOpen {
		n = l.own(id)
		n.task = n.task.Clone()
		n.task.ChildrenOpen = open
	}
}
