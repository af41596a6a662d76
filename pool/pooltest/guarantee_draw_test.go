package pooltest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// colour is what the filters of these tests look at.
type colour string

var colours = []colour{"red", "green", "blue"}

func red(s State) bool { return s.Fields == colour("red") }

// drawReference makes up what happened to a pool.
func drawReference(rt *rapid.T) *Reference {
	ref := &Reference{Last: int64(rapid.IntRange(1, 30).Draw(rt, "head")), Listings: map[int64][]State{}}
	tasks := map[string]State{}
	event, made := int64(0), 0
	for n := int64(1); n <= ref.Last; n++ {
		rev := Revision{Number: n, Reset: rapid.IntRange(0, 15).Draw(rt, "reset") == 0}
		if rev.Reset {
			clear(tasks)
		}
		actor := rapid.SampledFrom([]string{"me", "you"}).Draw(rt, "actor")
		known := ids(tasks)
		for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3, 5}).Draw(rt, "changes") {
			h := Happened{By: rapid.SampledFrom([]string{actor, actor, ""}).Draw(rt, "by")}
			if len(known) > 0 && rapid.IntRange(0, 3).Draw(rt, "known") > 0 {
				k := rapid.IntRange(0, len(known)-1).Draw(rt, "which")
				h.Task = known[k]
				was := tasks[h.Task]
				h.Before = &was
				known = slices.Delete(known, k, k+1)
			} else {
				h.Task = fmt.Sprint("t", made)
				made++
			}
			if h.Before == nil || rapid.IntRange(0, 4).Draw(rt, "gone") > 0 {
				c := rapid.SampledFrom(colours).Draw(rt, "colour")
				h.After = &State{ID: h.Task, Revision: n, Content: fmt.Sprint(c, " since ", n), Fields: c}
				for range rapid.IntRange(0, 2).Draw(rt, "events") {
					event++
					h.Events = append(h.Events, Event{ID: event, Actor: rapid.SampledFrom([]string{actor, "pool"}).Draw(rt, "event's actor"), Content: fmt.Sprint(event)})
				}
				tasks[h.Task] = *h.After
			} else {
				delete(tasks, h.Task)
			}
			rev.Happened = append(rev.Happened, h)
		}
		if rev.Reset || len(rev.Happened) > 0 {
			ref.Revisions = append(ref.Revisions, rev)
		}
		if rapid.IntRange(0, 3).Draw(rt, "list") == 0 {
			ref.Listings[n] = states(tasks)
		}
	}
	return ref
}

