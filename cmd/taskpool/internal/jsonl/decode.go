// Package jsonl reads messages in protobuf JSON, one a line.
package jsonl

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Decode reads the JSON of one message, which is a what: "task", of which example
// is one. A field that the message does not have is an error that names it, and
// every such field.
func Decode(text []byte, m proto.Message, what, example string) error {
	if len(text) == 0 || text[0] != '{' {
		return fmt.Errorf("is no %s: a %s is a JSON object, %s", what, what, example)
	}
	if unknown := unknownFields(text, m.ProtoReflect().Descriptor(), ""); len(unknown) > 0 {
		return errors.New(strings.Join(unknown, "; "))
	}
	if err := protojson.Unmarshal(text, m); err != nil {
		return fmt.Errorf("is no %s: %s", what, sentence(err))
	}
	return nil
}

// preface is what protojson writes before an error: its name with one of two
// kinds of blank, and a position within the line, which is always the first.
var preface = regexp.MustCompile(`^proto:[\s\x{a0}]*(?:syntax error )?(?:\(line \d+:(\d+)\):[\s\x{a0}]*)?`)

// sentence is protojson's error, always the same for the same input.
func sentence(err error) string {
	text := err.Error()
	found := preface.FindStringSubmatchIndex(text)
	if found == nil {
		return text
	}
	rest := strings.ReplaceAll(text[found[1]:], "\u00a0", " ")
	if found[2] < 0 {
		return rest
	}
	return rest + " (column " + text[found[2]:found[3]] + ")"
}
