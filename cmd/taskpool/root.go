package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/taskpool-dev/taskpool/cmd/taskpool/internal/terminal"
)

const longHelp = `taskpool keeps tasks for people, agents and programs, and hands each to one of
them at a time.

  taskpool serve                                  start a server; it keeps its data in ./taskpool-data
  taskpool task create --title "Write the reader" add a task
  taskpool task list                              see what there is
  taskpool task read T-1                          see one of them
  taskpool claim T-1 --lease 10m                  take it
  taskpool watch                                  see what happens, as it happens

Flags win over environment variables, and these over taskpool.yaml (in the
working directory, or named by --config).

Exit codes:
  0  done
  1  refused or failed; standard error says why and what to do
  2  wrong usage: a flag, an argument or the configuration file`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "taskpool",
		Short:         "Tasks for people, agents and programs",
		Long:          longHelp,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q; see taskpool --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v; see %s --help", err, cmd.CommandPath())
	})
	a.globalFlags(root.PersistentFlags())
	offer(root, "pool", a.poolNames)
	offer(root, "color", fixed(colors...))
	root.AddCommand(
		a.serveCommand(), a.backupCommand(),
		group("task", "Create, read and change tasks",
			a.taskCreate(), a.taskRead(), a.taskList(), a.taskUpdate(), a.taskDelete(), a.taskExplain()),
		group("pool", "Create, show, export, import and clear pools",
			a.poolList(), a.poolShow(), a.poolCreate(), a.poolExport(), a.poolImport(), a.poolClear()),
		a.claimCommand(), a.renewCommand(), a.releaseCommand(), a.commentCommand(),
		a.watchCommand(), a.membersCommand(), a.versionCommand(),
	)
	return root
}

func (a *app) globalFlags(f *pflag.FlagSet) {
	g := &a.global
	g.color = colorFlag(terminal.ColorAuto)
	f.StringVar(&g.addr, "addr", "127.0.0.1:7420", "the server's `address` (TASKPOOL_ADDR)")
	f.StringVar(&g.pool, "pool", "default", "the `pool` to work in (TASKPOOL_POOL)")
	f.StringVar(&g.actor, "actor", "human", "the `member` to act as: agent:NAME, ext:NAME or human (TASKPOOL_ACTOR)")
	f.StringVar(&g.tokenFile, "token-file", "", "`file` with the token to send (TASKPOOL_TOKEN: the token itself)")
	f.BoolVar(&g.insecure, "insecure", false, "no TLS to a server on another machine: all can be read and changed on the way")
	f.BoolVar(&g.json, "json", false, "print protobuf JSON")
	f.Var(&g.color, "color", "`when` to use colour: auto, always or never (also NO_COLOR)")
	f.DurationVar(&g.timeout, "timeout", 30*time.Second, "how long to wait for the server; 0: for ever")
	f.StringVar(&g.config, "config", "", "configuration `file` (default taskpool.yaml, where there is one)")
}

// group is a command that only has others.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name + " COMMAND",
		Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("which command? See %s --help", cmd.CommandPath())
			}
			return usagef("there is no command %q; see %s --help", args[0], cmd.CommandPath())
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args refuses first
	}
	cmd.AddCommand(commands...)
	return cmd
}
