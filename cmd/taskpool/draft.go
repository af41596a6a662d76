package main

import (
	"github.com/spf13/cobra"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// draftFlags are the flags that describe a new task, one for each field.
type draftFlags struct {
	title, description string
	body               bodyFlags
	lists              listValues
	labels             pairsFlag
	priority           wordFlag[taskpoolv1.TaskPriority]
	kind               wordFlag[taskpoolv1.TaskType]
	dependsOn          namesFlag
	parent             string
	assignee, reviewer string
	noReview           bool
	notBefore          instantFlag
	discoveredFrom     string
}

// draftNames are the flags' names.
var draftNames = func() []string {
	names := []string{
		"title", "description", "body", "body-file", "label", "priority", "type", "depends-on", "parent",
		"assignee", "reviewer", "no-review", "not-before", "discovered-from",
	}
	for _, list := range listFields {
		names = append(names, list.flag)
	}
	return names
}()

func (d *draftFlags) register(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.title, "title", "", "what to do, in a line")
	f.StringVar(&d.description, "description", "", "the goal: what and why")
	d.body.register(cmd)
	d.lists = listFlags(f, "; repeat for more")
	f.Var(&d.labels, "label", "a label; repeat for more")
	d.priority.none, d.kind.none = "none", "none"
	f.Var(&d.priority, "priority", "low, medium or high")
	f.Var(&d.kind, "type", "feature, bug, refactor, chore or research")
	f.Var(&d.dependsOn, "depends-on", "tasks that must be done first; repeat, or divide by commas")
	f.StringVar(&d.parent, "parent", "", "the `task` it is a part of")
	f.StringVar(&d.assignee, "assignee", "", "the `member` who should do it")
	f.StringVar(&d.reviewer, "reviewer", "", "the `member` who reviews the work")
	f.BoolVar(&d.noReview, "no-review", false, "no review, whatever the pool's default is")
	d.notBefore.now = a.now
	f.Var(&d.notBefore, "not-before", "not to be started before: 2026-01-02T15:04:05Z, or +90m, +2d from now")
	f.StringVar(&d.discoveredFrom, "discovered-from", "", "the `task` during which it was found")
	offer(cmd, "priority", fixed(words.All[taskpoolv1.TaskPriority]()...))
	offer(cmd, "type", fixed(words.All[taskpoolv1.TaskType]()...))
}

// given are the draft flags that were used.
func (d *draftFlags) given(cmd *cobra.Command) []string {
	var given []string
	for _, name := range draftNames {
		if cmd.Flags().Changed(name) {
			given = append(given, name)
		}
	}
	return given
}

// task is what the flags describe.
func (d *draftFlags) task(a *app, cmd *cobra.Command) (*taskpoolv1.NewTask, error) {
	body, _, err := d.body.read(a, cmd)
	if err != nil {
		return nil, err
	}
	task := &taskpoolv1.NewTask{
		Title: d.title, Description: d.description, Body: body,
		Priority: d.priority.value, Type: d.kind.value,
		DependencyIds: d.dependsOn, ParentId: d.parent,
		Assignee: d.assignee, Reviewer: d.reviewer, NoReview: d.noReview,
		Labels: d.labels, NotBefore: d.notBefore.value, DiscoveredFromId: d.discoveredFrom,
	}
	for _, list := range listFields {
		*list.draft(task) = *d.lists[list.flag]
	}
	return task, nil
}
