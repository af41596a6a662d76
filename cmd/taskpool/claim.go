package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) claimCommand() *cobra.Command {
	request := &taskpoolv1.ClaimTaskRequest{}
	var lease time.Duration
	var next bool
	cmd := &cobra.Command{
		Use:   "claim {ID | --next}",
		Short: "Take a task, so that nobody else works on it",
		Long: `Take a task: it is in progress and yours from then on, until you close it, hand it
over or release it. --next takes the best of those that you can claim: the most urgent,
of these the one that most others wait for, of these the oldest. Where there is none
the program says why and ends with exit code 1, at once or after --wait; those who wait
are served in the order they came.

With --lease it is yours only as long as you show that you are there: "renew" it
in time, or change it with its hold token. When the lease runs out it goes back to
the others. The hold token that is printed proves that it is you: whoever changes a
task held with a lease as its holder has to send it (--hold-token).`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case next && len(args) > 0:
				return usagef("--next takes whichever task comes next, and %q names one: give one of the two", args[0])
			case next:
				return nil
			case cmd.Flags().Changed("wait"):
				return usagef("--wait waits for whichever task comes next: give --next, too")
			case len(args) == 0:
				return usagef("the ID of a task is missing, or --next; see %s --help", cmd.CommandPath())
			}
			return oneArg("the ID of a task")(cmd, args)
		},
	}
	var filter filterFlags
	cmd.RunE = a.changing(&request.RequestId, func(ctx context.Context, c *client.Client, cmd *cobra.Command, args []string) error {
		request.Lease = leaseFlag(cmd, lease)
		if next {
			request.Filter = filter.kind()
			if cmd.Flags().Changed("wait") {
				request.Wait = durationpb.New(a.waits)
			}
		} else {
			request.Id = args[0]
		}
		answer, err := c.Tasks().ClaimTask(ctx, request)
		if err != nil {
			return err
		}
		if why := answer.GetNothing(); why != "" && !a.global.json {
			return errors.New("nothing to claim: " + why)
		}
		if a.global.json {
			return a.printJSON(answer)
		}
		if err := a.printf("%s %s\nhold token: %s\n", happened("claimed", answer.GetReplayed()), headline(answer.GetTask()), answer.GetHoldToken()); err != nil {
			return err
		}
		return a.printExpiry(answer)
	})
	cmd.Flags().BoolVar(&next, "next", false, "the best that you can claim, of those that fit the flags below")
	cmd.Flags().DurationVar(&a.waits, "wait", 0, "with --next: how `long` to wait for a task, up to 1h; needs --lease")
	filter.registerKind(cmd)
	cmd.Flags().DurationVar(&lease, "lease", 0, "how `long` it stays yours without a sign of you, 1s to 24h (default: until you release it)")
	cmd.Flags().StringVar(&request.RunId, "run-id", "", "the `run` that it is for: claiming again for the same one gives the same hold")
	requestIDFlag(cmd, &request.RequestId)
	return cmd
}

// leaseFlag is --lease as requests have it; absent where it was not given.
func leaseFlag(cmd *cobra.Command, lease time.Duration) *durationpb.Duration {
	if !cmd.Flags().Changed("lease") {
		return nil
	}
	return durationpb.New(lease)
}

// printExpiry tells when a hold runs out, if it does.
func (a *app) printExpiry(answer interface{ GetTask() *taskpoolv1.Task }) error {
	until := answer.GetTask().GetHoldExpiresAt()
	if until == nil {
		return nil
	}
	return a.printf("runs out: %s, unless it is renewed\n", until.AsTime().UTC().Format(time.RFC3339))
}

// holdTokenFlag adds --hold-token.
func holdTokenFlag(cmd *cobra.Command, token *string) {
	cmd.Flags().StringVar(token, "hold-token", "", "`token` of your hold; \"-\": that of TASKPOOL_HOLD_TOKEN, which no list of processes shows")
}

// holdToken is the token that --hold-token means.
func (a *app) holdToken(flag string) string {
	if flag != "-" {
		return flag
	}
	token, _ := a.env("TASKPOOL_HOLD_TOKEN")
	return token
}
