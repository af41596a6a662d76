package pool_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/prototext"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// The kinds of record that tell of tasks, as they are stored.
const (
	storedTask  = 2
	storedEvent = 3
)

// truth is what happened to a pool, read from its commits alone: of what they
// tell history beside the records nothing is looked at.
type truth struct {
	store store.Store
	log   string
	ref   pooltest.Reference
	tasks map[int64]pooltest.State // by number
	// reset is the revision of the last commit that began the log anew.
	reset int64
}

func newTruth(s store.Store, log string) *truth {
	return &truth{store: s, log: log, tasks: map[int64]pooltest.State{}}
}

// catchUp reads what was committed since.
func (h *truth) catchUp(ctx context.Context) error {
	for c, err := range h.store.Commits(ctx, h.log, h.ref.Last+1) {
		if err != nil {
			return err
		}
		if err := h.take(c); err != nil {
			return fmt.Errorf("revision %d: %w", c.Revision, err)
		}
	}
	return nil
}

func (h *truth) take(c store.Commit) error {
	rev := pooltest.Revision{Number: c.Revision, Reset: c.Reset}
	h.ref.Last = c.Revision
	if c.Reset {
		h.reset = c.Revision
		clear(h.tasks)
	}
	for _, f := range c.Facts {
		var err error
		switch {
		case f.Past:
		case f.Key.Kind == storedTask:
			err = h.task(&rev, f)
		case f.Key.Kind == storedEvent && !f.Gone:
			err = h.event(&rev, f)
		}
		if err != nil {
			return err
		}
	}
	if rev.Reset || len(rev.Happened) > 0 {
		h.ref.Revisions = append(h.ref.Revisions, rev)
	}
	return nil
}

func (h *truth) task(rev *pooltest.Revision, f store.Fact) error {
	happened := pooltest.Happened{}
	was, known := h.tasks[f.Key.ID]
	if known {
		happened.Task, happened.Before = was.ID, &was
	}
	delete(h.tasks, f.Key.ID)
	if !f.Gone {
		t, err := taskpb.Codec{}.DecodeTask(f.Value)
		if err != nil {
			return err
		}
		s, err := stateOf(t)
		if err != nil {
			return err
		}
		h.tasks[f.Key.ID] = s
		happened.Task, happened.After = t.ID, &s
	}
	if happened.Before != nil || happened.After != nil {
		rev.Happened = append(rev.Happened, happened)
	}
	return nil
}

// event belongs to the task before it. Who changed a task directly raised its
// version, and an event says who that was.
func (h *truth) event(rev *pooltest.Revision, f store.Fact) error {
	m, err := onWire[taskpoolv1.TaskEvent](f.Value, nil)
	if err != nil {
		return err
	}
	if len(rev.Happened) == 0 || rev.Happened[len(rev.Happened)-1].After == nil || h.tasks[f.Key.ID].ID != m.TaskId {
		return fmt.Errorf("event %d comes without its task", m.Id)
	}
	of := &rev.Happened[len(rev.Happened)-1]
	of.Events = append(of.Events, pooltest.Event{ID: m.Id, Actor: m.Actor, Content: prototext.Format(m)})
	raised := of.Before == nil || of.Before.Fields.(*task.Task).Version < of.After.Fields.(*task.Task).Version
	if raised && m.Actor != task.SystemPool {
		of.By = m.Actor
	}
	return nil
}
