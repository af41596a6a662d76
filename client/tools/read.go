package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// Tasks of a page of a listing.
const (
	usualLimit = 20
	maxLimit   = 100
)

var readTool = definition{
	parameters: readParameters,
	run:        read,
	name:       "read_task",
	description: "Reads the shared pool. With id: one task in full, with its progress log. Without: a list of the tasks that are neither done nor cancelled, " +
		"in the order they were created, with long texts cut short; all filters that are given have to fit. " +
		"Look here before you create a task, so that nothing is planned twice, and find work with claimable. Read a task by its id before you begin it.",
}

var readParameters = parameters{
	{name: "id", kind: text, description: "One task: its id, its key such as \"T-12\", or at least the first 8 characters of its id. Not together with the others."},
	{name: "available", kind: flag, description: "true: only tasks that wait for no other and are not done: ready ones and those that somebody works on already."},
	{name: "claimable", kind: flag, description: "true: only tasks that you could take now: they are ready, and nobody else holds them or is assigned."},
	{name: "status", kind: word, words: words.All[taskpoolv1.TaskStatus](), description: "Only tasks in this status. done and cancelled ones are listed only so."},
	{name: "priority", kind: word, words: words.All[taskpoolv1.TaskPriority](), description: "Only tasks of this priority."},
	{name: "type", kind: word, words: words.All[taskpoolv1.TaskType](), description: "Only tasks of this type."},
	{name: "assignee", kind: text, description: "Only tasks assigned to this member: \"me\", or as in \"agent:reviewer\"; \"none\": to nobody."},
	{name: "parent_id", kind: text, description: "Only the parts of this task."},
	{name: "labels", kind: labels, description: "Only tasks with all these labels, as in {\"area\": \"login\"}."},
	{name: "text", kind: text, description: "Only tasks whose title, description, body or key holds this, in upper or lower case."},
	{name: "limit", kind: number, least: 1, most: maxLimit, description: fmt.Sprintf("How many tasks to list at most: %d unless you say otherwise, up to %d.", usualLimit, maxLimit)},
	{name: "page_token", kind: text, description: "For the tasks after those of an earlier answer: the token that it gave, with the same filters."},
}

func read(ctx context.Context, c *client.Client, a arguments) (string, error) {
	if !a.has("id") {
		return list(ctx, c, a)
	}
	if len(a) > 1 {
		var with []string
		for _, p := range readParameters {
			if p.name != "id" && a.has(p.name) {
				with = append(with, p.name)
			}
		}
		return "", badArguments{fmt.Sprintf("id and %s exclude each other: with id one task is read, the others are for lists; leave one of them out", strings.Join(with, ", "))}
	}
	id := a.text("id")
	resp, err := c.Tasks().ReadTask(ctx, &taskpoolv1.ReadTaskRequest{Id: &id, IncludeRelatives: true})
	if err != nil {
		return "", err
	}
	return whole(resp).json()
}
