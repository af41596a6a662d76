package pool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// under makes a task under a parent.
func (f *fixture) under(parent, title string) *pool.Detail {
	f.t.Helper()
	return f.create(task.Draft{Title: title, Parent: parent})
}

func (f *fixture) wantCounts(id string, total, done int) {
	f.t.Helper()
	d := f.get(id)
	if d.ChildrenTotal != total || d.ChildrenDone != done || d.ChildrenOpen != total-done {
		f.t.Errorf("%s has %d children, %d done, %d open; want %d, %d, %d",
			d.Title, d.ChildrenTotal, d.ChildrenDone, d.ChildrenOpen, total, done, total-done)
	}
	_, r, err := f.Relatives(id)
	if err != nil || len(r.Children) != total {
		f.t.Errorf("%s has the children %v, %v", d.Title, titles(r.Children), err)
	}
}

// allClosed counts how often a parent was told that its last open child closed.
func (f *fixture) allClosed(id string) (n int) {
	for _, e := range f.get(id).Thread {
		if d, ok := e.Detail.(task.SubtaskDetail); ok && d.Change == task.SubtasksAllClosed && e.Actor == task.SystemPool {
			n++
		}
	}
	return n
}

// beads#2476: moving a child leaves the old parent's progress wrong.
func TestChildren_countsFollowEveryChange(t *testing.T) {
	f := open(t)
	old, next := f.titled("old"), f.titled("next")
	a, b := f.under(old.ID, "a"), f.under(old.Key(), "b")
	f.wantCounts(old.ID, 2, 0)

	closed := f.set(a.ID, task.Done)
	f.wantCounts(old.ID, 2, 1)
	if got := f.get(old.ID); got.Revision != closed.Revision || got.Version != 1 {
		t.Errorf("counted in revision %d, closed in %d; version %d", got.Revision, closed.Revision, got.Version)
	}
	f.set(a.ID, task.Ready)
	f.wantCounts(old.ID, 2, 0)
	f.claim(a.ID)
	f.set(a.ID, task.Blocked)
	f.wantCounts(old.ID, 2, 0)
	f.set(a.ID, task.Cancelled)
	f.wantCounts(old.ID, 2, 1)

	f.mustUpdate(a.ID, task.Patch{Parent: new(next.ID)})
	f.wantCounts(old.ID, 1, 0)
	f.wantCounts(next.ID, 1, 1)
	f.mustUpdate(b.ID, task.Patch{Parent: new(next.Key())})
	f.wantCounts(old.ID, 0, 0)
	f.wantCounts(next.ID, 2, 1)
	f.set(b.ID, task.Done)
	f.wantCounts(next.ID, 2, 2)
	if n, m := f.allClosed(old.ID), f.allClosed(next.ID); n != 0 || m != 1 {
		t.Errorf("told of the last child %d and %d times", n, m)
	}

	f.mustUpdate(b.ID, task.Patch{Parent: new("")})
	f.wantCounts(next.ID, 1, 1)
	f.delete(a.ID)
	f.wantCounts(next.ID, 0, 0)
	if d := f.get(b.ID); d.ParentID != "" || d.Depth != 0 {
		t.Errorf("parent %q, depth %d", d.ParentID, d.Depth)
	}
}

func TestChildren_theLastOneClosedIsToldOnce(t *testing.T) {
	f := open(t)
	parent := f.titled("parent")
	a, b := f.under(parent.ID, "a"), f.under(parent.ID, "b")
	f.set(a.ID, task.Done)
	if n := f.allClosed(parent.ID); n != 0 {
		t.Errorf("told %d times while one is open", n)
	}
	f.set(b.ID, task.Cancelled)
	f.mustUpdate(b.ID, task.Patch{HistoryEntry: new("why")})
	if n := f.allClosed(parent.ID); n != 1 {
		t.Errorf("told %d times", n)
	}
	if f.get(parent.ID).Status != task.Ready {
		t.Error("the parent was closed by itself")
	}
	f.set(b.ID, task.Ready)
	f.set(b.ID, task.Done)
	if n := f.allClosed(parent.ID); n != 2 {
		t.Errorf("told %d times after a second end", n)
	}
	c := f.under(parent.ID, "c")
	f.mustUpdate(c.ID, task.Patch{Parent: new("")})
	f.delete(f.under(parent.ID, "d").ID)
	if n := f.allClosed(parent.ID); n != 2 {
		t.Error("told of children that went without being closed")
	}
}

