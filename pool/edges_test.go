package pool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func add(names ...string) task.Patch    { return task.Patch{AddDependencies: names} }
func remove(names ...string) task.Patch { return task.Patch{RemoveDependencies: names} }

func TestDependencies_areAddedToOpenAndBlockedTasksAlone(t *testing.T) {
	for from, reason := range map[task.Status]string{
		task.Pending: "", task.Ready: "", task.Blocked: "",
		task.InProgress: noMove, task.Done: noMove, task.Cancelled: noMove,
	} {
		t.Run(from.String(), func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			first := f.titled("first")
			it := f.bring(from, true)
			if reason != "" {
				f.wontUpdate(it.ID, add(first.ID), reason)
				return
			}
			got := f.mustUpdate(it.ID, add(first.ID))
			if got.Dependencies[len(got.Dependencies)-1] != first.ID || got.Version != it.Version+1 {
				t.Errorf("depends on %v, version %d", got.Dependencies, got.Version)
			}
			if want := map[bool]task.Status{true: task.Blocked, false: task.Pending}[from == task.Blocked]; got.Status != want {
				t.Errorf("it is %s", got.Status)
			}
		})
	}
}

func TestDependencies_areRemovedInAnyStatus(t *testing.T) {
	for _, from := range []task.Status{task.Pending, task.Ready, task.InProgress, task.Blocked, task.Done, task.Cancelled} {
		t.Run(from.String(), func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			first := f.titled("first")
			f.set(first.ID, task.Done)
			it := f.titled("it", first.ID)
			switch from {
			case task.Ready:
			case task.Pending:
				f.set(first.ID, task.Ready)
			default:
				f.set(it.ID, from)
			}
			got := f.mustUpdate(it.ID, remove(first.Key()))
			want := from
			if from == task.Pending {
				want = task.Ready
			}
			if len(got.Dependencies) != 0 || got.Status != want || len(f.get(first.ID).Dependents) != 0 {
				t.Errorf("it is %s and depends on %v", got.Status, got.Dependencies)
			}
		})
	}
}

func TestDependencies_refused(t *testing.T) {
	f := openAs(t, task.LimitOptions{"dependencies": 3, "dependents": 2}, task.EditByAnyone)
	a, b, c := f.titled("a"), f.titled("b"), f.titled("c")
	f.mustUpdate(b.ID, add(a.ID))
	f.mustUpdate(c.ID, add(b.ID))
	for name, x := range map[string]struct {
		id      string
		p       task.Patch
		reason  string
		related string
	}{
		"itself":                  {a.ID, add(a.Key()), "CYCLE", ""},
		"a circle of two":         {a.ID, add(b.ID), "CYCLE", ""},
		"a circle of three":       {a.ID, add(c.ID[:8]), "CYCLE", ""},
		"what it depends on":      {b.ID, add(a.Key()), "DUPLICATE_DEPENDENCY", a.ID},
		"two spellings":           {a.ID, add(c.ID, c.Key()), "CYCLE", ""},
		"two spellings of one":    {b.ID, task.Patch{AddDependencies: []string{"T-9", "t-9"}}, "TASK_NOT_FOUND", ""},
		"the same twice":          {b.ID, add("T-3", "T-3"), "INVALID_FIELD", ""},
		"unknown":                 {b.ID, add("T-99"), "TASK_NOT_FOUND", ""},
		"a ref":                   {b.ID, add("ref:a"), "TASK_NOT_FOUND", ""},
		"remove unknown":          {b.ID, remove("T-99"), "TASK_NOT_FOUND", ""},
		"remove what is none":     {b.ID, remove(c.ID), "DEPENDENCY_NOT_FOUND", c.ID},
		"remove it twice":         {b.ID, remove(a.ID, a.Key()), "DEPENDENCY_NOT_FOUND", a.ID},
		"add and remove":          {b.ID, task.Patch{AddDependencies: []string{a.ID}, RemoveDependencies: []string{a.ID}}, "INVALID_FIELD", ""},
		"add and remove, spelled": {b.ID, task.Patch{AddDependencies: []string{a.Key()}, RemoveDependencies: []string{a.ID}}, "INVALID_FIELD", ""},
		"empty":                   {b.ID, add(""), "INVALID_FIELD", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{Pool: f.Pool, t: t, actor: filer}
			err := f.wontUpdate(x.id, x.p, x.reason)
			if x.related != "" {
				if e := as[*pool.RuleError](t, err); !slices.Equal(e.Related, []string{x.related}) {
					t.Errorf("%+v", e)
				}
			}
		})
	}

	t.Run("limits", func(t *testing.T) {
		f := &fixture{Pool: f.Pool, t: t, actor: filer}
		d := f.createAll(slices.Repeat([]task.Draft{{Title: "d"}}, 4)...)
		x, y := f.titled("x", d[0].ID, d[1].ID), f.titled("y", d[0].ID)
		f.wontUpdate(x.ID, add(d[2].ID, d[3].ID), "DEPENDENCIES_EXCEEDED")
		f.mustUpdate(x.ID, add(d[2].ID))
		f.wontUpdate(x.ID, add(d[3].ID), "DEPENDENCIES_EXCEEDED")
		f.mustUpdate(x.ID, task.Patch{AddDependencies: []string{d[3].ID}, RemoveDependencies: []string{d[1].ID}})
		f.wontUpdate(d[1].ID, add(d[0].ID), "DEPENDENTS_EXCEEDED")
		f.mustUpdate(y.ID, remove(d[0].Key()))
		f.mustUpdate(d[1].ID, add(d[0].ID))
	})
}

