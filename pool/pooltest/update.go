package pooltest

import (
	"maps"
	"slices"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// updating is an update under way.
type updating struct {
	m       *Model
	t, was  *Task
	actor   string
	p       task.Patch
	holds   bool
	held    bool
	carried bool
	changed bool
	removed []string
	began   string
}

// InvalidPatch says whether there is something wrong with a patch in itself.
func (m *Model) InvalidPatch(p task.Patch) (refused []string) {
	if p.Title != nil && (strings.TrimSpace(*p.Title) == "" || len(*p.Title) > m.Limits.TitleLength) {
		refused = append(refused, "INVALID_FIELD")
	}
	if s := p.Status; s != nil && (*s == task.Pending || *s == task.Failed) {
		refused = append(refused, "STATUS_DERIVED", "INVALID_FIELD")
	}
	if len(p.AddDependencies) > m.Limits.Dependencies || repeats(p.AddDependencies) || repeats(p.RemoveDependencies) || slices.ContainsFunc(p.AddDependencies, func(n string) bool { return slices.Contains(p.RemoveDependencies, n) }) {
		refused = append(refused, "INVALID_FIELD")
	}
	return refused
}

// Update changes a task. A hold that it begins has that token.
func (m *Model) Update(actor, name string, version int64, token, newToken string, p task.Patch) (began string, refused []string) {
	t := m.Find(name)
	switch {
	case t == nil:
		return "", []string{"TASK_NOT_FOUND"}
	case version != 0 && version != t.Version:
		return "", []string{"VERSION_MISMATCH"}
	case token != "" && token != t.Token:
		return "", []string{"HOLD_LOST"}
	}
	was := *t
	u := updating{m: m, t: t, was: &was, actor: actor, p: p, carried: token != ""}
	u.holds = token != "" || t.Holder == actor
	u.held = u.holds
	steps := []func() []string{u.edit, u.remove, u.reparent, u.add, u.assign, func() []string { return u.move(newToken) }, u.record}
	if s := p.Status; s != nil && (*s == task.Ready || *s == task.Blocked) {
		steps = []func() []string{u.edit, u.remove, u.reparent, u.assign, func() []string { return u.move(newToken) }, u.add, u.record}
	}
	for _, step := range steps {
		if refused = step(); refused != nil {
			return "", refused
		}
	}
	if u.changed {
		t.Version++
	}
	return u.began, nil
}

func repeats(names []string) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(names)))) < len(names)
}

func (u *updating) happened(kind task.EventKind) {
	u.changed = true
	u.t.event(u.actor, kind)
}

// mayEdit keeps the edit rule.
func (u *updating) mayEdit(title bool) bool {
	return u.m.Rules.EditRule == task.EditByAnyone || u.actor == task.Human || u.actor == u.t.CreatedBy || u.held && !title
}

func (u *updating) edit() []string {
	p, t := u.p, u.t
	labels := maps.Clone(t.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, p.SetLabels)
	for _, k := range p.RemoveLabels {
		delete(labels, k)
	}
	title := p.Title != nil && *p.Title != t.Title
	plan := p.Priority != nil && *p.Priority != t.Priority || p.NotBefore != nil && p.NotBefore.IsZero() == t.Later || !maps.Equal(labels, t.Labels)
	if !title && !plan {
		return nil
	}
	if !u.mayEdit(title) {
		return []string{"NOT_PERMITTED"}
	}
	if title {
		t.Title = *p.Title
	}
	if p.Priority != nil {
		t.Priority = *p.Priority
	}
	if p.NotBefore != nil {
		t.Later = !p.NotBefore.IsZero()
	}
	t.Labels = labels
	u.happened(task.EventEdited)
	return nil
}

func (u *updating) remove() []string {
	for _, name := range u.p.RemoveDependencies {
		dep := u.m.Find(name)
		if dep == nil {
			return []string{"TASK_NOT_FOUND"}
		}
		if !slices.Contains(u.t.Dependencies, dep.ID) {
			return []string{"DEPENDENCY_NOT_FOUND"}
		}
		u.t.Dependencies = slices.DeleteFunc(u.t.Dependencies, func(id string) bool { return id == dep.ID })
		u.removed = append(u.removed, dep.ID)
	}
	return nil
}

