package pooltest

import (
	"fmt"
	"maps"
	"slices"
)

// ReferenceOf makes a reference of a watch of everything, cut or not: what is
// known of the pool where only its feed can be seen. Its head is the furthest
// cursor, so let it come to the pool's head before other traffic is held against
// it; and it begins where the streams that led there began.
// Listings that were read apart from the feed tell whether the feed is to be
// believed. by says who changed this very task, "" where the change follows from
// another one. The error wraps [ErrReference].
func ReferenceOf(tr *Traffic, by func(Happened) string) (*Reference, error) {
	var last *watched
	furthest := func(w *watched) {
		if last == nil || last.ref.Last <= w.ref.Last {
			last = w
		}
	}
	err := walk(tr, func() *watched { return &watched{by: by, done: furthest, tasks: map[string]State{}} })
	if err != nil {
		return nil, err
	}
	if last == nil || last.ref.Last < last.ref.From {
		return nil, fmt.Errorf("%w: watch %q did not come as far as a cursor", ErrReference, tr.Name)
	}
	last.ref.Revisions = slices.DeleteFunc(last.ref.Revisions, func(rev Revision) bool { return rev.Number > last.ref.Last })
	return &last.ref, nil
}

// watched is what a watch of everything told so far.
type watched struct {
	by    func(Happened) string
	done  func(*watched)
	ref   Reference
	tasks map[string]State
}

func (w *watched) begin(p *path) error {
	w.ref.From, w.ref.Base = p.from, slices.Collect(maps.Values(w.tasks))
	return nil
}

func (w *watched) see(_ *path, m Message) error {
	for _, t := range m.Tasks {
		w.tasks[t.ID] = t
	}
	for _, c := range m.Changes {
		h := Happened{Task: c.Task, After: c.State, Events: c.Events}
		if was, ok := w.tasks[c.Task]; ok {
			h.Before = &was
		}
		h.By = w.by(h)
		if c.State != nil {
			w.tasks[c.Task] = *c.State
		} else {
			delete(w.tasks, c.Task)
		}
		all := &w.ref.Revisions
		if n := len(*all); n == 0 || (*all)[n-1].Number != c.Revision {
			*all = append(*all, Revision{Number: c.Revision})
		}
		rev := &(*all)[len(*all)-1]
		rev.Happened = append(rev.Happened, h)
	}
	if m.Cursor != (Cursor{}) {
		w.ref.Last = m.Cursor.Revision
	}
	return nil
}

func (w *watched) end(p *path) error {
	if p.begun {
		w.done(w)
	}
	return nil
}

func (w *watched) fork() *watched {
	c := *w
	c.tasks, c.ref.Revisions = maps.Clone(w.tasks), slices.Clone(w.ref.Revisions)
	return &c
}
