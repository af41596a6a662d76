package pool

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Delete takes a task and its thread out for good. Only the operator may, and
// not while a task depends on it or it has children. Its key is never reused.
func (p *Pool) Delete(ctx context.Context, r Request, id string, expectedVersion int64) (Result, error) {
	if r.Actor != task.Operator {
		return Result{}, notOperator("delete tasks")
	}
	return p.mutate(ctx, "DeleteTask", r, func(tx *tx) ([]string, string, error) {
		n, err := tx.find("id", id)
		if err != nil {
			return nil, "", err
		}
		t := n.task
		if expectedVersion != 0 && expectedVersion != t.Version {
			return nil, "", &VersionError{Key: t.Key(), Expected: expectedVersion, Current: t.Version}
		}
		if len(n.dependents) > 0 {
			return nil, "", &RuleError{Reason: ReasonHasDependents, Related: n.dependents, Message: fmt.Sprintf(
				"%s can't be deleted: %s depend on it; remove those dependencies first, or cancel the task instead", t.Key(), naming(tx, n.dependents))}
		}
		if len(n.children) > 0 {
			return nil, "", &RuleError{Reason: ReasonHasChildren, Related: n.children, Message: fmt.Sprintf(
				"%s can't be deleted: it has children: %s; delete or move them first", t.Key(), naming(tx, n.children))}
		}
		if t.ParentID != "" {
			tx.count(t.ParentID, t.ID, t.Status, task.StatusUnspecified)
			tx.emit(t.ParentID, tx.actor, task.EventSubtask, "", task.SubtaskDetail{ChildID: t.ID, Change: task.SubtaskRemoved})
		}
		tx.remove(t.ID)
		return nil, "", nil
	})
}

// Clear takes every task of the pool out and begins a new epoch, so that every
// cursor of before is expired, and every request_id of before is forgotten with
// what it made. Only the operator may, and has to repeat the pool's name. Keys
// go on counting.
func (p *Pool) Clear(ctx context.Context, r Request, confirm string) (Result, error) {
	if r.Actor != task.Operator {
		return Result{}, notOperator("clear a pool")
	}
	if confirm != p.name {
		return Result{}, &RuleError{Reason: ReasonConfirmation, Message: fmt.Sprintf(
			"confirm_name: is %q; repeat the pool's name, %q, to clear it of all its tasks", confirm, p.name)}
	}
	return p.replace(ctx, "ClearPool", r, nil, func(time.Time) (*replacement, error) { return &replacement{}, nil })
}

// newEpoch is a name that no other history has.
func newEpoch() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
