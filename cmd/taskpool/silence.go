package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/taskpool-dev/taskpool/client"
)

// silence is how long the server may do nothing.
type silence struct {
	most   time.Duration
	giveUp context.CancelCauseFunc
}

// wait runs a step that waits for the server.
func (s silence) wait(step func() error) error {
	if s.most > 0 {
		timer := time.AfterFunc(s.most, func() { s.giveUp(errSilent) })
		defer timer.Stop()
	}
	return step()
}

// errSilent is what a call ends with whose server did nothing for too long.
var errSilent = status.Error(codes.DeadlineExceeded, "no answer in time")

// streaming makes a cobra command of one that takes as long as there is something
// to do: --timeout bounds each of its steps.
func (a *app) streaming(do func(ctx context.Context, quiet silence, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return a.action(func(ctx context.Context, _ *cobra.Command, args []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		err = do(ctx, silence{a.global.timeout, cancel}, c, args)
		if err != nil && context.Cause(ctx) == errSilent { //nolint:errorlint // the very value
			err = errSilent
		}
		return a.unanswered(err)
	})
}
