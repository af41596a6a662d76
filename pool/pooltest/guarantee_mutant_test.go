package pooltest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// happened is a small history: nine revisions of four tasks, most of them red
// at times.
func happened() *Reference {
	return &Reference{Last: 9, Revisions: []Revision{
		{Number: 1, Happened: []Happened{{Task: "a", After: is("a", 1, "red"), Events: []Event{byMe(1)}, By: "me"}}},
		{Number: 2, Happened: []Happened{
			{Task: "b", After: is("b", 2, "red"), Events: []Event{byYou(2), byYou(3)}, By: "you"},
			{Task: "c", After: is("c", 2, "green"), Events: []Event{byYou(4)}, By: "you"},
		}},
		{Number: 3, Happened: []Happened{
			{Task: "a", Before: is("a", 1, "red"), After: is("a", 3, "green"), Events: []Event{byMe(5)}, By: "me"},
			{Task: "b", Before: is("b", 2, "red"), After: is("b", 3, "red"), Events: []Event{byMe(6), byPool(7)}},
		}},
		{Number: 4, Happened: []Happened{{Task: "c", Before: is("c", 2, "green"), After: is("c", 4, "red"), Events: []Event{byMe(8)}, By: "me"}}},
		{Number: 5, Happened: []Happened{{Task: "b", Before: is("b", 3, "red")}}},
		{Number: 6, Happened: []Happened{
			{Task: "a", Before: is("a", 3, "green"), After: is("a", 6, "red"), Events: []Event{byYou(9)}, By: "you"},
			{Task: "c", Before: is("c", 4, "red"), After: is("c", 6, "red"), Events: []Event{byPool(10)}},
		}},
		{Number: 7, Happened: []Happened{{Task: "d", After: is("d", 7, "green"), By: "you"}}},
		{Number: 8, Happened: []Happened{{Task: "a", Before: is("a", 6, "red"), After: is("a", 8, "red"), Events: []Event{byYou(11), byPool(12)}, By: "you"}}},
		{Number: 9, Happened: []Happened{{Task: "c", Before: is("c", 6, "red"), After: is("c", 9, "red"), Events: []Event{byMe(13), byPool(14)}, By: "me"}}},
	}}
}

func is(id string, revision int64, c colour) *State {
	return &State{ID: id, Revision: revision, Content: fmt.Sprint(id, " is ", c, " since ", revision), Fields: c}
}

func byMe(id int64) Event   { return Event{ID: id, Actor: "me"} }
func byYou(id int64) Event  { return Event{ID: id, Actor: "you"} }
func byPool(id int64) Event { return Event{ID: id, Actor: "pool"} }

func up(id string, revision int64, c colour, events ...Event) Change {
	return Change{Revision: revision, Task: id, Kind: Upserted, State: is(id, revision, c), Events: events}
}

func left(id string, revision int64, events ...Event) Change {
	return Change{Revision: revision, Task: id, Kind: LeftView, Events: events}
}

func gone(id string, revision int64) Change {
	return Change{Revision: revision, Task: id, Kind: Deleted}
}

func opened(at Cursor) Message { return Message{Kind: MessageOpened, Cursor: at} }

func shown(tasks ...*State) Message {
	m := Message{Kind: MessageSnapshot}
	for _, t := range tasks {
		m.Tasks = append(m.Tasks, *t)
	}
	return m
}

func whole(at int64) Message { return Message{Kind: MessageSnapshotEnd, Cursor: cursorAt(at)} }

func passed(at int64) Message { return Message{Kind: MessageProgress, Cursor: cursorAt(at)} }

func changed(at int64, changes ...Change) Message {
	return Message{Kind: MessageChanges, Changes: changes, Cursor: cursorAt(at)}
}

func part(changes ...Change) Message {
	return Message{Kind: MessageChanges, Changes: changes, More: true}
}

