package pool_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// request draws who asks, often again what was asked before.
func (m *modelled) request(rt *rapid.T, method string) (pool.Request, pooltest.Request) {
	r := pool.Request{Actor: rapid.SampledFrom(modelMembers).Draw(rt, "actor")}
	switch rapid.IntRange(0, 5).Draw(rt, "request_id") {
	case 0:
		m.asked++
		r.ID = fmt.Sprint("r", m.asked)
	case 1:
		r.ID = fmt.Sprint("r", rapid.IntRange(1, m.asked+1).Draw(rt, "again"))
	}
	if r.ID == "" {
		return r, pooltest.Request{Actor: r.Actor}
	}
	r.Digest = rapid.SampledFrom([]string{"x", "x", "x", "y"}).Draw(rt, "digest")
	return r, pooltest.Request{Actor: r.Actor, Key: r.Actor + " " + method + " " + r.ID, Digest: r.Digest}
}

// name draws what a request may call a task by, seldom one that is not there.
func (m *modelled) name(rt *rapid.T, label string) string {
	if len(m.model.Tasks) == 0 || rapid.IntRange(0, 30).Draw(rt, "bogus") == 0 {
		return rapid.SampledFrom([]string{"T-999", "00000000-0000-4000-8000-000000000000", "nonsense"}).Draw(rt, label)
	}
	t := rapid.SampledFrom(m.model.Tasks).Draw(rt, label)
	switch rapid.IntRange(0, 2).Draw(rt, "by") {
	case 0:
		return task.Key(t.Number)
	case 1:
		return t.ID[:8]
	}
	return t.ID
}

// names draws a few.
func (m *modelled) names(rt *rapid.T, label string, most int) (names []string) {
	for range rapid.IntRange(0, most).Draw(rt, "how many") {
		names = append(names, m.name(rt, label))
	}
	return names
}

func (m *modelled) draft(rt *rapid.T, refs int) task.Draft {
	d := task.Draft{
		Title:        rapid.SampledFrom([]string{"one", "two", "three", "four", "five", "six", "  ", "a title that is too long"}).Draw(rt, "title"),
		Priority:     task.Priority(rapid.IntRange(0, 3).Draw(rt, "priority")),
		Dependencies: m.names(rt, "dependency", 2),
		Assignee:     rapid.SampledFrom([]string{"", "", "", "me", "agent:b", "no such"}).Draw(rt, "assignee"),
	}
	if rapid.Bool().Draw(rt, "child") {
		d.Parent = m.name(rt, "parent")
	}
	if rapid.IntRange(0, 5).Draw(rt, "later") == 0 {
		d.NotBefore = farOff
	}
	for range refs {
		if rapid.IntRange(0, 3).Draw(rt, "ref") == 0 {
			d.Dependencies = append(d.Dependencies, fmt.Sprint("ref:", rapid.IntRange(0, refs).Draw(rt, "which")))
		}
	}
	if refs > 0 && rapid.IntRange(0, 3).Draw(rt, "local parent") == 0 {
		d.Parent = fmt.Sprint("ref:", rapid.IntRange(0, refs-1).Draw(rt, "parent ref"))
	}
	return d
}

func (m *modelled) create(rt *rapid.T) {
	r, q := m.request(rt, "CreateTask")
	d := m.draft(rt, 0)
	got, err := m.pool.Create(m.t.Context(), r, d)
	m.check(rt, q, m.model.InvalidDrafts([]task.Draft{d}), got, err, func(model *pooltest.Model) ([]string, string, []string) {
		ids := madeIDs(got, 1)
		return ids, "", model.Create(r.Actor, ids, []task.Draft{d})
	})
}

func (m *modelled) createAll(rt *rapid.T) {
	r, q := m.request(rt, "CreateTasks")
	n := rapid.IntRange(1, 4).Draw(rt, "tasks")
	drafts := make([]task.Draft, n)
	for i := range drafts {
		drafts[i] = m.draft(rt, n)
		drafts[i].Ref = fmt.Sprint(i)
	}
	got, err := m.pool.CreateAll(m.t.Context(), r, drafts)
	m.check(rt, q, m.model.InvalidDrafts(drafts), got, err, func(model *pooltest.Model) ([]string, string, []string) {
		ids := madeIDs(got, n)
		return ids, "", model.Create(r.Actor, ids, drafts)
	})
}

// madeIDs are the ids of new tasks; where none were made, of what would be.
func madeIDs(r pool.Result, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		if ids[i] = fmt.Sprint("new ", i); i < len(r.Tasks) && r.Tasks[i] != nil {
			ids[i] = r.Tasks[i].ID
		}
	}
	return ids
}