// grackle#1484: a circle of three is accepted by updates, one at a time or as one
// list.
func TestDependencies_cycleIsShownAsPath(t *testing.T) {
	f := open(t)
	f.createAll(slices.Repeat([]task.Draft{{Title: "it"}}, 4)...)
	f.mustUpdate("T-1", add("T-2"))
	f.mustUpdate("T-2", add("T-3"))
	for _, p := range []task.Patch{add("T-1"), add("T-4", "T-1"), {Status: new(task.Ready), AddDependencies: []string{"T-1"}}} {
		e := as[*pool.RuleError](t, f.wontUpdate("T-3", p, "CYCLE"))
		if want := []string{"T-3", "T-1", "T-2", "T-3"}; !slices.Equal(e.Path, want) || !strings.Contains(e.Message, "T-3 → T-1 → T-2 → T-3") {
			t.Errorf("path %v: %s", e.Path, e.Message)
		}
	}

	t.Run("a child on an ancestor", func(t *testing.T) {
		top := f.titled("top")
		mid := f.under(top.ID, "mid")
		low := f.under(mid.ID, "low")
		f.wontUpdate(low.ID, add(top.ID), "CYCLE")
		f.wontUpdate(low.ID, add(mid.ID), "CYCLE")
		f.mustUpdate(top.ID, add(low.ID))
		f.wantStatus(top.ID, task.Pending, low.ID)
		// And it can't become its ancestor's ancestor's child another way round.
		loose := f.titled("loose", top.ID)
		f.wontUpdate(loose.ID, task.Patch{Parent: new(mid.ID)}, "CYCLE")
	})
}

func TestDependencies_anEdgeIsTurnedAroundInTwoUpdatesOrOne(t *testing.T) {
	f := open(t)
	a, b, c := f.titled("a"), f.titled("b"), f.titled("c")
	f.mustUpdate(b.ID, add(a.ID))
	f.mustUpdate(b.ID, remove(a.ID))
	f.mustUpdate(a.ID, add(b.ID))
	f.wantStatus(a.ID, task.Pending, b.ID)
	// One update: c takes a's place as what b waits for, where c waited for b.
	f.mustUpdate(c.ID, add(b.ID))
	f.wontUpdate(b.ID, add(c.ID), "CYCLE")
	got := f.mustUpdate(a.ID, task.Patch{RemoveDependencies: []string{b.Key()}, AddDependencies: []string{c.Key()}})
	if !slices.Equal(got.Dependencies, []string{c.ID}) {
		t.Errorf("depends on %v", got.Dependencies)
	}
	// Under a new parent and free of the edge that would make it a circle.
	p := f.titled("p")
	f.mustUpdate(c.ID, add(p.ID))
	f.wontUpdate(c.ID, task.Patch{Parent: new(p.ID)}, "CYCLE")
	f.mustUpdate(c.ID, task.Patch{Parent: new(p.ID), RemoveDependencies: []string{p.ID}})
	// And back: out of the parent, on which it then depends.
	f.wontUpdate(c.ID, add(p.ID), "CYCLE")
	f.mustUpdate(c.ID, task.Patch{Parent: new(""), AddDependencies: []string{p.ID}})
}

