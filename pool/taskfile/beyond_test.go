package taskfile

import (
	"strings"
	"testing"
)

// What a file holds can be longer than the limit of appending, but not than what
// a message holds, as it is written.
func TestLengthBeyond(t *testing.T) {
	const stamp, most = "[2026-01-02T03:04:05.678Z] ", 1000
	for _, s := range []string{"x", "\n", "\u2028", "漢"} {
		each := len([]rune(renderHistory([]Entry{{Text: s}}))) - len(stamp)
		fit := (most - len(stamp) - 2) / each
		for n, beyond := range map[int]bool{0: false, 1: false, fit: false, fit + 2: true} {
			written := stamp + "x" + strings.Repeat(s, n) + "y"
			history := readHistory(written)
			if _, got := lengthBeyond(most, history, written); got != beyond {
				t.Errorf("%d times %q: %v, as it is written it has %d", n, s, got, len([]rune(renderHistory(history))))
			}
		}
	}
}
