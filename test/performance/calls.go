package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// calls measures unary calls against those of a server that does nothing.
func (b *bench) calls(ctx context.Context) error {
	def, err := b.empty(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = def.stop() }()
	same, err := b.empty(ctx, "-same")
	if err != nil {
		return err
	}
	defer func() { _ = same.stop() }()
	p, err := b.product(ctx, filepath.Join(b.dir, "calls"))
	if err != nil {
		return err
	}
	defer func() { _ = p.stop() }()

	for _, callers := range []int{64, 256} {
		say("creates, %d callers", callers)
		all, err := b.turns(ctx,
			&load{server: def, callers: callers, conns: 8, call: createCall},
			&load{server: same, callers: callers, conns: 8, call: createCall},
			&load{server: def, callers: callers, conns: 8, call: createLarge},
			&load{server: p, callers: callers, conns: 8, call: createCall})
		if err != nil {
			return err
		}
		aim := 0.75
		if callers == 256 {
			aim = 0.9
		}
		rate, used := column(all, perSecond), column(all, cpu)
		b.report.atLeast(fmt.Sprintf("durable CreateTask, %d callers on 8 connections, calls/s", callers),
			"empty RPC, default options, small reply", aim, paired(rate[3], rate[0]), spreadOf(rate[3]).rate()+" against "+spreadOf(rate[0]).rate())
		b.report.beside("the same, against the empty RPC with the product's options", paired(rate[3], rate[1]), spreadOf(rate[1]).rate())
		b.report.beside("the same, against the default empty RPC that answers with the whole task, as CreateTask does", paired(rate[3], rate[2]), spreadOf(rate[2]).rate())
		if callers == 64 {
			b.report.atMost("server CPU of a durable create, 64 callers", "empty RPC, default options, small reply", 1.4,
				paired(used[3], used[0]), spreadOf(used[3]).micros()+" against "+spreadOf(used[0]).micros())
			b.report.beside("the same, against the one that answers with the whole task", paired(used[3], used[2]), spreadOf(used[2]).micros())
			if err := b.chain(ctx, spreadOf(used[0]).median); err != nil {
				return err
			}
		}
	}
	if err := b.alone(ctx, def, p); err != nil {
		return err
	}
	return b.reads(ctx, def, p)
}

// column is one value of each series.
func column(all []series, value func(sample) float64) [][]float64 {
	out := make([][]float64, len(all))
	for i, s := range all {
		out[i] = s.of(value)
	}
	return out
}

// alone measures one caller: a create cannot be faster than a call and a sync.
func (b *bench) alone(ctx context.Context, def, p *process) error {
	say("creates, one caller")
	empty, durable := &load{server: def, callers: 1, conns: 1, call: createCall}, &load{server: p, callers: 1, conns: 1, call: createCall}
	var ratios, creates, calls, syncs []float64
	for range b.rounds {
		e, err := empty.measure(ctx, b.turn)
		if err != nil {
			return err
		}
		d, err := durable.measure(ctx, b.turn)
		if err != nil {
			return err
		}
		s, err := b.sync(b.turn / 2)
		if err != nil {
			return err
		}
		ratios = append(ratios, float64(d.p50)/float64(e.p50+s))
		creates, calls, syncs = append(creates, float64(d.p50)), append(calls, float64(e.p50)), append(syncs, float64(s))
	}
	closeAll(empty.open)
	closeAll(durable.open)
	b.report.atMost("durable CreateTask, one caller, p50", "empty RPC p50 + one sync p50", 1.05, spreadOf(ratios),
		fmt.Sprintf("%s against %s + %s", spreadOf(creates).micros(), spreadOf(calls).micros(), spreadOf(syncs).micros()))
	return nil
}

// sync is the median of appending 4 KB to a file and syncing it, which is what a
// write-ahead log does for one small transaction at the least.
func (b *bench) sync(long time.Duration) (time.Duration, error) {
	f, err := os.CreateTemp(b.dir, "sync-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	page := make([]byte, 4096)
	var took []time.Duration
	for end := time.Now().Add(long); time.Now().Before(end); {
		start := time.Now()
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		if err := datasync(f); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return median(took), nil
}

// reads measures reading one task.
func (b *bench) reads(ctx context.Context, def, p *process) error {
	say("reads")
	conns, err := connect(p.grpc, 1)
	if err != nil {
		return err
	}
	made, err := taskpoolv1.NewTaskServiceClient(conns[0]).CreateTask(as(ctx), &taskpoolv1.CreateTaskRequest{Task: draft(0)})
	closeAll(conns)
	if err != nil {
		return err
	}
	id := made.GetTask().GetId()
	all, err := b.turns(ctx,
		&load{server: def, callers: 64, conns: 8, call: readCall(id)},
		&load{server: p, callers: 64, conns: 8, call: readCall(id)})
	if err != nil {
		return err
	}
	rate, used := column(all, perSecond), column(all, cpu)
	b.report.atLeast("ReadTask of one task, 64 callers, calls/s", "empty RPC with a reply of 1 KB", 0.95, paired(rate[1], rate[0]),
		spreadOf(rate[1]).rate()+" against "+spreadOf(rate[0]).rate())
	b.report.beside("its server CPU", paired(used[1], used[0]), spreadOf(used[1]).micros()+" against "+spreadOf(used[0]).micros())

	l := &load{server: p, callers: 64, conns: 8, call: createCall}
	defer func() { closeAll(l.open) }()
	return b.where(ctx, p, "Durable creates, 64 callers", func(ctx context.Context, long time.Duration) error {
		_, err := l.measure(ctx, long)
		return err
	})
}

// where profiles the server under a load.
func (b *bench) where(ctx context.Context, p *process, title string, run func(context.Context, time.Duration) error) error {
	const long = 5 * time.Second
	done := make(chan error, 1)
	go func() { done <- run(ctx, long+time.Second) }()
	profile, err := p.profile(ctx, long)
	if failed := <-done; failed != nil {
		return failed
	}
	b.report.profiles = append(b.report.profiles, fmt.Sprintf("\n### %s\n\n```\n%s```\n", title, profile))
	return err
}
