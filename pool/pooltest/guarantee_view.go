package pooltest

import (
	"fmt"
	"slices"
)

// view is what a watch has to show of what happened.
type view struct {
	tr  *Traffic
	ref *Reference
	// revisions are those with something to show, and resets, in order.
	revisions []int64
	changes   map[int64]map[string]Change
	resets    map[int64]bool
}

// newView works out what the traffic's watch has to show. The error wraps
// [ErrReference].
func newView(tr *Traffic, ref *Reference) (*view, error) {
	v := &view{tr: tr, ref: ref, changes: map[int64]map[string]Change{}, resets: map[int64]bool{}}
	for i, s := range tr.Streams {
		if at, ok := s.begins(); ok && at < ref.From {
			return nil, fmt.Errorf("%w: stream %d of watch %q begins after revision %d, the reference after %d", ErrReference, i, tr.Name, at, ref.From)
		}
	}
	for _, rev := range ref.Revisions {
		if rev.Reset {
			v.resets[rev.Number] = true
			v.revisions = append(v.revisions, rev.Number)
			continue // nobody is shown it
		}
		shown := map[string]Change{}
		for _, h := range rev.Happened {
			if c, ok := v.show(rev.Number, h); ok {
				shown[h.Task] = c
			}
		}
		if len(shown) > 0 {
			v.revisions = append(v.revisions, rev.Number)
			v.changes[rev.Number] = shown
		}
	}
	return v, nil
}

// show is how the watch shows one change, if it does.
func (v *view) show(revision int64, h Happened) (Change, bool) {
	c := Change{Revision: revision, Task: h.Task}
	switch {
	case v.fits(h.After):
		if v.drops(&h) {
			return c, false
		}
		c.Kind, c.State = Upserted, h.After
	case !v.fits(h.Before):
		return c, false
	case h.After != nil:
		c.Kind = LeftView
	default:
		c.Kind = Deleted
	}
	for _, e := range h.Events {
		if v.tr.Exclude == "" || e.Actor != v.tr.Exclude {
			c.Events = append(c.Events, e)
		}
	}
	return c, true
}

func (v *view) fits(s *State) bool { return s != nil && (v.tr.Fits == nil || v.tr.Fits(*s)) }

// drops says whether an UPSERTED is left out as the doing of who is excluded, and
// of nobody else.
func (v *view) drops(h *Happened) bool {
	who := v.tr.Exclude
	return who != "" && h.By == who && !slices.ContainsFunc(h.Events, func(e Event) bool { return e.Actor != who })
}

// between are the revisions with something to show after one revision and up to
// another, that one included.
func (v *view) between(after, upto int64) []int64 {
	first, _ := slices.BinarySearch(v.revisions, after+1)
	end, _ := slices.BinarySearch(v.revisions, upto+1)
	return v.revisions[first:max(first, end)]
}

// got is what has come of a view.
type got struct {
	changes map[spot]bool
	events  map[int64]bool
}

func newGot() got { return got{map[spot]bool{}, map[int64]bool{}} }

func (g got) add(c Change) {
	g.changes[spot{c.Revision, c.Task}] = true
	for _, e := range c.Events {
		g.events[e.ID] = true
	}
}

// lacks names a task, and why, of what should have come in a revision and did
// not. "" for the task where it is about them all.
func (v *view) lacks(g got, revision int64) (task, why string, lacking bool) {
	if v.resets[revision] {
		return "", "the pool was emptied, and the watch goes on", true
	}
	for id, c := range v.changes[revision] {
		if !g.changes[spot{revision, id}] {
			return id, fmt.Sprintf("%s did not come", c.Kind), true
		}
		for _, e := range c.Events {
			if !g.events[e.ID] {
				return id, fmt.Sprintf("event %d did not come", e.ID), true
			}
		}
	}
	return "", "", false
}
