package pool_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func id(n int) string { return fmt.Sprintf("5a1f0c2e-0000-4000-8000-%012d", n) }

// whole is a content with something of everything, in which nothing is derived.
func whole() pool.Content {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	brief := (&task.Brief{Description: "d"}).Pack()
	return pool.Content{
		Tasks: []*task.Task{
			{ID: id(1), Title: "parent", Brief: brief, Status: task.Ready, CreatedBy: filer, CreatedAt: at, Dependencies: []string{id(3)}},
			{ID: id(2), Title: "child", Brief: brief, Status: task.Done, ParentID: id(1), CreatedBy: filer, CreatedAt: at, ClosedAt: at},
			{ID: id(3), Title: "held", Brief: brief, Status: task.InProgress, ParentID: id(1), Holder: worker, HeldAt: at, Assignee: worker, AssignedByClaim: true, CreatedBy: filer, CreatedAt: at},
			{ID: id(4), Title: "after done", Brief: brief, Status: task.Pending, Dependencies: []string{id(2)}, CreatedBy: filer, CreatedAt: at},
		},
		Threads: map[string][]*task.Event{
			id(3): {{TaskID: id(3), At: at, Actor: worker, Kind: task.EventProgress, Body: "half done"}},
			id(2): {{TaskID: id(2), At: at, Actor: filer, Kind: task.EventComment, Body: "hello"}},
		},
	}
}

func TestReplace(t *testing.T) {
	s := memory.New()
	defer func() { _ = s.Close() }()
	f, other := openOn(t, s), openOn(t, s)
	for i := range 3 {
		f.titled(fmt.Sprint("old ", i))
	}
	before := f.Cursor()
	r, err := f.Replace(t.Context(), pool.Request{Actor: operator, ID: "once"}, nil, whole)
	if err != nil {
		t.Fatal(err)
	}
	if r.Cursor != f.Cursor() || r.Cursor.Epoch == before.Epoch || r.Cursor.Revision <= before.Revision {
		t.Errorf("the answer is at %v, the pool at %v, before it was at %v", r.Cursor, f.Cursor(), before)
	}
	if wrong := f.Unsound(); wrong != "" {
		t.Fatal(wrong)
	}
	if got, want := titles(f.all()), "parent child held after done"; got != want {
		t.Errorf("the pool has %q, want %q", got, want)
	}
	parent, child, held, after := f.get(id(1)), f.get(id(2)), f.get(id(3)), f.get(id(4))
	if parent.Status != task.Pending || !slices.Equal(parent.Unfinished, []string{id(3)}) || parent.ChildrenTotal != 2 || parent.ChildrenDone != 1 || parent.ChildrenOpen != 1 {
		t.Errorf("the parent is %+v", parent.Task)
	}
	if child.Depth != 1 || held.HistoryCount != 1 || held.HistoryLength == 0 || held.EventCount != 1 || after.Status != task.Ready || after.Revision != r.Cursor.Revision {
		t.Errorf("child %+v, held %+v, after %+v", child.Task, held.Task, after.Task)
	}
	if parent.Number != 4 || held.Thread[0].ID <= 3 {
		t.Errorf("numbers were given out again: task %d, event %d", parent.Number, held.Thread[0].ID)
	}

	f.sameEverywhere(s, other)
	again, err := f.Replace(t.Context(), pool.Request{Actor: operator, ID: "once"}, nil, whole)
	if err != nil || !again.Replayed || again.Cursor != r.Cursor {
		t.Errorf("repeated: %+v, %v", again, err)
	}

	// The hold has a token: its holder gets it by claiming what is held, and it
	// works.
	token := f.as(worker).claim(held.ID)
	if _, err := f.as(stranger).withToken(held.ID, token, task.Patch{Status: new(task.Done)}); err != nil {
		t.Errorf("closing by the token: %v", err)
	}
	if d := f.get(id(1)); d.Status != task.Ready {
		t.Errorf("the dependent is %s", d.Status)
	}
	f.sameEverywhere(s, other)
}