func (u *updating) add() []string {
	m, t := u.m, u.t
	var added []string
	for _, name := range u.p.AddDependencies {
		dep := m.Find(name)
		if dep == nil {
			return []string{"TASK_NOT_FOUND"}
		}
		var refused []string
		if slices.Contains(u.removed, dep.ID) {
			refused = append(refused, "INVALID_FIELD")
		}
		if !t.Status.Open() && t.Status != task.Blocked {
			refused = append(refused, "MOVE_NOT_ALLOWED")
		}
		if slices.Contains(t.Dependencies, dep.ID) {
			refused = append(refused, "DUPLICATE_DEPENDENCY")
		}
		if len(t.Dependencies) >= m.Limits.Dependencies {
			refused = append(refused, "DEPENDENCIES_EXCEEDED")
		}
		if len(m.Dependents(dep.ID)) >= m.Limits.Dependents {
			refused = append(refused, "DEPENDENTS_EXCEEDED")
		}
		if m.needs(dep.ID, t.ID) {
			refused = append(refused, "CYCLE")
		}
		if refused != nil {
			return refused
		}
		t.Dependencies = append(t.Dependencies, dep.ID)
		added = append(added, dep.ID)
	}
	if len(added)+len(u.removed) == 0 {
		return nil
	}
	if u.m.Rules.EditRule == task.EditByFiler && u.actor != task.Human && u.actor != u.was.CreatedBy && !u.held {
		return []string{"NOT_PERMITTED"}
	}
	u.happened(task.EventDependency)
	m.noteGivenUp(t, added)
	return nil
}

func (u *updating) reparent() []string {
	if u.p.Parent == nil {
		return nil
	}
	m, t, parent := u.m, u.t, ""
	if *u.p.Parent != "" {
		p := m.Find(*u.p.Parent)
		if p == nil {
			return []string{"TASK_NOT_FOUND"}
		}
		parent = p.ID
	}
	if parent == t.Parent {
		return nil
	}
	if !u.mayEdit(false) {
		return []string{"NOT_PERMITTED"}
	}
	before := map[*Task]int{}
	for _, o := range m.Tasks {
		before[o] = m.depth(o)
	}
	old := t.Parent
	dependencies := t.Dependencies
	t.Parent, t.Dependencies = parent, nil // those are not new
	refused := m.wrongEdges(t)
	t.Dependencies = dependencies
	refused = slices.DeleteFunc(refused, func(r string) bool { return r == "DEPTH_EXCEEDED" })
	if parent != "" {
		t.Parent = ""
		if m.needs(t.ID, parent) {
			refused = append(refused, "CYCLE")
		}
		t.Parent = parent
	}
	if !slices.Contains(refused, "CYCLE") {
		for _, o := range m.Tasks {
			if d := m.depth(o); d > m.Limits.Depth && d > before[o] {
				refused = append(refused, "DEPTH_EXCEEDED")
			}
		}
	}
	if refused != nil {
		return refused
	}
	for _, id := range []string{old, parent} {
		if id != "" {
			m.ID(id).event(u.actor, task.EventSubtask)
		}
	}
	u.happened(task.EventEdited)
	return nil
}

func (m *Model) depth(t *Task) (depth int) {
	for up := t.Parent; up != ""; up = m.ID(up).Parent {
		depth++
	}
	return depth
}

func (u *updating) assign() []string {
	if u.p.Assignee == nil {
		return nil
	}
	t := u.t
	to, ok := member(*u.p.Assignee, u.actor)
	if !ok {
		return []string{"MEMBER_NOT_FOUND"}
	}
	s := u.p.Status
	reopens := s != nil && (*s == task.Ready || *s == task.InProgress)
	if t.Status.Closed() && reopens {
		u.takeBack()
	}
	switch {
	case to == t.Assignee:
		return nil
	case t.Status.Closed() && !reopens:
		return []string{"MOVE_NOT_ALLOWED"}
	}
	if refused := u.allow(holder | assignee | filer | operator | unassigned); refused != nil {
		return refused
	}
	t.Assignee, t.ByClaim = to, false
	if t.Status == task.InProgress {
		u.release()
	}
	u.happened(task.EventAssigned)
	return nil
}

func (u *updating) record() []string {
	if u.p.HistoryEntry == nil {
		return nil
	}
	length := 0
	for _, entry := range append(slices.Clone(u.t.History), *u.p.HistoryEntry) {
		length += len("\n[2006-01-02T15:04:05.000Z] ") + len(entry)
	}
	if length-1 > u.m.Limits.HistoryLength {
		return []string{"HISTORY_FULL"}
	}
	u.t.History = append(u.t.History, *u.p.HistoryEntry)
	u.happened(task.EventProgress)
	return nil
}
