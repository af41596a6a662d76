// Package drafts reads files of new tasks: NewTask messages in protobuf JSON,
// one a line, or a JSON array of them.
package drafts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/jsonl"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// maxBytes bounds a file. A call takes 16 MiB, and JSON is seldom four times as
// long as what it says.
const maxBytes = 64 << 20

// Draft is one task of a file.
type Draft struct {
	// Line is where it begins, counted from 1.
	Line int
	Task *taskpoolv1.NewTask
}

// Read gives the tasks of a file in their order. A byte order mark, blank lines
// and any kind of line end (LF, CR LF, CR) make no difference. What can't be
// read is a [jsonl.Problems] with everything that is wrong; then there are no drafts.
func Read(r io.Reader) ([]Draft, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxBytes {
		return nil, fmt.Errorf("the file is bigger than %d MiB: split it", maxBytes>>20)
	}
	items, problems := split(normal(text))
	drafts := make([]Draft, 0, len(items))
	for _, item := range items {
		task := &taskpoolv1.NewTask{}
		if err := jsonl.Decode(item.json, task, "task", `{"title": …}`); err != nil {
			problems = append(problems, jsonl.Problem{Line: item.line, Text: err.Error()})
			continue
		}
		drafts = append(drafts, Draft{item.line, task})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if len(drafts) == 0 {
		return nil, errors.New("there is no task in it: write one NewTask message as JSON on each line")
	}
	return drafts, nil
}

// normal is text without a byte order mark and with LF as its only line end.
// Inside JSON strings there are no raw line ends to change.
func normal(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
}

// item is the JSON of one task.
type item struct {
	line int
	json []byte
}

// split finds the tasks of a normal text.
func split(text []byte) ([]item, jsonl.Problems) {
	if trimmed := bytes.TrimLeft(text, " \t\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		return elements(text)
	}
	var items []item
	line := 0
	for one := range bytes.SplitSeq(text, []byte("\n")) {
		line++
		if one = bytes.Trim(one, " \t"); len(one) > 0 {
			items = append(items, item{line, one})
		}
	}
	return items, nil
}

// elements are those of a JSON array.
func elements(text []byte) ([]item, jsonl.Problems) {
	lineAt := func(offset int64) int {
		return 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
	}
	var items []item
	decoder := json.NewDecoder(bytes.NewReader(text))
	fail := func(err error) ([]item, jsonl.Problems) {
		at := decoder.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = max(at, syntax.Offset-1)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, jsonl.Problems{{Line: lineAt(int64(len(bytes.TrimRight(text, " \t\n")))), Text: "the array is not closed: it needs a ] at its end"}}
		}
		return nil, jsonl.Problems{{Line: lineAt(at), Text: "is no JSON: " + err.Error()}}
	}
	if _, err := decoder.Token(); err != nil {
		return fail(err)
	}
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return fail(err)
		}
		items = append(items, item{lineAt(decoder.InputOffset() - int64(len(raw))), raw})
	}
	if _, err := decoder.Token(); err != nil {
		return fail(err)
	}
	end := decoder.InputOffset()
	if rest := bytes.TrimLeft(text[end:], " \t\n"); len(rest) > 0 {
		return nil, jsonl.Problems{{Line: lineAt(int64(len(text) - len(rest))), Text: "there is more after the end of the array"}}
	}
	return items, nil
}