// sameEverywhere checks that this pool is what a second registry sees, what the
// store has, and what its commits give.
func (f *fixture) sameEverywhere(s *memory.Store, others ...*fixture) {
	f.t.Helper()
	want := f.State()
	for _, o := range others {
		if err := o.Refresh(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
		sameState(f.t, "followed", want, o.State())
	}
	sameState(f.t, "opened anew", want, openOn(f.t, s).State())
}

func TestReplace_refusedChangesNothing(t *testing.T) {
	f := open(t)
	f.titled("there")
	before := f.State()
	refused := errors.New("not now")
	_, err := f.Replace(t.Context(), pool.Request{Actor: operator}, refused, whole)
	if !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	for name, spoil := range map[string]func(*pool.Content){
		"cycle":              func(c *pool.Content) { c.Tasks[2].Dependencies = []string{id(1)} },
		"circle of parents":  func(c *pool.Content) { c.Tasks[0].ParentID, c.Tasks[0].Dependencies = id(2), nil },
		"missing dependency": func(c *pool.Content) { c.Tasks[3].Dependencies = []string{id(9)} },
		"missing parent":     func(c *pool.Content) { c.Tasks[1].ParentID = id(9) },
		"twin number":        func(c *pool.Content) { c.Tasks[0].Number, c.Tasks[1].Number = 1, 1 },
		"not UTF-8":          func(c *pool.Content) { c.Tasks[3].Title = "\xff" },
	} {
		_, err := f.Replace(t.Context(), pool.Request{Actor: operator}, nil, func() pool.Content {
			c := whole()
			spoil(&c)
			return c
		})
		if err == nil {
			t.Errorf("%s was taken in", name)
		}
	}
	if got := f.State(); got != before {
		t.Errorf("refused, and changed: %s", got)
	}
}

func TestReplace_keepsWhatTimeAloneDecides(t *testing.T) {
	f := open(t)
	_, err := f.Replace(t.Context(), pool.Request{Actor: operator}, nil, func() pool.Content {
		c := whole()
		c.Tasks = c.Tasks[3:]
		c.Tasks[0].Dependencies, c.Tasks[0].NotBefore = nil, farOff
		return c
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := f.get(id(4)); d.Status != task.Pending {
		t.Errorf("it is %s", d.Status)
	}
	if wrong := f.Unsound(); wrong != "" || !strings.Contains(f.State(), "waits until 2100") {
		t.Errorf("it doesn't wait: %s", wrong)
	}
}

// What a store can't append is refused as too large, and not as if the store were
// away.
func TestReplace_isBoundedByTheStore(t *testing.T) {
	f := open(t)
	size, err := f.SealWhole(whole(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	// Times and nonces don't always take the same.
	const more = 50
	if _, err := f.SealWhole(whole(), size+more); err != nil {
		t.Errorf("of %d bytes: %v", size, err)
	}
	for _, most := range []int{size - more, 100, 0} {
		if _, err := f.SealWhole(whole(), most); reasonOf(err) != "REVISION_TOO_LARGE" {
			t.Errorf("%d bytes into %d: %v", size, most, err)
		}
	}
}

// The content is made ready beside the writer, who serves others meanwhile; where
// the pool has moved on by then, it is made anew on what there is now.
func TestReplace_readyBeforeItsTurn(t *testing.T) {
	for _, moved := range []bool{false, true} {
		f := open(t)
		f.titled("there")
		calls := 0
		_, err := f.Replace(t.Context(), pool.Request{Actor: operator}, nil, func() pool.Content {
			if calls++; calls == 1 && moved {
				f.titled("meanwhile") // would wait for ever within the writer
			}
			return whole()
		})
		if err != nil {
			t.Fatal(err)
		}
		want, last := 1, int64(1)
		if moved {
			want, last = 2, 2
		}
		if calls != want || f.get(id(1)).Number != last+1 || len(f.all()) != 4 {
			t.Errorf("moved %v: asked for %d times, the first key is T-%d, %d tasks", moved, calls, f.get(id(1)).Number, len(f.all()))
		}
		if wrong := f.Unsound(); wrong != "" {
			t.Error(wrong)
		}
	}
}