func (m *modelled) update(rt *rapid.T) {
	u := pool.Update{ID: m.name(rt, "task")}
	p := &u.Patch
	maybe := func(label string, set func()) {
		if rapid.IntRange(0, 3).Draw(rt, label) == 0 {
			set()
		}
	}
	maybe("title?", func() {
		p.Title = new(rapid.SampledFrom([]string{"one", "two", "new", "  ", "a title that is too long"}).Draw(rt, "title"))
	})
	maybe("priority?", func() { p.Priority = new(task.Priority(rapid.IntRange(0, 3).Draw(rt, "priority"))) })
	maybe("label?", func() { p.SetLabels = map[string]string{"k": rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "label")} })
	maybe("unlabel?", func() { p.RemoveLabels = []string{"l"} })
	maybe("not_before?", func() { p.NotBefore = new(rapid.SampledFrom([]time.Time{{}, {}, farOff}).Draw(rt, "not_before")) })
	maybe("add?", func() { p.AddDependencies = m.names(rt, "add", 2) })
	maybe("remove?", func() {
		p.RemoveDependencies = m.names(rt, "remove", 1)
		if t := m.model.Find(u.ID); t != nil && len(t.Dependencies) > 0 {
			p.RemoveDependencies = []string{rapid.SampledFrom(t.Dependencies).Draw(rt, "which")}
		}
	})
	maybe("parent?", func() {
		p.Parent = new("")
		if rapid.Bool().Draw(rt, "under") {
			*p.Parent = m.name(rt, "parent")
		}
	})
	maybe("assignee?", func() {
		p.Assignee = new(rapid.SampledFrom([]string{"", "me", "agent:a", "agent:b", "no such"}).Draw(rt, "assignee"))
	})
	maybe("history?", func() { p.HistoryEntry = new(rapid.SampledFrom([]string{"did", "more"}).Draw(rt, "history")) })
	maybe("status?", func() { m.status(rt, p) })
	m.apply(rt, u)
}

// move sets a status and nothing else.
func (m *modelled) move(rt *rapid.T) {
	u := pool.Update{ID: m.name(rt, "task")}
	m.status(rt, &u.Patch)
	m.apply(rt, u)
}

func (m *modelled) status(rt *rapid.T, p *task.Patch) {
	p.Status = new(rapid.SampledFrom([]task.Status{
		task.InProgress, task.InProgress, task.Done, task.Done, task.Ready, task.Blocked, task.Cancelled, task.Pending, task.Failed, task.Review,
	}).Draw(rt, "status"))
	p.Reason = rapid.SampledFrom([]string{"", "why", "because"}).Draw(rt, "reason")
	p.Force = rapid.IntRange(0, 3).Draw(rt, "force") == 0
}

func (m *modelled) apply(rt *rapid.T, u pool.Update) {
	r, q := m.request(rt, "UpdateTask")
	if t := m.model.Find(u.ID); t != nil {
		u.ExpectedVersion = rapid.SampledFrom([]int64{0, 0, 0, 0, t.Version, t.Version + 1}).Draw(rt, "version")
		u.HoldToken = rapid.SampledFrom([]string{"", "", "", t.Token, t.Token, "another's"}).Draw(rt, "token")
	}
	got, err := m.pool.Update(m.t.Context(), r, u)
	m.check(rt, q, m.model.InvalidPatch(u.Patch), got, err, func(model *pooltest.Model) (ids []string, began string, refused []string) {
		if t := model.Find(u.ID); t != nil {
			ids = []string{t.ID}
		}
		began, refused = model.Update(r.Actor, u.ID, u.ExpectedVersion, u.HoldToken, got.Token, u.Patch)
		if refused == nil && err == nil && began != got.Token {
			rt.Fatalf("the hold's token is %q, want %q", got.Token, began)
		}
		return ids, began, refused
	})
}

func (m *modelled) delete(rt *rapid.T) {
	r, q := m.request(rt, "DeleteTask")
	name := m.name(rt, "task")
	got, err := m.pool.Delete(m.t.Context(), r, name, 0)
	if r.Actor != task.Human {
		m.refused(rt, err, []string{"NOT_PERMITTED"})
		return
	}
	m.check(rt, q, nil, got, err, func(model *pooltest.Model) ([]string, string, []string) {
		return nil, "", model.Delete(r.Actor, name, 0)
	})
}

func (m *modelled) clear(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "really") > 0 {
		return
	}
	r, q := m.request(rt, "ClearPool")
	got, err := m.pool.Clear(m.t.Context(), r, "team")
	if r.Actor != task.Human {
		m.refused(rt, err, []string{"NOT_PERMITTED"})
		return
	}
	m.check(rt, q, nil, got, err, func(model *pooltest.Model) ([]string, string, []string) {
		model.Clear()
		return nil, "", nil
	})
}
