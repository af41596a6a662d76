package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTextCantDriveTheTerminal(t *testing.T) {
	for _, c := range []struct{ text, line, block string }{
		{"plain text, 日本語, é, 👩‍👩‍👧", "plain text, 日本語, é, 👩‍👩‍👧", "plain text, 日本語, é, 👩‍👩‍👧"},
		{"a\x1b[2Jb", `a\x1b[2Jb`, `a\x1b[2Jb`},
		{"a\rb", `a\rb`, `a\rb`},
		{"a\r\nb", `a\r\nb`, "a\nb"},
		{"a\nb\tc", `a\nb\tc`, "a\nb\tc"},
		{"a\u009b31mb", `a\x9b31mb`, `a\x9b31mb`},
		{"\u202egnp.exe", `\u202egnp.exe`, `\u202egnp.exe`},
		{"a\u2066b\u2069", `a\u2066b\u2069`, `a\u2066b\u2069`},
		{"a\u2028b", `a\u2028b`, `a\u2028b`},
		{"a\x00\x07\x7f", `a\x00\x07\x7f`, `a\x00\x07\x7f`},
		{"a\xffb", `a\xffb`, `a\xffb`},
		{"a\ufffdb", "a\ufffdb", "a\ufffdb"},
	} {
		if got := Line(c.text); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.text, got, c.line)
		}
		if got := Block(c.text); got != c.block {
			t.Errorf("Block(%q) = %q, want %q", c.text, got, c.block)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"a\x1b]0;x\x07b", "\u202e", "👩‍👩‍👧 日本語", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, got := range map[string]string{"line": Line(text), "block": Block(text)} {
			if !utf8.ValidString(got) {
				t.Errorf("%s(%q) = %q is not UTF-8", name, text, got)
			}
			for _, r := range got {
				if name == "block" && (r == '\n' || r == '\t') {
					continue
				}
				if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
					t.Errorf("%s(%q) = %q holds %U", name, text, got, r)
				}
			}
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatalf("json.Marshal(%q): %v", text, err) // a string always can be written
		}
		var before, after string
		if json.Unmarshal(encoded, &before) != nil || json.Unmarshal([]byte(JSON(string(encoded))), &after) != nil || before != after {
			t.Errorf("JSON(%s) changes the value to %q", encoded, after)
		}
	})
}

func TestTableIsAlignedByWhatIsSeen(t *testing.T) {
	table := Table{Heads: []string{"KEY", "TITLE", "WHO", "NONE"}, Grow: 1}
	table.Add(Cell{Text: "T-1"}, Cell{Text: "日本語"}, Cell{Text: "human"}, Cell{})
	table.Add(Cell{Text: "T-100"}, Cell{Text: "👩‍👩‍👧 x"}, Cell{Text: "agent:bob"}, Cell{})
	table.Add(Cell{Text: "T-2"}, Cell{Text: "esc\x1b[2J"}, Cell{}, Cell{})
	want := "KEY    TITLE       WHO\n" +
		"T-1    日本語      human\n" +
		"T-100  👩‍👩‍👧 x        agent:bob\n" +
		"T-2    esc\\x1b[2J\n"
	if got := table.Render(Screen{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableFitsTheScreen(t *testing.T) {
	table := Table{Heads: []string{"KEY", "TITLE", "WHO"}, Grow: 1}
	table.Add(Cell{Text: "T-1"}, Cell{Text: strings.Repeat("日本語 ", 30)}, Cell{Text: "human"})
	for width := 24; width < 120; width++ {
		for _, symbols := range []bool{true, false} {
			for line := range strings.Lines(table.Render(Screen{Width: width, Symbols: symbols})) {
				if got := Width(strings.TrimSuffix(line, "\n")); got > width {
					t.Fatalf("width %d: %d columns in %q", width, got, line)
				}
			}
		}
	}
}

func TestCutKeepsCharactersWhole(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"},
		{"👩‍👩‍👧👩‍👩‍👧", 2, "…"},
		{"abc", 0, ""},
	} {
		if got := Cut(c.text, c.width, Screen{Symbols: true}); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if got := Cut("abcdef", 4, Screen{}); got != "a..." {
		t.Errorf("without symbols: %q", got)
	}
}

func TestColourOnlyWhereWanted(t *testing.T) {
	env := func(pairs ...string) Lookup {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	for _, c := range []struct {
		name  string
		env   Lookup
		color Color
		want  Screen
	}{
		{"a terminal", env("LANG", "de_DE.UTF-8"), ColorAuto, Screen{Width: 80, Color: true, Symbols: true}},
		{"NO_COLOR", env("NO_COLOR", "1"), ColorAuto, Screen{Width: 80}},
		{"NO_COLOR, but asked for", env("NO_COLOR", "1"), ColorAlways, Screen{Width: 80, Color: true}},
		{"never", env(), ColorNever, Screen{Width: 80}},
		{"dumb", env("TERM", "dumb"), ColorAuto, Screen{Width: 80}},
		{"COLUMNS", env("COLUMNS", "40"), ColorNever, Screen{Width: 40}},
		{"LC_ALL first", env("LC_ALL", "C", "LANG", "en_US.UTF-8"), ColorNever, Screen{Width: 80}},
	} {
		if got := describe(80, c.env, c.color); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	for color, want := range map[Color]bool{ColorAuto: false, ColorAlways: true, ColorNever: false} {
		if got := Detect(&bytes.Buffer{}, env("LANG", "C.UTF-8", "COLUMNS", "10"), color); got != (Screen{Color: want}) {
			t.Errorf("piped, %s: %+v", color, got)
		}
	}
	if got := (Screen{Color: true}).Paint(Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("painted %q", got)
	}
}
