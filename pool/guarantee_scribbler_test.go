package pool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// scribbler is a member that does this and that to a pool, whatever comes of it.
type scribbler struct {
	p     *pool.Pool
	actor string
	rnd   *rand.Rand
	// last is the number of the newest task, as far as the members know.
	last *atomic.Int64
}

func (w *scribbler) scribble(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	r := pool.Request{Actor: w.actor}
	var made pool.Result
	var err error
	switch n := w.rnd.IntN(500); {
	case n == 0:
		drafts := make([]task.Draft, 300+w.rnd.IntN(300))
		for i := range drafts {
			drafts[i].Title = fmt.Sprint("one of ", len(drafts))
		}
		made, err = w.p.CreateAll(ctx, r, drafts)
	case n == 1:
		_, err = w.p.Clear(ctx, pool.Request{Actor: operator}, "default")
	case n < 120:
		d := task.Draft{Title: w.actor, Priority: task.Priority(w.rnd.IntN(4))}
		for range w.rnd.IntN(3) {
			d.Dependencies = append(d.Dependencies, w.any())
		}
		if w.rnd.IntN(4) == 0 {
			d.Parent = w.any()
		}
		made, err = w.p.Create(ctx, r, d)
	case n < 160:
		_, err = w.p.Delete(ctx, pool.Request{Actor: operator}, w.any(), 0)
	default:
		_, err = w.p.Update(ctx, r, pool.Update{ID: w.any(), Patch: w.patch()})
	}
	for _, d := range made.Tasks {
		if n := w.last.Load(); d.Number > n {
			w.last.CompareAndSwap(n, d.Number)
		}
	}
	var away *pool.UnavailableError
	if errors.As(err, &away) {
		t.Errorf("%s: %v", w.actor, err)
	}
}

// any names one of the newest tasks, so that the members meet.
func (w *scribbler) any() string {
	return task.Key(max(1, w.last.Load()-w.rnd.Int64N(30)))
}

func (w *scribbler) patch() task.Patch {
	var p task.Patch
	switch w.rnd.IntN(6) {
	case 0:
		p.SetLabels = map[string]string{"k": fmt.Sprint(w.rnd.IntN(2))}
	case 1:
		p.Assignee = new(modelMembers[w.rnd.IntN(len(modelMembers))])
	case 2:
		p.Priority = new(task.Priority(w.rnd.IntN(4)))
	default:
		p.Reason = "because"
		p.Status = new([]task.Status{task.InProgress, task.InProgress, task.Done, task.Ready, task.Blocked, task.Cancelled}[w.rnd.IntN(6)])
	}
	return p
}
