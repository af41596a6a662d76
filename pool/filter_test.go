package pool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// board is a pool with tasks of all sorts, filed by the filer.
func board(t *testing.T) *fixture {
	f := openAs(t, nil, task.EditByAnyone)
	f.createAll(
		task.Draft{Title: "ready", Priority: task.High, Type: task.Bug, Labels: map[string]string{"team": "a", "area": "x"}},
		task.Draft{Title: "pending", Dependencies: []string{"ref:r"}, Priority: task.Low, Labels: map[string]string{"team": "a"}},
		task.Draft{Title: "theirs", Ref: "r", Assignee: worker, Type: task.Chore, Labels: map[string]string{"team": "b"}},
		task.Draft{Title: "started", Description: "Grüße aus ÜBERSEE"},
		task.Draft{Title: "blocked", Body: "needle in a haystack"},
		task.Draft{Title: "done", Parent: "ref:p", Priority: task.High},
		task.Draft{Title: "cancelled", Parent: "ref:p"},
		task.Draft{Title: "parent", Ref: "p"},
		task.Draft{Title: "child", Parent: "ref:p", Assignee: operator},
		task.Draft{Title: "later", NotBefore: time.Now().Add(time.Hour)},
	)
	f.as(stranger).titled("strange")
	f.as(worker).claim("T-4")
	f.set("T-5", task.Blocked)
	f.set("T-6", task.Done)
	f.set("T-7", task.Cancelled)
	return f
}

const opened = "ready pending theirs started blocked parent child later strange"

