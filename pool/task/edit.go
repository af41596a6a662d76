package task

import (
	"maps"
	"slices"
)

// Edit makes the patch's changes to text, priority, type, lists, labels and
// not_before, and to nothing else, in a copy of t. changed names the fields that
// really changed, by their API names in this order: title, description, body,
// acceptance_criteria, priority, type, links, steps, constraints, out_of_scope,
// verification, context, edge_cases, labels, not_before. When nothing changed
// the answer is t itself and nil. p must have passed [Patch.Check], and
// [Patch.CheckLabels] for t; the result shares its slices.
func (p Patch) Edit(t *Task) (edited *Task, changed []string) {
	e := edit{was: t, now: t}
	if p.Title != nil && *p.Title != t.Title {
		e.task("title").Title = *p.Title
	}
	if p.Description != nil && *p.Description != e.text().Description {
		e.rewrite("description").Description = *p.Description
	}
	if p.Body != nil && *p.Body != e.text().Body {
		e.rewrite("body").Body = *p.Body
	}
	e.list(&p, &listFields[0])
	if p.Priority != nil && *p.Priority != t.Priority {
		e.task("priority").Priority = *p.Priority
	}
	if p.Type != nil && *p.Type != t.Type {
		e.task("type").Type = *p.Type
	}
	for i := range listFields[1:] {
		e.list(&p, &listFields[1+i])
	}
	if set, removed := p.LabelChanges(t); len(set)+len(removed) > 0 {
		e.task("labels").Labels = p.merged(t)
	}
	if p.NotBefore != nil && !p.NotBefore.Equal(t.NotBefore) {
		e.task("not_before").NotBefore = *p.NotBefore
	}
	return e.edited(), e.changed
}

// LabelChanges names the keys that the patch really sets and really removes in
// t's labels, sorted.
func (p Patch) LabelChanges(t *Task) (set, removed []string) {
	for k, value := range p.SetLabels {
		if old, ok := t.Labels[k]; !ok || old != value {
			set = append(set, k)
		}
	}
	for _, k := range p.RemoveLabels {
		if _, ok := t.Labels[k]; ok {
			removed = append(removed, k)
		}
	}
	slices.Sort(set)
	slices.Sort(removed)
	return set, slices.Compact(removed)
}

// CheckLabels reports when t would have more labels than allowed, and more than
// it has: one older than a lowered limit can still lose labels and change them.
func (p Patch) CheckLabels(t *Task, l Limits) Violations {
	if len(p.SetLabels) == 0 || len(t.Labels)+len(p.SetLabels) <= l.Labels {
		return nil
	}
	var v Violations
	if n := len(p.merged(t)); n > l.Labels && n > len(t.Labels) {
		v.Add("set_labels", "would give the task %s, %d are allowed: remove %d", plural(n, "label"), l.Labels, n-l.Labels)
	}
	return v
}

// merged is t's labels after the patch, in a new map; nil when none are left.
func (p Patch) merged(t *Task) map[string]string {
	labels := make(map[string]string, len(t.Labels)+len(p.SetLabels))
	maps.Copy(labels, t.Labels)
	maps.Copy(labels, p.SetLabels)
	for _, k := range p.RemoveLabels {
		delete(labels, k)
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// edit copies a task when the first change to it is made, and unpacks its brief
// when that is first asked for.
type edit struct {
	was, now *Task
	changed  []string
	// brief is nil until it is unpacked; it is packed again where rewritten.
	brief     *Brief
	rewritten bool
}

// task is the copy that is edited.
func (e *edit) task(field string) *Task {
	if e.now == e.was {
		e.now = e.was.Clone()
	}
	e.changed = append(e.changed, field)
	return e.now
}

// text is the brief as it is by now.
func (e *edit) text() *Brief {
	if e.brief == nil {
		e.brief = e.was.Brief.Unpack()
	}
	return e.brief
}

// rewrite is the brief that is edited.
func (e *edit) rewrite(field string) *Brief {
	e.task(field)
	e.rewritten = true
	return e.text()
}

func (e *edit) list(p *Patch, f *listField) {
	list := *f.patch(p)
	if list != nil && !slices.Equal(*list, *f.brief(e.text())) {
		*f.brief(e.rewrite(f.name)) = *list
	}
}

// edited is the result.
func (e *edit) edited() *Task {
	if e.rewritten {
		e.now.Brief = e.brief.Pack()
	}
	return e.now
}
