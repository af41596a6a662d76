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

func (a *app) membersCommand() *cobra.Command {
	var pages pageFlags
	cmd := &cobra.Command{
		Use:   "members [NAME]",
		Short: "List the known members, or tell whom a name means for --actor",
		Args:  orOneArg,
	}
	cmd.RunE = a.asking(func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
		request := &taskpoolv1.ListMembersRequest{}
		if len(args) > 0 {
			request.Name = args[0]
		}
		var members []*taskpoolv1.Member
		rest := &taskpoolv1.ListMembersResponse{}
		next, err := pages.collect(func(token string, size int32) (string, int, error) {
			if request.Name == "" {
				request.PageToken, request.PageSize = token, size
			}
			answer, err := c.Tasks().ListMembers(ctx, request)
			members = append(members, answer.GetMembers()...)
			rest.ResolvedId = answer.GetResolvedId()
			return answer.GetNextPageToken(), len(answer.GetMembers()), err
		})
		if err != nil {
			return err
		}
		if a.global.json {
			items := make([]proto.Message, len(members))
			for i, m := range members {
				items[i] = m
			}
			return a.printListing(listing{name: "members", items: items, next: next, rest: rest})
		}
		if request.Name != "" {
			return a.printf("%s\n", rest.GetResolvedId())
		}
		table := terminal.Table{Heads: []string{"ID", "KIND", "LABEL"}, Grow: 2}
		for _, m := range members {
			table.Add(terminal.Cell{Text: m.GetId()}, terminal.Cell{Text: words.Of(m.GetKind())}, terminal.Cell{Text: m.GetLabel()})
		}
		if err := a.print(table.Render(a.screen)); err != nil || next == "" {
			return err
		}
		return a.printf("\n%s%s\n", "These are not all. See them with --limit 0, or the next with --page-token ", next)
	})
	pages.register(cmd)
	return cmd
}
