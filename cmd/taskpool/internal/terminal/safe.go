package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is text as one line that can't drive a terminal: control characters and
// those that change the direction of text are written as escapes, line breaks
// and tabs too.
func Line(text string) string { return safe(text, false) }

// Block is text that may have several lines; tabs and line breaks stay, a line
// break written CR LF becomes one.
func Block(text string) string {
	return safe(strings.ReplaceAll(text, "\r\n", "\n"), true)
}

func safe(text string, block bool) string {
	clean := true
	for _, r := range text {
		if unsafe(r) {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' && block, r == '\t' && block:
			b.WriteRune(r)
		case !unsafe(r):
			b.WriteRune(r)
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, text[i])
			} else {
				b.WriteRune(r)
			}
		default:
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// escape writes r as Go and JSON know it.
func escape(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r < 0x100 {
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// unsafe tells the runes that are not shown as they are.
func unsafe(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(invisible, r)
}

// invisible are characters that change how the text around them is shown: marks
// of direction, embeddings, overrides and isolates, line and paragraph
// separators, annotations. The joiners of emoji and of Persian are not among
// them.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x061c, 0x061c, 1},
		{0x200e, 0x200f, 1},
		{0x2028, 0x202e, 1},
		{0x2066, 0x206f, 1},
		{0xfff9, 0xfffb, 1},
	},
}

// JSON is formatted JSON in which the characters that Line escapes, and that
// JSON would let through, are written as \u escapes: the same value, harmless on
// a terminal.
func JSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r != '\n' && r != '\t' && r != utf8.RuneError && unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
