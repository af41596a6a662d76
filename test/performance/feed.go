package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// history is how many changes each watch reads: fewer than the product keeps at
// hand, so that the ring is measured and not the disk.
const history = 4000

// feed measures watches.
func (b *bench) feed(ctx context.Context) error {
	p, err := b.product(ctx, filepath.Join(b.dir, "feed"))
	if err != nil {
		return err
	}
	defer func() { _ = p.stop() }()
	cursor, change, err := makeHistory(ctx, p)
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "change")
	if err := os.WriteFile(file, change, 0o600); err != nil {
		return err
	}
	plain, err := b.empty(ctx, "-changes", fmt.Sprint(history), "-change", file)
	if err != nil {
		return err
	}
	defer func() { _ = plain.stop() }()
	batched, err := b.empty(ctx, "-same", "-changes", fmt.Sprint(history), "-change", file, "-batch", "256")
	if err != nil {
		return err
	}
	defer func() { _ = batched.stop() }()

	for _, watchers := range []int{100, 1000} {
		say("feed, %d watchers", watchers)
		servers := []struct {
			p   *process
			req *taskpoolv1.WatchTasksRequest
		}{
			{p, &taskpoolv1.WatchTasksRequest{Start: &taskpoolv1.WatchTasksRequest_AfterCursor{AfterCursor: cursor}}},
			{plain, &taskpoolv1.WatchTasksRequest{}},
			{batched, &taskpoolv1.WatchTasksRequest{}},
		}
		if watchers > 100 {
			servers = servers[:2] // so many long messages each marshalled anew hardly get anywhere
		}
		rates, used := make([][]float64, len(servers)), []float64(nil)
		for round := range b.rounds {
			for i := range servers {
				at := (round + i) % len(servers)
				got, err := watchAll(ctx, servers[at].p, watchers, servers[at].req, b.turn)
				if err != nil {
					return err
				}
				rates[at] = append(rates[at], got.perSecond)
				if at == 0 {
					used = append(used, float64(got.cpu))
				}
			}
		}
		b.report.atLeast(fmt.Sprintf("feed at saturation, %d watchers on 8 connections, changes of %d bytes delivered/s", watchers, len(change)),
			"each change marshalled for each watcher, a message for each", 6, paired(rates[0], rates[1]), spreadOf(rates[0]).rate()+" against "+spreadOf(rates[1]).rate())
		if len(servers) > 2 {
			b.report.beside("the same, against marshalling for each watcher, 256 changes in a message", paired(rates[0], rates[2]), spreadOf(rates[2]).rate())
		}
		s := spreadOf(used)
		b.report.value(fmt.Sprintf("server CPU of each delivery, %d watchers", watchers), "≤ 0.2 µs", fmt.Sprintf("%.3f µs", s.median/1e3), s.median <= 200,
			fmt.Sprintf("%.0f to %.0f ns", s.least, s.most))
	}
	err = b.where(ctx, p, "Feed at saturation, 100 watchers", func(ctx context.Context, long time.Duration) error {
		_, err := watchAll(ctx, p, 100, &taskpoolv1.WatchTasksRequest{Start: &taskpoolv1.WatchTasksRequest_AfterCursor{AfterCursor: cursor}}, long)
		return err
	})
	if err != nil {
		return err
	}
	return b.live(ctx, p, plain)
}