// redOnes is a watch of the red tasks, cut and resumed once, as it should be.
func redOnes() *Traffic {
	return &Traffic{Name: "red", Fits: red, Streams: []Stream{
		{Start: FromSnapshot, Messages: []Message{
			opened(Cursor{}),
			shown(is("a", 1, "red")),
			whole(1),
			changed(2, up("b", 2, "red", byYou(2), byYou(3))),
			part(left("a", 3, byMe(5))),
			changed(3, up("b", 3, "red", byMe(6), byPool(7))),
		}},
		{Start: FromCursor, After: cursorAt(3), Messages: []Message{
			opened(cursorAt(3)),
			changed(5, up("c", 4, "red", byMe(8)), gone("b", 5)),
			changed(6, up("a", 6, "red", byYou(9)), up("c", 6, "red", byPool(10))),
			passed(7),
			changed(8, up("a", 8, "red", byYou(11), byPool(12))),
			changed(9, up("c", 9, "red", byMe(13), byPool(14))),
		}},
	}}
}

// butMine is a watch of the red tasks that leaves out what "me" does, from now.
func butMine() *Traffic {
	return &Traffic{Name: "but mine", Fits: red, Exclude: "me", Streams: []Stream{
		{Start: FromNow, Messages: []Message{
			opened(cursorAt(0)),
			changed(2, up("b", 2, "red", byYou(2), byYou(3))),
			changed(3, left("a", 3), up("b", 3, "red", byPool(7))),
			changed(6, gone("b", 5), up("a", 6, "red", byYou(9)), up("c", 6, "red", byPool(10))),
			changed(9, up("a", 8, "red", byYou(11), byPool(12)), up("c", 9, "red", byPool(14))),
		}},
	}}
}

func TestGuarantees_acceptTheRightOnes(t *testing.T) {
	for _, tr := range []*Traffic{redOnes(), butMine()} {
		if err := Validate(happened(), tr); err != nil {
			t.Error(err)
		}
	}
}

// broken lists the guarantees that a traffic breaks.
func broken(t *testing.T, tr *Traffic, ref *Reference) (errs []error) {
	t.Helper()
	if err := ref.Check(); err != nil {
		t.Fatal(err)
	}
	for _, g := range Guarantees() {
		err := g.Check(tr, ref)
		if err == nil {
			continue
		}
		if b, ok := errors.AsType[*Breach](err); !ok || !errors.Is(err, g.Err) || b.Watch != tr.Name || b.Why == "" {
			t.Errorf("%s says %v", g.Name, err)
		}
		t.Log(err)
		errs = append(errs, g.Err)
	}
	return errs
}

// mutant is a traffic that is right but for one thing.
type mutant struct {
	name   string
	mutate func(first, second *Stream)
	// breaks are all guarantees that it breaks, in their order.
	breaks []error
}

func changes(s *Stream, message int) *[]Change { return &s.Messages[message].Changes }

func without(s *Stream, message int) { s.Messages = slices.Delete(s.Messages, message, message+1) }

func with(s *Stream, message int, m ...Message) {
	s.Messages = slices.Insert(s.Messages, message, m...)
}

