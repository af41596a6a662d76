package pool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

func TestExplain_everyCheck(t *testing.T) {
	later := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		bring func(f *fixture) string
		who   string
		fails []string
		says  map[string]string
	}{
		"ready":               {func(f *fixture) string { return f.bring(task.Ready, true).ID }, stranger, nil, nil},
		"assigned to me":      {func(f *fixture) string { return f.bring(task.Ready, false).ID }, worker, nil, nil},
		"assigned to another": {func(f *fixture) string { return f.bring(task.Ready, false).ID }, stranger, []string{task.CheckAssignee}, map[string]string{task.CheckAssignee: worker}},
		"to do first":         {func(f *fixture) string { return f.bring(task.Pending, true).ID }, stranger, []string{task.CheckDependencies}, map[string]string{task.CheckDependencies: "T-1"}},
		"not yet":             {func(f *fixture) string { return f.create(task.Draft{Title: "it", NotBefore: later}).ID }, stranger, []string{task.CheckNotBefore}, map[string]string{task.CheckNotBefore: later.UTC().Format("2006-01-02T15:04:05Z")}},
		"neither": {func(f *fixture) string {
			return f.create(task.Draft{Title: "it", NotBefore: later, Dependencies: []string{f.titled("first").ID}, Assignee: worker}).ID
		}, stranger, []string{task.CheckDependencies, task.CheckNotBefore, task.CheckAssignee}, map[string]string{task.CheckNotBefore: "waits until"}},
		"held by another": {func(f *fixture) string { return f.bring(task.InProgress, true).ID }, stranger, []string{task.CheckOpen, task.CheckUnheld, task.CheckAssignee}, map[string]string{task.CheckUnheld: worker}},
		"held by me":      {func(f *fixture) string { return f.bring(task.InProgress, true).ID }, worker, []string{task.CheckOpen, task.CheckUnheld}, map[string]string{task.CheckUnheld: "you hold"}},
		"blocked":         {func(f *fixture) string { return f.bring(task.Blocked, true).ID }, stranger, []string{task.CheckOpen}, map[string]string{task.CheckOpen: "because"}},
		"blocked, and to do first": {func(f *fixture) string {
			it := f.bring(task.Pending, true)
			f.set(it.ID, task.Blocked)
			f.mustUpdate(it.ID, task.Patch{NotBefore: &later})
			return it.ID
		}, stranger, []string{task.CheckOpen, task.CheckDependencies, task.CheckNotBefore}, map[string]string{task.CheckDependencies: "T-1", task.CheckOpen: "because"}},
		"done":      {func(f *fixture) string { return f.bring(task.Done, true).ID }, worker, []string{task.CheckOpen}, map[string]string{task.CheckOpen: "reopen"}},
		"cancelled": {func(f *fixture) string { return f.bring(task.Cancelled, true).ID }, stranger, []string{task.CheckOpen}, map[string]string{task.CheckOpen: "reopen"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			id := c.bring(f)
			before := f.dump()
			it, checks, err := f.Explain(c.who, id[:8])
			if err != nil || it.ID != id || f.dump() != before {
				t.Fatalf("%v, %v", it, err)
			}
			var names, fails []string
			for _, check := range checks {
				names = append(names, check.Name)
				if !check.Holds {
					fails = append(fails, check.Name)
				}
				if !strings.Contains(check.Detail, c.says[check.Name]) || check.Detail == "" {
					t.Errorf("%s: %q does not say %q", check.Name, check.Detail, c.says[check.Name])
				}
				if check.Name == task.CheckDependencies && !slices.Equal(check.Related, it.Unfinished) {
					t.Errorf("related: %v", check.Related)
				}
			}
			if !slices.Equal(fails, c.fails) || !slices.Equal(names, []string{task.CheckOpen, task.CheckDependencies, task.CheckNotBefore, task.CheckUnheld, task.CheckAssignee}) {
				t.Errorf("of %v fail %v, want %v", names, fails, c.fails)
			}
		})
	}
}