// makeHistory makes changes, each a revision of its own, and gives the cursor
// before them and one of them.
func makeHistory(ctx context.Context, p *process) (cursor string, change []byte, err error) {
	conns, err := connect(p.grpc, 1)
	if err != nil {
		return "", nil, err
	}
	defer closeAll(conns)
	c := taskpoolv1.NewTaskServiceClient(conns[0])
	list, err := c.ReadTask(as(ctx), &taskpoolv1.ReadTaskRequest{})
	if err != nil {
		return "", nil, err
	}
	var n atomic.Int64
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	for range 64 {
		wg.Go(func() {
			for n.Add(1) <= history {
				if _, err := c.CreateTask(as(ctx), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "Make this work as it should"}}); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return "", nil, *err
	}
	watch, err := c.WatchTasks(as(ctx), &taskpoolv1.WatchTasksRequest{Start: &taskpoolv1.WatchTasksRequest_AfterCursor{AfterCursor: list.GetCursor()}})
	if err != nil {
		return "", nil, err
	}
	for {
		m, err := watch.Recv()
		if err != nil {
			return "", nil, err
		}
		if all := m.GetChanges().GetChanges(); len(all) > 0 {
			change, err = proto.Marshal(all[0])
			return list.GetCursor(), change, err
		}
	}
}

// delivered is what a turn of watches gave.
type delivered struct {
	perSecond float64
	cpu       time.Duration // of each
}

// watchAll has watches read the history over and over.
func watchAll(ctx context.Context, p *process, watchers int, req *taskpoolv1.WatchTasksRequest, long time.Duration) (delivered, error) {
	conns, err := connect(p.grpc, 8)
	if err != nil {
		return delivered{}, err
	}
	defer closeAll(conns)
	ctx, cancel := context.WithCancel(as(ctx))
	defer cancel()
	var (
		wg     sync.WaitGroup
		got    atomic.Int64
		failed atomic.Pointer[error]
	)
	for i := range watchers {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := readHistory(ctx, conns[i%len(conns)], req, &got); err != nil && ctx.Err() == nil {
					failed.Store(&err)
					cancel()
				}
			}
		})
	}
	pause(ctx, long/5)
	before, n, start := p.cpu(), got.Load(), time.Now()
	select {
	case <-time.After(long):
	case <-ctx.Done():
	}
	used, n, elapsed := p.cpu()-before, got.Load()-n, time.Since(start)
	cancel()
	wg.Wait()
	if err := failed.Load(); err != nil {
		return delivered{}, *err
	}
	if n == 0 {
		return delivered{}, errors.New("nothing was delivered")
	}
	return delivered{float64(n) / elapsed.Seconds(), used / time.Duration(n)}, nil
}

var watchDesc = &taskpoolv1.TaskService_ServiceDesc.Streams[0]

// readHistory reads all changes of one watch.
func readHistory(ctx context.Context, conn *grpc.ClientConn, req *taskpoolv1.WatchTasksRequest, got *atomic.Int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := open(ctx, conn, req)
	if err != nil {
		return err
	}
	m := &counted{}
	for n := 0; n < history; n += m.changes {
		if err := stream.RecvMsg(m); err != nil {
			return err
		}
		got.Add(int64(m.changes))
	}
	return nil
}

// open begins a watch whose messages are counted.
func open(ctx context.Context, conn *grpc.ClientConn, req *taskpoolv1.WatchTasksRequest) (grpc.ClientStream, error) {
	stream, err := conn.NewStream(ctx, watchDesc, taskpoolv1.TaskService_WatchTasks_FullMethodName, grpc.ForceCodecV2(newRawCodec()))
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(req); err != nil {
		return nil, err
	}
	return stream, stream.CloseSend()
}

