package pool_test

import (
	"slices"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestDelete_refused(t *testing.T) {
	f := open(t)
	parent := f.titled("parent")
	child := f.under(parent.ID, "child")
	needed := f.titled("needed")
	needs := f.titled("needs", needed.ID)
	f.set(needed.ID, task.Done)
	f.set(needs.ID, task.Done)
	for name, c := range map[string]struct {
		id, who string
		version int64
		reason  string
		related []string
	}{
		"by its filer":              {child.ID, f.actor, 0, denied, nil},
		"by who is nobody":          {child.ID, nameless, 0, denied, nil},
		"unknown":                   {"T-99", operator, 0, "TASK_NOT_FOUND", nil},
		"of another version":        {child.ID, operator, 2, "VERSION_MISMATCH", nil},
		"what others depend on":     {needed.ID, operator, 0, "HAS_DEPENDENTS", []string{needs.ID}},
		"what has children":         {parent.Key(), operator, 0, "HAS_CHILDREN", []string{child.ID}},
		"nothing by a stranger too": {"T-99", stranger, 0, denied, nil},
	} {
		t.Run(name, func(t *testing.T) {
			err := f.refused(c.reason, func() error {
				_, err := f.Delete(t.Context(), pool.Request{Actor: c.who}, c.id, c.version)
				return err
			})
			if c.related != nil {
				if e := as[*pool.RuleError](t, err); !slices.Equal(e.Related, c.related) {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

func TestDelete_leavesNothing(t *testing.T) {
	f := open(t)
	need, parent := f.titled("need"), f.titled("parent")
	it := f.create(task.Draft{Title: "it", Dependencies: []string{need.ID}, Parent: parent.ID})
	found := f.create(task.Draft{Title: "found", DiscoveredFrom: it.ID})
	f.set(need.ID, task.Done)
	token := f.as(worker).claim(it.ID)
	r, err := f.Delete(t.Context(), pool.Request{Actor: operator}, it.Key(), f.get(it.ID).Version)
	if err != nil || len(r.Tasks) != 0 || r.Cursor != f.Cursor() {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, name := range []string{it.ID, it.Key(), it.ID[:8]} {
		if _, err := f.Get(name); reasonOf(err) != "TASK_NOT_FOUND" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := f.get(need.ID).Dependents; len(got) != 0 {
		t.Errorf("dependents %v", got)
	}
	f.wantCounts(parent.ID, 0, 0)
	f.wantTold(parent.ID, 2, map[string]string{"IT": it.ID}, "human subtask {ChildID:IT Change:2}")
	if got := f.get(found.ID).DiscoveredFrom; got != it.ID {
		t.Errorf("found from %q", got)
	}
	if got := titles(f.all()); got != "need parent found" {
		t.Errorf("left: %s", got)
	}
	f.refused("TASK_NOT_FOUND", func() error { _, err := f.withToken(it.ID, token, task.Patch{}); return err })
	if next := f.titled("next"); next.Key() != "T-5" {
		t.Errorf("the next is %s", next.Key())
	}
}

func TestClear(t *testing.T) {
	f := openAs(t, nil, task.EditByAnyone)
	f.titled("a")
	f.titled("b", "T-1")
	clearing := func(who, confirm string) error {
		_, err := f.Clear(t.Context(), pool.Request{Actor: who}, confirm)
		return err
	}
	f.refused(denied, func() error { return clearing(filer, "team") })
	f.refused("CONFIRMATION_MISMATCH", func() error { return clearing(operator, "default") })
	f.refused("CONFIRMATION_MISMATCH", func() error { return clearing(operator, "") })
	before := f.Cursor()
	if err := clearing(operator, "team"); err != nil {
		t.Fatal(err)
	}
	at, counts := f.Stat()
	if len(f.all()) != 0 || at.Epoch == before.Epoch || counts[task.Ready]+counts[task.Pending] != 0 {
		t.Errorf("%d tasks, %v at %+v", len(f.all()), counts, at)
	}
	if err := f.Check(t.Context(), before); err == nil {
		t.Error("a cursor of before still works")
	}
	if got := f.titled("c"); got.Key() != "T-3" {
		t.Errorf("the next is %s", got.Key())
	}
	f.wontCreate("TASK_NOT_FOUND", task.Draft{Title: "d", Dependencies: []string{"T-1"}})
}
