package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) poolClear() *cobra.Command {
	request := &taskpoolv1.ClearPoolRequest{}
	cmd := &cobra.Command{
		Use:               "clear NAME --confirm NAME",
		Short:             "Remove every task of a pool for good (operators)",
		Args:              oneArg("the NAME of the pool"),
		ValidArgsFunction: a.poolNames,
	}
	cmd.RunE = a.changing(&request.RequestId, func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
		request.Pool = args[0]
		if request.ConfirmName == "" {
			return usagef("this removes every task of %s for good; say so with --confirm %s", args[0], args[0])
		}
		answer, err := c.Pools().ClearPool(ctx, request)
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		return a.printf("%s pool %s\n", happened("cleared", answer.GetReplayed()), answer.GetPool().GetName())
	})
	cmd.Flags().StringVar(&request.ConfirmName, "confirm", "", "the `name` of the pool again")
	requestIDFlag(cmd, &request.RequestId)
	return cmd
}
