package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// settable are the statuses that an agent sets; the others come about.
var settable = []taskpoolv1.TaskStatus{
	taskpoolv1.TaskStatus_TASK_STATUS_READY, taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS, taskpoolv1.TaskStatus_TASK_STATUS_DONE,
	taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED, taskpoolv1.TaskStatus_TASK_STATUS_CANCELLED,
}

var updateTool = definition{
	name: "update_task",
	description: "Changes a task: its status, any of its fields, its progress log, what it depends on, who it is assigned to. " +
		"Before you work on a task set it to in_progress, which takes it for you; if another agent has it, the call is refused, and you take another task. " +
		"Record with history what you find out and finish on the way. When you set it to done, record a completion summary in the same call: " +
		"what was done, how it was verified, what is left. If you give up, set it back to ready and say why in history; if something outside stops it, set it to blocked with a reason. " +
		"All of a call happens or nothing of it. Lists replace the whole list that was there.",
	parameters: slices.Concat(
		parameters{
			{name: "id", kind: text, required: true, description: "The task: its id, its key such as \"T-12\", or at least the first 8 characters of its id."},
			{
				name: "status", kind: word, words: statuses(settable),
				never: map[string]string{
					"pending": "is derived from what the task depends on and is never set",
					"failed":  "comes about by itself and is never set",
					"review":  "comes about when work with a reviewer is handed in: set done",
				},
				description: "in_progress: you begin to work on it. done: it is finished, all acceptance criteria are met. ready: put it back for anyone. " +
					"blocked: something outside stops it (give a reason). cancelled: it is not to be done any more. Nothing else can be set: pending is derived from dependencies.",
			},
			{name: "reason", kind: text, description: "Why the status, or the assignee, changes. Required for blocked, where everybody sees it with the task. With another status it stands in the record alone: tell others with history."},
		},
		plan(true),
		parameters{
			{name: "history", kind: text, description: "An entry for the progress log, which is only ever added to and gets its time by itself. With done: the completion summary."},
			{name: "dependency_id", kind: text, description: "Id of one more task that has to be done before this one. Refused once the work has begun, and where it would make a circle."},
			{name: "remove_dependency_id", kind: text, description: "Id of a task that it depends on and is to depend on no longer."},
			{name: "assignee", kind: text, description: "Who is to do it: \"me\", or a member such as \"agent:reviewer\" or \"human\"; \"none\" for nobody. Whoever works on it loses it."},
			{name: "labels", kind: labels, description: "Labels to add or to give another value."},
			{name: "remove_labels", kind: texts, description: "Keys of labels to remove."},
			{name: "parent_id", kind: text, description: "Id of the task that this one becomes a part of; \"none\" for none."},
		},
	),
	run:     update,
	changes: true,
}

func statuses(all []taskpoolv1.TaskStatus) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = words.Of(s)
	}
	return names
}

func update(ctx context.Context, c *client.Client, a arguments) (string, error) {
	req := &taskpoolv1.UpdateTaskRequest{
		Id: a.text("id"), Reason: a.text("reason"),
		Title: a.given("title"), Description: a.orNone("description"), Body: a.orNone("body"),
		AcceptanceCriteria: a.list("acceptance_criteria"), Links: a.list("links"), Steps: a.list("steps"), Context: a.list("context"),
		Constraints: a.list("constraints"), OutOfScope: a.list("out_of_scope"), Verification: a.list("verification"), EdgeCases: a.list("edge_cases"),
		HistoryEntry: a.text("history"), Assignee: a.orNone("assignee"), ParentId: a.orNone("parent_id"),
		SetLabels: a.labels("labels"), RemoveLabels: a.texts("remove_labels"),
	}
	// The words were checked against the schema.
	if a.has("status") {
		status, _ := words.Parse[taskpoolv1.TaskStatus](a.text("status"), "")
		req.Status = &status
	}
	if a.has("priority") {
		priority, _ := words.Parse[taskpoolv1.TaskPriority](a.text("priority"), noneWord)
		req.Priority = &priority
	}
	if a.has("type") {
		sort, _ := words.Parse[taskpoolv1.TaskType](a.text("type"), noneWord)
		req.Type = &sort
	}
	if a.has("dependency_id") {
		req.AddDependencyIds = []string{a.text("dependency_id")}
	}
	if a.has("remove_dependency_id") {
		req.RemoveDependencyIds = []string{a.text("remove_dependency_id")}
	}
	resp, err := c.Tasks().UpdateTask(ctx, req)
	if err != nil {
		return "", err
	}
	return updated(a, resp.GetTask()), nil
}

// list is a list that may be absent, as requests have it.
func (a arguments) list(name string) *taskpoolv1.StringList {
	if !a.has(name) {
		return nil
	}
	return &taskpoolv1.StringList{Values: a.texts(name)}
}

// orNone is a text that may be absent; "none" is the empty one.
func (a arguments) orNone(name string) *string {
	if a.isNone(name) {
		return proto.String("")
	}
	return a.given(name)
}

func (a arguments) isNone(name string) bool {
	return strings.EqualFold(strings.TrimSpace(a.text(name)), noneWord)
}

// updated tells what was changed, in a fixed order.
func updated(a arguments, t *taskpoolv1.Task) string {
	said := []string{fmt.Sprintf("updated %s (%s)", t.GetId(), t.GetKey()), "status " + words.Of(t.GetStatus())}
	for _, p := range plan(true) {
		if a.has(p.name) {
			said = append(said, strings.ReplaceAll(p.name, "_", " "))
		}
	}
	if a.has("history") {
		said = append(said, "progress entry recorded")
	}
	if all := t.GetDependencyIds(); a.has("dependency_id") && len(all) > 0 {
		said = append(said, "now depends on "+all[len(all)-1]) // they are in the order they were added
	}
	if a.has("remove_dependency_id") {
		said = append(said, "no longer depends on "+a.text("remove_dependency_id"))
	}
	if a.has("assignee") {
		said = append(said, "assigned to "+cmp.Or(t.GetAssignee(), "nobody"))
	}
	if set := a.labels("labels"); len(set) > 0 {
		said = append(said, "labels set: "+strings.Join(slices.Sorted(maps.Keys(set)), " "))
	}
	if removed := a.texts("remove_labels"); len(removed) > 0 {
		said = append(said, "without the labels: "+strings.Join(removed, " "))
	}
	if a.has("parent_id") {
		said = append(said, "part of "+cmp.Or(t.GetParentId(), "no task"))
	}
	text := strings.Join(said, ", ")
	if t.GetStatus() == taskpoolv1.TaskStatus_TASK_STATUS_DONE && a.has("status") && !a.has("history") {
		text += ". No completion summary came with it: unless one is recorded already, add it with history, saying what was done and how it was verified"
	}
	return text
}
