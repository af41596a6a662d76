package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// arguments are what a model sent, by name, each of its parameter's type: string,
// []string, bool, int or map[string]string. One that was not sent, or sent as
// null, is not there.
type arguments map[string]any

func (a arguments) has(name string) bool { _, sent := a[name]; return sent }

func (a arguments) text(name string) string { s, _ := a[name].(string); return s }

func (a arguments) texts(name string) []string { s, _ := a[name].([]string); return s }

func (a arguments) labels(name string) map[string]string {
	m, _ := a[name].(map[string]string)
	return m
}

// given is a text that may be absent, as requests have it.
func (a arguments) given(name string) *string {
	s, sent := a[name].(string)
	if !sent {
		return nil
	}
	return &s
}

// badArguments are all things wrong with what a model sent.
type badArguments []string

func (b badArguments) Error() string { return strings.Join(b, "; ") }

func (b *badArguments) add(format string, values ...any) {
	*b = append(*b, fmt.Sprintf(format, values...))
}

// read reads the arguments, or says everything that is wrong with them.
func (p parameters) read(raw json.RawMessage) (arguments, error) {
	a := arguments{}
	var bad badArguments
	sent, err := members(unquoted(raw), p.example())
	if err != nil {
		return nil, badArguments{err.Error()}
	}
	seen, strange := map[string]bool{}, false
	for i, m := range sent {
		if len(bad) == maxFaults {
			bad.add("and the other %d arguments were not looked at: mend these first", len(sent)-i)
			break
		}
		one, known := p.named(m.name)
		switch {
		case seen[m.name]:
			bad.add("%q is there twice: send it once", preview(m.name, 60))
		case !known:
			strange = true
			bad.add("there is no argument %q%s", preview(m.name, 60), p.meant(m.name))
		default:
			value, wrong := one.value(m.value)
			if wrong != "" {
				bad.add("%s %s", one.name, wrong)
			} else if value != nil {
				a[one.name] = value
			}
		}
		seen[m.name] = true
	}
	for _, one := range p {
		if one.required && !a.has(one.name) && !slices.ContainsFunc(bad, func(s string) bool { return strings.HasPrefix(s, one.name+" ") }) {
			bad.add("%s is missing: it is required, %s", one.name, one.expected())
		}
	}
	if strange {
		bad.add("the arguments are %s", p.names())
	}
	if len(bad) > 0 {
		return nil, bad
	}
	return a, nil
}

// maxFaults are told of at once.
const maxFaults = 20

// unquoted is an object that comes as a JSON string, as some providers hand on what
// their model wrote.
func unquoted(raw json.RawMessage) json.RawMessage {
	var inner string
	if text := bytes.TrimSpace(raw); len(text) > 0 && text[0] == '"' && json.Unmarshal(text, &inner) == nil {
		return json.RawMessage(inner)
	}
	return raw
}

type member struct {
	name  string
	value json.RawMessage
}

// members takes a JSON object apart. Nothing at all is an object without members.
// example is one, for who sent another thing.
func members(raw json.RawMessage, example string) ([]member, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("the arguments are not valid UTF-8: send them as UTF-8")
	}
	if half := loneSurrogate(raw); half != "" {
		return nil, fmt.Errorf("the arguments hold %s, which is half of a character: send the whole character, best as UTF-8", half)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	broken := func(err error) error {
		return fmt.Errorf("the arguments can't be read as a JSON object (%w): send one, as in %s", err, example)
	}
	if t, err := d.Token(); err != nil {
		return nil, broken(err)
	} else if t != json.Delim('{') {
		return nil, fmt.Errorf("the arguments are no JSON object: send one, as in %s", example)
	}
	var all []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, broken(err)
		}
		m := member{name: name.(string)} // within an object tokens alternate, and the decoder has seen to that
		if err := d.Decode(&m.value); err != nil {
			return nil, broken(err)
		}
		all = append(all, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, broken(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the JSON object of the arguments: send one object alone")
	}
	return all, nil
}

// loneSurrogate is the first escape in JSON that stands for half of a character
// without the other half, "" where there is none. The decoder would put another
// character in its place.
func loneSurrogate(raw []byte) string {
	unit := func(at int) (rune, bool) {
		if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(raw[at+2:at+6]), 16, 16)
		return rune(n), err == nil && utf16.IsSurrogate(rune(n))
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if one, half := unit(i); half {
			other, _ := unit(i + 6)
			if utf16.DecodeRune(one, other) == utf8.RuneError {
				return string(raw[i : i+6])
			}
			i += 10
		}
		i++ // what is escaped
	}
	return ""
}

// value reads one argument; nil for null. wrong says what is wrong with it, after
// its name.
func (p parameter) value(raw json.RawMessage) (value any, wrong string) {
	if string(raw) == "null" {
		return nil, ""
	}
	switch p.kind {
	case text, word:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			break
		}
		if why := p.never[s]; why != "" {
			return nil, fmt.Sprintf("is %q, which %s: it must be %s", s, why, p.expected())
		}
		if p.kind == word && !slices.Contains(p.words, s) {
			return nil, fmt.Sprintf("is %q: it must be %s", preview(s, 60), p.expected())
		}
		if strings.TrimSpace(s) == "" {
			return nil, "is empty: say something, or leave it out"
		}
		return s, ""
	case texts:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			break
		}
		all := make([]string, len(list))
		for i, item := range list {
			if string(item) == "null" || json.Unmarshal(item, &all[i]) != nil {
				return nil, fmt.Sprintf("has %s at [%d]: every item is a text", sort(item), i)
			}
		}
		return all, ""
	case flag:
		var b bool
		if json.Unmarshal(raw, &b) == nil {
			return b, ""
		}
	case number:
		var n float64 // 20.0 is a whole number, too
		if json.Unmarshal(raw, &n) != nil || n != math.Trunc(n) {
			break
		}
		if n < float64(p.least) || n > float64(p.most) {
			return nil, fmt.Sprintf("is %s: it must be from %d to %d", preview(string(raw), 30), p.least, p.most)
		}
		return int(n), ""
	case labels:
		sent, err := members(raw, "")
		if err != nil || raw[0] != '{' {
			break
		}
		all := make(map[string]string, len(sent))
		for _, m := range sent {
			var v string
			if string(m.value) == "null" || json.Unmarshal(m.value, &v) != nil {
				return nil, fmt.Sprintf("has %s at %q: every value is a text; \"\" is one, too", sort(m.value), preview(m.name, 60))
			}
			if _, twice := all[m.name]; twice {
				return nil, fmt.Sprintf("has %q twice: send it once", preview(m.name, 60))
			}
			all[m.name] = v
		}
		return all, ""
	}
	return nil, fmt.Sprintf("is %s: it must be %s", sort(raw), p.expected())
}

// sort is what kind of JSON a value is.
func sort(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a text"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 't', 'f', 'n':
		return string(raw)
	}
	return "the number " + preview(string(raw), 30)
}

// meant guesses which argument was meant.
func (p parameters) meant(name string) string {
	plain := func(s string) string {
		s = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
		return strings.Replace(s, "dependencies", "dependencyids", 1)
	}
	for _, one := range p {
		if a, b := plain(one.name), plain(name); a == b || strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") ||
			strings.TrimSuffix(a, "ids") == strings.TrimSuffix(b, "ids") || min(len(a), len(b)) > 4 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) {
			return fmt.Sprintf(" (did you mean %q?)", one.name)
		}
	}
	return ""
}
