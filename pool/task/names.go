package task

import (
	"fmt"
	"slices"
)

// nameOf is the name of value i of a small enumeration, "what(7)" beyond it.
func nameOf(names []string, i uint8, what string) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

// indexOf is the value with that name.
func indexOf(names []string, name string) (uint8, bool) {
	i := slices.Index(names, name)
	if i < 0 {
		return 0, false
	}
	return uint8(i), true
}
