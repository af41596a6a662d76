package pool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Every refusal says what is wrong, who or what is behind it, and what to do. A
// conflict never invites a repeat.
func TestErrors_sayWhatToDo(t *testing.T) {
	f := openAs(t, task.LimitOptions{"tasks_per_batch": 3, "history_length": 40, "events_per_task": 2, "children": 1}, task.EditByFiler)
	first := f.titled("first")
	it := f.titled("it", first.ID)
	taken := f.create(task.Draft{Title: "taken", Assignee: worker})
	f.as(worker).claim(taken.ID)
	f.under(first.ID, "child")
	over := f.titled("over")
	f.set(over.ID, task.Cancelled)
	update := func(f *fixture, id string, p task.Patch) func() error {
		return func() error { _, err := f.update(id, p); return err }
	}
	for name, c := range map[string]struct {
		do   func() error
		want string
	}{
		"held":         {update(f.as(stranger), taken.ID, task.Patch{Status: new(task.Done)}), "T-3 is held by agent:worker since 20"},
		"held, to do":  {update(f.as(stranger), taken.ID, task.Patch{Status: new(task.Done)}), "take another task, or ask agent:worker to release it"},
		"hold lost":    {func() error { _, err := f.withToken(taken.ID, "x", task.Patch{}); return err }, "this hold of T-3 is over; agent:worker holds it since 20"},
		"hold over":    {func() error { _, err := f.withToken(it.ID, "x", task.Patch{}); return err }, "this hold of T-2 is over and nobody holds it now; stop the work it was for, or claim the task anew"},
		"waits":        {update(f, it.ID, task.Patch{Status: new(task.InProgress)}), "T-2 waits for T-1; finish them first, or remove the dependency"},
		"no such move": {update(f, over.ID, task.Patch{Status: new(task.Done)}), "T-5 is cancelled and can't be set to done; now it can be set to ready or in_progress"},
		"no move left": {update(f.as(stranger), over.ID, task.Patch{Status: new(task.Done)}), "you can't set its status now"},
		"denied":       {update(f.as(stranger), it.ID, task.Patch{Title: new("x")}), "you may not change title of T-2; the filer (agent:filer) or the operator (human) may"},
		"assigned":     {update(f.as(stranger), f.create(task.Draft{Title: "his", Assignee: worker}).ID, task.Patch{Status: new(task.InProgress)}), "you may not start T-6, which is assigned to agent:worker; the assignee (agent:worker) may"},
		"children":     {update(f, first.ID, task.Patch{Status: new(task.Done)}), "T-1 has open children: T-4; close or cancel them first, or move them elsewhere"},
		"one more":     {func() error { return f.wontCreate("CHILDREN_EXCEEDED", task.Draft{Title: "x", Parent: "T-1"}).err }, "tasks[0].parent_id: T-1 already has 1 children, the most this pool allows"},
		"parent":       {update(f, it.ID, task.Patch{Parent: new(over.ID)}), "parent_id: T-5 is cancelled; reopen it first, or choose another parent"},
		"cycle":        {update(f, it.ID, add("T-2")), "add_dependency_ids[0]: this would close a cycle: T-2 → T-2; take one of these edges out"},
		"history":      {update(f, it.ID, entry("far too long for it")), "shorten it, or record the rest in a new task"},
		"thread":       {update(f, taken.ID, entry("x")), "the thread of T-3 has 2 events, the most this pool keeps"},
		"not found":    {update(f, "T-77", task.Patch{}), `id: there is no task "T-77"; use an id, a key such as T-12, or at least 8 leading characters of an id`},
		"no member":    {update(f, it.ID, task.Patch{Assignee: new("a b")}), `assignee: there is no member "a b"; use agent:NAME, ext:NAME, human or me`},
		"ambiguous":    {update(f, it.ID, task.Patch{Assignee: new("bob")}), `assignee: "bob" fits several: agent:bob or ext:bob; name one of them in full`},
		"version": {func() error {
			_, err := f.Update(t.Context(), f.request(), pool.Update{ID: it.ID, ExpectedVersion: 7})
			return err
		}, "T-2 has version 1, not 7: someone changed it; read it again and decide anew"},
		"batch":   {func() error { _, err := f.CreateAll(t.Context(), f.request(), make([]task.Draft, 4)); return err }, "tasks: 4 in one batch; at most 3 go in at once"},
		"later":   {update(f.as(worker), taken.ID, task.Patch{Status: new(task.Review)}), "status: not available in this version: review"},
		"invalid": {update(f, it.ID, task.Patch{Title: new("")}), "title is empty: say in a few words what is to be done"},
		"delete":  {func() error { _, err := f.Delete(t.Context(), f.request(), it.ID, 0); return err }, "you may not delete tasks; the operator (human) may"},
	} {
		err := f.refused(reasonOf(c.do()), c.do)
		said := err.String()
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: %q does not say %q", name, said, c.want)
		}
		for _, no := range []string{"retry", "try again", "%!", "nil", "00000000"} {
			if strings.Contains(said, no) {
				t.Errorf("%s: %q says %q", name, said, no)
			}
		}
	}
}

func TestResolveMember(t *testing.T) {
	if id, err := pool.ResolveMember("me", worker); id != worker || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	_, err := pool.ResolveMember("bob", worker)
	if e := as[*pool.AmbiguousError](t, err); e.Field != "name" {
		t.Errorf("%+v", e)
	}
}

func TestCheck_cursorsOfThisHistory(t *testing.T) {
	f := open(t)
	old := f.Cursor()
	f.titled("it")
	head := f.Cursor()
	for name, c := range map[string]struct {
		cursor feed.Cursor
		ok     bool
	}{
		"head":         {head, true},
		"old":          {old, true},
		"the future":   {feed.Cursor{Epoch: head.Epoch, Revision: head.Revision + 1, Nonce: head.Nonce}, false},
		"another head": {feed.Cursor{Epoch: head.Epoch, Revision: head.Revision, Nonce: head.Nonce + 1}, false},
		"another pool": {feed.Cursor{Epoch: "other", Revision: 1}, false},
	} {
		err := f.Check(f.t.Context(), c.cursor)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if e := (*pool.CursorError)(nil); err != nil && (!errors.As(err, &e) || e.Head != head.String() || e.Oldest == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A caller that has gone before its turn changes nothing.
func TestMutation_ofACallerThatHasGone(t *testing.T) {
	f := open(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	before := f.dump()
	for range 20 {
		if _, err := f.Create(ctx, f.request(), task.Draft{Title: "it"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v", err)
		}
	}
	f.titled("next")
	if got := titles(f.all()); got != "next" || f.get("T-1").Title != "next" {
		t.Errorf("%s; before: %s", got, before)
	}
}
