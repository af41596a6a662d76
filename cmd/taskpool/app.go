package main

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

// The exit codes.
const (
	exitDone    = 0
	exitRefused = 1
	exitUsage   = 2
)

// app is one run of the program: where it reads and writes, and what its flags
// that all commands have say.
type app struct {
	env      terminal.Lookup
	in       io.Reader
	out, err io.Writer
	now      func() time.Time

	global globals
	screen terminal.Screen
	// waits is how much longer than usual the server may take, as it was asked to
	// wait.
	waits time.Duration

	// started: flags, configuration and arguments were fine, so that what fails
	// now is not wrong usage.
	started bool
	// sent: something was sent to the server.
	sent atomic.Bool
}

// globals are the flags of all commands.
type globals struct {
	addr, pool, actor, tokenFile string
	insecure, json               bool
	color                        colorFlag
	timeout                      time.Duration
	config                       string
}

// run is the program: it gives the exit code.
func run(ctx context.Context, args []string, env terminal.Lookup, in io.Reader, out, err io.Writer) int {
	a := &app{env: env, in: in, out: out, err: err, now: time.Now}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root() //nolint:contextcheck // commands get the context from cobra
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	a.complain(err)
	if wrong := (*usageError)(nil); !a.started || errors.As(err, &wrong) {
		return exitUsage
	}
	return exitRefused
}

// command is what a command does once its flags are complete.
type command func(ctx context.Context, cmd *cobra.Command, args []string) error

// action makes a cobra command of one: flags that were not given are taken from
// the environment and the configuration file first.
func (a *app) action(do command) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := a.complete(cmd.Flags()); err != nil {
			return err
		}
		a.screen = terminal.Detect(a.out, a.env, terminal.Color(a.global.color))
		a.started = true
		return do(cmd.Context(), cmd, args)
	}
}
