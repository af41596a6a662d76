package pooltest

import "maps"

// StateEqualsFeed: the feed is the state. The snapshot with the changes folded
// into it is, at every cursor, the listing of that view at the cursor's
// revision, and each UPSERTED shows the task as it was after its revision. A
// watch that starts otherwise is held against the listing where it starts.
//
// A task whose last change was left out as the doing of who is excluded is not
// compared: the receiver asked not to know.
func StateEqualsFeed(tr *Traffic, ref *Reference) error {
	v, err := newView(tr, ref)
	if err != nil {
		return err
	}
	return walk(tr, func() *folded { return &folded{view: v, have: map[string]State{}} })
}

// folded is what a receiver has, and what it should.
type folded struct {
	view *view
	have map[string]State
	// want is the view's listing at revision at, before the revisions of next.
	want map[string]State
	at   int64
	next []Revision
	// blind are tasks whose last change was left out for who is excluded.
	blind map[string]bool
	// touched are tasks to compare.
	touched map[string]bool
}

func (f *folded) begin(p *path) error {
	f.want, f.at, f.next = map[string]State{}, f.view.ref.From, f.view.ref.Revisions
	f.blind, f.touched = map[string]bool{}, map[string]bool{}
	for _, t := range f.view.ref.Base {
		f.become(t.ID, &t)
	}
	f.advance(p.from)
	clear(f.blind)
	if p.tr.Streams[p.stream].Start != FromSnapshot {
		f.have = maps.Clone(f.want)
	}
	for id := range union(f.have, f.want) {
		f.touched[id] = true
	}
	return nil
}

// advance makes want what it is at a later revision.
func (f *folded) advance(upto int64) {
	f.at = max(f.at, upto)
	for ; len(f.next) > 0 && f.next[0].Number <= upto; f.next = f.next[1:] {
		if f.next[0].Reset {
			for id := range f.want {
				f.become(id, nil)
			}
		}
		for _, h := range f.next[0].Happened {
			f.become(h.Task, h.After)
			f.blind[h.Task] = f.view.fits(h.After) && f.view.drops(&h)
		}
	}
}

func (f *folded) become(id string, s *State) {
	f.touched[id] = true
	if f.view.fits(s) {
		f.want[id] = *s
	} else {
		delete(f.want, id)
	}
}

func (f *folded) see(p *path, m Message) error {
	for _, t := range m.Tasks {
		f.have[t.ID] = t
	}
	for _, c := range m.Changes {
		if err := f.fold(p, c); err != nil {
			return err
		}
	}
	if m.Cursor == (Cursor{}) || !p.begun || m.Cursor.Revision < f.at {
		return nil
	}
	f.advance(m.Cursor.Revision)
	for id := range f.touched {
		if why := unlike(f.have, f.want, id); why != "" && !f.blind[id] {
			return p.breach(ErrStateDiffers, m.Cursor.Revision, id, "the receiver's state against the listing: %s", why)
		}
	}
	clear(f.touched)
	return nil
}

func (f *folded) fold(p *path, c Change) error {
	if f.touched != nil {
		f.touched[c.Task] = true
	}
	if c.State == nil {
		delete(f.have, c.Task)
		return nil
	}
	f.have[c.Task] = *c.State
	if is, ok := f.view.changes[c.Revision][c.Task]; ok && is.State != nil && is.State.Content != c.State.Content {
		return p.breach(ErrStateDiffers, c.Revision, c.Task, "it shows\n%s\nand was\n%s", c.State.Content, is.State.Content)
	}
	return nil
}

func (f *folded) end(*path) error { return nil }

func (f *folded) fork() *folded {
	c := *f
	c.have, c.want, c.blind, c.touched = maps.Clone(f.have), maps.Clone(f.want), maps.Clone(f.blind), maps.Clone(f.touched)
	return &c
}

// unlike says how a task differs between what is and what should be.
func unlike(have, want map[string]State, id string) string {
	h, there := have[id]
	w, wanted := want[id]
	switch {
	case there && !wanted:
		return "it is there and should not be"
	case !there && wanted:
		return "it is not there and should be"
	case h.Content != w.Content:
		return "it is\n" + h.Content + "\nand should be\n" + w.Content
	}
	return ""
}

func union(a, b map[string]State) map[string]bool {
	ids := make(map[string]bool, max(len(a), len(b)))
	for id := range a {
		ids[id] = true
	}
	for id := range b {
		ids[id] = true
	}
	return ids
}
