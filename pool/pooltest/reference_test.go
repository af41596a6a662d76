package pooltest

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestReference_check(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*Reference)
		want  error
	}{
		"right":                    {func(*Reference) {}, nil},
		"right listings":           {func(r *Reference) { r.Listings = map[int64][]State{0: nil, 1: {*is("a", 1, "red")}} }, nil},
		"beyond the head":          {func(r *Reference) { r.Last = 7 }, ErrReference},
		"before its beginning":     {func(r *Reference) { r.From = 1 }, ErrReference},
		"out of order":             {func(r *Reference) { r.Revisions[2].Number = 2 }, ErrReference},
		"a revision missing":       {func(r *Reference) { r.Revisions = slices.Delete(r.Revisions, 2, 3) }, ErrReference},
		"a change of another task": {func(r *Reference) { r.Revisions[2].Happened[0].After.ID = "b" }, ErrReference},
		"a change of nothing":      {func(r *Reference) { r.Revisions[6].Happened[0].After = nil }, ErrReference},
		"a task twice": {func(r *Reference) {
			r.Revisions[4].Happened = append(r.Revisions[4].Happened, r.Revisions[4].Happened[0])
		}, ErrReference},
		"another before":          {func(r *Reference) { r.Revisions[4].Happened[0].Before.Content = "other" }, ErrReference},
		"a task survives a reset": {func(r *Reference) { r.Revisions[4].Reset = true }, ErrReference},
		"a listing lacks one":     {func(r *Reference) { r.Listings = map[int64][]State{8: {*is("a", 8, "red"), *is("c", 6, "red")}} }, ErrStateDiffers},
		"a listing has one more":  {func(r *Reference) { r.Listings = map[int64][]State{0: {*is("a", 1, "red")}} }, ErrStateDiffers},
		"a listing has an old one": {func(r *Reference) {
			r.Listings = map[int64][]State{2: {*is("a", 1, "red"), *is("b", 1, "red"), *is("c", 2, "green")}}
		}, ErrStateDiffers},
	} {
		t.Run(name, func(t *testing.T) {
			ref := happened()
			tt.spoil(ref)
			if err := ref.Check(); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			tr := redOnes()
			tr.Begin(FromSnapshot, Cursor{})
			tr.Add(passed(1))
			err := Validate(ref, tr)
			if tt.want != nil && !errors.Is(err, tt.want) || !errors.Is(err, ErrNotFormed) || errors.Is(err, ErrNotBookmarkable) == errors.Is(tt.want, ErrReference) {
				t.Errorf("Validate: %v, want %v and what is wrong with the traffic", err, tt.want)
			}
		})
	}
}

// TestReference_forget holds traffic of a window against what is left of a
// reference: what lies in the window is judged as before, and what begins
// before it is not.
func TestReference_forget(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ref := drawReference(rt)
		tr := drawTraffic(rt, ref)
		at := int64(rapid.IntRange(0, int(ref.Last)).Draw(rt, "forget"))
		want := ref.Listing(ref.Last)
		ref.Forget(at)
		if got := ref.Listing(ref.Last); !maps.Equal(got, want) {
			rt.Fatalf("the listing became %v, was %v", got, want)
		}
		err := Validate(ref, tr)
		for _, s := range tr.Streams {
			if s.Start == FromCursor && s.After.Revision < at && errors.Is(err, ErrReference) {
				return
			}
			for _, m := range s.Messages {
				if m.Cursor != (Cursor{}) && m.Cursor.Revision < at && errors.Is(err, ErrReference) {
					return
				}
			}
		}
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// TestReferenceOf makes a reference of watches of everything, cut and resumed,
// and finds it to be what happened.
func TestReferenceOf(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ref := drawReference(rt)
		if slices.ContainsFunc(ref.Revisions, func(rev Revision) bool { return rev.Reset }) {
			rt.Skip("no watch goes on over a reset")
		}
		tr := &Traffic{Name: "all"}
		s := &ideal{rt: rt, ref: ref, tr: tr}
		s.tr.Begin(FromSnapshot, Cursor{})
		s.send(Message{Kind: MessageOpened})
		s.snapshot(cursorAt(0))
		for streams := rapid.IntRange(1, 5).Draw(rt, "streams"); streams > 0; streams-- {
			s.steady = streams == 1
			after := tr.Cursor()
			if len(s.given) > 0 && rapid.Bool().Draw(rt, "earlier") {
				after = rapid.SampledFrom(s.given).Draw(rt, "after")
			}
			tr.Begin(FromCursor, after)
			s.send(opened(after))
			s.changes(after.Revision)
		}
		got, err := ReferenceOf(tr, func(h Happened) string { return doer(ref, h) })
		if err != nil {
			rt.Fatal(err)
		}
		got.Listings = map[int64][]State{got.Last: states(ref.Listing(got.Last))}
		if err := Validate(got, tr); err != nil {
			rt.Fatalf("%v\n%s", err, tr)
		}
		if got.Last != ref.Last || len(got.Revisions) != len(ref.Revisions) {
			rt.Fatalf("%d revisions up to %d, want %d up to %d", len(got.Revisions), got.Last, len(ref.Revisions), ref.Last)
		}
		for i, rev := range ref.Revisions {
			if rev.Number != got.Revisions[i].Number || len(rev.Happened) != len(got.Revisions[i].Happened) {
				rt.Fatalf("revision %+v, want %+v", got.Revisions[i], rev)
			}
		}
	})
}

// doer looks up who did what happened.
func doer(ref *Reference, h Happened) string {
	for _, rev := range ref.Revisions {
		for _, is := range rev.Happened {
			if is.Task == h.Task && h.After != nil && is.After != nil && *is.After == *h.After {
				return is.By
			}
		}
	}
	return ""
}

func TestReferenceOf_nothing(t *testing.T) {
	for name, tr := range map[string]*Traffic{
		"no stream":           {},
		"an unended snapshot": {Streams: []Stream{{Messages: []Message{opened(Cursor{}), shown(is("a", 1, "red"))}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if ref, err := ReferenceOf(tr, nil); !errors.Is(err, ErrReference) {
				t.Errorf("%+v, %v", ref, err)
			}
		})
	}
}
