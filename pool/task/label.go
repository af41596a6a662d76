package task

import (
	"maps"
	"slices"
	"strings"
)

// labelKeyForbidden are visible characters that no label key may hold: they
// divide keys from values on the command line, and quote keys in field paths.
const labelKeyForbidden = `=,"\`

// checkLabels checks labels: at most Labels of them, keys of 1 to
// LabelKeyLength visible characters (no white space, none of = , " \), values
// of at most LabelValueLength code points. Keys and values are names, so
// neither is trimmed: a key with a space at its end is refused. A value may be
// empty, but not white space alone.
func checkLabels(v *Violations, field string, labels map[string]string, l *Limits) {
	if tooMany(v, field, len(labels), l.Labels) {
		return
	}
	value := textRule{max: l.LabelValueLength, exact: true, ifLong: "shorten the value"}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		path := key(field, k)
		checkLabelKey(v, path, k, l)
		value.read(v, path, labels[k])
	}
}

func checkLabelKey(v *Violations, path, k string, l *Limits) {
	switch {
	case k == "":
		v.Add(path, "has an empty key: name the label")
	case !wellFormed(v, path, k):
	case tooLong(v, path, k, l.LabelKeyLength, "shorten the key"):
	default:
		if r, bad := firstInvisible(k); bad {
			v.Add(path, "has the character %q in its key: use visible characters without white space", r)
		} else if i := strings.IndexAny(k, labelKeyForbidden); i >= 0 {
			v.Add(path, "has the character %q in its key: use none of %s", k[i], labelKeyForbidden)
		}
	}
}
