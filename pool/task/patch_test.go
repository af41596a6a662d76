package task

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPatchLooksOnlyAtWhatItCarries(t *testing.T) {
	limits := DefaultLimits()
	for _, row := range limitTable {
		*row.value(&limits) = 1
	}
	old := &Task{
		Title: "longer than one", Priority: High, Labels: map[string]string{"aa": "bb", "cc": "dd"},
		Brief: (&Brief{Description: "longer", Steps: []string{"longer", "longer"}}).Pack(),
	}
	p, v := Patch{Type: new(Bug)}.Check(limits)
	if v != nil || p.CheckLabels(old, limits) != nil {
		t.Fatal(v)
	}
	edited, changed := p.Edit(old)
	if !slices.Equal(changed, []string{"type"}) || edited.Title != old.Title || edited.Brief != old.Brief || edited.Type != Bug {
		t.Errorf("%v: %+v", changed, edited)
	}
}

func TestPatchTellsEveryViolation(t *testing.T) {
	p := Patch{
		Title: new(""), Description: new(" "), Body: new("\xff"), Priority: new(Priority(9)), Type: new(Type(9)),
		AcceptanceCriteria: &[]string{""}, Links: &[]string{"/x"}, EdgeCases: &[]string{"\t"},
		SetLabels: map[string]string{"both": "x", "a b": "x"}, RemoveLabels: []string{"both", "", "\xff"},
		NotBefore:       new(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)),
		AddDependencies: []string{"T-1", "T-1", "T-2"}, RemoveDependencies: []string{" T-2", " "},
		Assignee: new(" "), Parent: new("\x00"), Status: new(StatusUnspecified), Reason: "  ", HistoryEntry: new(""),
	}
	_, v := p.Check(DefaultLimits())
	var fields []string
	for _, one := range v {
		fields = append(fields, one.Field)
	}
	want := []string{
		"title", "description", "body", "priority", "type", "acceptance_criteria[0]", "links[0]", "edge_cases[0]",
		`set_labels["a b"]`, "remove_labels[0]", "remove_labels[1]", "remove_labels[2]", "not_before",
		"add_dependency_ids[1]", "remove_dependency_ids[1]", "remove_dependency_ids[0]", "assignee", "parent_id", "status", "reason", "history_entry",
	}
	if !slices.Equal(fields, want) {
		t.Errorf("fields are\n%q, want\n%q", fields, want)
	}
}

func TestPatchStatus(t *testing.T) {
	for _, s := range []Status{Ready, InProgress, Review, Blocked, Done, Cancelled} {
		if _, v := (Patch{Status: &s}).Check(DefaultLimits()); v != nil {
			t.Errorf("%v: %v", s, v)
		}
	}
	for s, says := range map[Status]string{Pending: "derived", Failed: "pool alone", StatusUnspecified: "unknown value 0", Status(77): "unknown value 77"} {
		_, v := Patch{Status: &s}.Check(DefaultLimits())
		only(t, v, "status", says)
	}
}

// An empty text clears a text that may be empty; unspecified clears an enum.
func TestPatchClears(t *testing.T) {
	full := &Task{
		Title: "t", Priority: High, Type: Bug, Labels: map[string]string{"a": "b"}, NotBefore: time.Unix(1, 0),
	}
	brief := &Brief{Description: "d", Body: "b"}
	p := Patch{
		Description: new(""), Body: new(""), Priority: new(PriorityUnspecified), Type: new(TypeUnspecified), RemoveLabels: []string{"a"},
		NotBefore: new(time.Time{}), Assignee: new(""), Parent: new(""),
	}
	for _, f := range listFields {
		*f.brief(brief) = []string{"x"}
		*f.patch(&p) = &[]string{}
	}
	full.Brief = brief.Pack()
	p, v := p.Check(DefaultLimits())
	if v != nil {
		t.Fatal(v)
	}
	edited, changed := p.Edit(full)
	want := []string{
		"description", "body", "acceptance_criteria", "priority", "type", "links", "steps", "constraints", "out_of_scope", "verification",
		"context", "edge_cases", "labels", "not_before",
	}
	if !slices.Equal(changed, want) {
		t.Errorf("changed %q", changed)
	}
	if !reflect.DeepEqual(edited, &Task{Title: "t"}) {
		t.Errorf("left: %+v %+v", edited, edited.Brief)
	}
	if again, changed := p.Edit(edited); again != edited || changed != nil {
		t.Errorf("clearing what is clear changed %q", changed)
	}
}

func TestPatchKeepsNothingOfTheCallers(t *testing.T) {
	title, list, at, status, priority, kind := "t", []string{"a"}, time.Unix(1, 0), Done, Low, Bug
	p := Patch{
		Title: &title, Steps: &list, NotBefore: &at, Status: &status, Priority: &priority, Type: &kind, SetLabels: map[string]string{"a": "b"},
		RemoveLabels: []string{"c"}, AddDependencies: []string{"T-1"}, RemoveDependencies: []string{"T-2"}, HistoryEntry: &title, Reason: " r ",
	}
	checked, v := p.Check(DefaultLimits())
	if v != nil {
		t.Fatal(v)
	}
	title, list[0], at, status, priority, kind = "x", "x", time.Unix(2, 0), Ready, High, Chore
	p.SetLabels["a"], p.RemoveLabels[0], p.AddDependencies[0], p.RemoveDependencies[0] = "x", "x", "x", "x"
	if *checked.Title != "t" || (*checked.Steps)[0] != "a" || checked.NotBefore.Unix() != 1 || *checked.Status != Done || *checked.Priority != Low ||
		*checked.Type != Bug || checked.SetLabels["a"] != "b" || checked.RemoveLabels[0] != "c" || checked.AddDependencies[0] != "T-1" ||
		checked.RemoveDependencies[0] != "T-2" || *checked.HistoryEntry != "t" || checked.Reason != "r" {
		t.Errorf("shared with the caller: %+v", checked)
	}
}

func TestPatchDependencies(t *testing.T) {
	limits := DefaultLimits()
	limits.Dependencies = 1
	_, v := Patch{AddDependencies: []string{"T-1", "T-2"}}.Check(limits)
	only(t, v, "add_dependency_ids", "2 items", "1 are allowed")
	// A task from before the limit was lowered can lose all it has.
	if _, v := (Patch{RemoveDependencies: []string{"T-1", "T-2", "T-3"}}).Check(limits); v != nil {
		t.Error(v)
	}
	_, v = Patch{AddDependencies: []string{"T-1 "}, RemoveDependencies: []string{"T-3", " T-1"}}.Check(limits)
	only(t, v, "remove_dependency_ids[1]", "add_dependency_ids[0]")
}

func TestPatchEmpty(t *testing.T) {
	if !(Patch{}).Empty() || !(Patch{Reason: "r", Force: true}).Empty() {
		t.Error("a patch that asks for nothing is not empty")
	}
	for i := range reflect.TypeFor[Patch]().NumField() {
		var p Patch
		field := reflect.ValueOf(&p).Elem().Field(i)
		switch name := reflect.TypeFor[Patch]().Field(i).Name; field.Kind() {
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Map:
			p.SetLabels = map[string]string{"a": "b"}
		default:
			if name != "Reason" && name != "Force" {
				t.Errorf("%s is not looked at", name)
			}
			continue
		}
		if p.Empty() {
			t.Errorf("%+v is empty", p)
		}
	}
	if checked, v := (Patch{}).Check(DefaultLimits()); v != nil || !checked.Empty() {
		t.Errorf("checking nothing gives %+v, %v", checked, v)
	}
}

func TestReasonAndCommentAndResultLimits(t *testing.T) {
	limits := DefaultLimits()
	limits.ReasonLength, limits.CommentLength, limits.ResultLength = 7, 7, 7
	for name, sample := range samples {
		for n, ok := range map[int]bool{6: true, 7: true, 8: false} {
			text := textOf(sample, n)
			_, inPatch := Patch{Reason: text, Status: new(Blocked)}.Check(limits)
			reason, v := CheckReason(" "+text+"\n", limits)
			comment, result := CheckComment(text, limits), CheckResult("output", text, limits)
			if !ok {
				says := []string{"8 characters", "7 are allowed"}
				only(t, inPatch, "reason", says...)
				only(t, v, "reason", says...)
				only(t, comment, "body", says...)
				only(t, result, "output", says...)
			} else if inPatch != nil || v != nil || comment != nil || result != nil || reason != text {
				t.Errorf("%s, %d: %v %v %v %v %q", name, n, inPatch, v, comment, result, reason)
			}
		}
	}
	if reason, v := CheckReason("", limits); v != nil || reason != "" {
		t.Error(reason, v)
	}
	if v := CheckResult("output", "", limits); v != nil {
		t.Error(v)
	}
	only(t, CheckComment("", limits), "body", "empty")
	only(t, CheckComment("\r\n", limits), "body", "white space")
	only(t, CheckComment("abcde \n\n", limits), "body", "8 characters")
	only(t, CheckResult("error", " ", limits), "error", "white space")
}

func TestViolationPaths(t *testing.T) {
	var v Violations
	if v.At("tasks[0]") != nil {
		t.Error("nothing at a prefix is something")
	}
	v.Add("title", "is %s", "bad")
	v.Add("[2]", "is bad")
	v.Add("", "is bad")
	v.Add(`["team"]`, "is bad")
	below := v.At("tasks[3]")
	want := `tasks[3].title is bad; tasks[3][2] is bad; tasks[3] is bad; tasks[3]["team"] is bad`
	if below.Error() != want {
		t.Errorf("got %s", below.Error())
	}
	if v[0].Field != "title" || v.At("").Error() != "title is bad; [2] is bad; is bad; [\"team\"] is bad" {
		t.Errorf("the receiver is %v", v)
	}
}

// A message never grows with its input.
func TestViolationsAreShort(t *testing.T) {
	huge := strings.Repeat("\u202e", 1_000_000)
	_, v := Draft{
		Title: huge, Links: []string{"https://" + huge, "x:" + huge[:3000]}, Labels: map[string]string{huge: huge}, Ref: huge,
		Dependencies: []string{huge}, Assignee: huge,
	}.Check(DefaultLimits())
	if len(v) < 6 {
		t.Errorf("only %v", v)
	}
	for _, one := range v {
		if len(one.String()) > 1000 {
			t.Errorf("%d bytes for %s", len(one.String()), fmt.Sprintf("%.60s", one.Field))
		}
	}
}

// A reason that nothing would keep is not dropped in silence.
func TestPatch_reasonIsOfSomething(t *testing.T) {
	for _, p := range []Patch{{Reason: "because"}, {Reason: "because", Title: new("t"), HistoryEntry: new("done")}} {
		_, v := p.Check(DefaultLimits())
		only(t, v, "reason", "history_entry")
	}
	for _, p := range []Patch{{Reason: "because", Assignee: new("")}, {Reason: "because", Status: new(Ready)}} {
		if _, v := p.Check(DefaultLimits()); v != nil {
			t.Error(v)
		}
	}
}
