package task

import (
	"math"
	"strings"
	"unicode"
)

func (l limit) resolve(explicit LimitOptions, getenv func(string) (string, bool)) int {
	if value, ok := explicit[l.name]; ok {
		return l.clamp(value)
	}
	if getenv != nil {
		if text, ok := getenv(l.env); ok {
			if value, ok := parseLimit(text); ok {
				return l.clamp(value)
			}
		}
	}
	return l.clamp(int64(l.fallback))
}

func (l limit) clamp(value int64) int {
	return int(min(max(value, 1), int64(l.ceiling)))
}

// parseLimit reads an integer as JavaScript's parseInt(text, 10) does, which
// llm-chat-task used: leading white space (a byte order mark counts) and one
// sign are accepted, digits are read as far as they go, and the rest is
// ignored: "12abc" and "12.9" are 12. False when there is no digit. A value
// too big for an int64 is the biggest of its sign.
func parseLimit(text string) (int64, bool) {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
	negative := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	var value int64
	digits := 0
	for ; digits < len(text) && text[digits] >= '0' && text[digits] <= '9'; digits++ {
		digit := int64(text[digits] - '0')
		if value > (math.MaxInt64-digit)/10 {
			value = math.MaxInt64
			continue
		}
		value = value*10 + digit
	}
	if negative {
		value = -value
	}
	return value, digits > 0
}
