package pool_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// full is a draft that says everything.
func full() task.Draft {
	return task.Draft{
		Title: "title", Description: "description", Body: "body", Priority: task.High, Type: task.Bug,
		AcceptanceCriteria: []string{"criterion"}, Links: []string{"https://example.org/"}, Steps: []string{"step"},
		Constraints: []string{"constraint"}, OutOfScope: []string{"not this"}, Verification: []string{"check"},
		Context: []string{"context"}, EdgeCases: []string{"edge"}, Labels: map[string]string{"team": "a", "area": "x"},
		NotBefore: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// Whatever is wrong with a part of an update, nothing of it happens.
func TestUpdate_isAllOrNothing(t *testing.T) {
	f := openAs(t, task.LimitOptions{"history_length": 60, "depth": 1}, task.EditByAnyone)
	first, top := f.titled("first"), f.titled("top")
	child := f.under(top.ID, "child")
	it := f.create(task.Draft{Title: "it", Dependencies: []string{first.ID}, Labels: map[string]string{"a": "b"}})
	good := func() task.Patch {
		return task.Patch{
			Title: new("new title"), Description: new("new"), Priority: new(task.Low), Steps: new([]string{"one"}),
			SetLabels: map[string]string{"c": "d"}, RemoveLabels: []string{"a"}, RemoveDependencies: []string{first.ID},
			Parent: new(top.ID), Assignee: new(worker), HistoryEntry: new("begun"), NotBefore: new(time.Unix(1, 0)),
		}
	}
	for name, c := range map[string]struct {
		spoil  func(*task.Patch)
		reason string
	}{
		"title":         {func(p *task.Patch) { p.Title = new(" ") }, "INVALID_FIELD"},
		"status":        {func(p *task.Patch) { p.Status = new(task.Pending) }, "STATUS_DERIVED"},
		"two things":    {func(p *task.Patch) { p.Status = new(task.Pending); p.Title = new("") }, "INVALID_FIELD"},
		"NUL":           {func(p *task.Patch) { p.HistoryEntry = new("a\x00b") }, "INVALID_FIELD"},
		"label":         {func(p *task.Patch) { p.SetLabels = map[string]string{"": "x"} }, "INVALID_FIELD"},
		"too many":      {func(p *task.Patch) { p.Links = new(slices.Repeat([]string{"https://x.org"}, 21)) }, "INVALID_FIELD"},
		"dependency":    {func(p *task.Patch) { p.AddDependencies = []string{"T-99"} }, "TASK_NOT_FOUND"},
		"removal":       {func(p *task.Patch) { p.RemoveDependencies = []string{child.ID} }, "DEPENDENCY_NOT_FOUND"},
		"cycle":         {func(p *task.Patch) { p.AddDependencies = []string{it.Key()} }, "CYCLE"},
		"parent":        {func(p *task.Patch) { p.Parent = new("T-99") }, "TASK_NOT_FOUND"},
		"own parent":    {func(p *task.Patch) { p.Parent = new(it.ID) }, "CYCLE"},
		"depth":         {func(p *task.Patch) { p.Parent = new(child.ID) }, "DEPTH_EXCEEDED"},
		"nobody":        {func(p *task.Patch) { p.Assignee = new("bob") }, "MEMBER_AMBIGUOUS"},
		"not theirs":    {func(p *task.Patch) { p.Status = new(task.InProgress) }, denied},
		"no reason":     {func(p *task.Patch) { p.Status = new(task.Blocked) }, "REASON_REQUIRED"},
		"no such move":  {func(p *task.Patch) { p.Status = new(task.Review) }, noMove},
		"history":       {func(p *task.Patch) { p.HistoryEntry = new(strings.Repeat("x", 40)) }, "HISTORY_FULL"},
		"late not_befo": {func(p *task.Patch) { p.NotBefore = new(time.Now().Add(time.Hour)); p.Status = new(task.Done) }, noMove},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{Pool: f.Pool, t: t, actor: filer}
			p := good()
			c.spoil(&p)
			f.wontUpdate(it.ID, p, c.reason)
		})
	}
	f.refused("VERSION_MISMATCH", func() error {
		_, err := f.Update(t.Context(), f.request(), pool.Update{ID: it.ID, ExpectedVersion: 2, Patch: good()})
		return err
	})
	got := f.mustUpdate(it.ID, good())
	if got.Title != "new title" || got.Status != task.Ready || got.ParentID != top.ID || got.Assignee != worker || got.HistoryCount != 1 || got.Version != 2 {
		t.Errorf("%+v", *got.Task)
	}
}

