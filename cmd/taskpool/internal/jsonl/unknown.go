package jsonl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// unknownFields tells of every field in the JSON of a message that the message
// doesn't have, below path. JSON that can't be read has none: reading it is what
// tells.
func unknownFields(text []byte, message protoreflect.MessageDescriptor, path string) []string {
	var fields map[string]json.RawMessage
	if strings.HasPrefix(string(message.FullName()), "google.protobuf.") || json.Unmarshal(text, &fields) != nil {
		return nil
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := message.Fields().ByJSONName(name)
		if field == nil {
			field = message.Fields().ByTextName(name)
		}
		if field == nil {
			unknown = append(unknown, fmt.Sprintf("there is no field %q%s", path+name, suggestion(name, message)))
			continue
		}
		if field.IsMap() || field.Message() == nil {
			continue
		}
		if !field.IsList() {
			unknown = append(unknown, unknownFields(fields[name], field.Message(), path+name+".")...)
			continue
		}
		var values []json.RawMessage
		if json.Unmarshal(fields[name], &values) != nil {
			continue
		}
		for i, value := range values {
			unknown = append(unknown, unknownFields(value, field.Message(), fmt.Sprintf("%s%s[%d].", path, name, i))...)
		}
	}
	return unknown
}

// suggestion names the field that may have been meant.
func suggestion(name string, message protoreflect.MessageDescriptor) string {
	best, least := "", 3
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		for _, known := range []string{field.TextName(), field.JSONName()} {
			if d := distance(strings.ToLower(name), strings.ToLower(known)); d < least {
				best, least = field.TextName(), d
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance is how many characters must be added, removed or replaced to make b
// of a; names that are far apart in length are not counted out.
func distance(a, b string) int {
	if len(a) > len(b)+3 || len(b) > len(a)+3 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