// Many dependencies are named as far as anyone reads, and all of them for
// programs.
func TestExplain_manyDependencies(t *testing.T) {
	f := open(t)
	var ids []string
	for i := range 15 {
		ids = append(ids, f.titled(fmt.Sprint(i)).ID)
	}
	it := f.titled("it", ids...)
	_, checks, err := f.Explain(f.actor, it.ID)
	if err != nil || !strings.Contains(checks[1].Detail, "T-9, T-10 and 5 more") || !slices.Equal(checks[1].Related, ids) {
		t.Errorf("%+v, %v", checks[1], err)
	}
	refused := f.wontUpdate(it.ID, task.Patch{Status: new(task.InProgress)}, waits)
	if e := as[*pool.RuleError](t, refused); !strings.Contains(e.Message, "T-9, T-10 and 5 more") || !slices.Equal(e.Related, ids) {
		t.Errorf("%+v", e)
	}
}

func TestRead_names(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	for _, name := range []string{it.ID, strings.ToUpper(it.ID), " " + it.ID + " ", "T-1", "t-1", it.ID[:8], it.ID[:13], it.ID[:35]} {
		if got, err := f.Get(name); err != nil || got.ID != it.ID {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "1", "T-01", "T-", "T-2", it.ID[:7], it.ID + "0", "ref:it", "it", "00000000-0000-4000-8000-000000000000"} {
		_, err := f.Get(name)
		if e := as[*pool.NotFoundError](t, err); e.Reason != pool.ReasonTaskNotFound || e.Name != name || e.Field != "id" {
			t.Errorf("%q: %+v", name, e)
		}
		if _, _, err := f.Explain(f.actor, name); reasonOf(err) != "TASK_NOT_FOUND" {
			t.Errorf("explain %q: %v", name, err)
		}
		f.wontUpdate(name, task.Patch{}, "TASK_NOT_FOUND")
		if ids := f.UnfinishedDependencies(name); len(ids) != 0 {
			t.Errorf("%q waits for %v", name, ids)
		}
	}
}

// A prefix that fits several tasks names them all, and none of them.
func TestRead_ambiguousPrefix(t *testing.T) {
	ids := []string{"5a1f0c2e-0000-4000-8000-000000000001", "5a1f0c2e-0000-4000-8000-000000000002", "5a1f0c2e-1000-4000-8000-000000000003"}
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	c := store.Commit{Revision: 1, Nonce: 1, At: time.Now().UTC()}
	for i, id := range ids {
		value, err := taskpb.Codec{}.EncodeTask(&task.Task{ID: id, Number: int64(i + 1), Title: "it", Status: task.Ready})
		if err != nil {
			t.Fatal(err)
		}
		c.Facts = append(c.Facts, store.Fact{Key: store.Key{Kind: 2, ID: int64(i + 1)}, Value: value})
	}
	if err := s.Append(t.Context(), []store.Batch{{Log: "pool/default", Commits: []store.Commit{c}}}); err != nil {
		t.Fatal(err)
	}
	f := openOn(t, s)
	for prefix, fit := range map[string][]string{"5a1f0c2e": ids, "5A1F0C2E-0000-4": ids[:2]} {
		_, err := f.Get(prefix)
		if e := as[*pool.AmbiguousError](t, err); !slices.Equal(e.Candidates, fit) || e.Reason != pool.ReasonReferenceAmbiguous || e.Name != prefix {
			t.Errorf("%+v", e)
		}
		f.wontUpdate(prefix, task.Patch{Title: new("x")}, "REFERENCE_AMBIGUOUS")
		f.wontUpdate("T-1", add(prefix), "REFERENCE_AMBIGUOUS")
		f.wontCreate("REFERENCE_AMBIGUOUS", task.Draft{Title: "x", Parent: prefix})
	}
	if got := f.get("5a1f0c2e-1"); got.ID != ids[2] {
		t.Errorf("%s", got.ID)
	}
	if got := f.get(ids[0]); got.Key() != "T-1" {
		t.Errorf("%s", got.Key())
	}
}
