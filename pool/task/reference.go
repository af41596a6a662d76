package task

import (
	"strconv"
	"strings"
)

// ReferenceKind says how a reference names its task.
type ReferenceKind uint8

// The kinds of reference. Nothing else names a task.
const (
	ReferenceUnspecified ReferenceKind = iota
	// ReferenceID: a whole id.
	ReferenceID
	// ReferenceKey: a key, "T-12".
	ReferenceKey
	// ReferencePrefix: the beginning of an id.
	ReferencePrefix
	// ReferenceRef: a local name within one batch, "ref:NAME".
	ReferenceRef
)

// MinPrefixLength is how much of an id a prefix must give, in characters.
const MinPrefixLength = 8

// MaxRefLength is how long a local name can be, in code points.
const MaxRefLength = 128

const (
	refPrefix = "ref:"
	keyPrefix = "t-"
	idLength  = 36
)

// Reference is what a caller wrote in place of a task.
type Reference struct {
	Kind ReferenceKind
	// ID is the id, or its beginning (ReferencePrefix), in canonical lower case.
	ID string
	// Number is the creation number of a ReferenceKey.
	Number int64
	// Ref is the local name of a ReferenceRef.
	Ref string
}

// String writes the reference canonically: "T-12", "ref:NAME", lower-case ids.
func (r Reference) String() string {
	switch r.Kind {
	case ReferenceKey:
		return Key(r.Number)
	case ReferenceRef:
		return refPrefix + r.Ref
	default:
		return r.ID
	}
}

// ParseReference reads an id (canonical UUID, any case), a key ("T-12", any
// case, no leading zeros), the beginning of an id of at least MinPrefixLength
// characters (any case, dashes in their places) or "ref:NAME". White space
// around it is ignored. False for anything else. Where local names mean
// nothing, the caller has to refuse ReferenceRef.
func ParseReference(s string) (Reference, bool) {
	s = strings.TrimSpace(s)
	if name, ok := strings.CutPrefix(s, refPrefix); ok {
		return Reference{Kind: ReferenceRef, Ref: name}, ValidRef(name)
	}
	if len(s) > idLength {
		return Reference{}, false
	}
	if number, ok := parseKey(s); ok {
		return Reference{Kind: ReferenceKey, Number: number}, true
	}
	if len(s) < MinPrefixLength || !idBeginning(s) {
		return Reference{}, false
	}
	r := Reference{Kind: ReferencePrefix, ID: strings.ToLower(s)}
	if len(s) == idLength {
		r.Kind = ReferenceID
	}
	return r, true
}

// ReferenceHelp says how to name a task, for the errors of those who could not
// find one.
const ReferenceHelp = `use its id, its key (as in T-12) or at least the first 8 characters of its id`

// parseKey reads "T-" and a positive number without leading zeros.
func parseKey(s string) (int64, bool) {
	if len(s) <= len(keyPrefix) || !strings.EqualFold(s[:len(keyPrefix)], keyPrefix) {
		return 0, false
	}
	digits := s[len(keyPrefix):]
	if digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, err == nil
}

// idBeginning says whether s is hexadecimal digits with dashes where a
// canonical UUID has them.
func idBeginning(s string) bool {
	for i := range len(s) {
		c := s[i]
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if dash && c != '-' || !dash && !hex {
			return false
		}
	}
	return true
}

// ValidRef says whether name can be a local name: 1 to MaxRefLength visible
// characters without white space, as in "master/12.4".
func ValidRef(name string) bool {
	var v Violations
	checkRef(&v, "", name)
	return v == nil
}

func checkRef(v *Violations, field, name string) {
	switch {
	case name == "":
		v.Add(field, "is empty: give a local name")
	case !wellFormed(v, field, name):
	case tooLong(v, field, name, MaxRefLength, "shorten the local name"):
	default:
		if r, bad := firstInvisible(name); bad {
			v.Add(field, "holds the character %q: use visible characters without white space, as in master/12.4", r)
		}
	}
}
