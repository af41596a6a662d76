package task

import (
	"fmt"
	"strings"
	"testing"
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

// patchField is the path of a draft's field in a patch.
func patchField(field string) string {
	if strings.HasPrefix(field, "labels") {
		return "set_" + field
	}
	return field
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