// beads#3681: closing a parent by force silently orphans its open children.
func TestParent_isNotClosedOverOpenChildren(t *testing.T) {
	f := open(t)
	parent := f.titled("parent")
	a, b, c := f.under(parent.ID, "a"), f.under(parent.ID, "b"), f.under(parent.ID, "c")
	f.set(b.ID, task.Done)
	for _, end := range []task.Status{task.Done, task.Cancelled} {
		err := f.wontUpdate(parent.ID, task.Patch{Status: &end}, "CHILDREN_OPEN")
		e := as[*pool.RuleError](t, err)
		if !slices.Equal(e.Related, []string{a.ID, c.ID}) || !strings.Contains(e.Message, a.Key()+", "+c.Key()) {
			t.Errorf("it does not list the open children: %+v", e)
		}
		err = f.wontUpdate(parent.ID, task.Patch{Status: &end, Force: true}, denied)
		if e := as[*pool.DeniedError](t, err); !slices.Equal(e.May, []string{"operator"}) {
			t.Errorf("may: %v", e.May)
		}
	}
	f.as(operator).wontUpdate(parent.ID, task.Patch{Status: new(task.Done)}, "CHILDREN_OPEN")

	got := f.as(operator).mustUpdate(parent.ID, task.Patch{Status: new(task.Done), Force: true, Reason: "enough"})
	if got.Status != task.Done {
		t.Errorf("it is %s", got.Status)
	}
	f.wantTold(parent.ID, len(got.Thread)-1, map[string]string{"A": a.ID, "C": c.ID},
		"human status {From:ready To:done Reason:enough Forced:true OpenChildren:[A C] Unfinished:[]}")
	f.wantCounts(parent.ID, 3, 1)
	f.set(a.ID, task.Done)
	f.set(c.ID, task.Done)
	f.wantCounts(parent.ID, 3, 3)

	t.Run("force where nothing has to be forced is the operator's too, and not recorded", func(t *testing.T) {
		it := f.titled("it")
		f.wontUpdate(it.ID, task.Patch{Status: new(task.Done), Force: true}, denied)
		got := f.as(operator).mustUpdate(it.ID, task.Patch{Status: new(task.Done), Force: true})
		if d := got.Thread[len(got.Thread)-1].Detail.(task.StatusDetail); d.Forced || d.OpenChildren != nil {
			t.Errorf("%+v", d)
		}
	})
	t.Run("force goes past nothing else", func(t *testing.T) {
		first := f.titled("first")
		it := f.titled("it", first.ID)
		f.as(operator).wontUpdate(it.ID, task.Patch{Status: new(task.Done), Force: true}, waits)
		f.as(operator).wontUpdate(it.ID, task.Patch{Status: new(task.Blocked), Force: true}, "REASON_REQUIRED")
	})
}

func TestParent_closedGetsNoOpenChildren(t *testing.T) {
	f := open(t)
	parent := f.titled("parent")
	child := f.under(parent.ID, "child")
	f.set(child.ID, task.Done)
	f.set(parent.ID, task.Done)

	wantParent := func(t *testing.T, err refusal) {
		t.Helper()
		if e := as[*pool.RuleError](t, err); !slices.Equal(e.Related, []string{parent.ID}) || !strings.Contains(e.Message, parent.Key()) {
			t.Errorf("it does not name the parent: %+v", e)
		}
	}
	wantParent(t, f.wontCreate("PARENT_CLOSED", task.Draft{Title: "late", Parent: parent.ID}))
	free := f.titled("free")
	wantParent(t, f.wontUpdate(free.ID, task.Patch{Parent: new(parent.ID)}, "PARENT_CLOSED"))
	for _, to := range []task.Status{task.Ready, task.InProgress} {
		wantParent(t, f.wontUpdate(child.ID, task.Patch{Status: &to}, "PARENT_CLOSED"))
		f.wontUpdate(child.ID, task.Patch{Status: &to, Force: true}, denied)
		wantParent(t, f.as(operator).wontUpdate(child.ID, task.Patch{Status: &to}, "PARENT_CLOSED"))
	}

	t.Run("a closed one it may get", func(t *testing.T) {
		f.set(free.ID, task.Cancelled)
		f.mustUpdate(free.ID, task.Patch{Parent: new(parent.ID)})
		f.wantCounts(parent.ID, 2, 2)
	})
	t.Run("an operator may force it, which is recorded", func(t *testing.T) {
		f.as(operator).mustUpdate(child.ID, task.Patch{Status: new(task.InProgress), Force: true})
		f.wantTold(child.ID, 2, nil,
			"human status {From:done To:ready Reason: Forced:true OpenChildren:[] Unfinished:[]}",
			"human claimed {Holder:human Lease:0s RunID:}")
		f.wantCounts(parent.ID, 2, 1)
	})
	t.Run("once it is reopened all is well", func(t *testing.T) {
		f.set(parent.ID, task.Ready)
		f.set(free.ID, task.Ready)
		f.under(parent.ID, "late")
	})
}

