package pooltest

import "maps"

// Complete: nothing is left out. Between the revision that a watch began behind
// and the last change that came, resumed or not, every change of the view is
// there, with all of its events.
func Complete(tr *Traffic, ref *Reference) error {
	v, err := newView(tr, ref)
	if err != nil {
		return err
	}
	return walk(tr, func() *completeness { return &completeness{view: v, got: newGot()} })
}

// completeness is what has come, and up to where.
type completeness struct {
	view *view
	got  got
	last int64
	// open: the last revision goes on.
	open bool
}

func (w *completeness) begin(*path) error { return nil }

func (w *completeness) see(_ *path, m Message) error {
	for _, c := range m.Changes {
		w.got.add(c)
		w.last = max(w.last, c.Revision)
	}
	if len(m.Changes) > 0 {
		w.open = m.More
	}
	return nil
}

func (w *completeness) end(p *path) error {
	upto := w.last
	if w.open {
		upto--
	}
	if !p.begun {
		return nil
	}
	for _, revision := range w.view.between(p.from, upto) {
		if task, why, lacking := w.view.lacks(w.got, revision); lacking {
			return p.breach(ErrNotComplete, revision, task, "%s, but what is of revision %d did", why, w.last)
		}
	}
	return nil
}

func (w *completeness) fork() *completeness {
	c := *w
	c.got = got{maps.Clone(w.got.changes), maps.Clone(w.got.events)}
	return &c
}

// Atomic: a revision comes whole. Within a stream all changes of a revision come
// one after the other, none is left out where there is another, and no cursor
// lies between them: what is said to go on does, and what is not does not. Only
// a cut leaves a revision unfinished, and then it was said to go on.
func Atomic(tr *Traffic, ref *Reference) error {
	v, err := newView(tr, ref)
	if err != nil {
		return err
	}
	return walk(tr, func() *atoms { return newAtoms(v) })
}

// atoms is what has come of the revision that comes now.
type atoms struct {
	view *view
	// now is that revision, 0 between two; got is what came of it.
	now  int64
	got  got
	done map[int64]bool
	// more: the last message said that it goes on.
	more bool
}

func newAtoms(v *view) *atoms { return &atoms{view: v, got: newGot(), done: map[int64]bool{}} }

func (w *atoms) begin(*path) error { return nil }

func (w *atoms) see(p *path, m Message) error {
	if w.more && (len(m.Changes) == 0 || m.Changes[0].Revision != w.now) {
		return p.breach(ErrNotAtomic, w.now, "", "was said to go on here")
	}
	for _, c := range m.Changes {
		if c.Revision != w.now {
			if err := w.close(p); err != nil {
				return err
			}
			if w.done[c.Revision] {
				return p.breach(ErrNotAtomic, c.Revision, c.Task, "the revision had ended")
			}
			w.now, w.got = c.Revision, newGot()
		}
		w.got.add(c)
	}
	if w.more = m.More; !w.more || m.Cursor != (Cursor{}) {
		return w.close(p)
	}
	return nil
}

// close ends the revision that comes now.
func (w *atoms) close(p *path) error {
	revision := w.now
	if revision == 0 {
		return nil
	}
	w.now, w.done[revision] = 0, true
	if task, why, lacking := w.view.lacks(w.got, revision); lacking {
		return p.breach(ErrNotAtomic, revision, task, "%s with the revision", why)
	}
	return nil
}

func (w *atoms) end(*path) error { return nil }

// fork forgets all: another stream begins between two revisions.
func (w *atoms) fork() *atoms { return newAtoms(w.view) }
