package pool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestCreateAll_refsInAnyOrder(t *testing.T) {
	f := open(t)
	old := f.titled("old")
	made := f.createAll(
		task.Draft{Ref: "test", Title: "test", Dependencies: []string{"ref:build", old.Key()}, Parent: "ref:all", DiscoveredFrom: "ref:build"},
		task.Draft{Ref: "all", Title: "all", Dependencies: []string{"ref:test"}},
		task.Draft{Ref: "build", Title: "build", Parent: "ref:all", Dependencies: []string{old.ID[:8]}, DiscoveredFrom: old.ID},
		task.Draft{Title: "nameless", Parent: "ref:test"},
	)
	test, all, build, nameless := made[0], made[1], made[2], made[3]
	for i, d := range made {
		if d.Number != int64(i+2) || d.Revision != made[0].Revision || d.Version != 1 || d.Thread[0].Kind != task.EventCreated {
			t.Errorf("%s: number %d, revision %d, version %d, first event %s", d.Title, d.Number, d.Revision, d.Version, d.Thread[0].Kind)
		}
	}
	f.wantStatus(test.ID, task.Pending, build.ID, old.ID)
	f.wantStatus(all.ID, task.Pending, test.ID)
	f.wantStatus(build.ID, task.Pending, old.ID)
	f.wantStatus(nameless.ID, task.Ready)
	f.wantCounts(all.ID, 2, 0)
	f.wantCounts(test.ID, 1, 0)
	if test.Depth != 1 || nameless.Depth != 2 || all.Depth != 0 || test.ParentID != all.ID {
		t.Errorf("depths %d %d %d", test.Depth, nameless.Depth, all.Depth)
	}
	if test.DiscoveredFrom != build.ID || build.DiscoveredFrom != old.ID {
		t.Errorf("found from %s and %s", test.DiscoveredFrom, build.DiscoveredFrom)
	}
	if got := f.get(old.ID).Dependents; !slices.Equal(got, []string{test.ID, build.ID}) {
		t.Errorf("dependents of old: %v", got)
	}
}

// A local name that nothing points to may be anybody's: real boards repeat them.
func TestCreateAll_repeatedNameThatNothingPointsTo(t *testing.T) {
	f := open(t)
	made := f.createAll(task.Draft{Title: "a", Ref: "42.42"}, task.Draft{Title: "b", Ref: "42.42"})
	if len(made) != 2 || made[0].ID == made[1].ID {
		t.Errorf("made %v", made)
	}
}

func TestCreateAll_tellsEverythingWrongAtOnce(t *testing.T) {
	f := open(t)
	for name, c := range map[string]struct {
		drafts []task.Draft
		want   []string // fields
	}{
		"unknown refs": {[]task.Draft{
			{Title: "a", Dependencies: []string{"ref:a", "ref:x"}, Parent: "ref:y", Ref: "a"},
			{Title: "b", DiscoveredFrom: "ref:z", Dependencies: []string{"ref:"}},
		}, []string{"tasks[0].dependency_ids[1]", "tasks[0].parent_id", "tasks[1].dependency_ids[0]", "tasks[1].discovered_from_id"}},
		"the same ref twice": {[]task.Draft{{Title: "a", Ref: "a"}, {Title: "b", Parent: "ref:a"}, {Title: "c", Ref: "a"}, {Title: "d", Dependencies: []string{"ref:a"}}}, []string{"tasks[1].parent_id", "tasks[3].dependency_ids[0]"}},
		"of all kinds": {[]task.Draft{
			{Title: "a", Ref: "a b"},
			{Title: " ", Priority: 9, Steps: []string{"ok", ""}},
			{Title: "c", Dependencies: []string{"ref:none"}, Body: "a\x00b", Links: []string{"javascript:1"}},
		}, []string{"tasks[0].ref", "tasks[1].title", "tasks[1].priority", "tasks[1].steps[1]", "tasks[2].body", "tasks[2].links[0]", "tasks[2].dependency_ids[0]"}},
		"a dependency twice": {[]task.Draft{{Title: "a", Ref: "a"}, {Title: "b", Dependencies: []string{"ref:a", "ref:a"}}}, []string{"tasks[1].dependency_ids[1]"}},
		"nothing":            {nil, []string{"tasks"}},
	} {
		t.Run(name, func(t *testing.T) {
			var fields []string
			for _, v := range as[*pool.InvalidError](t, f.wontCreate("INVALID_FIELD", c.drafts...)).Violations {
				fields = append(fields, v.Field)
			}
			if !slices.Equal(fields, c.want) {
				t.Errorf("violations of %q, want %q", fields, c.want)
			}
		})
	}
}

