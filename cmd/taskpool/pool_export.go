package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func (a *app) poolExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export [NAME]",
		Short: "Write everything in a pool to standard output (default: --pool)",
		Long: `Write everything in a pool to standard output, as it is at one moment: the pool,
then each task with its thread, a PoolRecord in protobuf JSON on each line. The
same pool always gives the same lines. Hold tokens are not among them. A pool of
hundreds of thousands of tasks is too large to import: use taskpool backup there.

  taskpool pool export > pool.jsonl
  taskpool pool import --restore < pool.jsonl     make an empty pool the same
  taskpool pool import < pool.jsonl               add the tasks that are missing`,
		Args:              orOneArg,
		ValidArgsFunction: a.poolNames,
		RunE: a.streaming(func(ctx context.Context, quiet silence, c *client.Client, args []string) error {
			request := &taskpoolv1.ExportPoolRequest{}
			if len(args) > 0 {
				request.Pool = args[0]
			}
			stream, err := c.Pools().ExportPool(ctx, request)
			if err != nil {
				return err
			}
			return a.export(quiet, stream)
		}),
	}
}

// export writes the records of a stream, those of a message at once.
func (a *app) export(quiet silence, stream grpc.ServerStreamingClient[taskpoolv1.ExportPoolResponse]) error {
	out := bufio.NewWriterSize(a.out, 64<<10)
	name, tasks, events := "", 0, 0
	for {
		var message *taskpoolv1.ExportPoolResponse
		err := quiet.wait(func() (err error) { message, err = stream.Recv(); return err })
		if errors.Is(err, io.EOF) {
			note(a.err, "exported pool %s: %s, %s", name, counted(tasks, "task"), counted(events, "event"))
			return nil
		}
		if err != nil {
			if tasks+events > 0 {
				note(a.err, "the export is not whole: it ends after %s", counted(tasks, "task"))
			}
			return err
		}
		for _, record := range message.GetRecords() {
			switch {
			case record.GetPool() != nil:
				name = record.GetPool().GetName()
			case record.GetTask() != nil:
				tasks++
			case record.GetEvent() != nil:
				events++
			}
			line, err := jsonLine(record)
			if err != nil {
				return err
			}
			_, _ = out.WriteString(line) // Flush tells
		}
		if err := out.Flush(); err != nil {
			return fmt.Errorf("the export is not whole: %w", err)
		}
	}
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
