package pooltest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGuarantees_acceptWhatIsRight holds made-up watches of a server that keeps
// its promises against all guarantees.
func TestGuarantees_acceptWhatIsRight(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ref := drawReference(rt)
		tr := drawTraffic(rt, ref)
		if err := Validate(ref, tr); err != nil {
			rt.Fatalf("%v\n%s", err, tr)
		}
	})
}

// TestGuarantees_rejectWhatIsWrong spoils such a watch in one place, of which a
// cursor says afterwards that all was well.
func TestGuarantees_rejectWhatIsWrong(t *testing.T) {
	for name, spoil := range map[string]struct {
		change func(*rapid.T, []Change, int) []Change
		breaks []error
	}{
		"dropped": {
			func(_ *rapid.T, all []Change, i int) []Change { return slices.Delete(all, i, i+1) },
			[]error{ErrNotComplete, ErrNotBookmarkable},
		},
		"twice": {func(rt *rapid.T, all []Change, i int) []Change {
			return slices.Insert(all, rapid.IntRange(0, len(all)).Draw(rt, "at"), all[i])
		}, []error{ErrNotUnique}},
		"of another kind": {func(_ *rapid.T, all []Change, i int) []Change {
			all[i].Kind = 1 + all[i].Kind%3
			return all
		}, []error{ErrNotFiltered}},
		"of another task": {func(_ *rapid.T, all []Change, i int) []Change {
			all[i].Task = "none"
			return all
		}, []error{ErrNotFiltered}},
		"of another revision": {func(_ *rapid.T, all []Change, i int) []Change {
			all[i].Revision++
			return all
		}, []error{ErrNotComplete, ErrNotBookmarkable}},
		"stale": {func(_ *rapid.T, all []Change, i int) []Change {
			if all[i].State == nil {
				all[i].Kind, all[i].State = Upserted, &State{ID: all[i].Task, Revision: all[i].Revision}
			} else {
				all[i].State = &State{ID: all[i].Task, Revision: all[i].Revision, Content: "stale", Fields: all[i].State.Fields}
			}
			return all
		}, []error{ErrStateDiffers, ErrNotFiltered}},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				ref := drawReference(rt)
				tr := drawTraffic(rt, ref)
				var all []*Message
				for _, s := range tr.Streams {
					for k := range s.Messages {
						if m := &s.Messages[k]; len(m.Changes) > 0 && !m.More {
							all = append(all, m)
						}
					}
				}
				if len(all) == 0 {
					rt.Skip("nothing to spoil")
				}
				m := rapid.SampledFrom(all).Draw(rt, "message")
				m.Changes = spoil.change(rt, slices.Clone(m.Changes), rapid.IntRange(0, len(m.Changes)-1).Draw(rt, "change"))
				err := Validate(ref, tr)
				if !slices.ContainsFunc(spoil.breaks, func(want error) bool { return errors.Is(err, want) }) {
					rt.Fatalf("want one of %v, got %v\n%s", spoil.breaks, err, tr)
				}
			})
		})
	}
}

