package taskfile

import (
	"strings"
	"testing"
)

// Reading escapes takes time that grows with the text, not with its square: of
// this one, that would be hours.
func TestUnescape_long(t *testing.T) {
	const n = 5_000_000
	if got := unescape(strings.Repeat(`\n`, n) + "a"); len(got) != n+1 || strings.Trim(got, "\n") != "a" {
		t.Errorf("got %d bytes", len(got))
	}
}
