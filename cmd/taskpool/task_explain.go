package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) taskExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "Tell why --actor can or can't claim a task",
		Args:  oneArg("the ID of a task"),
		RunE: a.asking(func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
			answer, err := c.Tasks().ExplainTask(ctx, &taskpoolv1.ExplainTaskRequest{Id: args[0]})
			if err != nil {
				return err
			}
			if a.global.json {
				return a.printJSON(answer)
			}
			return a.print(a.explanation(args[0], answer))
		}),
	}
}

// explanation is a sentence and every check below it.
func (a *app) explanation(id string, answer *taskpoolv1.ExplainTaskResponse) string {
	var b strings.Builder
	b.WriteString(terminal.Line(a.verdict(id, answer)) + "\n")
	yes, no := "ok", "no"
	if a.screen.Symbols {
		yes, no = "✓", "✗"
	}
	width := 0
	for _, check := range answer.GetChecks() {
		width = max(width, terminal.Width(terminal.Line(check.GetName())))
	}
	for _, check := range answer.GetChecks() {
		mark, style := yes, terminal.Green
		if !check.GetHolds() {
			mark, style = no, terminal.Red
		}
		name := terminal.Line(check.GetName())
		line := fmt.Sprintf("  %s  %s%s  %s", a.screen.Paint(style, mark), name,
			strings.Repeat(" ", width-terminal.Width(name)), terminal.Line(check.GetDetail()))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// verdict is the sentence.
func (a *app) verdict(id string, answer *taskpoolv1.ExplainTaskResponse) string {
	if answer.GetClaimable() {
		return fmt.Sprintf("%s can be claimed by %s.", id, a.global.actor)
	}
	for _, check := range answer.GetChecks() {
		if !check.GetHolds() {
			return fmt.Sprintf("%s can't be claimed by %s: %s", id, a.global.actor, check.GetDetail())
		}
	}
	return fmt.Sprintf("%s can't be claimed by %s.", id, a.global.actor)
}
