package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

// jsonOf is a message as protobuf JSON. protojson changes its blanks from build to
// build on purpose; here they are taken out.
func jsonOf(m proto.Message) (json.RawMessage, error) {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// jsonLine is a message as one line, the same at any time.
func jsonLine(m proto.Message) (string, error) {
	text, err := jsonOf(m)
	return terminal.JSON(string(text)) + "\n", err
}

// printJSON writes a message.
func (a *app) printJSON(m proto.Message) error {
	text, err := jsonOf(m)
	if err != nil {
		return err
	}
	return writeJSON(a.out, text)
}

// listing is a page of a list as JSON: what the message of the call's answer
// would be, but with an empty list and token written out, so that programs need
// not ask whether they are there.
type listing struct {
	name  string
	items []proto.Message
	next  string
	rest  proto.Message // the other fields
}

func (a *app) printListing(l listing) error {
	items := make([]json.RawMessage, len(l.items))
	for i, m := range l.items {
		text, err := jsonOf(m)
		if err != nil {
			return err
		}
		items[i] = text
	}
	list, err := json.Marshal(items)
	if err != nil {
		return err
	}
	next, err := json.Marshal(l.next)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"%s":%s,"next_page_token":%s`, l.name, list, next)
	if l.rest != nil {
		rest, err := jsonOf(l.rest)
		if err != nil {
			return err
		}
		if len(rest) > len("{}") {
			b.WriteByte(',')
			b.Write(rest[1 : len(rest)-1])
		}
	}
	b.WriteByte('}')
	return writeJSON(a.out, b.Bytes())
}

// writeJSON writes a JSON value over several lines.
func writeJSON(w io.Writer, text []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, terminal.JSON(b.String()))
	return err
}
