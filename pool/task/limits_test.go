package task

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

func TestLimitDefaults(t *testing.T) {
	want := Limits{
		TitleLength: 100, DescriptionLength: 500, AcceptanceCriteriaCount: 10, AcceptanceCriteriaLength: 200,
		LinksPerTask: 20, PlanFieldCount: 20, PlanFieldLength: 300, HistoryLength: 10000, HistoryPreviewLength: 200,
		BodyLength: 20000, CommentLength: 20000, ReasonLength: 500, Depth: 3, Children: 20, Dependencies: 200,
		Dependents: 1000, Labels: 32, LabelKeyLength: 63, LabelValueLength: 256, LinkLength: 2048,
		ResultLength: 65536, GateOutputLength: 16384, EventsPerTask: 20000, TasksPerBatch: 10000,
	}
	if got := DefaultLimits(); got != want {
		t.Errorf("defaults are %+v, want %+v", got, want)
	}
}

// Every field of Limits has its own row, name and variable, and none is left out.
func TestLimitTableCoversEveryField(t *testing.T) {
	var limits Limits
	names, variables := map[string]bool{}, map[string]bool{}
	for i, row := range limitTable {
		*row.value(&limits) = i + 1
		names[row.name], variables[row.env] = true, true
		field := reflect.TypeFor[Limits]().Field(i).Name
		if want := strings.ToLower(field); strings.ReplaceAll(row.name, "_", "") != want {
			t.Errorf("row %d is named %q for the field %s", i, row.name, field)
		}
		prefix := "TASKPOOL_MAX_"
		if i < 9 {
			prefix = "LLM_CHAT_TASK_MAX_"
		}
		if row.name == "history_preview_length" {
			prefix = "LLM_CHAT_TASK_"
		}
		if want := prefix + strings.ToUpper(row.name); row.env != want {
			t.Errorf("%s is read from %s, want %s", row.name, row.env, want)
		}
		if env, ok := LimitVariable(row.name); !ok || env != row.env {
			t.Errorf("LimitVariable(%q) = %q, %v", row.name, env, ok)
		}
		if row.fallback < 1 || row.fallback > row.ceiling || row.ceiling > LimitCeiling {
			t.Errorf("%s: default %d, ceiling %d", row.name, row.fallback, row.ceiling)
		}
	}
	fields := reflect.ValueOf(limits)
	if len(names) != fields.NumField() || len(variables) != fields.NumField() {
		t.Fatalf("%d names and %d variables for %d fields", len(names), len(variables), fields.NumField())
	}
	all := maps.Collect(limits.All())
	for i := range fields.NumField() {
		if fields.Field(i).Int() != int64(i+1) || all[limitTable[i].name] != i+1 {
			t.Errorf("field %d does not belong to row %d", i, i)
		}
	}
	if _, ok := LimitVariable("no_such"); ok {
		t.Error("LimitVariable knows no_such")
	}
}

func TestLimitOptionBeatsEnvironmentBeatsDefault(t *testing.T) {
	env := environment(map[string]string{"LLM_CHAT_TASK_MAX_TITLE_LENGTH": "7", "TASKPOOL_MAX_BODY_LENGTH": "8"})
	got := ResolveLimits(LimitOptions{"title_length": 200, "no_such": 1}, env)
	want := DefaultLimits()
	want.TitleLength, want.BodyLength = 200, 8
	if got != want {
		t.Errorf("got %+v", got)
	}
}

func TestEveryLimitIsReadAndClamped(t *testing.T) {
	for _, row := range limitTable {
		for value, want := range map[int64]int{
			5: 5, 1: 1, 0: 1, -5: 1, math.MinInt64: 1, math.MaxInt64: row.ceiling,
			int64(row.ceiling): row.ceiling, int64(row.ceiling) + 1: row.ceiling,
		} {
			limits := ResolveLimits(LimitOptions{row.name: value}, nil)
			if got := *row.value(&limits); got != want {
				t.Errorf("%s set to %d is %d, want %d", row.name, value, got, want)
			}
		}
		limits := ResolveLimits(nil, environment(map[string]string{row.env: "3"}))
		if got := *row.value(&limits); got != 3 {
			t.Errorf("%s=3 gives %d", row.env, got)
		}
	}
}

func TestLimitFromEnvironmentIsLenient(t *testing.T) {
	for text, want := range map[string]int{
		"12": 12, "12abc": 12, "3.9": 3, "-4": 1, "0": 1, "+8": 8, "  9": 9, "\t\n9 9": 9, "\uFEFF9": 9, "007": 7,
		"1e3": 1, "0x10": 1, "-0": 1, "99999999999999999999999": LimitCeiling, "-99999999999999999999999": 1,
		"": 100, " ": 100, "abc": 100, "abc12": 100, "-": 100, "+": 100, "- 4": 100, "--4": 100, "NaN": 100,
		"Infinity": 100, ".5": 100, "\x009": 100, "\xff9": 100, "９": 100,
	} {
		limits := ResolveLimits(nil, environment(map[string]string{"LLM_CHAT_TASK_MAX_TITLE_LENGTH": text}))
		if limits.TitleLength != want {
			t.Errorf("%q gives %d, want %d", text, limits.TitleLength, want)
		}
	}
}

func TestLimitOptionsCheck(t *testing.T) {
	if v := (LimitOptions{"title_length": -1, "depth": 0}).Check(); v != nil {
		t.Errorf("refused: %v", v)
	}
	v := LimitOptions{"titel_length": 1, "depth": 2, "a": 3}.Check()
	if len(v) != 2 || v[0].Field != `"a"` || v[1].Field != `"titel_length"` || !strings.Contains(v[1].Description, "title_length") {
		t.Errorf("got %v", v)
	}
	if !slices.IsSorted([]string{v[0].Field, v[1].Field}) {
		t.Error("not sorted")
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, s := range []string{"", "12abc", "-4", " +7", "99999999999999999999", "\uFEFF1", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, ok := parseLimit(text)
		if !ok && value != 0 {
			t.Errorf("%q: no number, but %d", text, value)
		}
		again, okAgain := parseLimit(text + "x")
		if ok != okAgain || value != again {
			t.Errorf("%q: %d, %v; with x behind it %d, %v", text, value, ok, again, okAgain)
		}
		for _, row := range limitTable {
			got := row.resolve(nil, func(string) (string, bool) { return text, true })
			if got < 1 || got > row.ceiling {
				t.Errorf("%q gives %s the value %d", text, row.name, got)
			}
		}
	})
}
