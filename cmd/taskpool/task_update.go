package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) taskUpdate() *cobra.Command {
	var change changeFlags
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change a task",
		Long: `Change a task: only what a flag names is changed, all of it or none.

A flag with an empty value clears: --description "", --assignee "", --step "".
A flag of a list replaces the whole list: --step "one" --step "two".

Set --status in_progress to take the task, ready to put it back, done to close
it, blocked with a --reason, cancelled to give it up.`,
		Args: oneArg("the ID of a task"),
	}
	cmd.RunE = a.changing(&change.request.RequestId, func(ctx context.Context, c *client.Client, cmd *cobra.Command, args []string) error {
		request, err := change.complete(a, cmd, args[0])
		if err != nil {
			return err
		}
		answer, err := c.Tasks().UpdateTask(ctx, request)
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		return a.printUpdated(answer)
	})
	change.register(a, cmd)
	return cmd
}

func (a *app) printUpdated(answer *taskpoolv1.UpdateTaskResponse) error {
	if err := a.printf("%s %s\n", happened("updated", answer.GetReplayed()), headline(answer.GetTask())); err != nil {
		return err
	}
	if token := answer.GetHoldToken(); token != "" {
		return a.printf("hold token: %s\n", token)
	}
	return nil
}