// mutants are of redOnes. The first stream is messages 0 opened, 1 and 2 the
// snapshot, 3 revision 2, 4 and 5 revision 3; the second 0 opened, 1 revisions 4
// and 5, 2 revision 6, 3 progress to 7, 4 revision 8, 5 revision 9.
var mutants = []mutant{
	{"cut within the snapshot", func(a, b *Stream) { a.Messages = a.Messages[:2]; b.Messages = nil }, nil},
	{"cut within a revision", func(a, b *Stream) { a.Messages = a.Messages[:5]; b.Messages = nil }, nil},
	{"resumed earlier", func(_, b *Stream) {
		b.After, b.Messages = cursorAt(2), []Message{opened(cursorAt(2)), part(left("a", 3, byMe(5)))}
	}, nil},
	{"resumed within a revision that had begun", func(a, b *Stream) {
		a.Messages, b.After, b.Messages[0] = a.Messages[:5], cursorAt(2), opened(cursorAt(2))
		with(b, 1, changed(3, up("b", 3, "red", byMe(6), byPool(7)), left("a", 3, byMe(5))))
	}, nil},
	{"progress before the next change", func(_, b *Stream) { with(b, 3, passed(6), passed(6)) }, nil},

	{"not opened", func(a, _ *Stream) { without(a, 0) }, []error{ErrNotFormed}},
	{"opened twice", func(a, _ *Stream) { with(a, 1, opened(Cursor{})) }, []error{ErrNotFormed}},
	{"progress before the end of the snapshot", func(a, _ *Stream) { with(a, 1, passed(1)) }, []error{ErrNotFormed, ErrNotBookmarkable}},
	{"a cursor when opened, before the snapshot", func(a, _ *Stream) { a.Messages[0].Cursor = cursorAt(1) }, []error{ErrNotFormed, ErrNotBookmarkable}},
	{"a cursor within the snapshot", func(a, _ *Stream) { a.Messages[1].Cursor = cursorAt(1) }, []error{ErrNotFormed, ErrNotBookmarkable}},
	{"a snapshot when resumed", func(_, b *Stream) { with(b, 1, shown(is("b", 3, "red"))) }, []error{ErrNotFormed}},
	{"no cursor", func(_, b *Stream) { b.Messages[2].Cursor = Cursor{} }, []error{ErrNotFormed}},
	{"no changes", func(_, b *Stream) { with(b, 4, changed(7)) }, []error{ErrNotFormed}},
	{"a state of what left", func(a, _ *Stream) { (*changes(a, 4))[0].State = is("a", 3, "green") }, []error{ErrNotFormed, ErrStateDiffers}},
	{"a state of another revision", func(a, _ *Stream) { (*changes(a, 3))[0].State.Revision = 1 }, []error{ErrNotFormed}},
	{"a kind that nobody knows", func(a, _ *Stream) { (*changes(a, 4))[0].Kind = 9 }, []error{ErrNotFormed, ErrNotFiltered}},

	{
		"two messages swapped", func(_, b *Stream) { b.Messages[1], b.Messages[2] = b.Messages[2], b.Messages[1] },
		[]error{ErrNotOrdered, ErrNotResumable, ErrNotBookmarkable, ErrStateDiffers},
	},
	{"two revisions of a message swapped", func(_, b *Stream) { slices.Reverse(*changes(b, 1)) }, []error{ErrNotOrdered, ErrNotResumable}},
	{
		"a revision from before the snapshot", func(a, _ *Stream) {
			a.Messages[2].Cursor, a.Messages[1].Tasks = cursorAt(3), []State{*is("b", 3, "red")}
		},
		[]error{ErrNotOrdered, ErrNotUnique, ErrNotBookmarkable},
	},
	{"events swapped", func(a, _ *Stream) { slices.Reverse((*changes(a, 3))[0].Events) }, []error{ErrNotOrdered}},
	{"events swapped after the cut", func(_, b *Stream) { slices.Reverse((*changes(b, 4))[0].Events) }, []error{ErrNotOrdered, ErrNotResumable}},

	{"a task twice in a revision", func(a, _ *Stream) { m := changes(a, 3); *m = append(*m, (*m)[0]) }, []error{ErrNotOrdered, ErrNotUnique}},
	{"a task without events twice in a revision", func(_, b *Stream) { m := changes(b, 1); *m = append(*m, (*m)[1]) }, []error{ErrNotUnique, ErrNotResumable}},
	{"a task twice in the snapshot", func(a, _ *Stream) { with(a, 1, a.Messages[1]) }, []error{ErrNotUnique}},
	{
		"the last revision again after the cut", func(a, b *Stream) { with(b, 1, a.Messages[4:]...) },
		[]error{ErrNotOrdered, ErrNotUnique, ErrNotResumable, ErrNotBookmarkable},
	},
	{
		"an older revision again after the cut", func(a, b *Stream) { with(b, 1, a.Messages[3]) },
		[]error{ErrNotOrdered, ErrNotUnique, ErrNotResumable, ErrNotBookmarkable},
	},
	{
		"the revision of the snapshot again", func(a, _ *Stream) { with(a, 3, changed(1, up("a", 1, "red", byMe(1)))) },
		[]error{ErrNotUnique, ErrNotBookmarkable},
	},
	{"an event twice", func(a, _ *Stream) { c := &(*changes(a, 3))[0]; c.Events = append(c.Events, byYou(3)) }, []error{ErrNotUnique}},

	{"a revision dropped, then a cut", func(a, b *Stream) { without(a, 3); a.Messages, b.Messages = a.Messages[:4], nil }, []error{ErrNotComplete}},
	{"a revision dropped", func(a, _ *Stream) { without(a, 3) }, []error{ErrNotComplete, ErrNotBookmarkable}},
	{
		"a revision dropped after the cut", func(_, b *Stream) { m := changes(b, 1); *m = (*m)[1:] },
		[]error{ErrNotComplete, ErrNotResumable, ErrNotBookmarkable, ErrStateDiffers},
	},
	{
		"resumed too late", func(_, b *Stream) { *changes(b, 1), b.Messages[1] = nil, passed(5) },
		[]error{ErrNotComplete, ErrNotResumable, ErrNotBookmarkable, ErrStateDiffers},
	},
	{"a cursor beyond what came, then resumed", func(a, b *Stream) {
		with(a, 6, passed(5))
		b.After = cursorAt(5)
		without(b, 1)
		b.Messages[0] = opened(cursorAt(5))
	}, []error{ErrNotComplete, ErrNotBookmarkable, ErrStateDiffers}},
	{"an event dropped", func(a, _ *Stream) { c := &(*changes(a, 3))[0]; c.Events = c.Events[:1] }, []error{ErrNotComplete, ErrNotAtomic, ErrNotBookmarkable}},

	{"goes on and does not", func(a, _ *Stream) { a.Messages[3].More, a.Messages[3].Cursor = true, Cursor{} }, []error{ErrNotAtomic}},
	{
		"a cursor inside a revision", func(a, _ *Stream) { a.Messages[4].More, a.Messages[4].Cursor = false, cursorAt(3) },
		[]error{ErrNotAtomic, ErrNotBookmarkable, ErrStateDiffers},
	},
	{
		"a cursor before a revision that has begun", func(a, _ *Stream) { a.Messages[4].Cursor = cursorAt(2) },
		[]error{ErrNotFormed, ErrNotAtomic, ErrNotBookmarkable, ErrStateDiffers},
	},
	{
		"half a revision", func(_, b *Stream) { m := changes(b, 2); *m = (*m)[1:] },
		[]error{ErrNotComplete, ErrNotAtomic, ErrNotResumable, ErrNotBookmarkable, ErrStateDiffers},
	},
	{"a revision in two pieces", func(_, b *Stream) {
		m := changes(b, 2)
		b.Messages[4].Changes, *m = append(b.Messages[4].Changes, (*m)[1]), (*m)[:1]
	}, []error{ErrNotOrdered, ErrNotAtomic, ErrNotResumable, ErrNotBookmarkable, ErrStateDiffers}},

	{"progress too high", func(_, b *Stream) { b.Messages[3].Cursor = cursorAt(8) }, []error{ErrNotBookmarkable, ErrStateDiffers}},
	{
		"progress too high, then a cut", func(_, b *Stream) { b.Messages[3].Cursor = cursorAt(8); b.Messages = b.Messages[:4] },
		[]error{ErrNotResumable, ErrNotBookmarkable, ErrStateDiffers},
	},
	{"progress beyond the head", func(_, b *Stream) { with(b, 6, passed(10)) }, []error{ErrNotBookmarkable}},
	{"progress goes back", func(_, b *Stream) { with(b, 4, passed(6)) }, []error{ErrNotBookmarkable}},
	{"opened before where it was resumed", func(_, b *Stream) { b.Messages[0].Cursor = cursorAt(2) }, []error{ErrNotBookmarkable}},

	{"what does not fit", func(a, _ *Stream) { m := changes(a, 3); *m = append(*m, up("c", 2, "green", byYou(4))) }, []error{ErrNotFiltered, ErrStateDiffers}},
	{"DELETED for what left", func(a, _ *Stream) { (*changes(a, 4))[0].Kind = Deleted }, []error{ErrNotFiltered}},
	{"LEFT_VIEW for what is gone", func(_, b *Stream) { (*changes(b, 1))[1].Kind = LeftView }, []error{ErrNotResumable, ErrNotFiltered}},
	{"LEFT_VIEW for what never was there", func(a, _ *Stream) { m := changes(a, 3); *m = append(*m, left("c", 2, byYou(4))) }, []error{ErrNotFiltered}},
	{"UPSERTED for what left", func(a, _ *Stream) { (*changes(a, 4))[0] = up("a", 3, "green", byMe(5)) }, []error{ErrNotFiltered, ErrStateDiffers}},
	{"a departure dropped", func(a, _ *Stream) { without(a, 4) }, []error{ErrNotComplete, ErrNotAtomic, ErrNotBookmarkable, ErrStateDiffers}},
	{
		"another revision", func(a, _ *Stream) { a.Messages[4].Changes[0].Revision, a.Messages[3].Changes[0].Revision = 3, 1 },
		[]error{ErrNotFormed, ErrNotUnique, ErrNotComplete, ErrNotAtomic, ErrNotBookmarkable, ErrNotFiltered},
	},
	{"an event of another task", func(a, _ *Stream) { c := &(*changes(a, 3))[0]; c.Events = append(c.Events, byYou(4)) }, []error{ErrNotFiltered}},

	{"a stale snapshot", func(a, _ *Stream) { a.Messages[2].Cursor = cursorAt(2); without(a, 3) }, []error{ErrStateDiffers}},
	{"a snapshot of what had changed", func(a, _ *Stream) { a.Messages[1].Tasks[0].Content = "a was red" }, []error{ErrStateDiffers}},
	{"an empty snapshot", func(a, _ *Stream) { without(a, 1) }, []error{ErrStateDiffers}},
	{
		"a snapshot of what does not fit", func(a, _ *Stream) { a.Messages[1].Tasks = append(a.Messages[1].Tasks, *is("d", 1, "green")) },
		[]error{ErrNotFiltered, ErrStateDiffers},
	},
	{"a stale state", func(a, _ *Stream) { (*changes(a, 5))[0].State.Content = "b was red" }, []error{ErrStateDiffers}},
	{"a stale state after the cut", func(_, b *Stream) { (*changes(b, 2))[1].State.Content = "c was red" }, []error{ErrNotResumable, ErrStateDiffers}},
}

