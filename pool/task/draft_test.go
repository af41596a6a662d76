package task

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// samples are texts of one user-visible character, by how many code points it has.
var samples = map[string]string{
	"ASCII": "x", "emoji": "😀", "family": family, "CJK": "任", "combining": accent, "flag": flag,
}

// textOf is a text of exactly n code points made of the sample, filled up with
// ASCII, with no white space.
func textOf(sample string, n int) string {
	size := Length(sample)
	return strings.Repeat(sample, n/size) + strings.Repeat("y", n%size)
}

// textFields are all texts of a draft that have a limit.
var textFields = []struct {
	field string
	limit func(*Limits) *int
	draft func(*Draft, string)
	patch func(*Patch, string)
	got   func(*Draft) string
}{
	{"title", func(l *Limits) *int { return &l.TitleLength }, func(d *Draft, s string) { d.Title = s }, func(p *Patch, s string) { p.Title = &s }, func(d *Draft) string { return d.Title }},
	{"description", func(l *Limits) *int { return &l.DescriptionLength }, func(d *Draft, s string) { d.Description = s }, func(p *Patch, s string) { p.Description = &s }, func(d *Draft) string { return d.Description }},
	{"body", func(l *Limits) *int { return &l.BodyLength }, func(d *Draft, s string) { d.Body = s }, func(p *Patch, s string) { p.Body = &s }, func(d *Draft) string { return d.Body }},
	{"acceptance_criteria[1]", func(l *Limits) *int { return &l.AcceptanceCriteriaLength }, func(d *Draft, s string) { d.AcceptanceCriteria = []string{"a", s} }, func(p *Patch, s string) { p.AcceptanceCriteria = &[]string{"a", s} }, func(d *Draft) string { return d.AcceptanceCriteria[1] }},
	{"steps[0]", func(l *Limits) *int { return &l.PlanFieldLength }, func(d *Draft, s string) { d.Steps = []string{s} }, func(p *Patch, s string) { p.Steps = &[]string{s} }, func(d *Draft) string { return d.Steps[0] }},
	{"constraints[0]", func(l *Limits) *int { return &l.PlanFieldLength }, func(d *Draft, s string) { d.Constraints = []string{s} }, func(p *Patch, s string) { p.Constraints = &[]string{s} }, func(d *Draft) string { return d.Constraints[0] }},
	{"out_of_scope[0]", func(l *Limits) *int { return &l.PlanFieldLength }, func(d *Draft, s string) { d.OutOfScope = []string{s} }, func(p *Patch, s string) { p.OutOfScope = &[]string{s} }, func(d *Draft) string { return d.OutOfScope[0] }},
	{"verification[0]", func(l *Limits) *int { return &l.PlanFieldLength }, func(d *Draft, s string) { d.Verification = []string{s} }, func(p *Patch, s string) { p.Verification = &[]string{s} }, func(d *Draft) string { return d.Verification[0] }},
	{"context[0]", func(l *Limits) *int { return &l.PlanFieldLength }, func(d *Draft, s string) { d.Context = []string{s} }, func(p *Patch, s string) { p.Context = &[]string{s} }, func(d *Draft) string { return d.Context[0] }},
	{"edge_cases[0]", func(l *Limits) *int { return &l.PlanFieldLength }, func(d *Draft, s string) { d.EdgeCases = []string{s} }, func(p *Patch, s string) { p.EdgeCases = &[]string{s} }, func(d *Draft) string { return d.EdgeCases[0] }},
	{`labels["k"]`, func(l *Limits) *int { return &l.LabelValueLength }, func(d *Draft, s string) { d.Labels = map[string]string{"k": s} }, func(p *Patch, s string) { p.SetLabels = map[string]string{"k": s} }, func(d *Draft) string { return d.Labels["k"] }},
}

func draft() Draft { return Draft{Title: "t"} }

// patchField is the path of a draft's field in a patch.
func patchField(field string) string {
	if strings.HasPrefix(field, "labels") {
		return "set_" + field
	}
	return field
}

func only(t *testing.T, v Violations, field string, parts ...string) {
	t.Helper()
	if len(v) != 1 || v[0].Field != field {
		t.Errorf("violations are %v, want one of %s", v, field)
		return
	}
	for _, part := range parts {
		if !strings.Contains(v[0].Description, part) {
			t.Errorf("%q does not say %q", v[0].Description, part)
		}
	}
}

