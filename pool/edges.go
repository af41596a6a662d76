package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

var zeroTime time.Time

// drop removes edges to other tasks. It comes before depend, so that an edge can
// be turned around in one update.
func (c *updating) drop() error {
	for i, name := range c.patch.RemoveDependencies {
		id, err := c.removable(fmt.Sprintf("remove_dependency_ids[%d]", i), name)
		if err != nil {
			return err
		}
		t := c.editAs(c.id)
		t.Dependencies = without(t.Dependencies, id)
		c.unlink(c.id, id)
		c.removed = append(c.removed, id)
		c.unsettle(c.id)
	}
	return nil
}

// depend adds edges to other tasks, and tells of all that changed.
func (c *updating) depend() error {
	for i, name := range c.patch.AddDependencies {
		id, err := c.addable(fmt.Sprintf("add_dependency_ids[%d]", i), name)
		if err != nil {
			return err
		}
		t := c.editAs(c.id)
		t.Dependencies = with(t.Dependencies, id)
		c.link(c.id, id)
		c.added = append(c.added, id)
	}
	if len(c.added)+len(c.removed) == 0 {
		return nil
	}
	if err := c.mayEdit(c.was, "dependency_ids"); err != nil {
		return err
	}
	c.emit(c.id, c.actor, task.EventDependency, "", task.DependencyDetail{Added: c.added, Removed: c.removed})
	c.noteGivenUp(c.id, c.added)
	c.unsettle(c.id)
	return nil
}

// removable finds a dependency by what the request calls it. The dependency may
// itself be gone, so an id that is listed is enough.
func (c *updating) removable(field, name string) (string, error) {
	t := c.task()
	if slices.Contains(t.Dependencies, name) {
		return name, nil
	}
	n, err := c.find(field, name)
	if err != nil {
		return "", err
	}
	if !slices.Contains(t.Dependencies, n.task.ID) {
		e := c.refuse(ReasonDependencyNotFound, "%s: %s does not depend on %s", field, t.Key(), n.task.Key())
		e.Related = []string{n.task.ID}
		return "", e
	}
	return n.task.ID, nil
}

// addable checks a new dependency and makes room for it in the order.
func (c *updating) addable(field, name string) (string, error) {
	t := c.task()
	n, err := c.find(field, name)
	if err != nil {
		return "", err
	}
	id := n.task.ID
	switch {
	case slices.Contains(c.removed, id):
		return "", invalid(field, "names %s, which remove_dependency_ids names too: add the dependency or remove it", n.task.Key())
	case !t.Status.Open() && t.Status != task.Blocked:
		return "", c.refuse(ReasonMoveNotAllowed,
			"%s: %s is %s, and only pending, ready and blocked tasks take new dependencies; set its status to ready with it", field, t.Key(), t.Status)
	case slices.Contains(t.Dependencies, id):
		return "", duplicateDependency(field, n.task.Key(), id)
	case len(t.Dependencies) >= c.limits.Dependencies:
		return "", c.refuse(ReasonDependenciesExceeded,
			"%s: %s already has %d dependencies, the most this pool allows; let one task gather several of them", field, t.Key(), len(t.Dependencies))
	}
	if err := c.roomForDependent(field, id); err != nil {
		return "", err
	}
	if cycle := c.connect(c.id, id); cycle != nil {
		return "", cycleError(field, keys(c, cycle), keys(c, cycle))
	}
	return id, nil
}

// reparent moves the task under another parent, or to the top.
func (c *updating) reparent() error {
	if c.patch.Parent == nil {
		return nil
	}
	t, parent := c.task(), ""
	if *c.patch.Parent != "" {
		n, err := c.find("parent_id", *c.patch.Parent)
		if err != nil {
			return err
		}
		parent = n.task.ID
	}
	old := t.ParentID
	if parent == old {
		return nil
	}
	if err := c.mayEdit(t, "parent_id"); err != nil {
		return err
	}
	t = c.editAs(c.id)
	if old != "" {
		c.leave(c.id, old)
		t.ParentID = ""
		c.count(old, c.id, t.Status, task.StatusUnspecified)
		c.emit(old, c.actor, task.EventSubtask, "", task.SubtaskDetail{ChildID: c.id, Change: task.SubtaskRemoved})
	}
	depth := 0
	if parent != "" {
		if err := c.adoptable("parent_id", parent, t.Closed()); err != nil {
			return err
		}
		if cycle := c.connect(parent, c.id); cycle != nil {
			return cycleError("parent_id", keys(c, cycle), keys(c, cycle))
		}
		t.ParentID = parent
		c.join(c.id, parent)
		c.count(parent, c.id, task.StatusUnspecified, t.Status)
		c.emit(parent, c.actor, task.EventSubtask, "", task.SubtaskDetail{ChildID: c.id, Change: task.SubtaskAdded})
		depth = c.node(parent).task.Depth + 1
	}
	c.emit(c.id, c.actor, task.EventEdited, "", task.EditedDetail{Fields: []string{"parent_id"}})
	return c.deepen(c.id, depth)
}

// deepen sets the depth of a task and of all below it.
func (c *updating) deepen(id string, depth int) error {
	type step struct {
		id    string
		depth int
	}
	for todo := []step{{id, depth}}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if at.depth > c.limits.Depth && at.depth > c.node(at.id).task.Depth {
			return tooDeep("parent_id", at.depth, c.limits.Depth)
		}
		if c.node(at.id).task.Depth == at.depth {
			continue
		}
		c.edit(at.id).Depth = at.depth
		for _, child := range c.node(at.id).children {
			todo = append(todo, step{child, at.depth + 1})
		}
	}
	return nil
}

// refuse is a rule error that shows the moves allowed now.
func (c *updating) refuse(reason Reason, format string, args ...any) *RuleError {
	return &RuleError{Reason: reason, Message: fmt.Sprintf(format, args...), Allowed: c.allowed()}
}