func TestCreate_hasNoRefs(t *testing.T) {
	f := open(t)
	for field, d := range map[string]task.Draft{
		"task.ref":               {Title: "a", Ref: "a"},
		"task.dependency_ids[0]": {Title: "a", Dependencies: []string{"ref:a"}},
		"task.parent_id":         {Title: "a", Parent: "ref:a"},
	} {
		err := f.refused("INVALID_FIELD", func() error { _, err := f.Create(t.Context(), f.request(), d); return err })
		if v := as[*pool.InvalidError](t, err).Violations; len(v) != 1 || v[0].Field != field {
			t.Errorf("%+v", v)
		}
	}
}

// coordinate-agents#20: an invalid graph must be refused before anything is done.
func TestCreateAll_lastEdgeOf500ClosesACycle(t *testing.T) {
	f := open(t)
	f.titled("old")
	drafts := make([]task.Draft, 500)
	for i := range drafts {
		drafts[i] = task.Draft{Ref: fmt.Sprint("t", i), Title: fmt.Sprint("task ", i)}
		if i > 0 {
			drafts[i].Dependencies = []string{fmt.Sprint("ref:t", i-1)}
		}
	}
	drafts[0].Dependencies = []string{"T-1", "ref:t499"}
	for name, order := range map[string]func(){"first to last": func() {}, "last to first": func() { slices.Reverse(drafts) }} {
		order()
		e := as[*pool.RuleError](t, f.wontCreate("CYCLE", drafts...))
		if len(e.Path) != 501 || e.Path[0] != e.Path[500] {
			t.Fatalf("%s: the path has %d tasks", name, len(e.Path))
		}
		for i, at := range e.Path[:500] {
			var from, to int
			if _, err := fmt.Sscanf(at+" "+e.Path[i+1], "ref:t%d ref:t%d", &from, &to); err != nil || from != (to+1)%500 {
				t.Fatalf("%s: %s does not depend on %s", name, at, e.Path[i+1])
			}
		}
		if !strings.Contains(e.Message, "t7 → t6 → t5") {
			t.Errorf("%s: the message does not show the path: %.200s", name, e.Message)
		}
	}
}