// Every text is taken up to its limit in code points and refused one beyond, at
// create and at update alike.
func TestEveryTextLimit(t *testing.T) {
	for _, f := range textFields {
		for name, sample := range samples {
			for _, most := range []int{1, 7, 50} {
				limits := DefaultLimits()
				*f.limit(&limits) = most
				for _, n := range []int{most - 1, most, most + 1} {
					if n == 0 {
						continue
					}
					t.Run(fmt.Sprint(f.field, " ", name, " ", n, " of ", most), func(t *testing.T) {
						text := textOf(sample, n)
						d, p := draft(), Patch{}
						f.draft(&d, text)
						f.patch(&p, text)
						checked, v := d.Check(limits)
						_, w := p.Check(limits)
						if n > most {
							lengths := []string{fmt.Sprint(n, " characters"), fmt.Sprint(most, " are allowed")}
							only(t, v, f.field, lengths...)
							only(t, w, patchField(f.field), lengths...)
							return
						}
						if v != nil || w != nil {
							t.Fatal(v, w)
						}
						if got := f.got(&checked); got != text {
							t.Errorf("%q became %q", text, got)
						}
					})
				}
			}
		}
	}
}

// The limit counts what is kept: white space that is trimmed off is free.
func TestTrimmedTextIsMeasuredAfterTrimming(t *testing.T) {
	limits := DefaultLimits()
	for _, f := range textFields {
		*f.limit(&limits) = 3
		exact := f.field == "body" || strings.HasPrefix(f.field, "labels")
		text := " \t\r\n\u2028\u00a0abc\v\f\u0085 "
		d := draft()
		f.draft(&d, text)
		checked, v := d.Check(limits)
		switch {
		case exact:
			only(t, v, f.field)
		case v != nil || f.got(&checked) != "abc":
			t.Errorf("%s: %q, %v", f.field, f.got(&checked), v)
		}
	}
}

func TestEmptyTexts(t *testing.T) {
	for _, f := range textFields {
		d, p := draft(), Patch{}
		f.draft(&d, "")
		f.patch(&p, "")
		_, v := d.Check(DefaultLimits())
		_, w := p.Check(DefaultLimits())
		switch mayBeEmpty := f.field == "description" || f.field == "body" || strings.HasPrefix(f.field, "labels"); {
		case mayBeEmpty && (v != nil || w != nil):
			t.Errorf("%s: %v, %v", f.field, v, w)
		case !mayBeEmpty:
			only(t, v, f.field, "empty")
			only(t, w, patchField(f.field), "empty")
		}
		for _, blank := range []string{" ", "\t", "\r\n", "\u2028", "\u00a0\u3000"} {
			d, p := draft(), Patch{}
			f.draft(&d, blank)
			f.patch(&p, blank)
			_, v := d.Check(DefaultLimits())
			_, w := p.Check(DefaultLimits())
			only(t, v, f.field, "white space")
			only(t, w, patchField(f.field), "white space")
		}
	}
}

func TestTextMustBeUTF8WithoutNUL(t *testing.T) {
	for _, f := range textFields {
		for text, says := range map[string]string{
			"ab\xffc": "byte 2", "\xc3": "byte 0", "a\xed\xa0\x80": "byte 1", "\xc0\x80": "byte 0", "ok\x00": "NUL character at byte 2", "\x00": "NUL",
		} {
			d, p := draft(), Patch{}
			f.draft(&d, text)
			f.patch(&p, text)
			_, v := d.Check(DefaultLimits())
			_, w := p.Check(DefaultLimits())
			only(t, v, f.field, says)
			only(t, w, patchField(f.field), says)
		}
	}
}

// What is inside a text is kept byte for byte.
func TestTextRoundTrip(t *testing.T) {
	for _, text := range []string{
		"a\tb\x1b[31mc\r\nd\u2028e\ufefff\u200dg\u0007h", "\ufeffBOM first and last\ufeff", "\u200b", "\ufffd", "a\u0301\u0301b",
		family + flag, "\u202eright to left\u202c", "\\n \\u2028 \\\\", "%s %d %!", "\x7f\x01",
	} {
		for _, f := range textFields {
			d := draft()
			f.draft(&d, text)
			checked, v := d.Check(DefaultLimits())
			if v != nil {
				t.Errorf("%s %q: %v", f.field, text, v)
			} else if got := f.got(&checked); got != text {
				t.Errorf("%s: %q became %q", f.field, text, got)
			}
		}
	}
	body := " \n indented\n\n\t"
	if checked, v := (Draft{Title: "t", Body: body}).Check(DefaultLimits()); v != nil || checked.Body != body {
		t.Errorf("body became %q, %v", checked.Body, v)
	}
}