// TestGuarantees_takeAnything feeds them what no server ever sent: they say so,
// and never panic.
func TestGuarantees_takeAnything(t *testing.T) {
	cursor := rapid.Custom(func(rt *rapid.T) Cursor {
		if rapid.Bool().Draw(rt, "none") {
			return Cursor{}
		}
		return cursorAt(int64(rapid.IntRange(-1, 12).Draw(rt, "revision")))
	})
	state := rapid.Custom(func(rt *rapid.T) State {
		return State{ID: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "id"), Fields: rapid.SampledFrom(colours).Draw(rt, "colour")}
	})
	change := rapid.Custom(func(rt *rapid.T) Change {
		c := Change{Revision: int64(rapid.IntRange(-1, 12).Draw(rt, "of")), Task: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "task")}
		c.Kind = Kind(rapid.IntRange(0, 4).Draw(rt, "kind"))
		if rapid.Bool().Draw(rt, "with state") {
			s := state.Draw(rt, "state")
			c.State = &s
		}
		return c
	})
	message := rapid.Custom(func(rt *rapid.T) Message {
		return Message{
			Kind: MessageKind(rapid.IntRange(0, 6).Draw(rt, "kind")), Cursor: cursor.Draw(rt, "cursor"), More: rapid.Bool().Draw(rt, "more"),
			Tasks: rapid.SliceOfN(state, 0, 2).Draw(rt, "tasks"), Changes: rapid.SliceOfN(change, 0, 3).Draw(rt, "changes"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		tr := &Traffic{Fits: red}
		for range rapid.IntRange(0, 4).Draw(rt, "streams") {
			tr.Begin(Start(rapid.IntRange(0, 3).Draw(rt, "start")), cursor.Draw(rt, "after"))
			for _, m := range rapid.SliceOfN(message, 0, 5).Draw(rt, "messages") {
				tr.Add(m)
			}
		}
		_, _, _ = Validate(happened(), tr), tr.String(), tr.Cursor()
	})
}

func TestBreach_saysWhere(t *testing.T) {
	tr := redOnes()
	tr.Streams[1].Messages[2].Changes[0].Kind = LeftView
	err := Filtered(tr, happened())
	const want = `not filtered: watch "red", stream 1, message 2, revision 6, task a: LEFT_VIEW comes, and it is UPSERTED`
	if err == nil || err.Error() != want || !errors.Is(err, ErrNotFiltered) {
		t.Errorf("it says\n%v\nwant\n%s", err, want)
	}
	if both := Validate(happened(), redOnes(), tr); !errors.Is(both, ErrNotFiltered) || !errors.Is(both, ErrNotResumable) || errors.Is(both, ErrNotOrdered) {
		t.Errorf("all together say %v", both)
	}
}

func TestTraffic_cursor(t *testing.T) {
	tr := &Traffic{}
	check := func(why string, want Cursor) {
		t.Helper()
		if got := tr.Cursor(); got != want {
			t.Errorf("%s: %v, want %v", why, got, want)
		}
	}
	check("without a stream", Cursor{})
	tr.Begin(FromSnapshot, Cursor{})
	tr.Add(opened(Cursor{}))
	check("within the snapshot", Cursor{})
	tr.Add(whole(3))
	tr.Add(part(up("a", 4, "red")))
	check("within a revision", cursorAt(3))
	tr.Begin(FromCursor, cursorAt(3))
	check("resumed", cursorAt(3))
	tr.Begin(FromSnapshot, Cursor{})
	check("begun anew", Cursor{})
	if fmt.Sprint(tr) == "" {
		t.Error("a traffic shows nothing")
	}
}

// TestTraffic_forget judges a watch window by window.
func TestTraffic_forget(t *testing.T) {
	tr, later := redOnes(), redOnes().Streams[1]
	tr.Streams[1].Messages = tr.Streams[1].Messages[:2]
	ref := happened()
	if err := Validate(ref, tr); err != nil {
		t.Fatal(err)
	}
	tr.Forget()
	ref.Forget(tr.Cursor().Revision)
	for _, m := range later.Messages[2:] {
		tr.Add(m)
	}
	if err := Validate(ref, tr); err != nil || tr.Cursor() != cursorAt(9) || len(ref.Revisions) != 4 {
		t.Errorf("%v, at %v, %d revisions\n%s", err, tr.Cursor(), len(ref.Revisions), tr)
	}
	tr.Streams[0].Messages[1].Changes = tr.Streams[0].Messages[1].Changes[1:]
	if err := Validate(ref, tr); !errors.Is(err, ErrNotComplete) {
		t.Errorf("a change was dropped in the window: %v", err)
	}
	tr = &Traffic{Streams: []Stream{{Start: FromSnapshot, Messages: []Message{opened(Cursor{})}}}}
	if tr.Forget(); len(tr.Streams) != 0 {
		t.Errorf("it goes on within a snapshot: %s", tr)
	}
}
