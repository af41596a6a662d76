package task

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Length is how long a text is by every limit: its number of Unicode code points.
func Length(s string) int { return utf8.RuneCountInString(s) }

// textRule says how one text is read. Every text is valid UTF-8 without NUL;
// whitespace alone is always refused; everything within a text is kept exactly.
type textRule struct {
	// max is in code points, counted after trimming.
	max int
	// exact keeps the bytes; otherwise white space at both ends is cut off.
	exact bool
	// required refuses the empty text, saying so with ifEmpty.
	required bool
	ifEmpty  string
	// ifLong says what to do with a text that is too long.
	ifLong string
}

func titleRule(l *Limits) textRule {
	return textRule{
		max: l.TitleLength, required: true,
		ifEmpty: "say in a few words what is to be done",
		ifLong:  "shorten it and put the rest into description or body",
	}
}

func descriptionRule(l *Limits) textRule {
	return textRule{max: l.DescriptionLength, ifLong: "shorten it or use body"}
}

func bodyRule(l *Limits) textRule {
	return textRule{max: l.BodyLength, exact: true, ifLong: "shorten it or link to the rest"}
}

func reasonRule(l *Limits) textRule {
	return textRule{max: l.ReasonLength, ifLong: "shorten it, or record the rest with a history_entry"}
}

// read checks s and gives it as it is to be kept. What it gives is only good
// when nothing was added to v.
func (r textRule) read(v *Violations, field, s string) string {
	if !wellFormed(v, field, s) {
		return s
	}
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == "" && s != "":
		v.Add(field, "is white space alone: %s", r.remedy())
		return s
	case trimmed == "" && r.required:
		v.Add(field, "is empty: %s", r.remedy())
		return s
	}
	if !r.exact {
		s = trimmed
	}
	tooLong(v, field, s, r.max, r.ifLong)
	return s
}

func (r textRule) remedy() string {
	if r.ifEmpty != "" {
		return r.ifEmpty
	}
	return "write text, or leave it empty"
}

// tooLong adds a violation when s has more than most code points.
func tooLong(v *Violations, field, s string, most int, remedy string) bool {
	if len(s) <= most { // no more code points than bytes
		return false
	}
	n := Length(s)
	if n <= most {
		return false
	}
	v.Add(field, "is %s long, %d are allowed: %s", plural(n, "character"), most, remedy)
	return true
}

// tooMany adds a violation when there are more items than allowed.
func tooMany(v *Violations, field string, n, most int) bool {
	if n <= most {
		return false
	}
	v.Add(field, "has %s, %d are allowed: leave out %d", plural(n, "item"), most, n-most)
	return true
}

// wellFormed adds a violation when s is not valid UTF-8 or holds a NUL.
func wellFormed(v *Violations, field, s string) bool {
	if !utf8.ValidString(s) {
		v.Add(field, "is not valid UTF-8 from byte %d on: send it as UTF-8", invalidAt(s))
		return false
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		v.Add(field, "holds a NUL character at byte %d: remove it", i)
		return false
	}
	return true
}

// invalidAt is the offset of the first byte that is not UTF-8.
func invalidAt(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(s)
}

// visible says whether a character may stand in a name (of a member, a label, a
// local ref): it prints something and is no white space.
func visible(r rune) bool { return r != ' ' && unicode.IsPrint(r) }

// firstInvisible gives the first character of s that may not stand in a name.
func firstInvisible(s string) (rune, bool) {
	for _, r := range s {
		if !visible(r) {
			return r, true
		}
	}
	return 0, false
}

// CheckComment checks the text of a comment: not empty, at most CommentLength
// code points, kept byte for byte. The field is "body".
func CheckComment(body string, l Limits) Violations {
	var v Violations
	rule := textRule{
		max: l.CommentLength, exact: true, required: true,
		ifEmpty: "write what you have to say", ifLong: "shorten it or write two",
	}
	rule.read(&v, "body", body)
	return v
}

// CheckReason checks a reason and gives it trimmed: at most ReasonLength code
// points; it may be empty, where the move does not need one. The field is
// "reason".
func CheckReason(reason string, l Limits) (string, Violations) {
	var v Violations
	reason = reasonRule(&l).read(&v, "reason", reason)
	return reason, v
}

// CheckResult checks what a holder hands in, kept byte for byte: at most
// ResultLength code points; it may be empty. field is "output" or "error".
func CheckResult(field, text string, l Limits) Violations {
	var v Violations
	textRule{max: l.ResultLength, exact: true, ifLong: "shorten it, and link to the rest"}.read(&v, field, text)
	return v
}