func TestListCounts(t *testing.T) {
	limits := DefaultLimits()
	limits.AcceptanceCriteriaCount, limits.LinksPerTask, limits.PlanFieldCount = 2, 3, 4
	for i, f := range listFields {
		most := []int{2, 3, 4, 4, 4, 4, 4, 4}[i]
		for _, n := range []int{0, most - 1, most, most + 1} {
			items := slices.Repeat([]string{" https://example.com "}, n)
			d, p := draft(), Patch{}
			*f.draft(&d) = items
			*f.patch(&p) = &items
			checked, v := d.Check(limits)
			patched, w := p.Check(limits)
			if n > most {
				only(t, v, f.name, fmt.Sprint(n, " items"), fmt.Sprint(most, " are allowed"), "leave out 1")
				only(t, w, f.name, fmt.Sprint(n, " items"))
				continue
			}
			want := slices.Repeat([]string{"https://example.com"}, n)
			if v != nil || w != nil || !slices.Equal(*f.draft(&checked), want) || !slices.Equal(**f.patch(&patched), want) {
				t.Errorf("%s with %d: %v %v %q", f.name, n, v, w, *f.draft(&checked))
			}
			if n == 0 && (*f.draft(&checked) != nil || **f.patch(&patched) != nil) {
				t.Errorf("%s: an empty list is kept as one", f.name)
			}
			if n > 0 && items[0] != " https://example.com " {
				t.Errorf("%s: the caller's list was changed", f.name)
			}
		}
	}
}

func TestDraftKeepsNothingOfTheCallers(t *testing.T) {
	d := Draft{Title: "t", Labels: map[string]string{"a": "b"}, Dependencies: []string{"T-1"}}
	for _, f := range listFields {
		*f.draft(&d) = []string{"https://example.com"}
	}
	checked, v := d.Check(DefaultLimits())
	if v != nil {
		t.Fatal(v)
	}
	brief := checked.Brief()
	d.Labels["a"], d.Dependencies[0] = "changed", "changed"
	for _, f := range listFields {
		(*f.draft(&d))[0] = "changed"
		if got := *f.brief(brief); len(got) != 1 || got[0] != "https://example.com" {
			t.Errorf("%s is %q in the brief", f.name, got)
		}
	}
	if checked.Labels["a"] != "b" || checked.Dependencies[0] != "T-1" {
		t.Error("shared with the caller")
	}
}

// Everything wrong is told at once, in the order of the API's fields.
func TestDraftTellsEveryViolation(t *testing.T) {
	d := Draft{
		Title: " ", Description: strings.Repeat("x", 501), Body: "\x00", AcceptanceCriteria: []string{"ok", "", "ok", " "},
		Priority: 9, Type: 9, Links: []string{"javascript:alert(1)"}, Steps: make([]string, 21),
		Labels: map[string]string{"team": strings.Repeat("x", 257), "a b": "x"}, NotBefore: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		DiscoveredFrom: " ", Dependencies: []string{"T-1", " T-1 ", ""}, Assignee: "\xff", Parent: strings.Repeat("x", 200), Ref: "a b",
	}
	_, v := d.Check(DefaultLimits())
	var fields []string
	for _, one := range v {
		fields = append(fields, one.Field)
	}
	want := []string{
		"title", "description", "body", "priority", "type", "acceptance_criteria[1]", "acceptance_criteria[3]", "links[0]", "steps",
		`labels["a b"]`, `labels["team"]`, "not_before", "discovered_from_id", "dependency_ids[1]", "dependency_ids[2]", "assignee", "parent_id", "ref",
	}
	if !slices.Equal(fields, want) {
		t.Errorf("fields are\n%q, want\n%q", fields, want)
	}
	for _, one := range v {
		if !strings.Contains(one.Description, ":") || strings.Contains(one.Description, "%!") {
			t.Errorf("%v does not say what to do", one)
		}
	}
	if d.Title != " " || d.Dependencies[1] != " T-1 " {
		t.Error("the caller's draft was changed")
	}
}

