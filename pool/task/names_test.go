package task

import (
	"slices"
	"strings"
	"testing"
)

// Every enumeration names each value once and reads its names back, and only those.
func TestNamesRoundTrip(t *testing.T) {
	for s := StatusUnspecified; s < statusCount; s++ {
		got, ok := ParseStatus(s.String())
		if ok != s.Valid() || ok && got != s {
			t.Errorf("status %v reads back as %v, %v", s, got, ok)
		}
	}
	for p := PriorityUnspecified; p < priorityCount; p++ {
		got, ok := ParsePriority(p.String())
		if ok != (p != PriorityUnspecified) || ok && got != p {
			t.Errorf("priority %v reads back as %v, %v", p, got, ok)
		}
	}
	for y := TypeUnspecified; y < typeCount; y++ {
		got, ok := ParseType(y.String())
		if ok != (y != TypeUnspecified) || ok && got != y {
			t.Errorf("type %v reads back as %v, %v", y, got, ok)
		}
	}
	for k := EventUnspecified; k < eventKindCount; k++ {
		got, ok := ParseEventKind(k.String())
		if ok != k.Valid() || ok && got != k {
			t.Errorf("event kind %v reads back as %v, %v", k, got, ok)
		}
	}
	for r := range editRuleCount {
		if got, ok := ParseEditRule(r.String()); !ok || got != r {
			t.Errorf("edit rule %v reads back as %v, %v", r, got, ok)
		}
	}
	for r := range reviewDefaultCount {
		if got, ok := ParseReviewDefault(r.String()); !ok || got != r {
			t.Errorf("review default %v reads back as %v, %v", r, got, ok)
		}
	}
}

func TestNamesAreReadExactly(t *testing.T) {
	for _, name := range []string{"", " low", "LOW", "Low", "unspecified", "urgent", "0", "feature ", "Done", "in-progress", "todo"} {
		_, priority := ParsePriority(name)
		_, kind := ParseType(name)
		_, status := ParseStatus(name)
		_, event := ParseEventKind(name)
		_, edit := ParseEditRule(name)
		_, review := ParseReviewDefault(name)
		if priority || kind || status || event || edit || review {
			t.Errorf("%q was read as something", name)
		}
	}
}

func TestValuesBeyondTheEnumerations(t *testing.T) {
	for _, name := range []string{Status(200).String(), Priority(200).String(), Type(200).String(), EventKind(200).String(), EditRule(200).String(), ReviewDefault(200).String()} {
		if !strings.Contains(name, "(200)") {
			t.Errorf("unknown value is shown as %q", name)
		}
	}
	if Status(200).Valid() || Priority(200).Valid() || Type(200).Valid() || EventKind(200).Valid() {
		t.Error("200 is valid")
	}
	if !PriorityUnspecified.Valid() || !TypeUnspecified.Valid() || StatusUnspecified.Valid() || EventUnspecified.Valid() {
		t.Error("a task may lack priority and type, never a status, and an event has a kind")
	}
}

func TestDenEventKindsComeFirst(t *testing.T) {
	want := "created comment claimed released status assigned subtask edited progress dependency hold_expired submitted gate verdict retried imported"
	var names []string
	for _, k := range EventKinds() {
		names = append(names, k.String())
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s", got)
	}
}

func TestAbsentPrioritySortsBelowLow(t *testing.T) {
	if !slices.IsSorted([]Priority{PriorityUnspecified, Low, Medium, High}) {
		t.Error("priorities are not in order of urgency")
	}
}

func TestStatusSets(t *testing.T) {
	for _, s := range Statuses() {
		if s.Closed() != (s == Done || s == Cancelled) || s.Open() != (s == Pending || s == Ready) {
			t.Errorf("%v: closed %v, open %v", s, s.Closed(), s.Open())
		}
	}
	if len(Statuses()) != 8 {
		t.Errorf("%d statuses", len(Statuses()))
	}
	task := &Task{Number: 12, Status: Done}
	if task.Key() != "T-12" || !task.Closed() {
		t.Error(task.Key(), task.Closed())
	}
}
