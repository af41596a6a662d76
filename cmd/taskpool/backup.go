package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) backupCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "backup DEST",
		Short: "Copy a server's data to a file, also while it runs",
		Args:  oneArg("the file to write, DEST,"),
		RunE: a.action(func(context.Context, *cobra.Command, []string) error {
			return errors.New("this build has no store yet")
		}),
	}
	dataFlag(cmd.Flags(), &data, "`directory` of the data")
	return cmd
}
