package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// Create plans one task. It begins ready, or pending when something it needs is
// not done or its not_before is to come.
//
// Errors: *InvalidError, *NotFoundError and *AmbiguousError for what it names,
// *RuleError for a cycle, depth, children or a closed parent.
func (p *Pool) Create(ctx context.Context, r Request, d task.Draft) (Result, error) {
	return p.createAll(ctx, "CreateTask", r, []task.Draft{d}, func(int) string { return "task" })
}

// CreateAll plans many tasks at once, all or none, in one revision. The
// dependencies and parents of a draft may name another of the batch as
// "ref:NAME", wherever it stands. Tasks come back in request order.
func (p *Pool) CreateAll(ctx context.Context, r Request, drafts []task.Draft) (Result, error) {
	if len(drafts) == 0 {
		return Result{}, invalid("tasks", "is empty; give at least one task")
	}
	if len(drafts) > p.limits.TasksPerBatch {
		return Result{}, &QuotaError{Reason: ReasonBatchTooLarge, Message: fmt.Sprintf(
			"tasks: %d in one batch; at most %d go in at once; send them in several calls, dependencies first", len(drafts), p.limits.TasksPerBatch)}
	}
	return p.createAll(ctx, "CreateTasks", r, drafts, func(i int) string { return fmt.Sprintf("tasks[%d]", i) })
}

func (p *Pool) createAll(ctx context.Context, method string, r Request, drafts []task.Draft, field func(int) string) (Result, error) {
	checked := make([]task.Draft, len(drafts))
	refs := make(map[string]int, len(drafts))
	var violations task.Violations
	for i, d := range drafts {
		var found task.Violations
		checked[i], found = d.Check(p.limits)
		if ref := checked[i].Ref; ref != "" {
			if first, twice := refs[ref]; twice {
				found.Add("ref", "%q is also that of %s; give each task of a batch its own", ref, field(first))
			}
			refs[ref] = i
		}
		violations = append(violations, found.At(field(i))...)
	}
	if len(violations) > 0 {
		return Result{}, &InvalidError{Reason: ReasonInvalidField, Violations: violations}
	}
	return p.mutate(ctx, method, r, func(tx *tx) ([]string, string, error) {
		b := batch{tx: tx, drafts: checked, refs: refs, field: field}
		ids, err := b.create()
		return ids, "", err
	})
}

// batch is drafts on their way to becoming tasks of one mutation.
type batch struct {
	tx     *tx
	drafts []task.Draft
	refs   map[string]int
	field  func(int) string
	ids    []string
}

func (b *batch) create() ([]string, error) {
	b.ids = make([]string, len(b.drafts))
	for i := range b.drafts {
		b.ids[i] = uuid.NewString()
	}
	plans := make([]plan, len(b.drafts))
	for i := range b.drafts {
		p, err := b.plan(i)
		if err != nil {
			return nil, err
		}
		plans[i] = p
	}
	if err := b.depths(plans); err != nil {
		return nil, err
	}
	for _, p := range plans {
		b.tx.create(p.task, len(p.dependencies) > 0)
	}
	for i, p := range plans {
		if err := b.wire(i, p); err != nil {
			return nil, err
		}
	}
	for _, p := range plans {
		b.tx.begin(p.task)
	}
	return b.ids, nil
}

// plan is a draft with its references found, before its edges are made.
type plan struct {
	task         *task.Task
	dependencies []string
	parent       string
}

func (b *batch) plan(i int) (plan, error) {
	d, tx, at := b.drafts[i], b.tx, b.field(i)
	p := plan{task: &task.Task{
		ID: b.ids[i], Number: tx.number + int64(i) + 1,
		Title: d.Title, Brief: d.Brief(), Priority: d.Priority, Type: d.Type, Labels: d.Labels,
		CreatedBy: tx.actor, CreatedAt: tx.now, NotBefore: d.NotBefore,
		Status: task.Ready, // derived once all tasks of the batch are there
	}}
	var err error
	seen := map[string]bool{}
	for k, name := range d.Dependencies {
		field := fmt.Sprintf("%s.dependency_ids[%d]", at, k)
		id, err := b.resolve(field, name)
		if err != nil {
			return p, err
		}
		if seen[id] {
			return p, duplicateDependency(field, name, id)
		}
		seen[id] = true
		p.dependencies = append(p.dependencies, id)
	}
	if d.Parent != "" {
		if p.parent, err = b.resolve(at+".parent_id", d.Parent); err != nil {
			return p, err
		}
	}
	if d.DiscoveredFrom != "" {
		if p.task.DiscoveredFrom, err = b.resolve(at+".discovered_from_id", d.DiscoveredFrom); err != nil {
			return p, err
		}
	}
	p.task.Assignee, err = resolveMember(at+".assignee", d.Assignee, tx.actor)
	return p, err
}

