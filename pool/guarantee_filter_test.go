package pool_test

import (
	"fmt"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// lens is a filter, and what it means for the member that asks, said once more
// and otherwise.
type lens struct {
	name   string
	filter *pool.Filter
	fits   func(t *task.Task, actor string) bool
}

// lenses are the views that recorders have. Not among them is all that a task
// has from its creation to its end, which no view is entered or left by.
var lenses = []lens{
	{"all", nil, nil},
	{"open", &pool.Filter{}, func(t *task.Task, _ string) bool { return t.Status != task.Done && t.Status != task.Cancelled }},
	{"ready", &pool.Filter{Statuses: []task.Status{task.Ready}}, func(t *task.Task, _ string) bool { return t.Status == task.Ready }},
	{"done or blocked", &pool.Filter{Statuses: []task.Status{task.Done, task.Blocked}}, func(t *task.Task, _ string) bool {
		return t.Status == task.Done || t.Status == task.Blocked
	}},
	{"claimable", &pool.Filter{Claimable: true}, func(t *task.Task, actor string) bool {
		return t.Status == task.Ready && (t.Assignee == "" || t.Assignee == actor)
	}},
	{"mine", &pool.Filter{Assignee: "me", IncludeClosed: true}, func(t *task.Task, actor string) bool { return t.Assignee == actor }},
	{"held by b", &pool.Filter{Holder: "agent:b"}, func(t *task.Task, _ string) bool { return t.Holder == "agent:b" }},
	{"nobody's", &pool.Filter{Unassigned: true, IncludeClosed: true}, func(t *task.Task, _ string) bool { return t.Assignee == "" }},
	{"available", &pool.Filter{Available: true}, func(t *task.Task, _ string) bool {
		return (t.Status == task.Ready || t.Status == task.InProgress) && len(t.Unfinished) == 0
	}},
	{"top", &pool.Filter{TopLevel: true}, func(t *task.Task, _ string) bool {
		return t.ParentID == "" && t.Status != task.Done && t.Status != task.Cancelled
	}},
	{"labelled", &pool.Filter{Labels: map[string]string{"k": "1"}, IncludeClosed: true}, func(t *task.Task, _ string) bool { return t.Labels["k"] == "1" }},
	{"pressing", &pool.Filter{Priorities: []task.Priority{task.High}, IncludeClosed: true}, func(t *task.Task, _ string) bool {
		return t.Priority == task.High
	}},
}

// newRecorder is a member's watch through one of the lenses.
func newRecorder(at int, actor, exclude string, start pool.WatchStart) *recorder {
	l := lenses[at]
	r := &recorder{actor: actor}
	r.options = pool.WatchOptions{Filter: l.filter, ExcludeActor: exclude, Start: start}
	r.tr = pooltest.Traffic{Name: fmt.Sprintf("%s, by %s, but %q", l.name, actor, exclude), Exclude: exclude}
	if l.filter != nil {
		r.options.FilterHash = uint32(at)
		r.tr.Fits = func(s pooltest.State) bool { return l.fits(s.Fields.(*task.Task), actor) }
	}
	return r
}
