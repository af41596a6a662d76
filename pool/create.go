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
// not done or its not_before is to come. Its draft has no Ref: local names are
// for batches.
//
// Errors: *InvalidError, *NotFoundError and *AmbiguousError for what it names,
// *RuleError for a cycle, depth, children or a closed parent.
func (p *Pool) Create(ctx context.Context, r Request, d task.Draft) (Result, error) {
	if d.Ref != "" {
		return Result{}, invalid("task.ref", "is for a batch, whose tasks name each other by it; leave it out")
	}
	return p.createAll(ctx, "CreateTask", r, []task.Draft{d}, func(int) string { return alone })
}

// alone is the field of a task that is created alone.
const alone = "task"

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
	b := batch{drafts: make([]task.Draft, len(drafts)), refs: make(map[string][]int, len(drafts)), field: field}
	if violations := b.check(drafts, p.limits); len(violations) > 0 {
		return Result{}, &InvalidError{Reason: ReasonInvalidField, Violations: violations}
	}
	return p.mutate(ctx, method, r, func(tx *tx) ([]string, string, error) {
		run := b // it may run again
		run.tx = tx
		ids, err := run.create()
		return ids, "", err
	})
}

// batch is drafts on their way to becoming tasks of one mutation.
type batch struct {
	tx     *tx
	drafts []task.Draft
	// refs are the places of each local name. Boards that people wrote repeat
	// names, which does no harm where nothing points to them.
	refs  map[string][]int
	field func(int) string
	ids   []string
}

// check reads the drafts and their local names, and gives everything wrong with
// them that needs no look at the pool.
func (b *batch) check(drafts []task.Draft, limits task.Limits) task.Violations {
	found := make([]task.Violations, len(drafts))
	for i, d := range drafts {
		b.drafts[i], found[i] = d.Check(limits)
		if ref := b.drafts[i].Ref; ref != "" {
			b.refs[ref] = append(b.refs[ref], i)
		}
	}
	var all task.Violations
	for i, d := range b.drafts {
		for k, name := range d.Dependencies {
			b.checkRef(&found[i], fmt.Sprintf("dependency_ids[%d]", k), name)
		}
		b.checkRef(&found[i], "parent_id", d.Parent)
		b.checkRef(&found[i], "discovered_from_id", d.DiscoveredFrom)
		all = append(all, found[i].At(b.field(i))...)
	}
	return all
}

func (b *batch) checkRef(v *task.Violations, field, name string) {
	ref, local := strings.CutPrefix(name, "ref:")
	if !local {
		return
	}
	switch named := b.refs[ref]; len(named) {
	case 0:
		if len(b.drafts) == 1 && b.field(0) == alone {
			v.Add(field, "is %q, which names a task of a batch, and this one is created alone: %s", task.Preview(name, 80), task.ReferenceHelp)
			return
		}
		v.Add(field, "names %q, but no task of this batch has that ref", task.Preview(name, 80))
	case 1:
	default:
		v.Add(field, "names %q, but %s and %s both have that ref; give each its own", task.Preview(name, 80), b.field(named[0]), b.field(named[1]))
	}
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
	for _, p := range plans {
		b.tx.introduce(p.task)
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
		return b.ids[b.refs[ref][0]], nil // check has seen to it that there is one
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
	known := make([]bool, len(plans))
	walk := make([]int, len(plans)) // the last walk that met this task, from 1
	for i := range plans {
		var climbed []int
		depth := 0
		for k := i; !known[k]; {
			if walk[k] == i+1 {
				return b.circle(plans, climbed[slices.Index(climbed, k):])
			}
			walk[k] = i + 1
			climbed = append(climbed, k)
			up := plans[k].parent
			next, isNew := at[up]
			if !isNew {
				if up != "" {
					depth = b.tx.node(up).task.Depth + 1
				}
				break
			}
			if k = next; known[k] {
				depth = plans[k].task.Depth + 1
			}
		}
		for _, k := range slices.Backward(climbed) {
			if depth > b.tx.limits.Depth {
				return tooDeep(b.field(k)+".parent_id", depth, b.tx.limits.Depth)
			}
			plans[k].task.Depth, known[k] = depth, true
			depth++
		}
	}
	return nil
}

// circle refuses new tasks of which each is the parent of the one before it, and
// the first that of the last.
func (b *batch) circle(plans []plan, members []int) error {
	path := make([]string, 0, len(members)+1)
	for _, k := range slices.Backward(members) {
		path = append(path, plans[k].task.ID) // a parent needs its children
	}
	return b.cycle(b.field(members[len(members)-1])+".parent_id", append(path, path[0]))
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

// begin derives a new task's first status and tells its thread.
func (tx *tx) begin(t *task.Task) {
	tx.derive(t.ID)
	tx.emit(t.ID, tx.actor, task.EventCreated, "", task.CreatedDetail{Title: t.Title, ParentID: t.ParentID, DiscoveredFrom: t.DiscoveredFrom})
}

// introduce tells a new task's parent of it, and the task of what it waits for
// in vain. All tasks of a batch have begun before: every thread opens with its
// own task's creation.
func (tx *tx) introduce(t *task.Task) {
	if t.ParentID != "" {
		tx.emit(t.ParentID, tx.actor, task.EventSubtask, "", task.SubtaskDetail{ChildID: t.ID, Change: task.SubtaskAdded})
	}
	tx.noteGivenUp(t.ID, t.Dependencies)
}

// cycle names the tasks of a batch by their ref, which is all their author
// knows, and begins with the one that stands first in the request.
func (b *batch) cycle(field string, ids []string) error {
	at := make(map[string]int, len(b.ids))
	for i, id := range b.ids {
		at[id] = i
	}
	ids = fromFirst(ids, at)
	path, names := keys(b.tx, ids), make([]string, len(ids))
	for i, id := range ids {
		names[i] = path[i]
		k, isNew := at[id]
		if !isNew {
			continue
		}
		if ref := b.drafts[k].Ref; ref != "" {
			path[i], names[i] = "ref:"+ref, ref
		} else {
			path[i], names[i] = b.field(k), b.field(k)
		}
	}
	return cycleError(field, path, names)
}

// fromFirst turns a ring of ids, first and last equal, so that it begins with
// the one of the lowest place.
func fromFirst(ids []string, at map[string]int) []string {
	ring, first := ids[:len(ids)-1], 0
	for i, id := range ring {
		place, ok := at[id]
		if lowest, known := at[ring[first]]; ok && (!known || place < lowest) {
			first = i
		}
	}
	turned := append(slices.Clone(ring[first:]), ring[:first]...)
	return append(turned, turned[0])
}
