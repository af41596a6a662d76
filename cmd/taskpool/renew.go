package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) renewCommand() *cobra.Command {
	request := &taskpoolv1.RenewHoldRequest{}
	var lease time.Duration
	cmd := &cobra.Command{
		Use:   "renew ID",
		Short: "Show that you still work on a task that you hold with a lease",
		Args:  oneArg("the ID of a task"),
	}
	cmd.RunE = a.changing(&request.RequestId, func(ctx context.Context, c *client.Client, cmd *cobra.Command, args []string) error {
		request.Id, request.Lease, request.HoldToken = args[0], leaseFlag(cmd, lease), a.holdToken(request.HoldToken)
		answer, err := c.Tasks().RenewHold(ctx, request)
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		if err := a.printf("%s %s\n", happened("renewed", answer.GetReplayed()), headline(answer.GetTask())); err != nil {
			return err
		}
		return a.printExpiry(answer)
	})
	cmd.Flags().DurationVar(&lease, "lease", 0, "how `long` it lasts from now on, 1s to 24h (default: as before)")
	holdTokenFlag(cmd, &request.HoldToken)
	requestIDFlag(cmd, &request.RequestId)
	return cmd
}