func TestFilter_everyField(t *testing.T) {
	f := board(t)
	for name, c := range map[string]struct {
		filter pool.Filter
		want   string
	}{
		"none":                    {pool.Filter{}, opened},
		"ready":                   {pool.Filter{Statuses: []task.Status{task.Ready}}, "ready theirs parent child strange"},
		"pending":                 {pool.Filter{Statuses: []task.Status{task.Pending}}, "pending later"},
		"in progress or blocked":  {pool.Filter{Statuses: []task.Status{task.Blocked, task.InProgress}}, "started blocked"},
		"a status twice":          {pool.Filter{Statuses: []task.Status{task.Blocked, task.Blocked}}, "blocked"},
		"done":                    {pool.Filter{Statuses: []task.Status{task.Done}}, "done"},
		"cancelled or blocked":    {pool.Filter{Statuses: []task.Status{task.Cancelled, task.Blocked}}, "blocked cancelled"},
		"failed":                  {pool.Filter{Statuses: []task.Status{task.Failed}}, ""},
		"all":                     {pool.Filter{Statuses: task.Statuses()}, "ready pending theirs started blocked done cancelled parent child later strange"},
		"closed too":              {pool.Filter{IncludeClosed: true}, "ready pending theirs started blocked done cancelled parent child later strange"},
		"blocked, closed too":     {pool.Filter{Statuses: []task.Status{task.Blocked}, IncludeClosed: true}, "blocked done cancelled"},
		"done, closed too":        {pool.Filter{Statuses: []task.Status{task.Done}, IncludeClosed: true}, "done"},
		"available":               {pool.Filter{Available: true}, "ready theirs started parent child strange"},
		"available, done":         {pool.Filter{Available: true, Statuses: []task.Status{task.Done}}, ""},
		"available, closed too":   {pool.Filter{Available: true, IncludeClosed: true}, "ready theirs started parent child strange"},
		"available, in progress":  {pool.Filter{Available: true, Statuses: []task.Status{task.InProgress, task.Pending}}, "started"},
		"claimable":               {pool.Filter{Claimable: true}, "ready parent strange"},
		"claimable and available": {pool.Filter{Claimable: true, Available: true}, "ready parent strange"},
		"claimable, blocked":      {pool.Filter{Claimable: true, Statuses: []task.Status{task.Blocked}}, ""},
		"high":                    {pool.Filter{Priorities: []task.Priority{task.High}}, "ready"},
		"high, closed too":        {pool.Filter{Priorities: []task.Priority{task.High}, IncludeClosed: true}, "ready done"},
		"low or none":             {pool.Filter{Priorities: []task.Priority{task.Low, task.PriorityUnspecified}}, "pending theirs started blocked parent child later strange"},
		"bug or chore":            {pool.Filter{Types: []task.Type{task.Bug, task.Chore}}, "ready theirs"},
		"no type, blocked":        {pool.Filter{Types: []task.Type{task.TypeUnspecified}, Statuses: []task.Status{task.Blocked, task.Ready}}, "blocked parent child strange"},
		"theirs":                  {pool.Filter{Assignee: worker}, "theirs started"},
		"the operator's":          {pool.Filter{Assignee: "you"}, "child"},
		"nobody's":                {pool.Filter{Unassigned: true}, "ready pending blocked parent later strange"},
		"nobody's, but someone's": {pool.Filter{Unassigned: true, Assignee: worker}, "theirs started"},
		"held":                    {pool.Filter{Holder: worker}, "started"},
		"held by me":              {pool.Filter{Holder: "me"}, ""},
		"to review":               {pool.Filter{Reviewer: "human"}, ""},
		"filed by me":             {pool.Filter{CreatedBy: "me"}, "ready pending theirs started blocked parent child later"},
		"filed by another":        {pool.Filter{CreatedBy: stranger}, "strange"},
		"children":                {pool.Filter{ParentID: "T-8"}, "child"},
		"all children":            {pool.Filter{ParentID: "t-8", IncludeClosed: true}, "done cancelled child"},
		"children of none":        {pool.Filter{ParentID: "T-1", IncludeClosed: true}, ""},
		"top":                     {pool.Filter{TopLevel: true, Statuses: []task.Status{task.Ready, task.Done}}, "ready theirs parent strange"},
		"a label":                 {pool.Filter{Labels: map[string]string{"team": "a"}}, "ready pending"},
		"two labels":              {pool.Filter{Labels: map[string]string{"team": "a", "area": "x"}}, "ready"},
		"another value":           {pool.Filter{Labels: map[string]string{"team": ""}}, ""},
		"title":                   {pool.Filter{Text: "READ"}, "ready"},
		"description":             {pool.Filter{Text: "grüße AUS über"}, "started"},
		"body":                    {pool.Filter{Text: "Needle"}, "blocked"},
		"key":                     {pool.Filter{Text: "t-1", IncludeClosed: true}, "ready later strange"},
		"no expression":           {pool.Filter{Text: "re.dy|(a+)+$"}, ""},
		"all of them":             {pool.Filter{Text: "e", Claimable: true, Priorities: []task.Priority{task.High}, Types: []task.Type{task.Bug}, Unassigned: true, TopLevel: true, CreatedBy: filer}, "ready"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{Pool: f.Pool, t: t, actor: filer}
			if got := titles(f.list(c.filter)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			page, err := f.List(t.Context(), filer, pool.Query{Filter: c.filter, Size: 1, Count: true})
			if n := len(strings.Fields(c.want)); err != nil || page.Total != int64(n) || !page.Exact || page.More != (n > 1) || len(page.Tasks) != min(n, 1) {
				t.Errorf("a page of one: %d of %d (exact %v), more %v, %v; want %d", len(page.Tasks), page.Total, page.Exact, page.More, err, n)
			}
		})
	}
	for who, want := range map[string]string{
		worker: "ready theirs parent strange", operator: "ready parent child strange", nameless: "ready parent strange",
	} {
		if got := titles(f.as(who).list(pool.Filter{Claimable: true})); got != want {
			t.Errorf("claimable for %s: %q, want %q", who, got, want)
		}
	}
	if got := titles(f.as(worker).list(pool.Filter{Holder: "me"})); got != "started" {
		t.Errorf("held by me: %q", got)
	}
}

