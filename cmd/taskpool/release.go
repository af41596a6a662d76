package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) releaseCommand() *cobra.Command {
	request := &taskpoolv1.ReleaseTaskRequest{}
	cmd := &cobra.Command{
		Use:   "release ID",
		Short: "Put a task that you hold back for the others",
		Args:  oneArg("the ID of a task"),
	}
	cmd.RunE = a.changing(&request.RequestId, func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
		request.Id, request.HoldToken = args[0], a.holdToken(request.HoldToken)
		answer, err := c.Tasks().ReleaseTask(ctx, request)
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		return a.printf("%s %s\n", happened("released", answer.GetReplayed()), headline(answer.GetTask()))
	})
	cmd.Flags().StringVar(&request.Reason, "reason", "", "why, for its thread")
	holdTokenFlag(cmd, &request.HoldToken)
	requestIDFlag(cmd, &request.RequestId)
	return cmd
}
