package pool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// commented is what is kept of an answered comment, for its repeat.
type commented struct {
	Event int64 `json:"event"`
}

// Comment adds to a task's thread what a member has to say; anyone may, of any task.
// A comment leaves the task's version as it is. One by the holder renews the lease,
// and has to carry the token, where the hold has a lease.
//
// Errors: *InvalidError, *NotFoundError, *AmbiguousError, *HoldLostError, *HeldError
// for a holder without the token, *RuleError where the thread is full.
func (p *Pool) Comment(ctx context.Context, r Request, id, token, body string) (*task.Event, Result, error) {
	if v := task.CheckComment(body, p.limits); len(v) > 0 {
		return nil, Result{}, &InvalidError{Reason: ReasonInvalidField, Violations: v}
	}
	var event *task.Event
	result, err := p.mutate(ctx, "CommentTask", r, func(tx *tx) ([]string, string, error) {
		n, err := tx.find("id", id)
		if err != nil {
			return nil, "", err
		}
		holds, err := tx.holds(n, token)
		if err != nil {
			return nil, "", err
		}
		if err := tx.threadOpen(n.task); err != nil {
			return nil, "", err
		}
		if holds {
			tx.sign(n.task)
		}
		event = &task.Event{TaskID: n.task.ID, At: tx.now, Actor: tx.actor, Kind: task.EventComment, Body: body}
		tx.tell(event)
		tx.note, err = json.Marshal(commented{event.ID})
		return []string{n.task.ID}, "", err
	})
	if err != nil {
		return nil, Result{}, err
	}
	if result.Replayed {
		event, err = result.comment()
	}
	return event, result, err
}

// comment finds what a repeated request had added.
func (r Result) comment() (*task.Event, error) {
	var was commented
	if err := json.Unmarshal(r.note, &was); err != nil {
		return nil, fmt.Errorf("read what a comment was answered with: %w", err)
	}
	for _, e := range r.Tasks[0].Thread {
		if e.ID == was.Event {
			return e, nil
		}
	}
	return nil, &NotFoundError{Reason: ReasonTaskNotFound, What: "comment", Name: fmt.Sprint(was.Event)}
}