func TestUpdate_tellsEveryViolation(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	err := f.wontUpdate(it.ID, task.Patch{
		Title: new(""), Priority: new(task.Priority(9)), Links: new([]string{"javascript:1", "https://ok.org"}), Steps: new([]string{"a", " "}),
		SetLabels: map[string]string{"a b": "c"}, Status: new(task.Failed), Reason: strings.Repeat("x", 501), HistoryEntry: new(" "),
	}, "INVALID_FIELD")
	var fields []string
	for _, v := range as[*pool.InvalidError](t, err).Violations {
		fields = append(fields, v.Field)
	}
	want := []string{"title", "priority", "links[0]", "steps[1]", `set_labels["a b"]`, "status", "reason", "history_entry"}
	if !slices.Equal(fields, want) {
		t.Errorf("violations of %q, want %q", fields, want)
	}
}

// grackle#104, #939 and Backlog#839: a field can't be cleared, and success is
// printed all the same.
func TestUpdate_clears(t *testing.T) {
	f := open(t)
	parent := f.titled("parent")
	d := full()
	d.Assignee, d.Parent = worker, parent.ID
	it := f.create(d)
	got := f.mustUpdate(it.ID, task.Patch{
		Description: new(""), Body: new(""), Priority: new(task.PriorityUnspecified), Type: new(task.TypeUnspecified),
		AcceptanceCriteria: new([]string{}), Links: new([]string{}), Steps: new([]string{}), Constraints: new([]string{}),
		OutOfScope: new([]string{}), Verification: new([]string{}), Context: new([]string{}), EdgeCases: new([]string{}),
		RemoveLabels: []string{"team", "area", "never"}, NotBefore: new(time.Time{}), Assignee: new(""), Parent: new(""),
	})
	bare := f.titled("title")
	if !reflect.DeepEqual(normal(got.Brief.Unpack()), normal(bare.Brief.Unpack())) || got.Priority != 0 || got.Type != 0 || len(got.Labels) != 0 ||
		!got.NotBefore.IsZero() || got.Assignee != "" || got.ParentID != "" {
		t.Errorf("something is left: %+v %+v", *got.Task, *got.Brief.Unpack())
	}
	f.wantTold(it.ID, 1, map[string]string{},
		f.actor+" edited {Fields:[description body acceptance_criteria priority type links steps constraints out_of_scope verification context edge_cases labels not_before] SetLabels:[] RemovedLabels:[area team]}",
		f.actor+" edited {Fields:[parent_id] SetLabels:[] RemovedLabels:[]}",
		f.actor+" assigned {From:agent:worker To:}")
}

// normal makes nothing and an empty list alike.
func normal(b *task.Brief) string {
	return strings.ReplaceAll(fmt.Sprintf("%+v", *b), "[]", "")
}

// beads PR#2423: setting one label drops the others.
func TestUpdate_mergesLabels(t *testing.T) {
	f := openAs(t, task.LimitOptions{"labels": 3}, task.EditByAnyone)
	it := f.create(task.Draft{Title: "it", Labels: map[string]string{"a": "1", "b": "2"}})
	want := func(labels map[string]string) {
		t.Helper()
		if got := f.get(it.ID).Labels; !maps.Equal(got, labels) {
			t.Errorf("labels %v, want %v", got, labels)
		}
	}
	f.mustUpdate(it.ID, task.Patch{SetLabels: map[string]string{"c": "3", "a": ""}})
	want(map[string]string{"a": "", "b": "2", "c": "3"})
	f.wontUpdate(it.ID, task.Patch{SetLabels: map[string]string{"d": "4"}}, "INVALID_FIELD")
	f.mustUpdate(it.ID, task.Patch{SetLabels: map[string]string{"d": "4"}, RemoveLabels: []string{"b", "none"}})
	want(map[string]string{"a": "", "c": "3", "d": "4"})
	f.wontUpdate(it.ID, task.Patch{SetLabels: map[string]string{"a": "5"}, RemoveLabels: []string{"a"}}, "INVALID_FIELD")
	f.wantTold(it.ID, 2, nil, f.actor+" edited {Fields:[labels] SetLabels:[d] RemovedLabels:[b]}")
}

