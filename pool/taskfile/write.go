package taskfile

import (
	"bytes"
	"encoding/json"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Writer writes a file record by record, so that no file need be held whole. The
// zero value begins one. Not for concurrent use.
type Writer struct {
	buffer  bytes.Buffer
	written int
}

// record has the fields in the order in which they are written.
type record struct {
	ID                 string   `json:"id"`
	Title              string   `json:"title"`
	Description        string   `json:"description,omitempty"`
	AcceptanceCriteria []string `json:"acceptanceCriteria,omitempty"`
	Priority           string   `json:"priority,omitempty"`
	Type               string   `json:"type,omitempty"`
	Links              []string `json:"links,omitempty"`
	Steps              []string `json:"steps,omitempty"`
	Constraints        []string `json:"constraints,omitempty"`
	OutOfScope         []string `json:"outOfScope,omitempty"`
	Verification       []string `json:"verification,omitempty"`
	Context            []string `json:"context,omitempty"`
	EdgeCases          []string `json:"edgeCases,omitempty"`
	History            string   `json:"history"`
	Status             string   `json:"status"`
	DependencyIDs      []string `json:"dependencyIds"`
}

// Record gives the bytes of one more task, with all that must stand before it.
// The slice is good until the next call.
func (w *Writer) Record(r Record) ([]byte, error) {
	w.buffer.Reset()
	if w.written == 0 {
		w.buffer.WriteString("{\n  \"tasks\": [")
	} else {
		w.buffer.WriteByte(',')
	}
	w.buffer.WriteString("\n    ")
	encoder := json.NewEncoder(&w.buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("    ", "  ")
	if err := encoder.Encode(recordOf(r)); err != nil {
		return nil, err
	}
	w.written++
	return bytes.TrimSuffix(w.buffer.Bytes(), []byte("\n")), nil
}

// End gives the bytes that end the file.
func (w *Writer) End() []byte {
	if w.written == 0 {
		return []byte("{\n  \"tasks\": []\n}\n")
	}
	return []byte("\n  ]\n}\n")
}

func recordOf(r Record) record {
	t, brief := r.Task, r.Task.Brief.Unpack()
	out := record{
		ID: t.ID, Title: t.Title, Description: brief.Description,
		AcceptanceCriteria: brief.AcceptanceCriteria, Links: brief.Links,
		Steps: brief.Steps, Constraints: brief.Constraints, OutOfScope: brief.OutOfScope,
		Verification: brief.Verification, Context: brief.Context, EdgeCases: brief.EdgeCases,
		History: renderHistory(r.History), Status: t.Status.String(), DependencyIDs: t.Dependencies,
	}
	if t.Priority != task.PriorityUnspecified {
		out.Priority = t.Priority.String()
	}
	if t.Type != task.TypeUnspecified {
		out.Type = t.Type.String()
	}
	if out.DependencyIDs == nil {
		out.DependencyIDs = []string{}
	}
	return out
}
