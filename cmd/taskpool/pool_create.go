package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

func (a *app) poolCreate() *cobra.Command {
	var (
		limits    limitsFlag
		editRule  wordFlag[taskpoolv1.EditRule]
		reviewer  wordFlag[taskpoolv1.ReviewDefault]
		requestID string
	)
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a pool: tasks, limits and a feed of their own",
		Args:  oneArg("the NAME of the pool"),
	}
	cmd.RunE = a.changing(&requestID, func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
		answer, err := c.Pools().CreatePool(ctx, &taskpoolv1.CreatePoolRequest{
			Name: args[0], RequestId: requestID, Limits: limits.limits,
			EditRule: editRule.value, ReviewDefault: reviewer.value,
		})
		if err != nil {
			return err
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		return a.printf("%s pool %s\n", created(answer.GetReplayed()), answer.GetPool().GetName())
	})
	cmd.Flags().Var(&limits, "limit", "a limit that differs from the server's, such as title_length=200; repeat for more")
	cmd.Flags().Var(&editRule, "edit-rule", "who changes title and body: anyone (default) or filer")
	cmd.Flags().Var(&reviewer, "review-default", "who reviews where the filer names nobody: none (default) or filer")
	requestIDFlag(cmd, &requestID)
	offer(cmd, "limit", cobraLimits)
	offer(cmd, "edit-rule", fixed(words.All[taskpoolv1.EditRule]()...))
	offer(cmd, "review-default", fixed(words.All[taskpoolv1.ReviewDefault]()...))
	return cmd
}

// cobraLimits completes the names of limits.
func cobraLimits(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := limitNames()
	for i := range names {
		names[i] += "="
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
