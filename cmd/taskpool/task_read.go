package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

func (a *app) taskRead() *cobra.Command {
	request := &taskpoolv1.ReadTaskRequest{}
	var view wordFlag[taskpoolv1.TaskView]
	cmd := &cobra.Command{
		Use:   "read ID",
		Short: "Read one task, by id, key (T-12) or at least 8 characters of its id",
		Args:  oneArg("the ID of a task"),
	}
	cmd.RunE = a.asking(func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
		request.Id, request.View = &args[0], view.value
		answer, err := readWhole(ctx, c, request)
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		return a.printTask(ctx, c, answer)
	})
	cmd.Flags().BoolVar(&request.IncludeThread, "thread", false, "also all that happened to it")
	cmd.Flags().BoolVar(&request.IncludeRelatives, "relatives", false, "also its parent and children")
	cmd.Flags().Var(&view, "view", "how much of it: full (default), preview or compact")
	offer(cmd, "view", fixed(words.All[taskpoolv1.TaskView]()...))
	return cmd
}

// readWhole reads a task with all pages of its thread.
func readWhole(ctx context.Context, c *client.Client, request *taskpoolv1.ReadTaskRequest) (*taskpoolv1.ReadTaskResponse, error) {
	if request.IncludeThread {
		request.ThreadPageSize = maxPage
	}
	whole, err := c.Tasks().ReadTask(ctx, request)
	if err != nil {
		return nil, err
	}
	for whole.GetNextThreadPageToken() != "" {
		request.ThreadPageToken = whole.GetNextThreadPageToken()
		page, err := c.Tasks().ReadTask(ctx, request)
		if err != nil {
			return nil, err
		}
		whole.Events = append(whole.Events, page.GetEvents()...)
		whole.NextThreadPageToken = page.GetNextThreadPageToken()
	}
	return whole, nil
}
