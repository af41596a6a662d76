package pool

import (
	"encoding/json"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// ImportResult is what became of an import.
type ImportResult struct {
	// Created and Unchanged count tasks. RefusedCount counts those in Refused,
	// which lists the first of them, in the records' order.
	Created, Unchanged, RefusedCount int
	Refused                          []Refusal
	// Cursor is the position after it.
	Cursor feed.Cursor
	// Replayed: the request was answered before, and this is the first answer.
	Replayed bool
}

// Refusal is a task that was not taken in.
type Refusal struct {
	// Index is the place of the task's record among all.
	Index int64 `json:"index"`
	// ID is the task's, as the record has it.
	ID      string `json:"id"`
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

// maxRefusals are listed in an answer, each saying at most maxRefusalText
// characters: a request that is repeated gets them again, so they are kept.
const (
	maxRefusals    = 100
	maxRefusalText = 400
)

func (r *ImportResult) refuse(index int64, id string, reason Reason, message string) {
	r.RefusedCount++
	if len(r.Refused) < maxRefusals {
		r.Refused = append(r.Refused, Refusal{index, task.Preview(id, 64), reason, task.Preview(message, maxRefusalText)})
	}
}

// importNote is what the record of an answered import keeps for its repeat.
type importNote struct {
	Created      int       `json:"created,omitempty"`
	Unchanged    int       `json:"unchanged,omitempty"`
	RefusedCount int       `json:"refused_count,omitempty"`
	Refused      []Refusal `json:"refused,omitempty"`
}

func (r *ImportResult) note() ([]byte, error) {
	return json.Marshal(importNote{r.Created, r.Unchanged, r.RefusedCount, r.Refused})
}

// answered completes the result with what the mutation tells, or, of a repeat,
// gives the first.
func (r ImportResult) answered(of Result) (ImportResult, error) {
	if of.Replayed {
		note, err := decodeRecord[importNote](of.note)
		if err != nil {
			return r, err
		}
		r = ImportResult{Created: note.Created, Unchanged: note.Unchanged, RefusedCount: note.RefusedCount, Refused: note.Refused}
	}
	r.Cursor, r.Replayed = of.Cursor, of.Replayed
	return r, nil
}
