// Package terminal writes text for people: as wide as their terminal, in colour
// where they have it, and without letting the text of a task drive it.
package terminal

import (
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Screen is what output goes to.
type Screen struct {
	// Width is how many columns there are; 0: no limit, as in a file or pipe.
	Width int
	// Color tells whether colours are wanted.
	Color bool
	// Symbols tells whether characters such as ✓ are shown: on a terminal that
	// reads UTF-8.
	Symbols bool
}

// Lookup gives the value of an environment variable.
type Lookup func(name string) (string, bool)

// Color says when to use colour.
type Color string

// The ways to use colour.
const (
	ColorAuto   Color = "auto"
	ColorAlways Color = "always"
	ColorNever  Color = "never"
)

// Detect looks at where out leads.
func Detect(out io.Writer, env Lookup, color Color) Screen {
	file, ok := out.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Screen{Color: color == ColorAlways}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return describe(width, env, color)
}

// describe is the screen of a terminal that says it is width columns wide.
func describe(width int, env Lookup, color Color) Screen {
	if columns, err := strconv.Atoi(value(env, "COLUMNS")); err == nil && columns > 0 {
		width = columns
	}
	plain := value(env, "NO_COLOR") != "" || value(env, "TERM") == "dumb"
	return Screen{
		Width:   max(width, 0),
		Color:   color == ColorAlways || color == ColorAuto && !plain,
		Symbols: readsUTF8(env),
	}
}

// readsUTF8 goes by the first locale variable that is set, as C programs do.
func readsUTF8(env Lookup) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(value(env, name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

func value(env Lookup, name string) string {
	v, _ := env(name)
	return v
}
