package pool_test

import (
	"slices"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Every mutation tells what it did, in whose name, in the threads of all it
// changed. moved is a STATUS event's detail.
func moved(from, to, reason, unfinished string) string {
	return "{From:" + from + " To:" + to + " Reason:" + reason + " Forced:false OpenChildren:[] Unfinished:[" + unfinished + "]}"
}

func TestEvents_ofEachMutation(t *testing.T) {
	first := func(f *fixture) map[string]string { return map[string]string{"FIRST": f.get("T-1").ID} }
	for name, c := range map[string]struct {
		// bring begins with T-1, which is "first", and makes T-2.
		bring func(f *fixture)
		do    func(f *fixture)
		want  []string // T-2's new events
		first []string // T-1's
	}{
		"create": {
			func(*fixture) {}, func(f *fixture) { f.titled("it") },
			[]string{"agent:filer created {Title:it ParentID: DiscoveredFrom:}"},
			nil,
		},
		"create pending, under a parent, found at work": {
			func(*fixture) {}, func(f *fixture) {
				f.create(task.Draft{Title: "it", Dependencies: []string{f.titled("need").ID}, Parent: "T-1", DiscoveredFrom: "T-1", Ref: ""})
			},
			nil, // T-2 is the need
			[]string{"agent:filer subtask {ChildID:T-3 Change:1}"},
		},
		"edit": {
			func(f *fixture) { f.titled("it") }, func(f *fixture) {
				f.mustUpdate("T-2", task.Patch{Title: new("a"), Body: new("b"), SetLabels: map[string]string{"z": "", "b": "c"}, RemoveLabels: []string{"no"}})
			},
			[]string{"agent:filer edited {Fields:[title body labels] SetLabels:[b z] RemovedLabels:[]}"},
			nil,
		},
		"start": {
			func(f *fixture) { f.titled("it") }, func(f *fixture) { f.as(worker).claim("T-2") },
			[]string{"agent:worker claimed {Holder:agent:worker Lease:0s RunID:}"},
			nil,
		},
		"put back, by another": {
			func(f *fixture) { f.titled("it"); f.as(worker).claim("T-2") }, func(f *fixture) { f.as(operator).set("T-2", task.Ready) },
			[]string{`human released "because" {Holder:agent:worker Reason:because}`},
			nil,
		},
		"put back without a reason": {
			func(f *fixture) { f.titled("it"); f.as(worker).claim("T-2") }, func(f *fixture) { f.as(worker).mustUpdate("T-2", task.Patch{Status: new(task.Ready)}) },
			[]string{"agent:worker released {Holder:agent:worker Reason:}"},
			nil,
		},
		"close": {
			func(f *fixture) { f.titled("it"); f.as(worker).claim("T-2") }, func(f *fixture) { f.as(worker).set("T-2", task.Done) },
			[]string{"agent:worker status " + moved("in_progress", "done", "because", "")},
			nil,
		},
		"close at once": {
			func(f *fixture) { f.titled("it") }, func(f *fixture) { f.mustUpdate("T-2", task.Patch{Status: new(task.Done)}) },
			[]string{"agent:filer status " + moved("ready", "done", "", "")},
			nil,
		},
		"block": {
			func(f *fixture) { f.titled("it", "T-1") }, func(f *fixture) { f.set("T-2", task.Blocked) },
			[]string{"agent:filer status " + moved("pending", "blocked", "because", "")},
			nil,
		},
		"block for another reason": {
			func(f *fixture) { f.titled("it"); f.set("T-2", task.Blocked) },
			func(f *fixture) { f.mustUpdate("T-2", task.Patch{Status: new(task.Blocked), Reason: "more"}) },
			[]string{"agent:filer status " + moved("blocked", "blocked", "more", "")},
			nil,
		},
		"unblock what waits": {
			func(f *fixture) { f.titled("it", "T-1"); f.set("T-2", task.Blocked) }, func(f *fixture) { f.mustUpdate("T-2", task.Patch{Status: new(task.Ready)}) },
			[]string{"agent:filer status " + moved("blocked", "pending", "", "FIRST")},
			nil,
		},
		"unblock and depend": {
			func(f *fixture) { f.titled("it"); f.set("T-2", task.Blocked) },
			func(f *fixture) {
				f.mustUpdate("T-2", task.Patch{Status: new(task.Ready), AddDependencies: []string{"T-1"}})
			},
			[]string{
				"agent:filer status " + moved("blocked", "ready", "", ""),
				"agent:filer dependency {Added:[FIRST] Removed:[] GivenUp:}",
				"system:pool status " + moved("ready", "pending", "", "FIRST"),
			},
			nil,
		},
		"cancel": {
			func(f *fixture) { f.titled("it"); f.as(worker).claim("T-2") }, func(f *fixture) { f.set("T-2", task.Cancelled) },
			[]string{"agent:filer status " + moved("in_progress", "cancelled", "because", "")},
			nil,
		},
		"reopen": {
			func(f *fixture) { f.titled("it"); f.set("T-2", task.Done) }, func(f *fixture) { f.set("T-2", task.Ready) },
			[]string{"agent:filer status " + moved("done", "ready", "because", "")},
			nil,
		},
		"reopen and claim": {
			func(f *fixture) { f.titled("it"); f.set("T-2", task.Cancelled) }, func(f *fixture) { f.as(worker).set("T-2", task.InProgress) },
			[]string{"agent:worker status " + moved("cancelled", "ready", "because", ""), "agent:worker claimed {Holder:agent:worker Lease:0s RunID:}"},
			nil,
		},
		"assign": {
			func(f *fixture) { f.titled("it") }, func(f *fixture) { f.mustUpdate("T-2", task.Patch{Assignee: new(worker)}) },
			[]string{"agent:filer assigned {From: To:agent:worker}"},
			nil,
		},
		"unassign what is held": {
			func(f *fixture) { f.titled("it"); f.as(worker).claim("T-2") }, func(f *fixture) { f.mustUpdate("T-2", task.Patch{Assignee: new("")}) },
			[]string{`agent:filer released "unassigned" {Holder:agent:worker Reason:unassigned}`, "agent:filer assigned {From:agent:worker To:}"},
			nil,
		},
		"depend": {
			func(f *fixture) { f.titled("it") }, func(f *fixture) { f.mustUpdate("T-2", add("T-1")) },
			[]string{"agent:filer dependency {Added:[FIRST] Removed:[] GivenUp:}", "system:pool status " + moved("ready", "pending", "", "FIRST")},
			nil,
		},
		"depend no more": {
			func(f *fixture) { f.titled("it", "T-1") }, func(f *fixture) { f.as(worker).mustUpdate("T-2", remove("T-1")) },
			[]string{"agent:worker dependency {Added:[] Removed:[FIRST] GivenUp:}", "system:pool status " + moved("pending", "ready", "", "")},
			nil,
		},
		"the end of a dependency": {
			func(f *fixture) { f.titled("it", "T-1") }, func(f *fixture) { f.set("T-1", task.Done) },
			[]string{"system:pool status " + moved("pending", "ready", "", "")},
			[]string{"agent:filer status " + moved("ready", "done", "because", "")},
		},
		"the cancelling of a dependency": {
			func(f *fixture) { f.titled("it", "T-1") }, func(f *fixture) { f.set("T-1", task.Cancelled) },
			[]string{"system:pool dependency {Added:[] Removed:[] GivenUp:FIRST}"},
			[]string{"agent:filer status " + moved("ready", "cancelled", "because", "")},
		},
		"the end of the last child": {
			func(f *fixture) { f.under("T-1", "it") }, func(f *fixture) { f.set("T-2", task.Done) },
			[]string{"agent:filer status " + moved("ready", "done", "because", "")},
			[]string{"system:pool subtask {ChildID:T-2 Change:3}"},
		},
		"an entry": {
			func(f *fixture) { f.titled("it") }, func(f *fixture) { f.as(nameless).mustUpdate("T-2", entry("did it")) },
			[]string{`ext:anonymous progress "did it"`},
			nil,
		},
		"all at once": {
			func(f *fixture) {
				f.set("T-1", task.Done)
				f.titled("it")
				f.under(f.titled("parent").ID, "other")
			},
			func(f *fixture) {
				f.mustUpdate("T-2", task.Patch{
					Title: new("new"), AddDependencies: []string{"T-1"}, Parent: new("T-3"), Assignee: new("me"), Status: new(task.InProgress), HistoryEntry: new("begun"),
				})
			},
			[]string{
				"agent:filer edited {Fields:[title] SetLabels:[] RemovedLabels:[]}",
				"agent:filer edited {Fields:[parent_id] SetLabels:[] RemovedLabels:[]}",
				"agent:filer dependency {Added:[FIRST] Removed:[] GivenUp:}",
				"agent:filer assigned {From: To:agent:filer}",
				"agent:filer claimed {Holder:agent:filer Lease:0s RunID:}",
				`agent:filer progress "begun"`,
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			f.titled("first")
			c.bring(f)
			heard := map[string]int{}
			for _, it := range f.all() {
				heard[it.Key()] = it.EventCount
			}
			at := f.Cursor().Revision
			c.do(f)
			ids := first(f)
			for _, it := range f.all() {
				ids[it.Key()] = it.ID
			}
			delete(ids, "T-1")
			if c.want != nil {
				f.wantTold("T-2", heard["T-2"], ids, c.want...)
			}
			if c.first != nil {
				f.wantTold("T-1", heard["T-1"], ids, c.first...)
			} else if n := len(f.get("T-1").Thread); n != heard["T-1"] {
				t.Errorf("T-1 was told of it: %s", told(f.get("T-1"), heard["T-1"]))
			}
			if c.want != nil && f.Cursor().Revision != at+1 {
				t.Errorf("it took %d revisions", f.Cursor().Revision-at)
			}
			wantOrdered(t, f)
		})
	}
}

// wantOrdered checks the ids, times and places of all events of a pool.
func wantOrdered(t *testing.T, f *fixture) {
	t.Helper()
	var all []*task.Event
	for _, it := range f.all() {
		d := f.get(it.ID)
		if d.EventCount != len(d.Thread) || d.Thread[0].Kind != task.EventCreated {
			t.Errorf("%s counts %d of %d events, the first is %s", it.Title, d.EventCount, len(d.Thread), d.Thread[0].Kind)
		}
		for i, e := range d.Thread {
			if e.TaskID != it.ID || e.Actor == "" || e.At.IsZero() || i > 0 && (e.ID <= d.Thread[i-1].ID || e.At.Before(d.Thread[i-1].At)) {
				t.Errorf("%s: event %d is %+v", it.Title, i, *e)
			}
		}
		all = append(all, d.Thread...)
	}
	slices.SortFunc(all, func(a, b *task.Event) int { return int(a.ID - b.ID) })
	for i, e := range all {
		if e.ID != int64(i+1) {
			t.Fatalf("the pool's event %d has the id %d", i+1, e.ID)
		}
	}
}

// A batch tells each task of its own creation first, whichever comes first in the
// request, and then of the others.
func TestEvents_ofABatch(t *testing.T) {
	f := open(t)
	gone := f.titled("gone")
	f.set(gone.ID, task.Cancelled)
	made := f.createAll(
		task.Draft{Title: "child", Ref: "c", Parent: "ref:p", Dependencies: []string{gone.ID, "ref:d"}},
		task.Draft{Title: "second", Parent: "ref:p"},
		task.Draft{Title: "parent", Ref: "p"},
		task.Draft{Title: "dependency", Ref: "d"},
	)
	ids := map[string]string{"CHILD": made[0].ID, "SECOND": made[1].ID, "PARENT": made[2].ID, "GONE": gone.ID}
	f.wantTold(made[0].ID, 0, ids,
		"agent:a created {Title:child ParentID:PARENT DiscoveredFrom:}",
		"system:pool dependency {Added:[] Removed:[] GivenUp:GONE}")
	f.wantTold(made[2].ID, 0, ids,
		"agent:a created {Title:parent ParentID: DiscoveredFrom:}",
		"agent:a subtask {ChildID:CHILD Change:1}",
		"agent:a subtask {ChildID:SECOND Change:1}")
	f.wantTold(made[3].ID, 0, nil, "agent:a created {Title:dependency ParentID: DiscoveredFrom:}")
	wantOrdered(t, f)
}

// The ids of events are not given out again after a deletion.
func TestEvents_idsAreNeverReused(t *testing.T) {
	f := open(t)
	keep := f.titled("keep")
	it := f.titled("it")
	f.mustUpdate(it.ID, entry("x"))
	last := f.get(it.ID).Thread[1].ID
	f.delete(it.ID)
	f.mustUpdate(keep.ID, entry("y"))
	if e := f.get(keep.ID).Thread[1]; e.ID <= last {
		t.Errorf("event %d after %d", e.ID, last)
	}
	if next := f.titled("next"); next.Key() != "T-3" {
		t.Errorf("the next key is %s", next.Key())
	}
	if _, err := f.Clear(t.Context(), pool.Request{Actor: operator}, f.Name()); err != nil {
		t.Fatal(err)
	}
	after := f.titled("after")
	if after.Key() != "T-4" || after.Thread[0].ID <= last {
		t.Errorf("after clearing: %s, event %d", after.Key(), after.Thread[0].ID)
	}
}
