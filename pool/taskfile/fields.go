package taskfile

import (
	"encoding/json"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// raw is a task as its fields are read.
type raw struct {
	id, status   string
	draft        task.Draft
	history      []Entry
	dependencies []string
	// met has a bit for each of fields that was there, bad for each that could
	// not be read.
	met, bad uint32
}

// field is one field of a task in a file. fields is the one place that knows
// them all.
type field struct {
	name string
	// api is its name in the violations of [task.Draft.Check], "" for the same.
	api string
	// read reads the field, or adds what is wrong with it.
	read func(p *problems, field string, value json.RawMessage, into *raw) bool
}

var fields = [...]field{
	{name: "id", read: intoText(func(r *raw) *string { return &r.id })},
	{name: "title", read: intoText(func(r *raw) *string { return &r.draft.Title })},
	{name: "status", read: intoText(func(r *raw) *string { return &r.status })},
	{name: "description", read: readDescription},
	{name: "acceptanceCriteria", api: "acceptance_criteria", read: intoList(func(r *raw) *[]string { return &r.draft.AcceptanceCriteria })},
	{name: "priority", read: readPriority},
	{name: "type", read: readType},
	{name: "links", read: intoList(func(r *raw) *[]string { return &r.draft.Links })},
	{name: "steps", read: intoList(func(r *raw) *[]string { return &r.draft.Steps })},
	{name: "constraints", read: intoList(func(r *raw) *[]string { return &r.draft.Constraints })},
	{name: "outOfScope", api: "out_of_scope", read: intoList(func(r *raw) *[]string { return &r.draft.OutOfScope })},
	{name: "verification", read: intoList(func(r *raw) *[]string { return &r.draft.Verification })},
	{name: "context", read: intoList(func(r *raw) *[]string { return &r.draft.Context })},
	{name: "edgeCases", api: "edge_cases", read: intoList(func(r *raw) *[]string { return &r.draft.EdgeCases })},
	{name: "history", read: readHistoryText},
	{name: "dependencyIds", read: intoList(func(r *raw) *[]string { return &r.dependencies })},
}

// The places of the fields that must be there.
const (
	fieldID = iota
	fieldTitle
	fieldStatus
)

// instead says what to do about fields of other files.
var instead = map[string]string{
	"dependencies": "write dependencyIds",
	"milestone":    "a pool has no milestones; take it out, or put it into the title",
}

func fieldNamed(name string) int {
	for i := range fields {
		if fields[i].name == name {
			return i
		}
	}
	return -1
}

func readDescription(p *problems, field string, value json.RawMessage, into *raw) (ok bool) {
	if into.draft.Description, ok = text(p, field, value); ok && into.draft.Description == "" {
		p.add(field, "is empty: write text, or leave it out")
		return false
	}
	return ok
}

func readPriority(p *problems, field string, value json.RawMessage, into *raw) bool {
	s, ok := text(p, field, value)
	if !ok {
		return false
	}
	if into.draft.Priority, ok = task.ParsePriority(s); !ok {
		p.add(field, "is %s: write low, medium or high, or leave it out", shown(s))
	}
	return ok
}

func readType(p *problems, field string, value json.RawMessage, into *raw) bool {
	s, ok := text(p, field, value)
	if !ok {
		return false
	}
	if into.draft.Type, ok = task.ParseType(s); !ok {
		p.add(field, "is %s: write feature, bug, refactor, chore or research, or leave it out", shown(s))
	}
	return ok
}

// readHistoryText takes any history that a pool can tell: not what is beyond the
// limit of appending, but what no message could carry is refused.
func readHistoryText(p *problems, field string, value json.RawMessage, into *raw) bool {
	s, ok := text(p, field, value)
	if !ok {
		return false
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		p.add(field, "holds a NUL character at byte %d: remove it", i)
		return false
	}
	history := readHistory(s)
	if n, beyond := lengthBeyond(task.LimitCeiling, history, s); beyond {
		p.add(field, "is %d characters long, %d are the most there can be: cut off its beginning", n, task.LimitCeiling)
		return false
	}
	into.history = history
	return true
}

func intoText(of func(*raw) *string) func(*problems, string, json.RawMessage, *raw) bool {
	return func(p *problems, field string, value json.RawMessage, into *raw) (ok bool) {
		*of(into), ok = text(p, field, value)
		return ok
	}
}

func intoList(of func(*raw) *[]string) func(*problems, string, json.RawMessage, *raw) bool {
	return func(p *problems, field string, value json.RawMessage, into *raw) bool {
		var list []string
		whole := true
		ok := items(p, field, value, func(i int, value json.RawMessage) {
			s, ok := text(p, item(field, i), value)
			whole = whole && ok
			list = append(list, s)
		})
		if ok && whole { // what could not be read is said; the rest would be judged wrongly
			*of(into) = list
		}
		return ok && whole
	}
}
