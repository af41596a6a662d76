package task

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func fullTask() *Task {
	b := &Brief{Description: "d", Body: "b"}
	for i, f := range listFields {
		*f.brief(b) = []string{fmt.Sprint("item ", i)}
	}
	return &Task{
		ID: "id", Number: 3, Title: "t", Brief: b.Pack(), Priority: Low, Type: Bug, Labels: map[string]string{"key1": "1", "key2": "2"},
		Status: Ready, Dependencies: []string{"x"}, Assignee: "human", NotBefore: time.Unix(5, 0), Version: 9,
	}
}

// One field at a time: that field is named and changed, nothing else is, and
// the task before is as it was.
func TestEditOneField(t *testing.T) {
	at := time.Unix(77, 0).UTC()
	patches := map[string]Patch{
		"title": {Title: new("new")}, "description": {Description: new("new")}, "body": {Body: new("new")}, "priority": {Priority: new(High)},
		"type": {Type: new(Chore)}, "not_before": {NotBefore: &at}, "labels": {SetLabels: map[string]string{"key3": "3"}},
	}
	for _, f := range listFields {
		var p Patch
		*f.patch(&p) = &[]string{"new", "newer"}
		patches[f.name] = p
	}
	for field, p := range patches {
		was := fullTask()
		edited, changed := p.Edit(was)
		if !slices.Equal(changed, []string{field}) {
			t.Errorf("%s: changed %q", field, changed)
		}
		if !reflect.DeepEqual(was, fullTask()) {
			t.Errorf("%s: the task before was changed", field)
		}
		if edited == was || reflect.DeepEqual(edited, was) {
			t.Errorf("%s: nothing was changed", field)
		}
		if again, changed := p.Edit(edited); again != edited || changed != nil {
			t.Errorf("%s: again changed %q", field, changed)
		}
		inBrief := field == "description" || field == "body" || slices.ContainsFunc(listFields[:], func(f listField) bool { return f.name == field })
		if (edited.Brief != was.Brief) != inBrief {
			t.Errorf("%s: brief copied: %v", field, edited.Brief != was.Brief)
		}
	}
}

func TestEditAllInFixedOrder(t *testing.T) {
	p := Patch{
		Title: new("n"), Description: new("n"), Body: new("n"), Priority: new(High), Type: new(Chore), SetLabels: map[string]string{"key1": "n"},
		NotBefore: new(time.Unix(6, 0)),
		Status:    new(Done), Assignee: new("x"), Parent: new("x"), AddDependencies: []string{"y"}, HistoryEntry: new("h"),
	}
	for _, f := range listFields {
		*f.patch(&p) = &[]string{"n"}
	}
	want := "title description body acceptance_criteria priority type links steps constraints out_of_scope verification context edge_cases labels not_before"
	for range 20 {
		edited, changed := p.Edit(fullTask())
		if strings.Join(changed, " ") != want {
			t.Fatalf("changed %q", changed)
		}
		if edited.Status != Ready || edited.Assignee != "human" || edited.ParentID != "" || len(edited.Dependencies) != 1 || edited.Version != 9 {
			t.Fatal("edited more than text")
		}
	}
}

func TestEditNothing(t *testing.T) {
	was := fullTask()
	p := Patch{
		Title: new(was.Title), Description: new(was.Brief.Unpack().Description), Priority: new(was.Priority), SetLabels: map[string]string{"key1": "1"},
		RemoveLabels: []string{"no such"}, NotBefore: new(was.NotBefore.UTC()), Steps: new(slices.Clone(was.Brief.Unpack().Steps)),
	}
	if edited, changed := p.Edit(was); edited != was || changed != nil {
		t.Errorf("changed %q", changed)
	}
	without := &Task{Title: "t"}
	if edited, changed := (Patch{Body: new("")}).Edit(without); edited != without || changed != nil {
		t.Errorf("a task without a brief: changed %q", changed)
	}
	if edited, _ := (Patch{Body: new("b")}).Edit(without); edited.Brief.Unpack().Body != "b" || without.Brief != "" {
		t.Error("a task without a brief gets none")
	}
}

func TestLabelsMerge(t *testing.T) {
	was := fullTask()
	p := Patch{SetLabels: map[string]string{"key3": "3", "key2": "two", "key1": "1"}, RemoveLabels: []string{"none", "key0", "none"}}
	edited, _ := p.Edit(was)
	if want := map[string]string{"key1": "1", "key2": "two", "key3": "3"}; !reflect.DeepEqual(edited.Labels, want) {
		t.Errorf("labels are %v", edited.Labels)
	}
	set, removed := p.LabelChanges(was)
	if !slices.Equal(set, []string{"key2", "key3"}) || removed != nil {
		t.Errorf("set %q, removed %q", set, removed)
	}
	set, removed = Patch{RemoveLabels: []string{"key2", "key1", "key2"}}.LabelChanges(was)
	if set != nil || !slices.Equal(removed, []string{"key1", "key2"}) {
		t.Errorf("set %q, removed %q", set, removed)
	}
}

func TestLabelCountOfTheResult(t *testing.T) {
	limits := DefaultLimits()
	limits.Labels = 3
	had := func(n int) *Task {
		labels := map[string]string{}
		for i := range n {
			labels[fmt.Sprint("key", i)] = "v"
		}
		return &Task{Labels: labels}
	}
	one := Patch{SetLabels: map[string]string{"new": "v"}}
	change := Patch{SetLabels: map[string]string{"key0": "w"}}
	swap := Patch{SetLabels: map[string]string{"new": "v"}, RemoveLabels: []string{"key0"}}
	for _, c := range []struct {
		name string
		p    Patch
		had  int
		ok   bool
	}{
		{"to below", one, 1, true},
		{"to the limit", one, 2, true},
		{"beyond", one, 3, false},
		{"further beyond", one, 5, false},
		{"change at the limit", change, 3, true},
		{"change beyond", change, 5, true},
		{"swap at the limit", swap, 3, true},
		{"swap beyond", swap, 5, true},
		{"remove beyond", Patch{RemoveLabels: []string{"key1"}}, 5, true},
	} {
		v := c.p.CheckLabels(had(c.had), limits)
		if (v == nil) != c.ok {
			t.Errorf("%s: %v", c.name, v)
		}
		if !c.ok {
			only(t, v, "set_labels", fmt.Sprint(c.had+1, " labels"), "3 are allowed")
		}
	}
}