func TestCreateAll_cycles(t *testing.T) {
	f := open(t)
	dep := func(ref string, deps ...string) task.Draft {
		return task.Draft{Title: ref, Ref: ref, Dependencies: deps}
	}
	sub := func(ref, parent string, deps ...string) task.Draft {
		return task.Draft{Title: ref, Ref: ref, Parent: parent, Dependencies: deps}
	}
	for name, c := range map[string]struct {
		drafts []task.Draft
		path   string // "" where it is none
	}{
		"itself":                          {[]task.Draft{dep("a", "ref:a")}, "ref:a ref:a"},
		"two":                             {[]task.Draft{dep("12.1", "ref:12.4"), dep("12.4", "ref:12.1")}, "ref:12.1 ref:12.4 ref:12.1"},
		"its own parent":                  {[]task.Draft{sub("a", "ref:a")}, "ref:a ref:a"},
		"parents of each other":           {[]task.Draft{sub("a", "ref:b"), sub("b", "ref:a")}, "ref:a ref:b ref:a"},
		"three parents, one below":        {[]task.Draft{sub("d", "ref:a"), sub("a", "ref:b"), sub("b", "ref:c"), sub("c", "ref:a")}, "ref:a ref:c ref:b ref:a"},
		"a child on its parent":           {[]task.Draft{dep("p"), sub("c", "ref:p", "ref:p")}, "ref:p ref:c ref:p"},
		"a grandchild on the top":         {[]task.Draft{dep("p"), sub("c", "ref:p"), sub("g", "ref:c", "ref:p")}, "ref:p ref:c ref:g ref:p"},
		"a child on its parent's need":    {[]task.Draft{dep("p"), sub("c", "ref:p", "ref:x"), dep("x", "ref:p")}, "ref:p ref:c ref:x ref:p"},
		"a parent on its child":           {[]task.Draft{dep("p", "ref:c"), sub("c", "ref:p")}, ""},
		"a parent on its grandchild":      {[]task.Draft{dep("p", "ref:g"), sub("g", "ref:c"), sub("c", "ref:p")}, ""},
		"a child on its brother":          {[]task.Draft{dep("p"), sub("a", "ref:p", "ref:b"), sub("b", "ref:p")}, ""},
		"a diamond":                       {[]task.Draft{dep("a"), dep("b", "ref:a"), dep("c", "ref:a"), dep("d", "ref:b", "ref:c")}, ""},
		"of those without a ref":          {[]task.Draft{{Title: "a", Parent: "ref:b"}, {Title: "b", Ref: "b", Parent: "ref:b"}}, "ref:b ref:b"},
		"through a task that has no name": {[]task.Draft{sub("a", "", "ref:b"), {Title: "x", Parent: "ref:b", Dependencies: []string{"ref:a"}}, dep("b")}, "ref:a ref:b tasks[1] ref:a"},
	} {
		t.Run(name, func(t *testing.T) {
			f := f.as(filer)
			if c.path == "" {
				f.createAll(c.drafts...)
				return
			}
			e := as[*pool.RuleError](t, f.wontCreate("CYCLE", c.drafts...))
			if got := strings.Join(e.Path, " "); got != c.path {
				t.Errorf("path %q, want %q", got, c.path)
			}
			if shown := strings.ReplaceAll(strings.Join(e.Path, " → "), "ref:", ""); !strings.Contains(e.Message, shown) {
				t.Errorf("%q does not show %q", e.Message, shown)
			}
		})
	}

	t.Run("through a task that is there", func(t *testing.T) {
		top := f.titled("top")
		e := as[*pool.RuleError](t, f.wontCreate("CYCLE", task.Draft{Title: "late", Ref: "late", Parent: top.ID, Dependencies: []string{top.Key()}}))
		if want := []string{"ref:late", top.Key(), "ref:late"}; !slices.Equal(e.Path, want) {
			t.Errorf("path %v, want %v", e.Path, want)
		}
	})
}

// A parent that needs its child waits for it, and both can be finished.
func TestCreateAll_parentThatDependsOnItsChild(t *testing.T) {
	f := open(t)
	made := f.createAll(task.Draft{Title: "parent", Ref: "p", Dependencies: []string{"ref:c"}}, task.Draft{Title: "child", Ref: "c", Parent: "ref:p"})
	f.wantStatus(made[0].ID, task.Pending, made[1].ID)
	f.wontUpdate(made[1].ID, task.Patch{AddDependencies: []string{made[0].ID}}, "CYCLE")
	f.set(made[1].ID, task.Done)
	f.wantStatus(made[0].ID, task.Ready)
	f.set(made[0].ID, task.Done)
}

