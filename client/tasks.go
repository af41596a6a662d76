package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// Create makes one task.
func (c *Client) Create(ctx context.Context, draft *taskpoolv1.NewTask) (*taskpoolv1.Task, error) {
	answer, err := c.Tasks().CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Task: draft})
	if err != nil {
		return nil, err
	}
	return answer.GetTask(), nil
}

// Get reads one task in full, by id, key or prefix.
func (c *Client) Get(ctx context.Context, id string) (*taskpoolv1.Task, error) {
	answer, err := c.Tasks().ReadTask(ctx, &taskpoolv1.ReadTaskRequest{Id: &id})
	if err != nil {
		return nil, err
	}
	return answer.GetTask(), nil
}

// List goes through all tasks that the request selects, in the order they were
// created, page by page: from its page_token on, page_size at a time. Nil selects
// every task that is not closed. An error ends it.
func (c *Client) List(ctx context.Context, request *taskpoolv1.ReadTaskRequest) iter.Seq2[*taskpoolv1.Task, error] {
	return func(yield func(*taskpoolv1.Task, error) bool) {
		page := &taskpoolv1.ReadTaskRequest{}
		proto.Merge(page, request)
		for {
			answer, err := c.Tasks().ReadTask(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, t := range answer.GetTasks() {
				if !yield(t, nil) {
					return
				}
			}
			if page.PageToken = answer.GetNextPageToken(); page.PageToken == "" {
				return
			}
		}
	}
}
