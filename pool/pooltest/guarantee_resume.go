package pooltest

import (
	"fmt"
	"maps"
	"slices"
)

// Bookmarkable: a cursor keeps its word. Once one at revision R was given out,
// resumed or not, everything of the view up to R has come since the watch began,
// nothing at or below R comes any more, and no later cursor lies before R. None
// lies before a change that has come, or beyond the head, and none is given out
// before the snapshot is whole.
func Bookmarkable(tr *Traffic, ref *Reference) error {
	v, err := newView(tr, ref)
	if err != nil {
		return err
	}
	return walk(tr, func() *bookmark { return &bookmark{view: v, got: newGot()} })
}

// bookmark is what was promised, and what has come.
type bookmark struct {
	view *view
	got  got
	// at is the revision of the last cursor, last that of the last change.
	at, last int64
}

func (b *bookmark) begin(p *path) error {
	b.at = p.from
	return nil
}

func (b *bookmark) see(p *path, m Message) error {
	for _, c := range m.Changes {
		if p.begun && c.Revision <= b.at {
			return p.breach(ErrNotBookmarkable, c.Revision, c.Task, "comes after a cursor at revision %d", b.at)
		}
		b.got.add(c)
		b.last = max(b.last, c.Revision)
	}
	if m.Cursor == (Cursor{}) {
		return nil
	}
	at := m.Cursor.Revision
	switch {
	case !p.begun:
		return p.breach(ErrNotBookmarkable, at, "", "a cursor is given out, and the snapshot is not whole")
	case at < b.at:
		return p.breach(ErrNotBookmarkable, at, "", "the cursor lies before an earlier one at revision %d", b.at)
	case at < b.last:
		return p.breach(ErrNotBookmarkable, at, "", "the cursor lies before revision %d, of which a change has come", b.last)
	case at > b.view.ref.Last:
		return p.breach(ErrNotBookmarkable, at, "", "the cursor lies beyond the head %d", b.view.ref.Last)
	}
	for _, revision := range b.view.between(b.at, at) {
		if task, why, lacking := b.view.lacks(b.got, revision); lacking {
			return p.breach(ErrNotBookmarkable, revision, task, "%s, and the cursor lies at revision %d", why, at)
		}
	}
	b.at = at
	return nil
}

func (b *bookmark) end(*path) error { return nil }

func (b *bookmark) fork() *bookmark {
	c := *b
	c.got = got{maps.Clone(b.got.changes), maps.Clone(b.got.events)}
	return &c
}

// Resumable: a cut leaves no trace. What a stream that starts after a cursor
// brings, up to its last cursor or change, is what an uncut watch of this view
// brings behind that cursor: the same revisions in the same order, in each the
// same tasks, kinds, states and events.
func Resumable(tr *Traffic, ref *Reference) error {
	v, err := newView(tr, ref)
	if err != nil {
		return err
	}
	for i, s := range tr.Streams {
		if s.Start != FromCursor {
			continue
		}
		if err := v.resumed(&path{tr: tr, stream: i}, s); err != nil {
			return err
		}
	}
	return nil
}

// resumed compares a stream with what there is to show behind its start.
func (v *view) resumed(p *path, s Stream) error {
	next := v.between(s.After.Revision, v.ref.Last)
	left := map[string]Change{} // of the revision that comes now
	var now, at int64
	open := false
	for k, m := range s.Messages {
		p.message = k
		for _, c := range m.Changes {
			if c.Revision != now {
				if len(left) > 0 {
					return p.breach(ErrNotResumable, now, least(left), "an uncut watch shows it here")
				}
				if len(next) == 0 || next[0] != c.Revision {
					return p.breach(ErrNotResumable, c.Revision, c.Task, "an uncut watch shows %s here", first(next))
				}
				now, next, left = c.Revision, next[1:], maps.Clone(v.changes[c.Revision])
			}
			want, there := left[c.Task]
			if !there || !same(c, want) {
				return p.breach(ErrNotResumable, c.Revision, c.Task, "an uncut watch does not show it so")
			}
			delete(left, c.Task)
			at = max(at, c.Revision)
		}
		at = max(at, m.Cursor.Revision)
		open = m.More
	}
	p.message = -1
	if len(left) > 0 && !open {
		return p.breach(ErrNotResumable, now, least(left), "an uncut watch shows it before this one's end")
	}
	if len(next) > 0 && next[0] <= at {
		return p.breach(ErrNotResumable, next[0], least(v.changes[next[0]]), "an uncut watch shows it before revision %d", at)
	}
	return nil
}

func first(next []int64) string {
	if len(next) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("revision %d", next[0])
}

func least(changes map[string]Change) string {
	if len(changes) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(changes)))
}

// same says whether two changes tell the same.
func same(a, b Change) bool {
	state := (a.State == nil) == (b.State == nil) && (a.State == nil || a.State.Content == b.State.Content)
	return state && a.Kind == b.Kind && slices.Equal(a.Events, b.Events)
}
