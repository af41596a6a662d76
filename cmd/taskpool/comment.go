package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) commentCommand() *cobra.Command {
	request := &taskpoolv1.CommentTaskRequest{}
	cmd := &cobra.Command{
		Use:   "comment ID TEXT",
		Short: "Say something about a task, in its thread",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("give the ID of a task and one TEXT, in quotes; see %s --help", cmd.CommandPath())
			}
			return nil
		},
	}
	cmd.RunE = a.changing(&request.RequestId, func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
		request.Id, request.Body, request.HoldToken = args[0], args[1], a.holdToken(request.HoldToken)
		answer, err := c.Tasks().CommentTask(ctx, request)
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		return a.printf("%s %s\n", happened("commented on", answer.GetReplayed()), args[0])
	})
	holdTokenFlag(cmd, &request.HoldToken)
	requestIDFlag(cmd, &request.RequestId)
	return cmd
}
