package pool_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestMerge_bringsInAndThenChangesNothing(t *testing.T) {
	from := story(t)
	all := records(t, from.Pool)
	s := memory.New()
	defer func() { _ = s.Close() }()
	f, other := openOn(t, s), openOn(t, s)
	f.titled("there before")
	before := f.Cursor()
	r := f.mustMerge(all, 7, 0, 0)
	if r.Cursor != f.Cursor() || r.Cursor.Revision != before.Revision+1 || r.Cursor.Epoch != before.Epoch {
		t.Errorf("it is at %v, before it was at %v", r.Cursor, before)
	}
	f.sameEverywhere(s, other)
	for _, was := range from.all() {
		d, old := f.get(was.ID), from.get(was.ID)
		if d.Number != was.Number+1 && was.Number < 7 || d.Version != 1 || d.Revision != r.Cursor.Revision {
			t.Errorf("%s is %s, version %d, revision %d", was.Key(), d.Key(), d.Version, d.Revision)
		}
		if d.Status != was.Status || d.CreatedBy != was.CreatedBy || !d.CreatedAt.Equal(was.CreatedAt) || !d.ClosedAt.Equal(was.ClosedAt) ||
			!slices.Equal(d.Dependencies, was.Dependencies) || d.ParentID != was.ParentID || d.Depth != was.Depth || d.ChildrenTotal != was.ChildrenTotal ||
			d.Holder != was.Holder || d.AssignedByClaim != was.AssignedByClaim || d.HistoryCount != was.HistoryCount || d.HistoryLength != was.HistoryLength {
			t.Errorf("%s came in as %+v, want %+v", was.Key(), d.Task, was)
		}
		if got, want := told(d, 0), told(old, 0)+fmt.Sprintf("%s imported {Key:%s}\n", f.actor, was.Key()); got != want {
			t.Errorf("the thread of %s tells\n%swant\n%s", was.Key(), got, want)
		}
	}
	if token := f.as(worker).claim(from.get("T-8").ID); token == "" || token == from.as(worker).claim("T-8") {
		t.Error("the hold has no token of its own")
	}

	state := f.State()
	for range 2 {
		if again := f.mustMerge(all, 0, 7, 0); again.Cursor != f.Cursor() {
			t.Errorf("it is at %v", again.Cursor)
		}
	}
	if f.State() != state {
		t.Error("importing again changed the pool")
	}
	// And there and back.
	back := records(t, f.Pool)
	from.mustMerge(back, 1, 7, 0)
	from.mustMerge(back, 0, 8, 0)
	f.mustMerge(records(t, from.Pool), 0, 8, 0)
	if f.State() != state {
		t.Error("importing again changed the pool")
	}
}

func TestMerge_intoItself(t *testing.T) {
	f := story(t)
	before := f.State()
	f.mustMerge(records(t, f.Pool), 0, 7, 0)
	if f.State() != before {
		t.Error("it changed")
	}
}

