package main

import (
	"context"
	"strings"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

// mostTitles is how many other tasks are looked up to write one page; the rest
// are shown by the beginning of their ids.
const mostTitles = 20

// titles turns ids into what people know a task by.
type titles struct {
	ctx   context.Context
	c     *client.Client
	known map[string]*taskpoolv1.Task // nil: looked up in vain
	view  map[string]*taskpoolv1.Task // asked first; may be nil
	asked int
}

func newTitles(ctx context.Context, c *client.Client) *titles {
	return &titles{ctx: ctx, c: c, known: map[string]*taskpoolv1.Task{}}
}

// know takes in the tasks of an answer, so that they need no looking up.
func (n *titles) know(answer *taskpoolv1.ReadTaskResponse) {
	for _, t := range append(answer.GetChildren(), answer.GetTask(), answer.GetParent()) {
		if t.GetId() != "" {
			n.known[t.GetId()] = t
		}
	}
}

// task looks up a task, nil where it can't be had.
func (n *titles) task(id string) *taskpoolv1.Task {
	if t := n.view[id]; t != nil {
		return t
	}
	t, ok := n.known[id]
	if ok || n.asked >= mostTitles {
		return t
	}
	n.asked++
	answer, err := n.c.Tasks().ReadTask(n.ctx, &taskpoolv1.ReadTaskRequest{Id: &id, View: taskpoolv1.TaskView_TASK_VIEW_COMPACT})
	if err == nil {
		t = answer.GetTask()
	}
	n.known[id] = t
	return t
}

// of is a task in a line: key, status and title.
func (n *titles) of(id string) string {
	t := n.task(id)
	if t == nil {
		return short(id)
	}
	return t.GetKey() + " " + words.Of(t.GetStatus()) + ": " + t.GetTitle()
}

// key is the key of a task.
func (n *titles) key(id string) string {
	if t := n.task(id); t.GetKey() != "" {
		return t.GetKey()
	}
	return short(id)
}

// keys are those of several.
func (n *titles) keys(ids []string) string {
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = n.key(id)
	}
	return strings.Join(keys, ", ")
}

// short is the beginning of an id, as long as the server needs to know it.
func short(id string) string { return id[:min(len(id), 8)] }
