package main

import (
	"slices"

	"github.com/spf13/cobra"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// changeFlags are the flags that change a task. What was not given stays absent
// in the request.
type changeFlags struct {
	title, description, assignee, reviewer, parent string

	body      bodyFlags
	lists     listValues
	setLabels pairsFlag
	removed   namesFlag
	added     namesFlag
	dropped   namesFlag
	priority  wordFlag[taskpoolv1.TaskPriority]
	kind      wordFlag[taskpoolv1.TaskType]
	status    wordFlag[taskpoolv1.TaskStatus]
	notBefore instantFlag

	request taskpoolv1.UpdateTaskRequest // what needs no presence
}

func (u *changeFlags) register(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&u.title, "title", "", "what to do, in a line")
	f.StringVar(&u.description, "description", "", "the goal; \"\" clears it")
	u.body.register(cmd)
	u.lists = listFlags(f, "; repeat for more, they replace the list; \"\" clears it")
	f.Var(&u.setLabels, "set-label", "set a label; repeat for more")
	f.Var(&u.removed, "remove-label", "remove labels by key; repeat, or divide by commas")
	f.Var(&u.added, "add-dependency", "tasks that must be done first; repeat, or divide by commas")
	f.Var(&u.dropped, "remove-dependency", "tasks that need not be done first any more")
	u.priority.none, u.kind.none = "none", "none"
	f.Var(&u.priority, "priority", "low, medium, high or none")
	f.Var(&u.kind, "type", "feature, bug, refactor, chore, research or none")
	f.StringVar(&u.assignee, "assignee", "", "the `member` who should do it; \"\": nobody")
	f.StringVar(&u.reviewer, "reviewer", "", "the `member` who reviews the work; \"\": nobody")
	f.StringVar(&u.parent, "parent", "", "the `task` it is a part of; \"\": none")
	f.Var(&u.status, "status", "in_progress, ready, review, blocked, done or cancelled")
	f.StringVar(&u.request.Reason, "reason", "", "why the status changes; needed for blocked")
	f.BoolVar(&u.request.Force, "force", false, "close it although children are open (operators; recorded)")
	u.notBefore.now, u.notBefore.clear = a.now, true
	f.Var(&u.notBefore, "not-before", "not to be started before: 2026-01-02T15:04:05Z, or +90m, +2d from now; none clears it")
	f.StringVar(&u.request.HistoryEntry, "note", "", "a line for its history, which is only ever added to")
	f.Int64Var(&u.request.ExpectedVersion, "expected-version", 0, "only if nobody changed the task since it had this `version`")
	holdTokenFlag(cmd, &u.request.HoldToken)
	requestIDFlag(cmd, &u.request.RequestId)
	offer(cmd, "priority", fixed(append(words.All[taskpoolv1.TaskPriority](), "none")...))
	offer(cmd, "type", fixed(append(words.All[taskpoolv1.TaskType](), "none")...))
	offer(cmd, "status", fixed("in_progress", "ready", "review", "blocked", "done", "cancelled"))
}

// changes are the flags that say what to change, without those that say on what
// conditions.
var changes = append([]string{
	"title", "description", "body", "body-file", "set-label", "remove-label", "add-dependency", "remove-dependency",
	"priority", "type", "assignee", "reviewer", "parent", "status", "not-before", "note",
}, listNames()...)

func listNames() []string {
	names := make([]string, len(listFields))
	for i, list := range listFields {
		names[i] = list.flag
	}
	return names
}

// complete is the request that the flags make.
func (u *changeFlags) complete(a *app, cmd *cobra.Command, id string) (*taskpoolv1.UpdateTaskRequest, error) {
	changed := cmd.Flags().Changed
	if !slices.ContainsFunc(changes, changed) {
		return nil, usagef("what is to change? See %s --help", cmd.CommandPath())
	}
	r := &u.request
	r.Id, r.HoldToken = id, a.holdToken(r.HoldToken)
	for name, field := range map[string]struct {
		value *string
		set   **string
	}{
		"title":       {&u.title, &r.Title},
		"description": {&u.description, &r.Description},
		"assignee":    {&u.assignee, &r.Assignee},
		"reviewer":    {&u.reviewer, &r.Reviewer},
		"parent":      {&u.parent, &r.ParentId},
	} {
		if changed(name) {
			*field.set = field.value
		}
	}
	if changed("priority") {
		r.Priority = &u.priority.value
	}
	if changed("type") {
		r.Type = &u.kind.value
	}
	if changed("status") {
		r.Status = &u.status.value
	}
	r.NotBefore = u.notBefore.value
	r.SetLabels, r.RemoveLabels = u.setLabels, u.removed
	r.AddDependencyIds, r.RemoveDependencyIds = u.added, u.dropped
	body, given, err := u.body.read(a, cmd)
	if err != nil {
		return nil, err
	}
	if given {
		r.Body = &body
	}
	return r, u.completeLists(cmd, r)
}

// completeLists puts in the lists; a single empty item stands for none.
func (u *changeFlags) completeLists(cmd *cobra.Command, r *taskpoolv1.UpdateTaskRequest) error {
	for _, list := range listFields {
		if !cmd.Flags().Changed(list.flag) {
			continue
		}
		items := *u.lists[list.flag]
		for _, item := range items {
			if item == "" && len(items) > 1 {
				return usagef("--%s \"\" clears the list; it can't be combined with items", list.flag)
			}
		}
		if items[0] == "" {
			items = nil
		}
		*list.change(r) = &taskpoolv1.StringList{Values: items}
	}
	return nil
}
