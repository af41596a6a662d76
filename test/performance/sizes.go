package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// fewTasks is what a pool of many is compared with.
const fewTasks = 1000

// sizes measures what the number of tasks costs: calls on a pool of a thousand
// against those on one of many, its memory, and its restart.
func (b *bench) sizes(ctx context.Context) error {
	few, err := b.product(ctx, filepath.Join(b.dir, "few"))
	if err != nil {
		return err
	}
	defer func() { _ = few.stop() }()
	if err := fill(ctx, few, "", fewTasks); err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "many")
	many, err := b.product(ctx, dir)
	if err != nil {
		return err
	}
	say("making %d tasks", b.many)
	if err := fill(ctx, many, "", b.many); err != nil {
		_ = many.stop()
		return err
	}
	many, err = b.restart(ctx, many, dir)
	if err != nil {
		return err
	}
	defer func() { _ = many.stop() }()
	if err := b.memory(ctx, many); err != nil {
		return err
	}
	for _, work := range []struct {
		name string
		make func(tasks int64, pool string) call
		// fresh: the work makes tasks, so the few are begun anew each turn.
		fresh bool
	}{
		{"a page of 100", func(int64, string) call { return pageCall }, false},
		{"a start, and its putting back", func(tasks int64, _ string) call { return startCall(tasks) }, false},
		{"a claim of the next, and its release", func(int64, string) call { return nextCall }, false},
		{"an update", func(tasks int64, _ string) call { return updateCall(tasks) }, false},
		{"a create with two dependencies", dependentCall, true},
	} {
		if err := b.compare(ctx, few, many, work.name, work.make, work.fresh); err != nil {
			return fmt.Errorf("%s: %w", work.name, err)
		}
	}
	return nil
}

// compare measures the same work on both, in turns.
func (b *bench) compare(ctx context.Context, few, many *process, name string, work func(int64, string) call, fresh bool) error {
	say("%s", name)
	a := &load{server: few, callers: 16, conns: 4, call: work(fewTasks, "")}
	z := &load{server: many, callers: 16, conns: 4, call: work(int64(b.many), "")}
	defer func() { closeAll(a.open); closeAll(z.open) }()
	var slower, used []float64
	var rates, large []float64
	for round := range b.rounds {
		if fresh {
			pool := fmt.Sprintf("few-%d", round)
			if err := fill(ctx, few, pool, fewTasks); err != nil {
				return err
			}
			a.call = work(fewTasks, pool)
		}
		order := []*load{a, z}
		if round%2 == 1 {
			order = []*load{z, a}
		}
		got := map[*load]sample{}
		for _, l := range order {
			s, err := l.measure(ctx, b.turn)
			if err != nil {
				return err
			}
			got[l] = s
		}
		slower = append(slower, got[a].perSecond/got[z].perSecond)
		used = append(used, float64(got[z].cpu)/float64(got[a].cpu))
		rates, large = append(rates, got[a].perSecond), append(large, got[z].perSecond)
	}
	b.report.atMost(fmt.Sprintf("%s: time of a call among %d tasks, 16 callers", name, b.many), fmt.Sprintf("among %d", fewTasks), 1.2, spreadOf(slower),
		spreadOf(large).rate()+" against "+spreadOf(rates).rate())
	b.report.beside("its server CPU", spreadOf(used), "")
	return nil
}

// fill makes tasks: every other one depends on the one before, every tenth has a
// parent, all are open.
func fill(ctx context.Context, p *process, pool string, tasks int) error {
	conns, err := connect(p.grpc, 1)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	if pool != "" {
		if _, err := taskpoolv1.NewPoolServiceClient(conns[0]).CreatePool(asOperator(ctx), &taskpoolv1.CreatePoolRequest{Name: pool}); err != nil {
			return err
		}
	}
	c := taskpoolv1.NewTaskServiceClient(conns[0])
	for made := 0; made < tasks; {
		req := &taskpoolv1.CreateTasksRequest{Pool: pool}
		for i := range min(5000, tasks-made) {
			d := draft(made + i)
			d.Ref = fmt.Sprint(i)
			if i%2 == 1 {
				d.DependencyIds = []string{fmt.Sprintf("ref:%d", i-1)}
			}
			if i%10 == 9 {
				d.ParentId = fmt.Sprintf("ref:%d", i-9)
			}
			req.Tasks = append(req.Tasks, d)
		}
		if _, err := c.CreateTasks(as(ctx), req); err != nil {
			return err
		}
		made += len(req.Tasks)
	}
	return nil
}

func pageCall(ctx context.Context, c taskpoolv1.TaskServiceClient, _ int64) error {
	_, err := c.ReadTask(ctx, &taskpoolv1.ReadTaskRequest{PageSize: 100})
	return err
}

