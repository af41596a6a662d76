package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

func (a *app) taskCreate() *cobra.Command {
	var (
		draft     draftFlags
		from      string
		requestID string
	)
	cmd := &cobra.Command{
		Use:   "create (--title TEXT … | --from FILE)",
		Short: "Create a task, or all tasks of a file",
		Long: `Create a task from flags, or all tasks of a file in one step: all or none.

The file holds NewTask messages in protobuf JSON, one a line (or as one JSON
array). Tasks point to each other by a local name, in any order:

  {"ref": "schema", "title": "Write the schema"}
  {"ref": "reader", "title": "Write the reader", "dependency_ids": ["ref:schema"]}`,
		Args: noArgs,
	}
	cmd.RunE = a.changing(&requestID, func(ctx context.Context, c *client.Client, cmd *cobra.Command, _ []string) error {
		given := draft.given(cmd)
		if cmd.Flags().Changed("from") {
			if len(given) > 0 {
				return usagef("--from takes its tasks from a file; --%s can't be combined with it", given[0])
			}
			return a.createFrom(ctx, c, from, requestID)
		}
		if !cmd.Flags().Changed("title") {
			return usagef("what is to be done? Give --title TEXT, or --from FILE")
		}
		return a.createOne(ctx, c, cmd, &draft, requestID)
	})
	draft.register(a, cmd)
	cmd.Flags().StringVar(&from, "from", "", "`file` with tasks as JSON, one a line; -: standard input")
	requestIDFlag(cmd, &requestID)
	return cmd
}

// requestIDFlag adds the flag that every change has.
func requestIDFlag(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "request-id", "", "`id` that makes it safe to repeat this change (default: a new one)")
}

func (a *app) createOne(ctx context.Context, c *client.Client, cmd *cobra.Command, draft *draftFlags, requestID string) error {
	task, err := draft.task(a, cmd)
	if err != nil {
		return err
	}
	answer, err := c.Tasks().CreateTask(ctx, &taskpoolv1.CreateTaskRequest{RequestId: requestID, Task: task})
	if err != nil {
		return err
	}
	if a.global.json {
		return a.printJSON(answer)
	}
	return a.printf("%s %s\n", created(answer.GetReplayed()), headline(answer.GetTask()))
}

// created says whether it happened now.
func created(replayed bool) string { return happened("created", replayed) }

// happened says whether it happened now or at the first of several requests.
func happened(what string, replayed bool) string {
	if replayed {
		return what + " before, by the same request:"
	}
	return what
}

// headline is a task in a line.
func headline(t *taskpoolv1.Task) string {
	if t.GetKey() == "" {
		return t.GetId()
	}
	return fmt.Sprintf("%s (%s), %s: %s", t.GetKey(), t.GetId(), words.Of(t.GetStatus()), terminal.Line(t.GetTitle()))
}
