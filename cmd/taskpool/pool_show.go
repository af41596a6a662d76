package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/client"
	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/internal/words"
)

func (a *app) poolShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show [NAME]",
		Short:             "Show a pool: how many tasks, settings, limits (default: --pool)",
		Args:              orOneArg,
		ValidArgsFunction: a.poolNames,
		RunE: a.asking(func(ctx context.Context, c *client.Client, _ *cobra.Command, args []string) error {
			request := &taskpoolv1.GetPoolRequest{}
			if len(args) > 0 {
				request.Pool = args[0]
			}
			answer, err := c.Pools().GetPool(ctx, request)
			if err != nil {
				return err
			}
			if a.global.json {
				return a.printJSON(answer)
			}
			return a.printPool(answer.GetPool())
		}),
	}
}

// printPool writes a pool for people.
func (a *app) printPool(pool *taskpoolv1.Pool) error {
	p := &page{screen: a.screen, width: len("reviewed by")}
	p.line(p.screen.Paint(terminal.Bold, terminal.Line(pool.GetName())))
	p.fact("tasks", counts(pool.GetCounts()))
	p.fact("edited by", words.Of(pool.GetEditRule()))
	p.fact("reviewed by", words.Of(pool.GetReviewDefault()))
	p.fact("callers", identity(pool.GetIdentity()))
	p.fact("created", clock(pool.GetCreatedAt()))
	p.fact("epoch", pool.GetEpoch())
	p.fact("cursor", pool.GetCursor())
	limits := limitsOf(pool.GetLimits())
	if len(limits) > 0 {
		p.heading("Limits")
	}
	for _, l := range limits {
		p.line(fmt.Sprintf("  %-28s %d", l.name, l.value))
	}
	return a.print(p.text.String())
}

// counts are how many tasks there are, by status.
func counts(c *taskpoolv1.PoolCounts) string {
	if c == nil {
		return ""
	}
	var parts []string
	for _, one := range []struct {
		n    int64
		name string
	}{
		{c.GetReady(), "ready"},
		{c.GetInProgress(), "in progress"},
		{c.GetReview(), "in review"},
		{c.GetPending(), "pending"},
		{c.GetBlocked(), "blocked"},
		{c.GetFailed(), "failed"},
		{c.GetDone(), "done"},
		{c.GetCancelled(), "cancelled"},
	} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.name))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprint(c.GetTotal())
	}
	return fmt.Sprintf("%d: %s", c.GetTotal(), strings.Join(parts, ", "))
}

// identity tells how far the server knows its callers.
func identity(i taskpoolv1.PoolIdentity) string {
	switch i {
	case taskpoolv1.PoolIdentity_POOL_IDENTITY_DECLARED:
		return "declared: they say who they are, and are believed"
	case taskpoolv1.PoolIdentity_POOL_IDENTITY_AUTHENTICATED:
		return "authenticated: they prove who they are"
	}
	return ""
}