func TestFilter_closedSince(t *testing.T) {
	f := board(t)
	f.set("T-1", task.Done)
	since := f.get("T-1").ClosedAt
	only := func(s ...task.Status) []task.Status { return s }
	rest := "pending theirs started blocked parent child later strange"
	for name, c := range map[string]struct {
		filter pool.Filter
		want   string
	}{
		"the instant itself is in":      {pool.Filter{ClosedSince: since}, "ready " + rest},
		"one later is not":              {pool.Filter{ClosedSince: since.Add(1)}, rest},
		"long ago":                      {pool.Filter{ClosedSince: time.Unix(1, 0)}, "ready pending theirs started blocked done cancelled parent child later strange"},
		"with include_closed":           {pool.Filter{ClosedSince: since, IncludeClosed: true}, "ready " + rest},
		"done ones alone":               {pool.Filter{ClosedSince: time.Unix(1, 0), Statuses: only(task.Done)}, "ready done"},
		"done ones since":               {pool.Filter{ClosedSince: since, Statuses: only(task.Done)}, "ready"},
		"done ones since, and blocked":  {pool.Filter{ClosedSince: since, Statuses: only(task.Done, task.Blocked)}, "ready blocked"},
		"blocked, and any closed since": {pool.Filter{ClosedSince: since, Statuses: only(task.Blocked)}, "ready blocked"},
	} {
		if got := titles(f.list(c.filter)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFilter_refused(t *testing.T) {
	f := board(t)
	for name, c := range map[string]struct {
		filter pool.Filter
		reason string
		fields []string
	}{
		"no such values": {
			pool.Filter{Statuses: []task.Status{task.Ready, 0, 99}, Priorities: []task.Priority{7}, Types: []task.Type{9, task.Bug}},
			"INVALID_FIELD",
			[]string{"filter.statuses[1]", "filter.statuses[2]", "filter.priorities[0]", "filter.types[0]"},
		},
		"a status that is none": {pool.Filter{Statuses: []task.Status{0}}, "INVALID_FIELD", []string{"filter.statuses[0]"}},
		"top and parent":        {pool.Filter{TopLevel: true, ParentID: "T-8"}, "INVALID_FIELD", []string{"filter.top_level"}},
		"unknown parent":        {pool.Filter{ParentID: "T-99"}, "TASK_NOT_FOUND", []string{"filter.parent_id"}},
		"bare assignee":         {pool.Filter{Assignee: "bob"}, "MEMBER_AMBIGUOUS", []string{"filter.assignee"}},
		"unknown holder":        {pool.Filter{Holder: "a b"}, "MEMBER_NOT_FOUND", []string{"filter.holder"}},
		"unknown reviewer":      {pool.Filter{Reviewer: "agent:"}, "MEMBER_NOT_FOUND", []string{"filter.reviewer"}},
		"unknown filer":         {pool.Filter{CreatedBy: task.SystemPool}, "MEMBER_NOT_FOUND", []string{"filter.created_by"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.List(t.Context(), filer, pool.Query{Filter: c.filter, Size: 10})
			if reason := reasonOf(err); reason != c.reason {
				t.Fatalf("%q (%v)", reason, err)
			}
			var fields []string
			switch c.reason {
			case "INVALID_FIELD":
				for _, v := range as[*pool.InvalidError](t, err).Violations {
					fields = append(fields, v.Field)
				}
			case "MEMBER_AMBIGUOUS":
				fields = []string{as[*pool.AmbiguousError](t, err).Field}
			default:
				fields = []string{as[*pool.NotFoundError](t, err).Field}
			}
			if !slices.Equal(fields, c.fields) {
				t.Errorf("fields %q, want %q", fields, c.fields)
			}
		})
	}
}

// One readiness: what is listed as claimable, what explain says, and what a claim
// comes to are the same, for every task and everyone.
func TestReadiness_isOne(t *testing.T) {
	for _, who := range members {
		f := board(t).as(who)
		listed := map[string]bool{}
		for _, it := range f.list(pool.Filter{Claimable: true}) {
			listed[it.ID] = true
		}
		available := map[string]bool{}
		for _, it := range f.list(pool.Filter{Available: true}) {
			available[it.ID] = true
		}
		for _, it := range f.all() {
			_, checks, err := f.Explain(who, it.Key())
			if err != nil {
				t.Fatal(err)
			}
			holds := !slices.ContainsFunc(checks, func(c task.Check) bool { return !c.Holds })
			if holds != listed[it.ID] || holds && !available[it.ID] {
				t.Errorf("%s for %s: explained %v, listed %v, available %v", it.Title, who, holds, listed[it.ID], available[it.ID])
			}
			if it.Status != task.Ready && it.Status != task.Pending {
				continue // reopening is no claim of what is claimable
			}
			if _, err := f.update(it.ID, task.Patch{Status: new(task.InProgress)}); (err == nil) != holds {
				t.Errorf("%s for %s: explained %v, claimed %v", it.Title, who, holds, err)
			}
		}
	}
}
