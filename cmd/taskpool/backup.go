package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
)

func (a *app) backupCommand() *cobra.Command {
	var data string
	cmd := &cobra.Command{
		Use:   "backup DEST",
		Short: "Copy a server's data to a file, also while it runs",
		Long: `Copy the data of a server to the file DEST, which must not be there yet, as the
data is at one moment. It reads the data directory itself: the server need not
run, and is not held up if it does.

To restore it, put the file into an empty directory as ` + sqlite.DatabaseName + ` and serve that.`,
		Args: oneArg("the file to write, DEST,"),
		RunE: a.action(func(ctx context.Context, _ *cobra.Command, args []string) error {
			if data == inMemory {
				return usagef("there is nothing to copy: --data memory keeps nothing")
			}
			if err := sqlite.Backup(ctx, data, args[0]); err != nil {
				return err
			}
			if a.global.json {
				text, err := json.Marshal(map[string]string{"data": data, "copy": args[0]})
				if err != nil {
					return err
				}
				return writeJSON(a.out, text)
			}
			return a.printf("copied %s to %s\n", data, args[0])
		}),
	}
	dataFlag(cmd.Flags(), &data, "`directory` of the data")
	return cmd
}