func ids(tasks map[string]State) (ids []string) {
	for id := range tasks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func states(tasks map[string]State) (list []State) {
	for _, id := range ids(tasks) {
		list = append(list, tasks[id])
	}
	return list
}

// ideal is a server that keeps every promise. It is written apart from what the
// guarantees work out, and as simply as can be.
type ideal struct {
	rt  *rapid.T
	ref *Reference
	tr  *Traffic
	// given are the cursors to resume after, since the last start from elsewhere.
	given []Cursor
	// steady: no more cuts.
	steady bool
}

// drawTraffic makes up a watch of a pool, with cuts.
func drawTraffic(rt *rapid.T, ref *Reference) *Traffic {
	tr := &Traffic{Name: "drawn", Exclude: rapid.SampledFrom([]string{"", "", "me"}).Draw(rt, "exclude")}
	if rapid.Bool().Draw(rt, "filtered") {
		tr.Fits = red
	}
	s := &ideal{rt: rt, ref: ref, tr: tr}
	for range rapid.IntRange(1, 6).Draw(rt, "streams") {
		s.stream()
	}
	return tr
}

func cursorAt(revision int64) Cursor {
	return Cursor{Text: fmt.Sprint("c", revision), Revision: revision}
}

// stream serves until a cut, the head, or a reset.
func (s *ideal) stream() {
	start := rapid.SampledFrom([]Start{FromSnapshot, FromNow, FromCursor, FromCursor, FromCursor, FromCursor}).Draw(s.rt, "start")
	at := cursorAt(int64(rapid.IntRange(0, int(s.ref.Last)).Draw(s.rt, "at")))
	if start == FromCursor && len(s.given) > 0 {
		at = s.given[len(s.given)-1]
		if rapid.IntRange(0, 3).Draw(s.rt, "resume earlier") == 0 {
			at = rapid.SampledFrom(s.given).Draw(s.rt, "resume after")
		}
	}
	if start != FromCursor {
		s.given = nil
	}
	opened := Message{Kind: MessageOpened}
	if start != FromSnapshot {
		opened.Cursor = at
	}
	if start == FromCursor {
		s.tr.Begin(start, at)
	} else {
		s.tr.Begin(start, Cursor{})
	}
	if s.send(opened) && (start != FromSnapshot || s.snapshot(at)) {
		s.changes(at.Revision)
	}
}

// send says whether the stream goes on.
func (s *ideal) send(m Message) bool {
	s.tr.Add(m)
	if m.Cursor != (Cursor{}) {
		s.given = append(s.given, m.Cursor)
	}
	return s.steady || rapid.IntRange(0, 8).Draw(s.rt, "cut") > 0
}

func (s *ideal) fits(t *State) bool { return t != nil && (s.tr.Fits == nil || s.tr.Fits(*t)) }

func (s *ideal) snapshot(at Cursor) bool {
	for _, t := range states(s.ref.Listing(at.Revision)) {
		if s.fits(&t) && !s.send(Message{Kind: MessageSnapshot, Tasks: []State{t}}) {
			return false
		}
	}
	return s.send(Message{Kind: MessageSnapshotEnd, Cursor: at})
}

func (s *ideal) changes(at int64) {
	var m Message
	for _, rev := range s.ref.Revisions {
		if rev.Number <= at {
			continue
		}
		if rev.Reset {
			return
		}
		shown := rapid.Permutation(s.shown(rev)).Draw(s.rt, "order")
		if len(shown) == 0 {
			continue
		}
		for at < rev.Number-1 && len(m.Changes) == 0 && rapid.Bool().Draw(s.rt, "progress") {
			at = int64(rapid.IntRange(int(at), int(rev.Number-1)).Draw(s.rt, "up to"))
			if !s.send(Message{Kind: MessageProgress, Cursor: cursorAt(at)}) {
				return
			}
		}
		for i, c := range shown {
			m.Kind, m.Changes = MessageChanges, append(m.Changes, c)
			if rapid.Bool().Draw(s.rt, "another in the message") {
				continue
			}
			if m.More = i < len(shown)-1; !m.More {
				m.Cursor = cursorAt(rev.Number)
			}
			if !s.send(m) {
				return
			}
			m = Message{}
		}
		at = rev.Number
	}
	if len(m.Changes) > 0 {
		m.Cursor = cursorAt(at)
		if !s.send(m) {
			return
		}
	}
	s.send(Message{Kind: MessageProgress, Cursor: cursorAt(s.ref.Last)})
}

func (s *ideal) shown(rev Revision) (shown []Change) {
	for _, h := range rev.Happened {
		c := Change{Revision: rev.Number, Task: h.Task}
		mine := s.tr.Exclude != "" && h.By == s.tr.Exclude
		for _, e := range h.Events {
			if s.tr.Exclude == "" || e.Actor != s.tr.Exclude {
				c.Events = append(c.Events, e)
			}
		}
		was, is := s.fits(h.Before), s.fits(h.After)
		switch {
		case is && mine && len(c.Events) == 0:
			continue
		case is:
			c.Kind, c.State = Upserted, h.After
		case was && h.After == nil:
			c.Kind = Deleted
		case was:
			c.Kind = LeftView
		default:
			continue
		}
		shown = append(shown, c)
	}
	return shown
}
