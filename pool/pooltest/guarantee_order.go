package pooltest

import "maps"

// Ordered: revisions come in order. Within a watch, resumed or not, no change
// comes after one of a later revision, or is of a revision before the one that
// the watch began behind; and of a task's events none comes after a later one.
func Ordered(tr *Traffic) error {
	return walk(tr, func() *order { return &order{events: map[string]int64{}} })
}

// order is how far a watch has come.
type order struct {
	last   int64
	events map[string]int64 // the last event id by task
}

func (o *order) begin(p *path) error {
	o.last = max(o.last, p.from)
	return nil
}

func (o *order) see(p *path, m Message) error {
	for _, c := range m.Changes {
		if c.Revision < o.last {
			return p.breach(ErrNotOrdered, c.Revision, c.Task, "comes after revision %d", o.last)
		}
		o.last = c.Revision
		for _, e := range c.Events {
			if e.ID < o.events[c.Task] {
				return p.breach(ErrNotOrdered, c.Revision, c.Task, "event %d comes after event %d", e.ID, o.events[c.Task])
			}
			o.events[c.Task] = e.ID
		}
	}
	return nil
}

func (o *order) end(*path) error { return nil }

func (o *order) fork() *order { return &order{o.last, maps.Clone(o.events)} }

// Unique: nothing comes twice. Within a watch, resumed or not, a task comes once
// in a revision, an event comes once, and no revision comes that the watch
// began behind; a snapshot has a task once. Who starts from a snapshot again
// begins anew.
func Unique(tr *Traffic) error {
	return walk(tr, func() *once {
		return &once{changes: map[spot]bool{}, events: map[int64]bool{}, shown: map[string]bool{}}
	})
}

// spot is one task in one revision.
type spot struct {
	revision int64
	task     string
}

// once is what has come already.
type once struct {
	changes map[spot]bool
	events  map[int64]bool
	shown   map[string]bool
}

func (o *once) begin(*path) error { return nil }

func (o *once) see(p *path, m Message) error {
	for _, t := range m.Tasks {
		if o.shown[t.ID] {
			return p.breach(ErrNotUnique, t.Revision, t.ID, "is in the snapshot twice")
		}
		o.shown[t.ID] = true
	}
	for _, c := range m.Changes {
		at := spot{c.Revision, c.Task}
		switch {
		case o.changes[at]:
			return p.breach(ErrNotUnique, c.Revision, c.Task, "comes a second time")
		case p.begun && c.Revision <= p.from:
			return p.breach(ErrNotUnique, c.Revision, c.Task, "comes although the watch began behind revision %d", p.from)
		}
		o.changes[at] = true
		for _, e := range c.Events {
			if o.events[e.ID] {
				return p.breach(ErrNotUnique, c.Revision, c.Task, "event %d comes a second time", e.ID)
			}
			o.events[e.ID] = true
		}
	}
	return nil
}

func (o *once) end(*path) error { return nil }

func (o *once) fork() *once {
	return &once{maps.Clone(o.changes), maps.Clone(o.events), maps.Clone(o.shown)}
}
