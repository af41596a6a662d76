package task

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func draft() Draft { return Draft{Title: "t"} }

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
	brief := checked.Brief().Unpack()
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