// Threads that ran side by side still do.
func TestMerge_keepsTheOrderOfEvents(t *testing.T) {
	from := story(t)
	f := open(t)
	f.titled("there")
	f.mustMerge(records(t, from.Pool), 7, 0, 0)
	order := func(f *fixture, skip int64) (all []string) {
		byID := map[int64]string{}
		for _, was := range from.all() {
			for _, e := range f.get(was.ID).Thread {
				byID[e.ID] = fmt.Sprint(was.Title, " ", e.Kind, " ", e.At.UnixNano())
			}
		}
		for _, id := range slices.Sorted(maps.Keys(byID)) {
			if id > skip {
				all = append(all, byID[id])
			}
		}
		return all
	}
	want := order(from, 0)
	if got := order(f, 1)[:len(want)]; !slices.Equal(got, want) { // and then who brought them in
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What follows in this pool is derived in this pool, and makes no difference.
func TestMerge_derivesAnew(t *testing.T) {
	from := open(t)
	base := from.titled("base")
	f := open(t)
	f.mustMerge(records(t, from.Pool), 1, 0, 0)
	f.set(base.ID, task.Done)
	from.titled("above", "T-1")
	from.titled("top", "T-2")
	all := records(t, from.Pool)
	f.mustMerge(all, 2, 0, 1) // the base differs: it is done
	above, top := f.get("T-2"), f.get("T-3")
	if above.Status != task.Ready || len(above.Unfinished) != 0 || top.Status != task.Pending || !slices.Equal(top.Unfinished, []string{above.ID}) {
		t.Errorf("above %+v, top %+v", above.Task, top.Task)
	}
	f.set(above.ID, task.Cancelled)
	f.set(above.ID, task.Ready)
	f.wantTold(top.ID, 2, map[string]string{"ABOVE": above.ID}, "system:pool dependency {Added:[] Removed:[] GivenUp:ABOVE}")
	rest := edited(t, all, func(i int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		if i == 0 || m.GetTask().GetTitle() != "top" && m.GetEvent().GetTaskId() != top.ID {
			return nil
		}
		return m
	})
	f.mustMerge(rest, 0, 1, 0)
	f.as(worker).mustUpdate(top.ID, task.Patch{RemoveDependencies: []string{above.ID}})
	f.mustMerge(rest, 0, 0, 1)
}

// What a dependency was here before is told to who comes to depend on it.
func TestMerge_tellsOfWhatWasGivenUp(t *testing.T) {
	from := open(t)
	base := from.titled("base")
	f := open(t)
	f.mustMerge(records(t, from.Pool), 1, 0, 0)
	f.set(base.ID, task.Cancelled)
	above := from.titled("above", "T-1")
	f.mustMerge(records(t, from.Pool), 1, 0, 1)
	f.wantTold(above.ID, 1, map[string]string{"BASE": base.ID}, "agent:a imported {Key:T-2}", "system:pool dependency {Added:[] Removed:[] GivenUp:BASE}")
}

// A parent that was there is told of its new child, and counts it; that makes no
// difference to its record.
func TestMerge_underAParentThatIsThere(t *testing.T) {
	from := open(t)
	parent := from.titled("parent")
	f := open(t)
	f.mustMerge(records(t, from.Pool), 1, 0, 0)
	child := from.create(task.Draft{Title: "child", Parent: "T-1"})
	done := from.create(task.Draft{Title: "done", Parent: "T-1"})
	from.set("T-3", task.Done)
	all := records(t, from.Pool)
	f.mustMerge(all, 2, 1, 0)
	if p := f.get(parent.ID); p.ChildrenTotal != 2 || p.ChildrenDone != 1 || p.ChildrenOpen != 1 || f.get(child.ID).Depth != 1 {
		t.Errorf("the parent is %+v", p.Task)
	}
	f.wantTold(parent.ID, 2, map[string]string{"CHILD": child.ID, "DONE": done.ID},
		"agent:a subtask {ChildID:CHILD Change:1}", "agent:a subtask {ChildID:DONE Change:1}")
	f.mustMerge(all, 0, 3, 0)

	// Not under one that is closed, unless the child is closed as well.
	from.create(task.Draft{Title: "late", Parent: "T-1"})
	from.create(task.Draft{Title: "late, but done", Parent: "T-1"})
	from.set("T-5", task.Done)
	f.set(child.ID, task.Done)
	f.set(parent.ID, task.Done)
	r := f.mustMerge(records(t, from.Pool), 1, 1, 3)
	if last := r.Refused[2]; last.Reason != pool.ReasonParentClosed || last.ID != from.get("T-4").ID {
		t.Errorf("got %+v", r.Refused)
	}
}

// refusals are the reasons by titles of tasks in another pool.
func refusals(from *fixture, r pool.ImportResult) map[string]string {
	reasons := map[string]string{}
	for _, one := range r.Refused {
		reasons[from.get(one.ID).Title] = string(one.Reason)
	}
	return reasons
}

func TestMerge_refusesTaskByTask(t *testing.T) {
	from := openAs(t, task.LimitOptions{"title_length": 1000, "children": 10, "depth": 10, "dependencies": 10, "dependents": 100, "history_length": 100_000, "events_per_task": 1000}, 0)
	long := strings.Repeat("x", 200)
	from.createAll(
		task.Draft{Title: "good"},
		task.Draft{Title: long},
		task.Draft{Title: "needs long", Ref: "needs", Dependencies: []string{"ref:missing"}},
		task.Draft{Title: "needs that", Dependencies: []string{"ref:needs"}},
		task.Draft{Title: "under that", Parent: "ref:needs"},
		task.Draft{Title: "missing", Ref: "missing"},
		task.Draft{Title: "0", Ref: "0"}, task.Draft{Title: "1", Parent: "ref:0", Ref: "1"}, task.Draft{Title: "2", Parent: "ref:1", Ref: "2"}, task.Draft{Title: "3", Parent: "ref:2", Ref: "3"},
		task.Draft{Title: "p", Ref: "p"}, task.Draft{Title: "p1", Parent: "ref:p"}, task.Draft{Title: "p2", Parent: "ref:p"}, task.Draft{Title: "p3", Parent: "ref:p"},
		task.Draft{Title: "d", Ref: "d"}, task.Draft{Title: "d1", Dependencies: []string{"ref:d"}}, task.Draft{Title: "d2", Dependencies: []string{"ref:d"}}, task.Draft{Title: "d3", Dependencies: []string{"ref:d"}},
		task.Draft{Title: "three", Dependencies: []string{"ref:0", "ref:p", "ref:d"}},
		task.Draft{Title: "talks"},
		task.Draft{Title: "busy"},
	)
	var talks, busy string
	for _, it := range from.all() {
		switch it.Title {
		case "talks":
			talks = it.ID
		case "busy":
			busy = it.ID
		}
	}
	for range 2 {
		from.mustUpdate(talks, task.Patch{HistoryEntry: new(strings.Repeat("y", 100))})
	}
	for i := range 9 {
		from.mustUpdate(busy, task.Patch{Title: new(fmt.Sprint("busy", i))})
	}
	missing := from.list(pool.Filter{})[5]
	part := edited(t, records(t, from.Pool), func(i int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		if i == 0 || m.GetTask().GetId() == missing.ID || m.GetEvent().GetTaskId() == missing.ID {
			return nil
		}
		return m
	})
	f := openAs(t, task.LimitOptions{"title_length": 100, "children": 2, "depth": 2, "dependencies": 2, "dependents": 2, "history_length": 200, "events_per_task": 8}, 0)
	r := f.mustMerge(part, 10, 0, 10)
	want := map[string]string{
		long: "INVALID_FIELD", "needs long": "TASK_NOT_FOUND", "needs that": "TASK_NOT_FOUND", "under that": "TASK_NOT_FOUND",
		"3": "DEPTH_EXCEEDED", "p3": "CHILDREN_EXCEEDED", "d3": "DEPENDENTS_EXCEEDED", "three": "DEPENDENCIES_EXCEEDED",
		"talks": "HISTORY_FULL", "busy8": "THREAD_FULL",
	}
	if got := refusals(from, r); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if !slices.IsSortedFunc(r.Refused, func(a, b pool.Refusal) int { return int(a.Index - b.Index) }) {
		t.Errorf("out of order: %+v", r.Refused)
	}
	state := f.State()
	f.mustMerge(part, 0, 10, 10)
	if f.State() != state {
		t.Error("importing again changed the pool")
	}
}

// Cycles among new tasks, and through the pool.
func TestMerge_refusesCycles(t *testing.T) {
	from := open(t)
	parent, under := from.titled("parent"), from.titled("under")
	from.mustUpdate("T-1", task.Patch{AddDependencies: []string{}})
	f := open(t)
	f.mustMerge(records(t, from.Pool), 2, 0, 0)
	// In the pool, under needs parent.
	f.mustUpdate(under.ID, task.Patch{AddDependencies: []string{parent.ID}})

	a, b, c, d := from.titled("a"), from.titled("b"), from.titled("c"), from.titled("d")
	from.titled("rests on c", "T-5")
	all := edited(t, records(t, from.Pool), func(i int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		switch it := m.GetTask(); it.GetTitle() {
		case "a":
			it.DependencyIds = []string{b.ID}
		case "b":
			it.DependencyIds = []string{a.ID}
		case "c": // parent needs its child c, which needs under, which needs parent
			it.ParentId, it.DependencyIds = parent.ID, []string{under.ID}
		case "d":
			it.DependencyIds = []string{under.ID}
		case "under":
			return m
		}
		if i == 0 {
			return nil
		}
		return m
	})
	r := f.mustMerge(all, 1, 1, 5)
	want := map[string]string{"under": "TASK_DIFFERS", "a": "CYCLE", "b": "CYCLE", "c": "CYCLE", "rests on c": "TASK_NOT_FOUND"}
	if got := refusals(from, r); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v", got)
	}
	if f.get(d.ID).Status != task.Pending {
		t.Error("d is not pending")
	}
	for _, one := range r.Refused {
		switch one.ID {
		case a.ID, b.ID:
			if !strings.Contains(one.Message, "records[4] → records[6] → records[4]") {
				t.Errorf("got %s", one.Message)
			}
		case c.ID:
			if !strings.Contains(one.Message, "T-1 → records[8] → T-2 → T-1") && !strings.Contains(one.Message, "records[8] → T-2 → T-1 → records[8]") {
				t.Errorf("got %s", one.Message)
			}
		}
	}
	state := f.State()
	f.mustMerge(all, 0, 2, 5)
	if f.State() != state {
		t.Error("importing again changed the pool")
	}
}

// A parent may depend on its child.
func TestMerge_parentThatDependsOnItsChild(t *testing.T) {
	from := open(t)
	from.createAll(task.Draft{Title: "parent", Ref: "p", Dependencies: []string{"ref:c"}}, task.Draft{Title: "child", Ref: "c", Parent: "ref:p"})
	f := open(t)
	f.mustMerge(records(t, from.Pool), 2, 0, 0)
	if p := f.get("T-1"); p.Status != task.Pending || p.ChildrenOpen != 1 {
		t.Errorf("got %+v", p.Task)
	}
}

func TestMerge_refusesWhatComesLaterAndTwins(t *testing.T) {
	from := open(t)
	from.titled("a")
	from.titled("b", "T-1")
	from.titled("c")
	all := edited(t, records(t, from.Pool), func(_ int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		if m.GetPool() != nil {
			return nil
		}
		if m.GetTask().GetTitle() == "a" {
			m.GetTask().GraphId = "tg-1"
		}
		return m
	})
	all = append(all, all[4], all[5])
	f := open(t)
	r := f.mustMerge(all, 1, 0, 3)
	if r.Refused[0].Reason != pool.ReasonNotAvailableYet || !strings.Contains(r.Refused[0].Message, "records[0].task.graph_id") ||
		r.Refused[1].Reason != pool.ReasonTaskNotFound || r.Refused[2].Index != 6 || r.Refused[2].Reason != pool.ReasonInvalidField {
		t.Errorf("got %+v", r.Refused)
	}
}

func TestMerge_tooMuchForARevision(t *testing.T) {
	from := open(t)
	drafts := make([]task.Draft, 9_999)
	for i := range drafts {
		drafts[i].Title = fmt.Sprint(i)
	}
	from.createAll(drafts...)
	from.createAll(task.Draft{Title: "one more"}, task.Draft{Title: "and one"})
	all := records(t, from.Pool)
	f := open(t)
	f.titled("there")
	f.refused("REVISION_TOO_LARGE", func() error { _, err := f.merge(all); return err })
	part := all[1 : len(all)-2] // without the last task and its event
	f.mustMerge(part, 10_000, 0, 0)
	f.mustMerge(all, 1, 10_000, 0)
}

func TestMerge_isAnsweredAgain(t *testing.T) {
	from := story(t)
	f := open(t)
	f.mustMerge(records(t, from.Pool), 7, 0, 0)
	f.mustUpdate(from.get("T-1").ID, task.Patch{Title: new("mine")})
	from.titled("new")
	all := records(t, from.Pool)
	r := pool.Request{Actor: f.actor, ID: "once", Digest: "d"}
	first, err := take(t, f.Pool, r, pool.ImportMerge, all)
	if err != nil {
		t.Fatal(err)
	}
	f.titled("since")
	state := f.State()
	again, err := take(t, f.Pool, r, pool.ImportMerge, all)
	first.Replayed = true
	if err != nil || fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", first) || first.Created != 1 || first.Unchanged != 6 || first.RefusedCount != 1 {
		t.Errorf("got %+v, %v, want %+v", again, err, first)
	}
	if f.State() != state {
		t.Error("a repeat changed the pool")
	}
}

func TestMerge_listsRefusalsUpToABound(t *testing.T) {
	from := open(t)
	drafts := make([]task.Draft, 1500)
	for i := range drafts {
		drafts[i].Title = fmt.Sprint(i)
	}
	from.createAll(drafts...)
	bad := edited(t, records(t, from.Pool), func(_ int, m *taskpoolv1.PoolRecord) *taskpoolv1.PoolRecord {
		if it := m.GetTask(); it != nil {
			it.Title = strings.Repeat("x", 2000) + "\x00"
		}
		return m
	})
	r := open(t).mustMerge(bad, 0, 0, 1500)
	if len(r.Refused) != 100 || r.Refused[99].Index != 199 {
		t.Errorf("%d are listed", len(r.Refused))
	}
}