// A circle of parents that thousands lead into costs no more than a look at each.
func TestCreateAll_manyBelowACircleOfParents(t *testing.T) {
	f := openAs(t, task.LimitOptions{"children": 20_000, "depth": 1000}, task.EditByAnyone)
	const n = 10_000
	drafts := make([]task.Draft, n)
	for i := range drafts {
		drafts[i] = task.Draft{Title: "it", Ref: fmt.Sprint(i), Parent: fmt.Sprint("ref:", n-2)}
	}
	drafts[n-2].Parent = fmt.Sprint("ref:", n-1)
	start := time.Now()
	f.wontCreate("CYCLE", drafts...)
	for i := range drafts[:n-1] {
		drafts[i].Parent = fmt.Sprint("ref:", i+1)
	}
	f.wontCreate("CYCLE", drafts...)
	drafts[n-1].Parent = ""
	f.wontCreate("DEPTH_EXCEEDED", drafts...)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestCreateAll_namesWhatItDoesNotFind(t *testing.T) {
	f := open(t)
	old := f.titled("old")
	second := task.Draft{Title: "b", Ref: "b"}
	for name, c := range map[string]struct {
		draft         task.Draft
		reason, field string
	}{
		"dependency":        {task.Draft{Title: "a", Dependencies: []string{old.ID, "T-99"}}, "TASK_NOT_FOUND", "tasks[1].dependency_ids[1]"},
		"one of the batch":  {task.Draft{Title: "a", Dependencies: []string{"T-2"}}, "TASK_NOT_FOUND", "tasks[1].dependency_ids[0]"},
		"parent":            {task.Draft{Title: "a", Parent: "T-99"}, "TASK_NOT_FOUND", "tasks[1].parent_id"},
		"too short an id":   {task.Draft{Title: "a", Parent: old.ID[:7]}, "TASK_NOT_FOUND", "tasks[1].parent_id"},
		"discovered from":   {task.Draft{Title: "a", DiscoveredFrom: "12345678"}, "TASK_NOT_FOUND", "tasks[1].discovered_from_id"},
		"member":            {task.Draft{Title: "a", Assignee: "agent:"}, "MEMBER_NOT_FOUND", "tasks[1].assignee"},
		"the pool":          {task.Draft{Title: "a", Assignee: task.SystemPool}, "MEMBER_NOT_FOUND", "tasks[1].assignee"},
		"a bare name":       {task.Draft{Title: "a", Assignee: "bob"}, "MEMBER_AMBIGUOUS", "tasks[1].assignee"},
		"key and id":        {task.Draft{Title: "a", Dependencies: []string{old.ID, old.Key()}}, "DUPLICATE_DEPENDENCY", "tasks[1].dependency_ids[1]"},
		"id and its prefix": {task.Draft{Title: "a", Dependencies: []string{old.ID[:8], strings.ToUpper(old.ID)}}, "DUPLICATE_DEPENDENCY", "tasks[1].dependency_ids[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := f.as(filer)
			err := f.wontCreate(c.reason, second, c.draft)
			var field string
			switch c.reason {
			case "TASK_NOT_FOUND", "MEMBER_NOT_FOUND":
				field = as[*pool.NotFoundError](t, err).Field
			case "MEMBER_AMBIGUOUS":
				e := as[*pool.AmbiguousError](t, err)
				if field = e.Field; !slices.Equal(e.Candidates, []string{"agent:bob", "ext:bob"}) {
					t.Errorf("candidates %v", e.Candidates)
				}
			default:
				e := as[*pool.RuleError](t, err)
				if field, _, _ = strings.Cut(e.Message, ": "); !slices.Equal(e.Related, []string{old.ID}) {
					t.Errorf("related %v", e.Related)
				}
			}
			if field != c.field {
				t.Errorf("field %q, want %q", field, c.field)
			}
		})
	}
	if got := f.create(task.Draft{Title: "mine", Assignee: "me"}); got.Assignee != f.actor || got.Key() != "T-2" {
		t.Errorf("%s is assigned to %q", got.Key(), got.Assignee)
	}
}

func TestCreateAll_bounds(t *testing.T) {
	f := openAs(t, task.LimitOptions{"tasks_per_batch": 5, "dependencies": 2, "dependents": 3}, task.EditByAnyone)
	some := func(n int, deps ...string) []task.Draft {
		return slices.Repeat([]task.Draft{{Title: "it", Dependencies: deps}}, n)
	}
	f.wontCreate("BATCH_TOO_LARGE", some(6)...)
	f.createAll(some(5)...)

	f.wontCreate("INVALID_FIELD", some(1, "T-1", "T-2", "T-3")...)
	f.wontCreate("DEPENDENTS_EXCEEDED", some(4, "T-1")...)
	f.wontCreate("DEPENDENTS_EXCEEDED", append(some(4, "ref:hub"), task.Draft{Title: "hub", Ref: "hub"})...)
	f.createAll(some(3, "T-1")...)
	e := as[*pool.RuleError](t, f.wontCreate("DEPENDENTS_EXCEEDED", some(1, "T-1")...))
	if !slices.Equal(e.Related, []string{f.get("T-1").ID}) {
		t.Errorf("%+v", e)
	}

	big := openAs(t, task.LimitOptions{"body_length": 1 << 20}, task.EditByAnyone)
	huge := task.Draft{Title: "huge", Body: strings.Repeat("x", 1<<20)}
	big.wontCreate("REVISION_TOO_LARGE", slices.Repeat([]task.Draft{huge}, 16)...)
	big.createAll(slices.Repeat([]task.Draft{huge}, 15)...)
	if n := len(big.createAll(slices.Repeat([]task.Draft{{Title: "it"}}, 5000)...)); n != 5000 {
		t.Errorf("%d made", n)
	}
}
