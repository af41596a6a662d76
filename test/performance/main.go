// Command performance measures the product against the limit that the machine and
// gRPC set, and writes docs/performance.md.
//
//	make bench   # about ten minutes; leave the machine alone
//
// Server and client are processes of their own on one machine, as both are when
// they are measured against each other. What is compared is measured in turns
// within one run, in a rotated order, and told as the median of the ratios of each
// turn with their range: the machine may be noisy, and absolute numbers mean little
// elsewhere.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "empty" {
		exit(serveEmpty(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var b bench
	flag.StringVar(&b.binary, "taskpool", "bin/taskpool", "the binary to measure")
	flag.StringVar(&b.out, "write", "", "the file to write; none: standard output")
	flag.StringVar(&b.dir, "dir", "", "a directory on the disk to measure; none: a temporary one")
	flag.StringVar(&b.only, "only", "", "measure only this part: calls, feed, sizes or order")
	flag.IntVar(&b.rounds, "rounds", 5, "how many turns")
	flag.DurationVar(&b.turn, "turn", time.Second, "how long each turn measures")
	flag.IntVar(&b.many, "many", 1_000_000, "how many tasks are many")
	flag.Parse()
	exit(b.run(ctx))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "performance:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench is one run.
type bench struct {
	binary, out, dir, only string
	rounds, many           int
	turn                   time.Duration
	report                 report
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "taskpool-performance-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		b.dir = dir
	}
	b.report.machine = machine()
	start := time.Now()
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"calls", b.calls}, {"feed", b.feed}, {"sizes", b.sizes}, {"order", b.order}} {
		if b.only != "" && b.only != part.name {
			continue
		}
		if err := part.run(ctx); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", part.name, err), ctx.Err())
		}
	}
	b.report.took = time.Since(start)
	b.report.rounds, b.report.turn = b.rounds, b.turn
	if b.out == "" {
		_, err := os.Stdout.WriteString(b.report.markdown())
		return err
	}
	return os.WriteFile(b.out, []byte(b.report.markdown()), 0o644) //nolint:gosec // a page of the documentation
}

func say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format("15:04:05")}, values...)...)
}