// A status and a dependency may come in one update (the seed's sources refuse
// it). What ends as asked is taken, whichever has to be first.
func TestDependencies_withAStatus(t *testing.T) {
	for name, c := range map[string]struct {
		from   task.Status
		p      func(open, done string) task.Patch
		want   task.Status // StatusUnspecified: refused
		reason string
	}{
		"start, adding one that is done": {task.Ready, func(_, done string) task.Patch {
			return task.Patch{Status: new(task.InProgress), AddDependencies: []string{done}}
		}, task.InProgress, ""},
		"start, adding one that is not": {task.Ready, func(open, _ string) task.Patch {
			return task.Patch{Status: new(task.InProgress), AddDependencies: []string{open}}
		}, 0, waits},
		"close, adding one that is not": {task.Ready, func(open, _ string) task.Patch {
			return task.Patch{Status: new(task.Done), AddDependencies: []string{open}}
		}, 0, waits},
		"put back, adding one": {task.InProgress, func(open, _ string) task.Patch {
			return task.Patch{Status: new(task.Ready), AddDependencies: []string{open}}
		}, task.Pending, ""},
		"block, adding one": {task.InProgress, func(open, _ string) task.Patch {
			return task.Patch{Status: new(task.Blocked), Reason: "no key", AddDependencies: []string{open}}
		}, task.Blocked, ""},
		"unblock, adding one": {task.Blocked, func(open, _ string) task.Patch {
			return task.Patch{Status: new(task.Ready), AddDependencies: []string{open}}
		}, task.Pending, ""},
		"reopen, adding one": {task.Done, func(open, _ string) task.Patch {
			return task.Patch{Status: new(task.Ready), AddDependencies: []string{open}}
		}, task.Pending, ""},
		"ready as it is, adding one": {task.Ready, func(open, _ string) task.Patch {
			return task.Patch{Status: new(task.Ready), AddDependencies: []string{open}}
		}, task.Pending, ""},
		"reopen and claim, adding one that is done": {task.Done, func(_, done string) task.Patch {
			return task.Patch{Status: new(task.InProgress), AddDependencies: []string{done}}
		}, 0, noMove},
		"close what is held, adding one": {task.InProgress, func(_, done string) task.Patch {
			return task.Patch{Status: new(task.Done), AddDependencies: []string{done}}
		}, 0, noMove},
	} {
		t.Run(name, func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			open, done := f.titled("open"), f.titled("done")
			f.set(done.ID, task.Done)
			it := f.bring(c.from, true)
			f = f.as(worker)
			if c.from == task.Blocked {
				f = f.as(filer)
			}
			p := c.p(open.ID, done.ID)
			if c.want == 0 {
				f.wontUpdate(it.ID, p, c.reason)
				return
			}
			got := f.mustUpdate(it.ID, p)
			if got.Status != c.want || !slices.Contains(got.Dependencies, p.AddDependencies[0]) || got.Version != it.Version+1 {
				t.Errorf("it is %s, version %d, depends on %v", got.Status, got.Version, got.Dependencies)
			}
			if got.Status != task.InProgress && got.Holder != "" {
				t.Errorf("held by %s", got.Holder)
			}
		})
	}

	t.Run("ready, removing what is in the way", func(t *testing.T) {
		f := open(t)
		a := f.titled("a")
		it := f.titled("it", a.ID)
		got := f.mustUpdate(it.ID, task.Patch{Status: new(task.Ready), RemoveDependencies: []string{a.ID}})
		if got.Status != task.Ready || got.Version != it.Version+1 {
			t.Errorf("it is %s, version %d", got.Status, got.Version)
		}
	})

	t.Run("start, removing what is in the way", func(t *testing.T) {
		f := open(t)
		a, b := f.titled("a"), f.titled("b")
		it := f.titled("it", a.ID, b.ID)
		f.wontUpdate(it.ID, task.Patch{Status: new(task.InProgress), RemoveDependencies: []string{a.ID}}, waits)
		got := f.mustUpdate(it.ID, task.Patch{Status: new(task.InProgress), RemoveDependencies: []string{a.ID, b.ID}})
		if got.Status != task.InProgress {
			t.Errorf("it is %s", got.Status)
		}
		f.wantTold(it.ID, 1, map[string]string{"A": a.ID, "B": b.ID},
			f.actor+" dependency {Added:[] Removed:[A B] GivenUp:}",
			"system:pool status {From:pending To:ready Reason: Forced:false OpenChildren:[] Unfinished:[]}",
			fmt.Sprintf("%s claimed {Holder:%s Lease:0s RunID:}", f.actor, f.actor))
	})
}

// beads#3567: a task with several unfinished dependencies is listed several times.
func TestDependencies_manyOfOneTaskListItOnce(t *testing.T) {
	f := open(t)
	made := f.createAll(slices.Repeat([]task.Draft{{Title: "first"}}, 5)...)
	var ids []string
	for _, d := range made {
		ids = append(ids, d.ID)
	}
	f.titled("it", ids...)
	for _, filter := range []pool.Filter{{}, {Statuses: []task.Status{task.Pending}}, {Text: "it"}, {TopLevel: true}, {Statuses: task.Statuses()}} {
		n := 0
		for _, got := range f.list(filter) {
			if got.Title == "it" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%+v lists it %d times", filter, n)
		}
	}
}
