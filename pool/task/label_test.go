package task

import (
	"fmt"
	"strings"
	"testing"
)

func checkedLabels(labels map[string]string) Violations {
	_, v := Draft{Title: "t", Labels: labels}.Check(DefaultLimits())
	return v
}

func TestLabelKeys(t *testing.T) {
	for _, k := range []string{
		"team", "gt:agent", "migrated-to:hq-deacon", "app.kubernetes.io/name", "p1", "a_b", "größe", "任务", "😀", "#1", "a'b", "a" + accent,
		strings.Repeat("k", 63), strings.Repeat("😀", 63),
	} {
		if v := checkedLabels(map[string]string{k: ""}); v != nil {
			t.Errorf("%q: %v", k, v)
		}
	}
	for k, says := range map[string]string{
		"": "empty key", " ": "character ' '", "a b": "character ' '", " a": "character ' '", "a\n": `'\n'`, "a\x1b": `'\x1b'`, "a=b": "'='",
		"a,b": "','", `a"b`: `'"'`, `a\b`: `'\\'`, "a\u200bb": `'\u200b'`, "a\u00a0": `'\u00a0'`, "a\x00": "NUL", "\xff": "UTF-8",
		strings.Repeat("k", 64): "64 characters", strings.Repeat("任", 64): "64 characters", family + "\u202e": `'\u200d'`,
	} {
		v := checkedLabels(map[string]string{k: "v"})
		if len(v) != 1 || !strings.HasPrefix(v[0].Field, "labels[") || !strings.Contains(v[0].Description, says) {
			t.Errorf("%q: %v, want %s", k, v, says)
		}
	}
}

func TestLabelCount(t *testing.T) {
	labels := map[string]string{}
	for n := 1; n <= 33; n++ {
		labels[fmt.Sprint("k", n)] = "v"
		switch v := checkedLabels(labels); {
		case n <= 32 && v != nil:
			t.Errorf("%d: %v", n, v)
		case n == 33:
			only(t, v, "labels", "33 items", "32 are allowed")
		}
	}
}

func TestLabelsInSetAreNotTouched(t *testing.T) {
	for _, value := range []string{"", " v ", "a\tb", "a=b,c", "line\nbreak"} {
		checked, v := Draft{Title: "t", Labels: map[string]string{"k": value}}.Check(DefaultLimits())
		if v != nil || checked.Labels["k"] != value {
			t.Errorf("%q became %q, %v", value, checked.Labels["k"], v)
		}
	}
	if checked, v := (Draft{Title: "t", Labels: map[string]string{}}).Check(DefaultLimits()); v != nil || checked.Labels != nil {
		t.Errorf("no labels became %v, %v", checked.Labels, v)
	}
}
