package pooltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// InvalidDrafts says whether there is something wrong with drafts in themselves.
func (m *Model) InvalidDrafts(drafts []task.Draft) (refused []string) {
	refs := map[string]bool{}
	for _, d := range drafts {
		if refs["ref:"+d.Ref] {
			refused = append(refused, "INVALID_FIELD")
		}
		refs["ref:"+d.Ref] = d.Ref != ""
	}
	for _, d := range drafts {
		if strings.TrimSpace(d.Title) == "" || len(d.Title) > m.Limits.TitleLength || len(d.Dependencies) > m.Limits.Dependencies || repeats(d.Dependencies) {
			refused = append(refused, "INVALID_FIELD")
		}
		for _, name := range append(slices.Clone(d.Dependencies), d.Parent) {
			if strings.HasPrefix(name, "ref:") && !refs[name] {
				refused = append(refused, "INVALID_FIELD")
			}
		}
	}
	return refused
}

// Create makes tasks of drafts, with those ids.
func (m *Model) Create(actor string, ids []string, drafts []task.Draft) (refused []string) {
	refs := map[string]string{}
	for i, d := range drafts {
		refs["ref:"+d.Ref] = ids[i]
	}
	resolve := func(name string) string {
		if strings.HasPrefix(name, "ref:") {
			return refs[name]
		}
		if t := m.Find(name); t != nil {
			return t.ID
		}
		refused = append(refused, "TASK_NOT_FOUND")
		return ""
	}
	var made []*Task
	for i, d := range drafts {
		m.last++
		t := &Task{
			ID: ids[i], Number: m.last, Title: d.Title, Priority: d.Priority, Labels: d.Labels, CreatedBy: actor,
			Status: task.Ready, Later: !d.NotBefore.IsZero(), Version: 1, fresh: true,
		}
		seen := map[string]bool{}
		for _, name := range d.Dependencies {
			id := resolve(name)
			if seen[id] {
				refused = append(refused, "DUPLICATE_DEPENDENCY")
			}
			seen[id] = true
			t.Dependencies = append(t.Dependencies, id)
		}
		if d.Parent != "" {
			t.Parent = resolve(d.Parent)
		}
		var ok bool
		if t.Assignee, ok = member(d.Assignee, actor); !ok {
			refused = append(refused, "MEMBER_NOT_FOUND")
		}
		t.event(actor, task.EventCreated)
		made = append(made, t)
	}
	if refused != nil {
		return refused
	}
	m.Tasks = append(m.Tasks, made...)
	for _, t := range made {
		refused = append(refused, m.wrongEdges(t)...)
	}
	if refused != nil {
		return refused
	}
	for _, t := range made {
		if t.Parent != "" {
			m.ID(t.Parent).event(actor, task.EventSubtask)
		}
		m.noteGivenUp(t, t.Dependencies)
	}
	return nil
}

// wrongEdges says what is wrong with where a new task is put.
func (m *Model) wrongEdges(t *Task) (refused []string) {
	if len(t.Dependencies) > m.Limits.Dependencies {
		refused = append(refused, "DEPENDENCIES_EXCEEDED")
	}
	for _, dep := range t.Dependencies {
		if len(m.Dependents(dep)) > m.Limits.Dependents {
			refused = append(refused, "DEPENDENTS_EXCEEDED")
		}
		if m.needs(dep, t.ID) {
			refused = append(refused, "CYCLE")
		}
	}
	if t.Parent == "" {
		return refused
	}
	if m.ID(t.Parent).Status.Closed() && !t.Status.Closed() {
		refused = append(refused, "PARENT_CLOSED")
	}
	if len(m.Children(t.Parent)) > m.Limits.Children {
		refused = append(refused, "CHILDREN_EXCEEDED")
	}
	if m.needs(t.ID, t.Parent) {
		refused = append(refused, "CYCLE")
	}
	depth := 0
	for up := t.Parent; up != "" && depth < 100; up = m.ID(up).Parent {
		depth++
	}
	if depth > m.Limits.Depth {
		refused = append(refused, "DEPTH_EXCEEDED")
	}
	return refused
}

func (m *Model) noteGivenUp(t *Task, dependencies []string) {
	for _, dep := range dependencies {
		if m.ID(dep).Status == task.Cancelled {
			t.event(task.SystemPool, task.EventDependency)
		}
	}
}

// member knows the names that the tests use.
func member(name, actor string) (id string, ok bool) {
	switch {
	case name == "me":
		return actor, true
	case name == "", name == task.Human, strings.HasPrefix(name, task.AgentPrefix), strings.HasPrefix(name, task.ExternalPrefix):
		return name, true
	}
	return "", false
}

// String is one line, for a failing test.
func (t *Task) String() string {
	return fmt.Sprintf("%s %q %s %s labels %v needs %v unfinished %v parent %q depth %d children %d/%d by %q assignee %q (by claim %t) holder %q blocked %q history %d version %d later %t %v",
		task.Key(t.Number), t.Title, t.Status, t.Priority, t.Labels, t.Dependencies, t.Unfinished, t.Parent, t.Depth, t.ChildrenDone, t.ChildrenTotal,
		t.CreatedBy, t.Assignee, t.ByClaim, t.Holder, t.BlockedReason, len(t.History), t.Version, t.Later, t.Events)
}
