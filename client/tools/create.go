package tools

import (
	"context"
	"fmt"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

var createTool = definition{
	name: "create_task",
	description: "Creates a task in the shared pool, for yourself or for another agent to do. Make it small enough for one sitting and " +
		"complete enough to be done without asking back: fill every field that adds something, and leave out those that do not. " +
		"Acceptance criteria have to be pass or fail. If the work needs other tasks first, name them in dependency_ids, and it waits for them by itself. " +
		"Answers with the id of the task; keep it, the other tools take it.",
	parameters: append(plan(false),
		parameter{name: "dependency_ids", kind: texts, description: "Ids of tasks that have to be done first. Until they are, this one is pending; then it becomes ready by itself."},
		parameter{name: "parent_id", kind: text, description: "Id of the task that this one is a part of. A parent can be closed only after its parts; it does not wait for them otherwise."},
		parameter{name: "labels", kind: labels, description: "Keys and values to find it by, as in {\"area\": \"login\"}."},
		parameter{name: "assignee", kind: text, description: "Who is to do it: \"me\", or a member such as \"agent:reviewer\" or \"human\". Leave it out to let anyone take it."},
	),
	run:     create,
	changes: true,
}

func create(ctx context.Context, c *client.Client, a arguments) (string, error) {
	// The words were checked against the schema.
	priority, _ := words.Parse[taskpoolv1.TaskPriority](a.text("priority"), "")
	sort, _ := words.Parse[taskpoolv1.TaskType](a.text("type"), "")
	resp, err := c.Tasks().CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{
		Title: a.text("title"), Description: a.text("description"), Body: a.text("body"),
		Priority: priority, Type: sort,
		AcceptanceCriteria: a.texts("acceptance_criteria"), Links: a.texts("links"), Steps: a.texts("steps"), Context: a.texts("context"),
		Constraints: a.texts("constraints"), OutOfScope: a.texts("out_of_scope"), Verification: a.texts("verification"), EdgeCases: a.texts("edge_cases"),
		DependencyIds: a.texts("dependency_ids"), ParentId: a.named("parent_id"), Labels: a.labels("labels"), Assignee: a.named("assignee"),
	}})
	if err != nil {
		return "", err
	}
	t := resp.GetTask()
	said := fmt.Sprintf("task created: %s (%s), %s", t.GetId(), t.GetKey(), words.Of(t.GetStatus()))
	if n := len(t.GetUnfinishedDependencyIds()); n > 0 {
		said += fmt.Sprintf(": it waits for %s", count(n, "other task", "other tasks"))
	}
	return said, nil
}

// named is a name; "none" is as if it were left out.
func (a arguments) named(name string) string {
	if a.isNone(name) {
		return ""
	}
	return a.text(name)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
