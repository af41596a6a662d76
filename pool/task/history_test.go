package task

import (
	"strings"
	"testing"
	"time"
)

var historyAt = time.Date(2026, 1, 2, 4, 4, 5, 678_999_999, time.FixedZone("", 3600))

func TestHistoryLine(t *testing.T) {
	for text, want := range map[string]string{
		"text":                              "text",
		"a\nb":                              `a\nb`,
		"a\r\nb":                            `a\r\nb`,
		`a\nb`:                              `a\\nb`,
		"a\vb\fc\u0085d\u2028e\u2029f":      `a\vb\fc\u0085d\u2028e\u2029f`,
		"x\n[2026-01-02T03:04:05.678Z] lie": `x\n[2026-01-02T03:04:05.678Z] lie`,
		"tab\tand\x1besc stay":              "tab\tand\x1besc stay",
		family:                              family,
	} {
		if got := HistoryLine(historyAt, text); got != "[2026-01-02T03:04:05.678Z] "+want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// Different entries never look alike, and none has a line break.
func TestHistoryLineIsOneToOne(t *testing.T) {
	pieces := []string{"", `\`, "\n", "n", "\r", "r", "\u2028", "u2028", `\\`}
	seen := map[string]string{}
	for _, a := range pieces {
		for _, b := range pieces {
			for _, c := range pieces {
				text := a + b + c
				line := HistoryLine(historyAt, text)
				if other, ok := seen[line]; ok && other != text {
					t.Errorf("%q and %q look alike", text, other)
				}
				seen[line] = text
				if strings.ContainsAny(line, "\n\r\v\f\u0085\u2028\u2029") {
					t.Errorf("%q breaks the line", text)
				}
			}
		}
	}
}

func TestHistoryFits(t *testing.T) {
	limits := DefaultLimits()
	for name, sample := range samples {
		line := HistoryLine(historyAt, textOf(sample, 13))
		if Length(line) != 40 {
			t.Fatalf("%s: a line of %d", name, Length(line))
		}
		for n, ok := range map[int]bool{39: false, 40: true, 41: true} {
			limits.HistoryLength = n
			if HistoryFits(0, 0, line, limits) != ok {
				t.Errorf("%s: the first line of 40 into %d: %v", name, n, !ok)
			}
		}
		for n, ok := range map[int]bool{121: false, 122: true, 123: true} {
			limits.HistoryLength = n
			if HistoryFits(80, 2, line, limits) != ok {
				t.Errorf("%s: the third line of 40 into %d: %v", name, n, !ok)
			}
		}
	}
	limits.HistoryLength = 10
	if HistoryFits(500, 3, "", limits) {
		t.Error("a log over a lowered cap takes more")
	}
	// Counting as told gives the length of the lines joined.
	limits.HistoryLength = 1000
	var lines []string
	length := 0
	for {
		line := HistoryLine(historyAt, strings.Repeat("x", len(lines)))
		if !HistoryFits(length, len(lines), line, limits) {
			if joined := Length(strings.Join(append(lines, line), "\n")); joined <= limits.HistoryLength {
				t.Errorf("refused at %d", joined)
			}
			break
		}
		lines, length = append(lines, line), length+Length(line)
		if joined := Length(strings.Join(lines, "\n")); joined > limits.HistoryLength {
			t.Fatalf("taken at %d", joined)
		}
	}
}
