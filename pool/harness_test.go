package pool_test

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a pool and a member who uses it.
type fixture struct {
	*pool.Pool
	t     testing.TB
	actor string
}

// openOn opens the default pool over a store, and closes it with the test.
func openOn(t testing.TB, s store.Store) *fixture {
	t.Helper()
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	t.Cleanup(func() { release(); r.Close() })
	return &fixture{Pool: p, t: t, actor: "agent:a"}
}

// open opens the default pool over a memory store of its own.
func open(t testing.TB) *fixture {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	return openOn(t, s)
}

// as is the same pool, used by another member.
func (f *fixture) as(actor string) *fixture { return &fixture{Pool: f.Pool, t: f.t, actor: actor} }

func (f *fixture) request() pool.Request { return pool.Request{Actor: f.actor} }

// create makes one task and returns it.
func (f *fixture) create(d task.Draft) *pool.Detail {
	f.t.Helper()
	r, err := f.Create(f.t.Context(), f.request(), d)
	if err != nil {
		f.t.Fatalf("create %q: %v", d.Title, err)
	}
	return r.Tasks[0]
}

// titled makes a task with a title and dependencies.
func (f *fixture) titled(title string, dependencies ...string) *pool.Detail {
	f.t.Helper()
	return f.create(task.Draft{Title: title, Dependencies: dependencies})
}

func (f *fixture) update(id string, p task.Patch) (*pool.Detail, error) {
	f.t.Helper()
	r, err := f.Update(f.t.Context(), f.request(), pool.Update{ID: id, Patch: p})
	if err != nil {
		return nil, err
	}
	return r.Tasks[0], nil
}

// set moves a task and fails the test when it is refused.
func (f *fixture) set(id string, s task.Status) *pool.Detail {
	f.t.Helper()
	d, err := f.update(id, task.Patch{Status: &s, Reason: "because"})
	if err != nil {
		f.t.Fatalf("set %s to %s: %v", id, s, err)
	}
	return d
}

func (f *fixture) get(id string) *pool.Detail {
	f.t.Helper()
	d, err := f.Get(id)
	if err != nil {
		f.t.Fatalf("get %s: %v", id, err)
	}
	return d
}

// all lists every task, closed ones too.
func (f *fixture) all() []*task.Task {
	f.t.Helper()
	page, err := f.List(context.Background(), f.actor, pool.Query{Filter: pool.Filter{IncludeClosed: true}, Size: 1 << 20})
	if err != nil {
		f.t.Fatalf("list: %v", err)
	}
	return page.Tasks
}

// thread writes a task's events as short lines.
func thread(d *pool.Detail) []string {
	var lines []string
	for _, e := range d.Thread {
		lines = append(lines, fmt.Sprintf("%s %s", e.Actor, e.Kind))
	}
	return lines
}