func TestGuarantees_rejectMutants(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			tr := redOnes()
			m.mutate(&tr.Streams[0], &tr.Streams[1])
			if got := broken(t, tr, happened()); !slices.Equal(got, m.breaks) {
				t.Errorf("breaks\n%v\nshould break\n%v", got, m.breaks)
			}
		})
	}
}

// mutantsButMine are of butMine, whose messages are 0 opened, 1 revision 2,
// 2 revision 3, 3 revisions 5 and 6, 4 revisions 8 and 9.
var mutantsButMine = []mutant{
	{"my own change", func(s, _ *Stream) { with(s, 1, changed(1, up("a", 1, "red"))) }, []error{ErrNotFiltered}},
	{"my own event with what follows", func(s, _ *Stream) { (*changes(s, 2))[1].Events = []Event{byMe(6), byPool(7)} }, []error{ErrNotFiltered}},
	{"my own event with a departure", func(s, _ *Stream) { (*changes(s, 2))[0].Events = []Event{byMe(5)} }, []error{ErrNotFiltered}},
	{"no departure by me", func(s, _ *Stream) { m := changes(s, 2); *m = (*m)[1:] }, []error{ErrNotComplete, ErrNotAtomic, ErrNotBookmarkable}},
	{
		"no change that follows from mine", func(s, _ *Stream) { m := changes(s, 2); *m = (*m)[:1] },
		[]error{ErrNotComplete, ErrNotAtomic, ErrNotBookmarkable, ErrStateDiffers},
	},
	{"no change by another", func(s, _ *Stream) { without(s, 1) }, []error{ErrNotComplete, ErrNotBookmarkable}},
	{
		"no change by me that has another's event", func(s, _ *Stream) { m := changes(s, 4); *m = (*m)[:1] },
		[]error{ErrNotBookmarkable, ErrStateDiffers},
	},
	{"no event of the pool", func(s, _ *Stream) { (*changes(s, 2))[1].Events = nil }, []error{ErrNotComplete, ErrNotAtomic, ErrNotBookmarkable}},
}

func TestGuarantees_rejectMutantsThatExclude(t *testing.T) {
	for _, m := range mutantsButMine {
		t.Run(m.name, func(t *testing.T) {
			tr := butMine()
			m.mutate(&tr.Streams[0], nil)
			if got := broken(t, tr, happened()); !slices.Equal(got, m.breaks) {
				t.Errorf("breaks\n%v\nshould break\n%v", got, m.breaks)
			}
		})
	}
}
