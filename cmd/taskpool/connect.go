package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/taskpool-dev/taskpool/client"
)

// online is a command that asks the server.
type online func(ctx context.Context, c *client.Client, cmd *cobra.Command, args []string) error

// asking makes a cobra command of one.
func (a *app) asking(do online) func(*cobra.Command, []string) error {
	return a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		c, err := a.dial()
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		if a.global.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, a.global.timeout+a.waits)
			defer cancel()
		}
		return a.unanswered(do(ctx, c, cmd, args))
	})
}

// dial makes a client from the flags.
func (a *app) dial() (*client.Client, error) {
	g := &a.global
	opts := []client.Option{
		client.WithPool(g.pool), client.WithActor(g.actor),
		client.WithDialOptions(grpc.WithStatsHandler(sending{&a.sent})),
	}
	if g.insecure {
		opts = append(opts, client.WithTransportCredentials(insecure.NewCredentials()))
	}
	token := a.token()
	if g.tokenFile != "" {
		text, err := os.ReadFile(g.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("the token: %w", err)
		}
		token = strings.TrimSpace(string(text))
	}
	if token != "" {
		opts = append(opts, client.WithToken(token))
	}
	return client.Dial(g.addr, opts...)
}

// unanswered tells of calls that no taskpool server answered.
func (a *app) unanswered(err error) error {
	s := statusOf(err)
	if own := (*told)(nil); s == nil || client.Reason(err) != "" || errors.As(err, &own) {
		return err
	}
	addr := a.global.addr
	var sentence string
	switch s.Code() {
	case codes.Unavailable:
		sentence = fmt.Sprintf("no server answers at %s (%s); start one with \"taskpool serve\", or name another with --addr or TASKPOOL_ADDR", addr, reach(s.Message()))
	case codes.DeadlineExceeded:
		if !a.sent.Load() { // the attempts to connect took all the time
			sentence = fmt.Sprintf("no server answers at %s within %s; start one with \"taskpool serve\", or name another with --addr or TASKPOOL_ADDR", addr, a.global.timeout)
			break
		}
		sentence = fmt.Sprintf("no answer from %s within %s; look whether the server is well, or wait longer with --timeout", addr, a.global.timeout)
	case codes.Canceled:
		sentence = "interrupted"
	case codes.Unimplemented:
		sentence = fmt.Sprintf("what answers at %s is no taskpool server, or one of another version: %s", addr, s.Message())
	default:
		sentence = s.Message()
	}
	return &told{cause: err, sentence: sentence}
}

// statusOf is the status in err as it was sent, nil if it holds none.
func statusOf(err error) *status.Status {
	var sent interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &sent) {
		return nil
	}
	return sent.GRPCStatus()
}

// reach is why a server can't be reached, without gRPC's wrapping.
func reach(message string) string {
	for _, start := range []string{"dial tcp ", "dial unix ", "transport: "} {
		if i := strings.LastIndex(message, start); i >= 0 {
			message = message[i+len(start):]
		}
	}
	if i := strings.LastIndex(message, ": connect: "); i >= 0 {
		message = message[i+len(": connect: "):]
	}
	return strings.Trim(message, `"`)
}

// changing makes a cobra command of one that changes something. It gets the
// request_id under which the change can be repeated, and when nobody knows
// whether it happened, that is what the error says.
func (a *app) changing(id *string, do online) func(*cobra.Command, []string) error {
	return a.asking(func(ctx context.Context, c *client.Client, cmd *cobra.Command, args []string) error {
		if *id == "" {
			*id = uuid.NewString()
		}
		err := do(ctx, c, cmd, args)
		if !a.unknownOutcome(err) {
			return err
		}
		err = a.unanswered(err)
		sentence, more := explain(err)
		return &told{err, sentence, append(more, "it may have happened all the same: repeat it with --request-id "+*id+", and it happens once")}
	})
}

// unknownOutcome tells whether a change that failed so may have been made.
func (a *app) unknownOutcome(err error) bool {
	if err == nil || client.IsCommitUnknown(err) {
		return err != nil
	}
	s := statusOf(err)
	if s == nil || client.Reason(err) != "" || !a.sent.Load() {
		return false
	}
	return s.Code() == codes.Unavailable || s.Code() == codes.DeadlineExceeded || s.Code() == codes.Canceled
}

// sending notes that a request was sent.
type sending struct{ sent *atomic.Bool }

func (s sending) HandleRPC(_ context.Context, event stats.RPCStats) {
	if _, ok := event.(*stats.OutPayload); ok {
		s.sent.Store(true)
	}
}

func (sending) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (sending) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (sending) HandleConn(context.Context, stats.ConnStats)                       {}
