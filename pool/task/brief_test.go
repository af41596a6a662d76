package task

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func briefs() *rapid.Generator[*Brief] {
	return rapid.Custom(func(t *rapid.T) *Brief {
		b := &Brief{Description: rapid.String().Draw(t, "description"), Body: rapid.String().Draw(t, "body")}
		for i := range listFields {
			if list := rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, listFields[i].name); len(list) > 0 {
				*listFields[i].brief(b) = list
			}
		}
		return b
	})
}

func TestPackedBrief_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := briefs().Draw(t, "a"), briefs().Draw(t, "b")
		if got := a.Pack().Unpack(); !reflect.DeepEqual(got, a) {
			t.Fatalf("got %+v\nwant %+v", got, a)
		}
		if same := reflect.DeepEqual(a, b); (a.Pack() == b.Pack()) != same {
			t.Fatalf("equal: %v, packed %q and %q", same, a.Pack(), b.Pack())
		}
		if p := a.Pack(); p.Text(PartDescription) != a.Description || p.Text(PartBody) != a.Body {
			t.Fatalf("%q and %q of %+v", p.Text(PartDescription), p.Text(PartBody), a)
		}
		var p BriefPacker
		for part, text := range a.Pack().All() {
			p.Add(part, []byte(text))
		}
		if title, brief := p.Packed([]byte("t")); title != "t" || brief != a.Pack() || !p.InOrder() {
			t.Fatalf("packed one by one: %q %q, in order: %v", title, brief, p.InOrder())
		}
	})
}

// What is packed in another order would not be equal to what it should.
func TestBriefPacker_order(t *testing.T) {
	for name, add := range map[string]func(*BriefPacker){
		"backwards":        func(p *BriefPacker) { p.Add(PartBody, []byte("b")); p.Add(PartDescription, []byte("d")) },
		"twice":            func(p *BriefPacker) { p.Add(PartDescription, []byte("d")); p.Add(PartDescription, []byte("d")) },
		"empty":            func(p *BriefPacker) { p.Add(PartBody, []byte("")) },
		"list after later": func(p *BriefPacker) { p.Add(PartSteps, []byte("")); p.Add(PartLinks, []byte("l")) },
	} {
		var p BriefPacker
		add(&p)
		if p.InOrder() {
			t.Errorf("%s passes", name)
		}
		p.Reset()
		p.Add(PartDescription, []byte("d"))
		p.Add(PartSteps, []byte(""))
		p.Add(PartSteps, []byte("s"))
		_, got := p.Packed(nil)
		if want := (&Brief{Description: "d", Steps: []string{"", "s"}}).Pack(); !p.InOrder() || got != want {
			t.Errorf("%s, and anew: %q, want %q", name, got, want)
		}
	}
}
