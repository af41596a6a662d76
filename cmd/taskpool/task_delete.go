package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) taskDelete() *cobra.Command {
	request := &taskpoolv1.DeleteTaskRequest{}
	cmd := &cobra.Command{
		Use:   "delete ID",
		Short: "Remove a task and its thread for good (operators; to give one up, update it to cancelled)",
		Args:  oneArg("the ID of a task"),
	}
	cmd.RunE = a.changing(&request.RequestId, func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
		request.Id = args[0]
		answer, err := c.Tasks().DeleteTask(ctx, request)
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		return a.printf("%s %s\n", happened("deleted", answer.GetReplayed()), args[0])
	})
	cmd.Flags().Int64Var(&request.ExpectedVersion, "expected-version", 0, "only if nobody changed the task since it had this `version`")
	requestIDFlag(cmd, &request.RequestId)
	return cmd
}