func TestParent_depthAndNumberOfChildrenAreLimited(t *testing.T) {
	f := openAs(t, task.LimitOptions{"depth": 2, "children": 3}, task.EditByAnyone)
	top := f.titled("top")
	one := f.under(top.ID, "one")
	two := f.under(one.ID, "two")
	if two.Depth != 2 {
		t.Fatalf("depth %d", two.Depth)
	}
	f.wontCreate("DEPTH_EXCEEDED", task.Draft{Title: "three", Parent: two.ID})
	f.wontCreate("DEPTH_EXCEEDED", task.Draft{Title: "three", Parent: "ref:two"}, task.Draft{Title: "two", Ref: "two", Parent: "ref:one"},
		task.Draft{Title: "one", Ref: "one", Parent: one.ID})
	loose := f.titled("loose")
	f.wontUpdate(loose.ID, task.Patch{Parent: new(two.ID)}, "DEPTH_EXCEEDED")

	t.Run("also for what lies below a task that is moved", func(t *testing.T) {
		leaf := f.under(loose.ID, "leaf")
		f.wontUpdate(loose.ID, task.Patch{Parent: new(one.ID)}, "DEPTH_EXCEEDED")
		f.mustUpdate(loose.ID, task.Patch{Parent: new(top.ID)})
		moved := f.get(leaf.ID)
		if moved.Depth != 2 || moved.Version != 1 || moved.Revision != f.get(loose.ID).Revision {
			t.Errorf("the leaf: depth %d, version %d, revision %d", moved.Depth, moved.Version, moved.Revision)
		}
		f.mustUpdate(loose.ID, task.Patch{Parent: new("")})
		if got := f.get(leaf.ID).Depth; got != 1 {
			t.Errorf("the leaf: depth %d", got)
		}
	})
	t.Run("children", func(t *testing.T) {
		f.under(top.ID, "second")
		f.wontCreate("CHILDREN_EXCEEDED", task.Draft{Title: "third", Parent: top.ID}, task.Draft{Title: "fourth", Parent: top.ID})
		third := f.under(top.ID, "third")
		f.set(third.ID, task.Done)
		err := f.wontCreate("CHILDREN_EXCEEDED", task.Draft{Title: "fourth", Parent: top.ID})
		if e := as[*pool.RuleError](t, err); !slices.Equal(e.Related, []string{top.ID}) {
			t.Errorf("%+v", e)
		}
		f.wontUpdate(loose.ID, task.Patch{Parent: new(top.ID)}, "CHILDREN_EXCEEDED")
		f.mustUpdate(third.ID, task.Patch{Parent: new("")})
		f.mustUpdate(loose.ID, task.Patch{Parent: new(top.ID)})
	})
}

func TestParent_moves(t *testing.T) {
	f := open(t)
	top := f.titled("top")
	mid := f.under(top.ID, "mid")
	low := f.under(mid.ID, "low")
	before := f.dump()
	f.mustUpdate(mid.ID, task.Patch{Parent: new(top.Key())})
	f.mustUpdate(top.ID, task.Patch{Parent: new("")})
	if f.dump() != before {
		t.Error("moving a task where it is changed something")
	}
	for _, c := range []struct {
		id, parent, reason string
		path               []string
	}{
		{top.ID, top.ID, "CYCLE", []string{"T-1", "T-1"}},
		{top.ID, low.ID, "CYCLE", []string{"T-3", "T-1", "T-2", "T-3"}},
		{mid.ID, low.Key(), "CYCLE", []string{"T-3", "T-2", "T-3"}},
		{mid.ID, "T-99", "TASK_NOT_FOUND", nil},
		{mid.ID, "nowhere", "TASK_NOT_FOUND", nil},
		{mid.ID, "ref:top", "TASK_NOT_FOUND", nil},
	} {
		err := f.wontUpdate(c.id, task.Patch{Parent: &c.parent}, c.reason)
		if c.path == nil {
			if e := as[*pool.NotFoundError](t, err); e.Field != "parent_id" || e.Name != c.parent {
				t.Errorf("%+v", e)
			}
		} else if e := as[*pool.RuleError](t, err); !slices.Equal(e.Path, c.path) {
			t.Errorf("%s under %s: path %v, want %v", c.id, c.parent, e.Path, c.path)
		}
	}
	// Threads tell of a move at all three.
	next := f.titled("next")
	f.mustUpdate(low.ID, task.Patch{Parent: new(next.ID)})
	ids := map[string]string{"LOW": low.ID}
	f.wantTold(mid.ID, 2, ids, fmt.Sprintf("%s subtask {ChildID:LOW Change:%d}", f.actor, task.SubtaskRemoved))
	f.wantTold(next.ID, 1, ids, fmt.Sprintf("%s subtask {ChildID:LOW Change:%d}", f.actor, task.SubtaskAdded))
	f.wantTold(low.ID, 1, ids, f.actor+" edited {Fields:[parent_id] SetLabels:[] RemovedLabels:[]}")
	if got := f.get(low.ID); got.Depth != 1 || got.Version != 2 || f.get(mid.ID).Version != 1 {
		t.Errorf("depth %d, version %d", got.Depth, got.Version)
	}
}