// resolve finds the task that a field names, in the batch or the pool.
func (b *batch) resolve(field, name string) (string, error) {
	if ref, local := strings.CutPrefix(name, "ref:"); local {
		i, ok := b.refs[ref]
		if !ok {
			return "", invalid(field, "names %q, but no task of this batch has that ref", name)
		}
		return b.ids[i], nil
	}
	n, err := b.tx.find(field, name)
	if err != nil {
		return "", err
	}
	return n.task.ID, nil
}

// depths sets the depth of each new task, whose parents may be new and stand
// anywhere in the batch. A circle of parents has no depth.
func (b *batch) depths(plans []plan) error {
	at := make(map[string]int, len(plans))
	for i, p := range plans {
		at[p.task.ID] = i
	}
	for i, p := range plans {
		depth, up, path := 0, p.parent, []string{p.task.ID}
		for up != "" && depth <= len(plans) {
			depth++
			path = append(path, up)
			if up == p.task.ID {
				slices.Reverse(path) // a parent needs its children
				return b.cycle(b.field(i)+".parent_id", path)
			}
			k, isNew := at[up]
			if !isNew {
				depth += b.tx.node(up).task.Depth
				break
			}
			up = plans[k].parent
		}
		if depth > len(plans) && up != "" {
			if _, isNew := at[up]; isNew {
				continue // above it is a circle, which its own members report
			}
		}
		if depth > b.tx.limits.Depth {
			return tooDeep(b.field(i)+".parent_id", depth, b.tx.limits.Depth)
		}
		p.task.Depth = depth
	}
	return nil
}

// wire makes the edges of a new task: dependencies and parent.
func (b *batch) wire(i int, p plan) error {
	tx, t := b.tx, p.task
	for k, dep := range p.dependencies {
		field := fmt.Sprintf("%s.dependency_ids[%d]", b.field(i), k)
		if err := tx.roomForDependent(field, dep); err != nil {
			return err
		}
		if cycle := tx.connect(t.ID, dep); cycle != nil {
			return b.cycle(field, cycle)
		}
		t.Dependencies = append(t.Dependencies, dep)
		tx.link(t.ID, dep)
	}
	if p.parent == "" {
		return nil
	}
	field := b.field(i) + ".parent_id"
	if err := tx.adoptable(field, p.parent, false); err != nil {
		return err
	}
	if cycle := tx.connect(p.parent, t.ID); cycle != nil {
		return b.cycle(field, cycle)
	}
	t.ParentID = p.parent
	tx.join(t.ID, p.parent)
	tx.count(p.parent, t.ID, task.StatusUnspecified, t.Status)
	return nil
}

// begin derives a new task's first status and tells its thread, its parent's,
// and what it waits for in vain.
func (tx *tx) begin(t *task.Task) {
	tx.derive(t.ID)
	tx.emit(t.ID, tx.actor, task.EventCreated, "", task.CreatedDetail{Title: t.Title, ParentID: t.ParentID, DiscoveredFrom: t.DiscoveredFrom})
	if t.ParentID != "" {
		tx.emit(t.ParentID, tx.actor, task.EventSubtask, "", task.SubtaskDetail{ChildID: t.ID, Change: task.SubtaskAdded})
	}
	tx.noteGivenUp(t.ID, t.Dependencies)
}

// cycle names the tasks of a batch by their ref, which is all their author knows.
func (b *batch) cycle(field string, path []string) error {
	names := make(map[string]string, len(b.ids))
	for i, id := range b.ids {
		if ref := b.drafts[i].Ref; ref != "" {
			names[id] = ref
		} else {
			names[id] = b.field(i)
		}
	}
	shown := make([]string, len(path))
	for i, id := range path {
		if shown[i] = names[id]; shown[i] == "" {
			shown[i] = b.tx.node(id).task.Key()
		}
	}
	return cycleError(field, shown)
}
