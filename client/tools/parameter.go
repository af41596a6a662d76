package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// kind is the type of an argument.
type kind uint8

const (
	text  kind = iota
	word       // one of words
	texts      // a list of texts
	flag
	number
	labels // an object of texts
)

// parameter is one argument of a tool: what the schema says of it, and how it is
// read.
type parameter struct {
	name, description string
	kind              kind
	words             []string
	// never are words that can't be sent here, each with why.
	never    map[string]string
	required bool
	// least and most bound a number.
	least, most int
}

type parameters []parameter

// schema is the JSON Schema of an object with these properties.
func (p parameters) schema() (json.RawMessage, error) {
	type object = map[string]any
	properties := object{}
	required := []string{}
	for _, one := range p {
		s := object{"description": one.description}
		switch one.kind {
		case text:
			s["type"] = "string"
		case word:
			s["type"], s["enum"] = "string", one.words
		case texts:
			s["type"], s["items"] = "array", object{"type": "string"}
		case flag:
			s["type"] = "boolean"
		case number:
			s["type"], s["minimum"], s["maximum"] = "integer", one.least, one.most
		case labels:
			s["type"], s["additionalProperties"] = "object", object{"type": "string"}
		}
		properties[one.name] = s
		if one.required {
			required = append(required, one.name)
		}
	}
	return json.Marshal(object{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

func (p parameters) named(name string) (parameter, bool) {
	i := slices.IndexFunc(p, func(one parameter) bool { return one.name == name })
	if i < 0 {
		return parameter{}, false
	}
	return p[i], true
}

// example is an object with the one argument that a call has at least, or most often.
func (p parameters) example() string {
	for _, one := range p {
		if one.required || one.name == "id" {
			if one.name == "id" {
				return `{"id": "T-12"}`
			}
			return fmt.Sprintf(`{%q: "…"}`, one.name)
		}
	}
	return "{}"
}

// names are all names, for one who used another.
func (p parameters) names() string {
	all := make([]string, len(p))
	for i, one := range p {
		all[i] = one.name
	}
	return strings.Join(all, ", ")
}

// expected says what a value has to be.
func (p parameter) expected() string {
	switch p.kind {
	case word:
		return "one of " + quoted(p.words)
	case texts:
		return `a list of texts, as in ["first", "second"]`
	case flag:
		return "true or false"
	case number:
		return fmt.Sprintf("a whole number from %d to %d", p.least, p.most)
	case labels:
		return `an object of texts, as in {"area": "api"}`
	}
	return "a text"
}

func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }
