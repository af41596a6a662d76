package main

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

func (a *app) poolList() *cobra.Command {
	var pages pageFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List pools",
		Args:  noArgs,
	}
	cmd.RunE = a.asking(func(ctx context.Context, c *client.Client, _ *cobra.Command, _ []string) error {
		var pools []*taskpoolv1.Pool
		next, err := pages.collect(func(token string, size int32) (string, int, error) {
			answer, err := c.Pools().ListPools(ctx, &taskpoolv1.ListPoolsRequest{PageSize: size, PageToken: token})
			pools = append(pools, answer.GetPools()...)
			return answer.GetNextPageToken(), len(answer.GetPools()), err
		})
		if err != nil {
			return err
		}
		if a.global.json {
			items := make([]proto.Message, len(pools))
			for i, pool := range pools {
				items[i] = pool
			}
			return a.printListing(listing{name: "pools", items: items, next: next})
		}
		table := terminal.Table{Heads: []string{"NAME", "EDITED BY", "REVIEWED BY", "CREATED"}}
		for _, pool := range pools {
			table.Add(
				terminal.Cell{Text: pool.GetName()},
				terminal.Cell{Text: words.Of(pool.GetEditRule())},
				terminal.Cell{Text: words.Of(pool.GetReviewDefault())},
				terminal.Cell{Text: clock(pool.GetCreatedAt())},
			)
		}
		if err := a.print(table.Render(a.screen)); err != nil || next == "" {
			return err
		}
		return a.printf("\n%s%s\n", "These are not all. See them with --limit 0, or the next with --page-token ", next)
	})
	pages.register(cmd)
	return cmd
}
