// Package words has the words of the API's enumerations, for people and agents.
package words

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Enum is an enumeration of the API, as words: TASK_STATUS_IN_PROGRESS is
// "in_progress".
type Enum interface {
	~int32
	protoreflect.Enum
}

// prefixOf is what the names of an enumeration begin with.
func prefixOf(d protoreflect.EnumDescriptor) string {
	return strings.TrimSuffix(string(d.Values().ByNumber(0).Name()), "UNSPECIFIED")
}

// Of is the value as a word, "" for UNSPECIFIED. Of a value that this program
// does not know it is the number.
func Of[E Enum](value E) string {
	d := value.Descriptor()
	known := d.Values().ByNumber(value.Number())
	switch {
	case value == 0:
		return ""
	case known == nil:
		return fmt.Sprint(int32(value))
	}
	return strings.ToLower(strings.TrimPrefix(string(known.Name()), prefixOf(d)))
}

// All are the words of an enumeration, without that of UNSPECIFIED.
func All[E Enum]() []string {
	values := E(0).Descriptor().Values()
	words := make([]string, 0, values.Len())
	for i := range values.Len() {
		if n := values.Get(i).Number(); n != 0 {
			words = append(words, Of(E(n)))
		}
	}
	return words
}

// Parse reads a word; upper case and dashes make no difference. none is the
// word for UNSPECIFIED, "" where there is none.
func Parse[E Enum](text, none string) (E, error) {
	wanted := strings.ReplaceAll(strings.ToLower(text), "-", "_")
	if none != "" && wanted == none {
		return 0, nil
	}
	d := E(0).Descriptor()
	if value := d.Values().ByName(protoreflect.Name(prefixOf(d) + strings.ToUpper(wanted))); value != nil && value.Number() != 0 {
		return E(value.Number()), nil
	}
	all := All[E]()
	if none != "" {
		all = append(all, none)
	}
	return 0, fmt.Errorf("%q is none of %s", text, strings.Join(all, ", "))
}
