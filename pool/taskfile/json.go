package taskfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// mostProblems are told of one file; how many more there are is told with them.
const mostProblems = 100

// problems gathers what is wrong with a file.
type problems struct {
	first task.Violations
	more  int
}

func (p *problems) add(field, format string, args ...any) {
	var v task.Violations
	v.Add(field, format, args...)
	p.addAll(v)
}

func (p *problems) addAll(v task.Violations) {
	room := min(mostProblems-len(p.first), len(v))
	p.first = append(p.first, v[:room]...)
	p.more += len(v) - room
}

// all are the problems in the order in which they were found.
func (p *problems) all() task.Violations {
	if p.more == 0 {
		return p.first
	}
	v := p.first
	v.Add("tasks", "has %d more problems: put these right first", p.more)
	return v
}

// nothing is what a whole file is read into when only its syntax is looked at.
type nothing struct{}

func (*nothing) UnmarshalJSON([]byte) error { return nil }

// checkSyntax says what keeps data from being JSON in UTF-8, "" when nothing
// does. What follows may rely on both.
func checkSyntax(data []byte) string {
	if at := invalidAt(data); at >= 0 {
		return fmt.Sprintf("is not valid UTF-8 in %s: save the file as UTF-8", place(data, at))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return `is empty: a file without tasks is {"tasks": []}`
	}
	err := json.Unmarshal(data, new(nothing))
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &syntax):
		return fmt.Sprintf("is no JSON: %s in %s", syntax, place(data, int(syntax.Offset)-1))
	default:
		return "is no JSON: " + err.Error()
	}
}

// invalidAt is the offset of the first byte that is not UTF-8, -1 for none.
func invalidAt(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// place tells an offset as an editor does. A line ends in LF, CRLF or CR.
func place(data []byte, at int) string {
	line, start := 1, 0
	before := data[:max(0, min(at, len(data)))]
	for i, c := range before {
		if c == '\n' || c == '\r' && !bytes.HasPrefix(data[i+1:], []byte("\n")) {
			line, start = line+1, i+1
		}
	}
	return fmt.Sprintf("line %d, column %d", line, utf8.RuneCount(before[start:])+1)
}

// kind says what a value is, for a sentence.
func kind(value []byte) string {
	switch value[0] {
	case '"':
		return "a text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// members calls each with every member of an object in order, or adds that value
// is none.
func members(p *problems, field string, value json.RawMessage, each func(name string, value json.RawMessage)) bool {
	if value[0] != '{' {
		p.add(field, "is %s: write an object, { … }", kind(value))
		return false
	}
	d := json.NewDecoder(bytes.NewReader(value))
	_, _ = d.Token() // {
	for d.More() {
		name, _ := d.Token()
		text, _ := name.(string)
		var member json.RawMessage
		if err := d.Decode(&member); err != nil {
			p.add(field, "is no JSON: %s", err) // never, as the syntax was checked
			return false
		}
		each(text, member)
	}
	return true
}

// items calls each with every item of a list in order, or adds that value is
// none.
func items(p *problems, field string, value json.RawMessage, each func(i int, value json.RawMessage)) bool {
	if value[0] != '[' {
		p.add(field, "is %s: write a list, [ … ]", kind(value))
		return false
	}
	d := json.NewDecoder(bytes.NewReader(value))
	_, _ = d.Token() // [
	for i := 0; d.More(); i++ {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			p.add(field, "is no JSON: %s", err) // never, as the syntax was checked
			return false
		}
		each(i, item)
	}
	return true
}

// text reads a text, or adds what is wrong with it.
func text(p *problems, field string, value json.RawMessage) (string, bool) {
	if value[0] != '"' {
		p.add(field, "is %s: write a text in quotes, or leave it out", kind(value))
		return "", false
	}
	if half := loneSurrogate(value); half != "" {
		p.add(field, "holds %s, which is half a character: remove it", half)
		return "", false
	}
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		p.add(field, "is no text: %s", err) // never, as the syntax was checked
		return "", false
	}
	return s, true
}

// loneSurrogate finds an escape that is half of a pair without the other half,
// which would be read as a question mark. "" when there is none.
func loneSurrogate(value []byte) string {
	for i := 0; i+1 < len(value); {
		if value[i] != '\\' {
			i++
			continue
		}
		unit, ok := codeUnit(value[i:])
		switch {
		case !ok:
			i += 2
			continue
		case unit < 0xd800 || unit > 0xdfff:
		case unit < 0xdc00:
			if low, ok := codeUnit(value[i+6:]); !ok || low < 0xdc00 || low > 0xdfff {
				return string(value[i : i+6])
			}
			i += 6
		default:
			return string(value[i : i+6])
		}
		i += 6
	}
	return ""
}

// codeUnit reads the escape \uXXXX that b begins with.
func codeUnit(b []byte) (uint64, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return unit, err == nil
}

// member is the path of a member of an object, whose name may be anything.
func member(field, name string) string {
	if !plain(name) {
		name = strconv.Quote(task.Preview(name, 64))
	}
	if field == "" {
		return name
	}
	return field + "." + name
}

// plain says whether a name reads well as it is.
func plain(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// item is the path of an item of a list.
func item(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }
