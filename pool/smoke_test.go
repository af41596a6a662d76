package pool_test

import (
	"testing"

	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestPool_dependentsFollow(t *testing.T) {
	f := open(t)
	a := f.titled("a")
	b := f.titled("b", a.ID)
	if b.Status != task.Pending || len(b.Unfinished) != 1 {
		t.Fatalf("b is %s waiting for %v", b.Status, b.Unfinished)
	}
	f.set(a.ID, task.InProgress)
	f.set(a.Key(), task.Done)
	if got := f.get("T-2"); got.Status != task.Ready || len(got.Unfinished) != 0 {
		t.Fatalf("b is %s after a is done", got.Status)
	}
	f.set(a.ID, task.Ready)
	got := f.get(b.ID[:8])
	if got.Status != task.Pending {
		t.Fatalf("b is %s after a was reopened", got.Status)
	}
	t.Log(thread(got), thread(f.get(a.ID)))
}
