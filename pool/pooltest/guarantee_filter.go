package pooltest

import "slices"

// Filtered: what comes is the view, and nothing else. A change is UPSERTED
// exactly if the task fits after its revision, LEFT_VIEW if it fitted before and
// is there, DELETED if it fitted before and is gone; a task that fitted neither
// before nor after does not come, and neither does an event that did not happen.
// Of who is excluded no event comes, and no UPSERTED of a task that it changed
// directly unless others' events are left; what follows from its doing, and
// every departure, comes as it comes to others. A task of a snapshot fits.
func Filtered(tr *Traffic, ref *Reference) error {
	v, err := newView(tr, ref)
	if err != nil {
		return err
	}
	for i, s := range tr.Streams {
		p := &path{tr: tr, stream: i}
		for k, m := range s.Messages {
			p.message = k
			for _, t := range m.Tasks {
				if !v.fits(&t) {
					return p.breach(ErrNotFiltered, t.Revision, t.ID, "is in the snapshot and does not fit")
				}
			}
			for _, c := range m.Changes {
				if err := v.foreign(p, c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// foreign tells of a change that is not the view's, or not as it comes.
func (v *view) foreign(p *path, c Change) error {
	if c.Revision <= v.ref.From {
		return nil // what the reference does not know
	}
	want, ok := v.changes[c.Revision][c.Task]
	switch {
	case !ok:
		return p.breach(ErrNotFiltered, c.Revision, c.Task, "%s comes, and nothing of this view happened to it", c.Kind)
	case c.Kind != want.Kind:
		return p.breach(ErrNotFiltered, c.Revision, c.Task, "%s comes, and it is %s", c.Kind, want.Kind)
	}
	for _, e := range c.Events {
		if !slices.Contains(want.Events, e) {
			return p.breach(ErrNotFiltered, c.Revision, c.Task, "event %d by %q comes, which is not of this view, or not like that", e.ID, e.Actor)
		}
	}
	return nil
}