// What is asked for and is so already makes no revision, no event, no version.
func TestUpdate_ofNothingChangesNothing(t *testing.T) {
	f := open(t)
	parent := f.titled("parent")
	d := full()
	d.Parent, d.Assignee = parent.ID, worker
	it := f.create(d)
	before := f.dump()
	for name, p := range map[string]task.Patch{
		"an empty one": {},
		"the same": {
			Title: new(" title "), Description: new("description"), Body: new("body"), Priority: new(task.High), Type: new(task.Bug),
			AcceptanceCriteria: new([]string{"criterion"}), Links: new([]string{"https://example.org/"}), Steps: new([]string{" step "}),
			SetLabels: map[string]string{"team": "a"}, RemoveLabels: []string{"none"}, NotBefore: new(time.Date(2020, 1, 2, 5, 4, 5, 0, time.FixedZone("", 7200))),
			Parent: new(parent.Key()), Assignee: new(worker), Status: new(task.Ready),
		},
		"force": {Force: true},
	} {
		r, err := f.Update(t.Context(), f.request(), pool.Update{ID: it.Key(), Patch: p})
		if err != nil || r.Replayed || r.Tasks[0].Version != 1 || r.Cursor != f.Cursor() {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if f.dump() != before {
			t.Errorf("%s changed something", name)
		}
	}
}

// beads#6029: an update wants to be sure what it changes.
func TestUpdate_expectedVersion(t *testing.T) {
	f := open(t)
	first := f.titled("first")
	it := f.titled("it", first.ID)
	at := func(version int64, p task.Patch) error {
		_, err := f.Update(t.Context(), f.request(), pool.Update{ID: it.ID, ExpectedVersion: version, Patch: p})
		return err
	}
	if err := at(1, task.Patch{Title: new("other")}); err != nil {
		t.Fatal(err)
	}
	err := f.refused("VERSION_MISMATCH", func() error { return at(1, task.Patch{Title: new("third")}) })
	if e := as[*pool.VersionError](t, err); e.Expected != 1 || e.Current != 2 || e.Key != it.Key() {
		t.Errorf("%+v", e)
	}
	// What the pool derives raises the revision alone, so it spoils no update.
	before := f.get(it.ID)
	f.set(first.ID, task.Done)
	f.under(it.ID, "child")
	if after := f.get(it.ID); after.Version != before.Version || after.Revision == before.Revision || after.Status != task.Ready {
		t.Errorf("version %d → %d, revision %d → %d", before.Version, after.Version, before.Revision, after.Revision)
	}
	if err := at(2, task.Patch{Title: new("fourth")}); err != nil {
		t.Error(err)
	}
	if err := at(3, task.Patch{}); err != nil {
		t.Error(err)
	}
	f.refused("VERSION_MISMATCH", func() error { return at(2, task.Patch{}) })
}

// Backlog#843: of two edits of different fields at once one is lost.
func TestUpdate_ofDifferentFieldsAtOnce(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			p := task.Patch{SetLabels: map[string]string{fmt.Sprint("l", i): "x"}}
			if i%2 == 0 {
				p = task.Patch{HistoryEntry: new(fmt.Sprint("entry ", i))}
			}
			if _, err := f.Update(t.Context(), f.request(), pool.Update{ID: it.ID, Patch: p}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := f.get(it.ID); len(got.Labels) != 16 || got.HistoryCount != 16 || len(got.History()) != 16 || got.Version != 33 {
		t.Errorf("%d labels, %d entries, version %d", len(got.Labels), got.HistoryCount, got.Version)
	}
}

func TestUpdate_editRuleOfTheFiler(t *testing.T) {
	title, plan := task.Patch{Title: new("other")}, task.Patch{Steps: new([]string{"one"}), SetLabels: map[string]string{"a": "b"}}
	for name, c := range map[string]struct {
		p       task.Patch
		may     string // under the rule of the filer
		reasons string
	}{
		"title":        {title, "fo", "filer operator"},
		"body":         {task.Patch{Body: new("x"), Steps: new([]string{"a"})}, "fo", "filer operator"},
		"plan":         {plan, "fow", "holder filer operator"},
		"dependency":   {add("T-1"), "fo", ""}, // by the holder: not while it is in progress
		"no more":      {remove("T-2"), "fow", "holder filer operator"},
		"parent":       {task.Patch{Parent: new("T-1")}, "fow", "holder filer operator"},
		"an entry":     {task.Patch{HistoryEntry: new("x")}, "fowsn", ""},
		"nothing new":  {task.Patch{Title: new("it")}, "fowsn", ""},
		"a not_before": {task.Patch{NotBefore: new(time.Unix(1, 0))}, "fow", "holder filer operator"},
	} {
		for _, rule := range []task.EditRule{task.EditByAnyone, task.EditByFiler} {
			for _, who := range members {
				t.Run(fmt.Sprintf("%s/%s by %s", rule, name, who), func(t *testing.T) {
					f := openAs(t, nil, rule)
					f.titled("first")
					done := f.titled("second")
					f.set(done.ID, task.Done)
					it := f.titled("it", done.ID)
					if name != "dependency" {
						f.as(worker).claim(it.ID)
					}
					f = f.as(who)
					if rule == task.EditByAnyone || each(c.may, made, denied)[who] == made {
						f.mustUpdate(it.ID, c.p)
						return
					}
					e := as[*pool.DeniedError](t, f.wontUpdate(it.ID, c.p, denied))
					if c.reasons != "" && strings.Join(e.May, " ") != c.reasons {
						t.Errorf("may: %v", e.May)
					}
				})
			}
		}
	}
}

// beads#4093: what is over a limit can no longer be edited, even to shrink it.
func TestUpdate_ofDataOlderThanALoweredLimit(t *testing.T) {
	s, limits := loweredLimits(t, func(f *fixture) {
		d := full()
		d.Title, d.Description = strings.Repeat("t", 100), strings.Repeat("d", 500)
		d.Steps = slices.Repeat([]string{strings.Repeat("s", 300)}, 20)
		top := f.create(d)
		deep := f.under(f.under(top.ID, "child").ID, "grandchild")
		f.titled("other", top.ID, deep.ID)
		for range 10 {
			f.mustUpdate(top.ID, task.Patch{HistoryEntry: new(strings.Repeat("h", 100))})
		}
	})
	f := openWith(t, s, limits)
	top := f.get("T-1")
	if len(top.Title) != 100 || len(top.Brief.Unpack().Steps) != 20 || top.HistoryCount != 10 || len(f.all()) != 4 {
		t.Fatalf("not readable: %+v", *top.Task)
	}
	f.mustUpdate(top.ID, task.Patch{Priority: new(task.Low)})
	f.mustUpdate(top.ID, task.Patch{RemoveLabels: []string{"team"}})
	f.mustUpdate(top.ID, task.Patch{SetLabels: map[string]string{"area": "y"}})
	f.wontUpdate(top.ID, task.Patch{Title: new(strings.Repeat("t", 11))}, "INVALID_FIELD")
	f.wontUpdate(top.ID, task.Patch{HistoryEntry: new("x")}, "HISTORY_FULL")
	f.mustUpdate(top.ID, task.Patch{Title: new("short"), Description: new(""), Steps: new([]string{"s"})})
	f.mustUpdate("T-3", task.Patch{Title: new("shorter")})
	f.wontUpdate("T-4", add("T-2"), "DEPENDENCIES_EXCEEDED")
	f.mustUpdate("T-4", remove("T-1"))
	f.mustUpdate("T-2", task.Patch{Parent: new("")})
	if d := f.get("T-3"); d.Depth != 1 {
		t.Errorf("depth %d", d.Depth)
	}
}
