package jsonl

import (
	"fmt"
	"strings"
)

// Shown is how many problems an error lists.
const Shown = 20

// Problem is something wrong with a file.
type Problem struct {
	// Line is where, counted from 1.
	Line int
	// Text says what.
	Text string
}

// Problems is everything wrong with a file, in its order.
type Problems []Problem

// Error lists them, one a line.
func (p Problems) Error() string {
	lines := make([]string, 0, min(len(p), Shown)+1)
	for i, one := range p {
		if i == Shown {
			lines = append(lines, fmt.Sprintf("and %d more", len(p)-Shown))
			break
		}
		lines = append(lines, fmt.Sprintf("line %d: %s", one.Line, one.Text))
	}
	return strings.Join(lines, "\n")
}
