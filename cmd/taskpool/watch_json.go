package main

import (
	"bytes"
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

// maxWaiting is how many bytes of one change wait to be written together.
const maxWaiting = 1 << 16

// lines shows changes to programs.
type lines struct {
	app    *app
	cursor string // the last that was written
}

// show writes each task and graph on a line, the last with the cursor.
func (l *lines) show(change client.Change) error {
	messages := make([]proto.Message, 0, len(change.Graphs)+len(change.Tasks))
	for _, g := range change.Graphs {
		messages = append(messages, g)
	}
	for _, t := range change.Tasks {
		messages = append(messages, t)
	}
	if len(messages) == 0 {
		if change.Cursor == l.cursor {
			return nil
		}
		messages = append(messages, nil) // only the cursor
	}
	l.cursor = change.Cursor
	var text bytes.Buffer
	for i, m := range messages {
		cursor := ""
		if i == len(messages)-1 {
			cursor = change.Cursor
		}
		line, err := changeLine(cursor, change.Snapshot, m)
		if err != nil {
			return err
		}
		text.WriteString(line)
		if text.Len() > maxWaiting || i == len(messages)-1 {
			if err := l.app.print(text.String()); err != nil {
				return err
			}
			text.Reset()
		}
	}
	return nil
}

// changeLine is one line: the message's fields after our two. m may be nil.
func changeLine(cursor string, snapshot bool, m proto.Message) (string, error) {
	quoted, err := json.Marshal(cursor)
	if err != nil {
		return "", err
	}
	fields := json.RawMessage("{}")
	if m != nil {
		if fields, err = jsonOf(m); err != nil {
			return "", err
		}
	}
	line := `{"cursor":` + string(quoted) + `,"snapshot":` + strconv.FormatBool(snapshot)
	if len(fields) > len("{}") {
		line += ","
	}
	return terminal.JSON(line+string(fields[1:])) + "\n", nil
}
