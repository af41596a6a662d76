package task

import (
	"fmt"
	"strconv"
	"strings"
)

// Violation is one thing wrong with a request.
type Violation struct {
	// Field is the path in API naming: "title", "links[0]", `labels["team"]`.
	Field string
	// Description says what is wrong, the limit and the actual length, and what
	// to do. It continues "<field> …": "is empty: …".
	Description string
}

// String is the field and what is wrong with it, for one line of text.
func (v Violation) String() string {
	if v.Field == "" {
		return v.Description
	}
	return v.Field + " " + v.Description
}

// Violations is everything wrong with a request; none when it is empty. Don't
// return one as an error: an empty one would be an error that is not nil. Wrap
// it where it is not empty.
type Violations []Violation

// Add appends one violation.
func (v *Violations) Add(field, format string, args ...any) {
	*v = append(*v, Violation{Field: field, Description: fmt.Sprintf(format, args...)})
}

// At returns the violations with every field put below prefix: "title" at
// "tasks[3]" is "tasks[3].title", and "[2]" at "links" is "links[2]". The
// receiver is left alone.
func (v Violations) At(prefix string) Violations {
	if len(v) == 0 {
		return nil
	}
	below := make(Violations, len(v))
	for i, one := range v {
		switch {
		case prefix == "":
		case one.Field == "":
			one.Field = prefix
		case one.Field[0] == '[':
			one.Field = prefix + one.Field
		default:
			one.Field = prefix + "." + one.Field
		}
		below[i] = one
	}
	return below
}

// Error is one line that tells all violations, in order, divided by "; ".
func (v Violations) Error() string {
	all := make([]string, len(v))
	for i, one := range v {
		all[i] = one.String()
	}
	return strings.Join(all, "; ")
}

// index is the path of an item of a list.
func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// key is the path of an entry of a map.
func key(field, k string) string { return field + "[" + shown(k) + "]" }

// shownLength is how much of a caller's value a message repeats.
const shownLength = 64

// shown quotes a caller's value for a message, cut so that no message grows
// with its input.
func shown(value string) string { return strconv.Quote(Preview(value, shownLength)) }

// list joins names for a sentence.
func list(names []string) string { return strings.Join(names, ", ") }

// plural is "1 item", "2 items".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