// live measures how late changes come that are made at a steady rate; and, as the
// machine has pauses of its own, how long a call takes that does nothing.
func (b *bench) live(ctx context.Context, p, empty *process) error {
	const watchers, rate = 100, 1000
	say("feed, %d watchers at %d changes/s", watchers, rate)
	idle, err := b.steady(ctx, empty, rate)
	if err != nil {
		return err
	}
	conns, err := connect(p.grpc, 8)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	ctx, cancel := context.WithCancel(as(ctx))
	defer cancel()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		late []time.Duration
	)
	for i := range watchers {
		stream, err := open(ctx, conns[i%len(conns)], &taskpoolv1.WatchTasksRequest{Start: &taskpoolv1.WatchTasksRequest_Now{Now: &taskpoolv1.WatchFromNow{}}})
		if err != nil {
			return err
		}
		wg.Go(func() {
			// One in ten decodes what it reads; all would keep the machine busy.
			own, m := []time.Duration(nil), &counted{keep: i%10 == 0}
			for stream.RecvMsg(m) == nil {
				now := time.Now()
				for _, at := range moments(m) {
					own = append(own, now.Sub(at))
				}
			}
			mu.Lock()
			late = append(late, own...)
			mu.Unlock()
		})
	}
	pause(ctx, 200*time.Millisecond)
	made, err := b.steady(ctx, p, rate)
	if err != nil {
		return err
	}
	pause(ctx, 200*time.Millisecond)
	cancel()
	wg.Wait()
	if len(late) == 0 {
		return errors.New("no change came")
	}
	slices.Sort(late)
	p99 := late[len(late)*99/100]
	b.report.value(fmt.Sprintf("feed at %d changes/s, %d watchers: p99 from the mutation's own time, sync included", rate, watchers), "≤ 4 ms", fmt.Sprintf("%.2f ms", float64(p99)/1e6), p99 <= 4*time.Millisecond,
		fmt.Sprintf("p50 %.2f ms, most %.2f ms; %.0f changes/s were made, %d were left out as the writers were busy; %.0f %% of a processor",
			float64(median(late))/1e6, float64(late[len(late)-1])/1e6, made.perSecond, made.leftOut, 100*made.cpu))
	b.report.told("an empty call at that rate, without any watch: p99", fmt.Sprintf("%.2f ms", float64(idle.p99)/1e6),
		fmt.Sprintf("p50 %.2f ms, most %.2f ms", float64(idle.p50)/1e6, float64(idle.most)/1e6))
	return nil
}

// pace is what came of calls at a steady rate. cpu is the server's, in processors.
type pace struct {
	p50, p99, most time.Duration
	perSecond, cpu float64
	leftOut        int
}

// steady creates tasks at a rate, and leaves one out where all callers are busy.
func (b *bench) steady(ctx context.Context, p *process, rate int) (pace, error) {
	conns, err := connect(p.grpc, 2)
	if err != nil {
		return pace{}, err
	}
	defer closeAll(conns)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		took []time.Duration
	)
	jobs := make(chan time.Time, 64)
	for i := range 32 {
		c := taskpoolv1.NewTaskServiceClient(conns[i%2])
		wg.Go(func() {
			for asked := range jobs {
				if _, err := c.CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "Make this work as it should"}}); err == nil {
					mu.Lock()
					took = append(took, time.Since(asked))
					mu.Unlock()
				}
			}
		})
	}
	out := pace{}
	start, before := time.Now(), p.cpu()
	for n := 0; time.Since(start) < 4*b.turn; n++ {
		if wait := time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(rate))); wait > 0 {
			pause(ctx, wait)
		}
		select {
		case jobs <- time.Now():
		default:
			out.leftOut++
		}
	}
	elapsed, used := time.Since(start), p.cpu()-before
	close(jobs)
	wg.Wait()
	if len(took) == 0 {
		return pace{}, errors.New("no call was answered")
	}
	slices.Sort(took)
	out.p50, out.p99, out.most = median(took), took[len(took)*99/100], took[len(took)-1]
	out.perSecond, out.cpu = float64(len(took))/elapsed.Seconds(), used.Seconds()/elapsed.Seconds()
	return out, nil
}

// moments are when the tasks of a kept message were changed.
func moments(m *counted) []time.Time {
	if m.bytes == nil || m.changes == 0 {
		return nil
	}
	var resp taskpoolv1.WatchTasksResponse
	if proto.Unmarshal(m.bytes, &resp) != nil {
		return nil
	}
	var all []time.Time
	for _, c := range resp.GetChanges().GetChanges() {
		all = append(all, c.GetTask().GetUpdatedAt().AsTime())
	}
	return all
}