func TestDraftReferences(t *testing.T) {
	limits := DefaultLimits()
	limits.Dependencies = 2
	checked, v := Draft{Title: "t", Dependencies: []string{" T-1 ", "ref:a/1.2"}, Assignee: " me ", Parent: "\tT-2", DiscoveredFrom: "T-3\n", Ref: "master/12.4"}.Check(limits)
	if v != nil || !slices.Equal(checked.Dependencies, []string{"T-1", "ref:a/1.2"}) || checked.Assignee != "me" || checked.Parent != "T-2" || checked.DiscoveredFrom != "T-3" || checked.Ref != "master/12.4" {
		t.Errorf("%+v, %v", checked, v)
	}
	_, v = Draft{Title: "t", Dependencies: []string{"T-1", "T-2", "T-3"}}.Check(limits)
	only(t, v, "dependency_ids", "3 items", "2 are allowed")
	_, v = Draft{Title: "t", Dependencies: []string{"T-1", "T-1"}}.Check(limits)
	only(t, v, "dependency_ids[1]", "repeats dependency_ids[0]")
	_, v = Draft{Title: "t", Dependencies: []string{strings.Repeat("a", maxNameLength+1)}}.Check(limits)
	only(t, v, "dependency_ids[0]", "133 characters")
}

func TestRefLengths(t *testing.T) {
	for name, sample := range map[string]string{"ASCII": "x", "emoji": "😀", "CJK": "任", "combining": accent, "flag": flag} {
		for n, ok := range map[int]bool{1: true, MaxRefLength - 1: true, MaxRefLength: true, MaxRefLength + 1: false} {
			_, v := Draft{Title: "t", Ref: textOf(sample, n)}.Check(DefaultLimits())
			if (v == nil) != ok {
				t.Errorf("%s, %d: %v", name, n, v)
			}
		}
	}
	for _, ref := range []string{" ", "a b", "a\tb", "a\n", "a\u2028", "a\x1b", "\u200b", "a\x00", "\xff", " a"} {
		_, v := Draft{Title: "t", Ref: ref}.Check(DefaultLimits())
		only(t, v, "ref")
	}
}

func TestNotBefore(t *testing.T) {
	zone := time.FixedZone("", 3600)
	at := time.Now().In(zone)
	checked, v := Draft{Title: "t", NotBefore: at}.Check(DefaultLimits())
	if v != nil || !checked.NotBefore.Equal(at) || checked.NotBefore.Location() != time.UTC || checked.NotBefore != checked.NotBefore.Round(0) {
		t.Errorf("%v became %v, %v", at, checked.NotBefore, v)
	}
	if checked, v := (Draft{Title: "t", NotBefore: time.Time{}.In(zone)}).Check(DefaultLimits()); v != nil || checked.NotBefore != (time.Time{}) {
		t.Errorf("the zero time in another zone became %v, %v", checked.NotBefore, v)
	}
	for year, ok := range map[int]bool{-1: false, 0: false, 1: true, 2026: true, 9999: true, 10000: false} {
		_, v := Draft{Title: "t", NotBefore: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)}.Check(DefaultLimits())
		if (v == nil) != ok {
			t.Errorf("year %d: %v", year, v)
		}
	}
}

func FuzzDraft(f *testing.F) {
	f.Add("title", "  text\t", "https://example.com/a", "team", "red", "T-1", 20, uint8(1))
	f.Add(" ", "\x00", "javascript:x", "", "\xff", "", 1, uint8(9))
	f.Add(family, "\ufeff \u2028", "mailto:a@b", "k=v", " ", "ref:a b", 3, uint8(0))
	f.Fuzz(func(t *testing.T, title, text, link, label, value, reference string, most int, kind uint8) {
		most = max(1, min(most, 50))
		limits := DefaultLimits()
		for _, row := range limitTable {
			*row.value(&limits) = most
		}
		d := Draft{
			Title: title, Description: text, Body: text, AcceptanceCriteria: []string{text, title}, Priority: Priority(kind), Type: Type(kind),
			Links: []string{link}, Steps: []string{text}, Constraints: []string{title}, OutOfScope: []string{text}, Verification: []string{value},
			Context: []string{link}, EdgeCases: []string{label}, Labels: map[string]string{label: value}, Dependencies: []string{reference, text},
			DiscoveredFrom: reference, Assignee: label, Parent: reference, Ref: label,
		}
		once, v := d.Check(limits)
		if v != nil {
			for _, one := range v {
				if one.Field == "" || one.Description == "" || len(one.String()) > 2000 {
					t.Errorf("a violation of %d bytes: %.200v", len(one.String()), one)
				}
			}
			return
		}
		twice, v := once.Check(limits)
		if v != nil {
			t.Fatalf("what Check gives does not check clean: %v", v)
		}
		if !reflect.DeepEqual(once, twice) {
			t.Errorf("checked twice\n%+v is\n%+v", once, twice)
		}
	})
}
