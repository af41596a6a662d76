package pool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskfile"
)

// maxFileBytes is how large a file is read and written. A million small tasks
// take about half of it.
const maxFileBytes = 512 << 20

// LoadReport says what became of a file.
type LoadReport struct {
	// Tasks is how many tasks the pool has now: all of the file.
	Tasks int
	// Pruned are the dependencies that no task of the file has, and that were
	// therefore left out, as the file writes them, by the id of the task that had
	// them. Nil when there are none.
	Pruned map[string][]string
	// Cursor is the position after it.
	Cursor feed.Cursor
	// Replayed: the request was answered before, and nothing was done now.
	Replayed bool
}

// LoadFile makes the pool what a file of llm-chat-task's format says, as
// [Pool.Save] writes it; see package taskfile. Only the operator may. The path is
// one of this process's machine.
//
// The whole file is checked before anything changes: when anything of it is wrong
// nothing is taken, and every problem is told, of a great many the first.
// Otherwise all that the pool had is replaced at once, in one commit and a new
// epoch, so that every cursor and every request_id of before is forgotten.
// Keys go on counting.
//
// Of the tasks in the file, pending and ready are derived anew, whichever of the
// two it says. One in progress is held by the actor, without a lease, as if
// claimed now. One that is done is done, also where something it depends on is
// not. The progress log keeps its times; an entry without one has that of the
// loading. Dependencies that the file has no task for are left out and reported.
//
// A request's digest is made of the file: the same request_id with another file is
// refused.
//
// Errors: *DeniedError; *InvalidError with a path into the file for every problem,
// as in tasks[3].title; *RuleError with the ids of a cycle, where that is all that
// is wrong; *QuotaError for a file that is too large; *ReusedError; the system's,
// wrapped, for a file that can't be read; those of every mutation.
func (p *Pool) LoadFile(ctx context.Context, r Request, path string) (LoadReport, error) {
	if r.Actor != task.Operator {
		return LoadReport{}, notOperator("load a file")
	}
	return p.loadFile(ctx, r, path)
}

// loadFile is LoadFile for whoever may.
func (p *Pool) loadFile(ctx context.Context, r Request, path string) (LoadReport, error) {
	data, err := readFile(path)
	if err != nil {
		return LoadReport{}, err
	}
	file, err := readTasks(data, p.limits)
	if err != nil {
		return LoadReport{}, err
	}
	digest := sha256.Sum256(data)
	r.Digest = hex.EncodeToString(digest[:])
	result, err := p.replace(ctx, "LoadFile", r, nil, func(now time.Time) (*replacement, error) {
		return contentOf(file, r.Actor, now), nil
	})
	if err != nil {
		return LoadReport{}, err
	}
	return LoadReport{Tasks: len(file.Records), Pruned: file.Pruned, Cursor: result.Cursor, Replayed: result.Replayed}, nil
}

// readFile reads a file whole, unless it is larger than any that can be taken.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("load a file: %w", err)
	}
	if !info.Mode().IsRegular() { // opening a pipe could wait for ever
		return nil, invalid("path", "%q is no regular file: name one", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load a file: %w", err)
	}
	defer func() { _ = f.Close() }()
	var data []byte
	if info.Size() <= maxFileBytes {
		if data, err = io.ReadAll(io.LimitReader(f, maxFileBytes+1)); err != nil { // it may grow
			return nil, fmt.Errorf("load a file: %w", err)
		}
	}
	if max(info.Size(), int64(len(data))) > maxFileBytes {
		return nil, &QuotaError{Reason: ReasonRevisionTooLarge, Message: fmt.Sprintf(
			"path: this file is larger than the %d MiB that are read; bring its tasks in by parts, with CreateTasks", maxFileBytes>>20)}
	}
	return data, nil
}

// readTasks checks a file and gives its tasks, or all that is wrong with it.
func readTasks(data []byte, limits task.Limits) (taskfile.File, error) {
	file, wrong, cycle := taskfile.Read(data, limits)
	switch {
	case len(wrong) == 0:
		return file, nil
	case len(wrong) == 1 && cycle != nil:
		return taskfile.File{}, &RuleError{Reason: ReasonCycle, Path: cycle, Message: wrong[0].String()}
	default:
		return taskfile.File{}, &InvalidError{Reason: ReasonInvalidField, Violations: wrong}
	}
}

// contentOf is a pool of a file's tasks, loaded by the actor.
func contentOf(file taskfile.File, actor string, now time.Time) *replacement {
	c := &replacement{tasks: make([]*task.Task, len(file.Records)), threads: make(map[string][]*task.Event, len(file.Records))}
	for i, record := range file.Records {
		t := record.Task.Clone()
		t.CreatedBy, t.CreatedAt = actor, now
		tell := func(kind task.EventKind, at time.Time, body string, detail any) {
			c.threads[t.ID] = append(c.threads[t.ID], &task.Event{TaskID: t.ID, At: at, Actor: actor, Kind: kind, Body: body, Detail: detail})
		}
		tell(task.EventCreated, now, "", task.CreatedDetail{Title: t.Title})
		for _, entry := range record.History {
			at := entry.At
			if at.IsZero() {
				at = now
			}
			tell(task.EventProgress, at, entry.Text, nil)
		}
		switch t.Status {
		case task.InProgress:
			t.Holder, t.HeldAt, t.Assignee, t.AssignedByClaim = actor, now, actor, true
			tell(task.EventClaimed, now, "", task.ClaimedDetail{Holder: actor})
		case task.Done:
			t.ClosedAt = now
		}
		c.tasks[i] = t
	}
	return c
}