// startCall starts a task with every even call and puts it back with the next. The
// tasks it takes wait for nothing; callers are spread over them.
// nextCall claims the best there is, and releases it: the work of two calls.
func nextCall(ctx context.Context, c taskpoolv1.TaskServiceClient, _ int64) error {
	claimed, err := c.ClaimTask(ctx, &taskpoolv1.ClaimTaskRequest{Lease: durationpb.New(time.Minute)})
	if err != nil {
		return err
	}
	if claimed.GetTask() == nil {
		return errors.New(claimed.GetNothing())
	}
	_, err = c.ReleaseTask(ctx, &taskpoolv1.ReleaseTaskRequest{Id: claimed.GetTask().GetId(), HoldToken: claimed.GetHoldToken()})
	return err
}

func startCall(tasks int64) call {
	var at atomic.Int64
	return func(ctx context.Context, c taskpoolv1.TaskServiceClient, _ int64) error {
		id := fmt.Sprintf("T-%d", 1+2*(at.Add(1)*31%(tasks/2)))
		for _, to := range []taskpoolv1.TaskStatus{taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS, taskpoolv1.TaskStatus_TASK_STATUS_READY} {
			if _, err := c.UpdateTask(ctx, &taskpoolv1.UpdateTaskRequest{Id: id, Status: &to}); err != nil {
				return err
			}
		}
		return nil
	}
}

func updateCall(tasks int64) call {
	return func(ctx context.Context, c taskpoolv1.TaskServiceClient, n int64) error {
		_, err := c.UpdateTask(ctx, &taskpoolv1.UpdateTaskRequest{
			Id: fmt.Sprintf("T-%d", 1+n*7919%tasks), Description: proto.String(fmt.Sprintf("It was looked at %d times by now.", n)),
		})
		return err
	}
}

func dependentCall(tasks int64, pool string) call {
	return func(ctx context.Context, c taskpoolv1.TaskServiceClient, n int64) error {
		d := draft(int(n % 1000))
		// A task has at most so many dependents: they are spread over all.
		d.DependencyIds = []string{fmt.Sprintf("T-%d", 1+n*7919%tasks), fmt.Sprintf("T-%d", 1+(n*7919+tasks/2)%tasks)}
		_, err := c.CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Pool: pool, Task: d})
		return err
	}
}

// restart stops the server and measures how long it takes until the first read is
// answered again.
func (b *bench) restart(ctx context.Context, p *process, dir string) (*process, error) {
	say("restart")
	if err := p.stop(); err != nil {
		return nil, err
	}
	start := time.Now()
	p, err := b.product(ctx, dir)
	if err != nil {
		return nil, err
	}
	conns, err := connect(p.grpc, 1)
	if err != nil {
		return nil, err
	}
	defer closeAll(conns)
	ctx, cancel := context.WithTimeout(as(ctx), 2*time.Minute)
	defer cancel()
	if _, err := taskpoolv1.NewTaskServiceClient(conns[0]).ReadTask(ctx, &taskpoolv1.ReadTaskRequest{PageSize: 1}, grpc.WaitForReady(true)); err != nil {
		return nil, err
	}
	took := time.Since(start)
	b.report.value(fmt.Sprintf("restart with %d tasks, until the first read is answered (once, page cache warm)", b.many), "≤ 10 s",
		fmt.Sprintf("%.1f s", took.Seconds()), took <= 10*time.Second, "")
	return p, nil
}

var live = regexp.MustCompile(`(?m)^go_memstats_heap_alloc_bytes (\S+)$`)

// memory compares the heap right after a collection with the bytes of the tasks on
// the wire.
func (b *bench) memory(ctx context.Context, p *process) error {
	conns, err := connect(p.grpc, 1)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	page, err := taskpoolv1.NewTaskServiceClient(conns[0]).ReadTask(as(ctx), &taskpoolv1.ReadTaskRequest{PageSize: 1000, View: taskpoolv1.TaskView_TASK_VIEW_FULL})
	if err != nil {
		return err
	}
	wire := 0
	for _, t := range page.GetTasks() {
		wire += proto.Size(t)
	}
	wire /= len(page.GetTasks())
	if _, err := fetch(ctx, "http://"+p.http+"/debug/pprof/heap?gc=1"); err != nil {
		return err
	}
	metrics, err := fetch(ctx, "http://"+p.http+"/metrics")
	if err != nil {
		return err
	}
	m := live.FindSubmatch(metrics)
	if m == nil {
		return fmt.Errorf("the metrics do not tell the heap")
	}
	heap, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		return err
	}
	each := heap / float64(b.many)
	ratio := each / float64(wire)
	b.report.value(fmt.Sprintf("memory of each of %d tasks with its thread and all indexes / its bytes on the wire", b.many), "≤ 1.6", fmt.Sprintf("%.2f", ratio), ratio <= 1.6,
		fmt.Sprintf("%.0f of heap after a collection, %d on the wire; the process has %d MiB", each, wire, p.rss()>>20))
	return nil
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}
