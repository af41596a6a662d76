package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
)

// Whatever is cut, and whenever, who follows hears what one hears afterwards
// whom nothing disturbs, and copies equal the listing.
func TestLiveThroughCuts(t *testing.T) {
	addr, _ := serveLive(t, memory.New())
	proxy := newCutter(t, 1, 200_000)
	proxy.lead(addr)
	w := newWorker(t, dial(t, addr, client.WithActor("agent:w")), 2)
	f := newFollowers(t, w, proxy)
	for range 120 {
		w.work(t)
	}
	f.end(t)
	if n := proxy.times(); n < 20 {
		t.Errorf("only %d connections were cut", n)
	}
}

func TestLiveThroughRestarts(t *testing.T) {
	dir := t.TempDir()
	serve := func() (addr string, stop func()) {
		s, err := sqlite.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return serveLive(t, s)
	}
	proxy := newCutter(t, 3, 1<<40)
	addr, stop := serve()
	proxy.lead(addr)
	w := newWorker(t, dial(t, proxy.addr, client.WithActor("agent:w")), 4)
	f := newFollowers(t, w, proxy)
	for range 4 {
		for range 10 {
			w.work(t)
		}
		proxy.lead("")
		stop()
		addr, stop = serve()
		proxy.lead(addr)
	}
	for range 10 {
		w.work(t)
	}
	f.end(t)
}

// worker changes tasks as chance has it: batches that take several messages,
// moves and what the pool derives from them, deletions.
type worker struct {
	client *client.Client
	chance *rand.Rand
	ids    []string
	start  string // a cursor of the beginning
}

func newWorker(t *testing.T, c *client.Client, seed uint64) *worker {
	t.Helper()
	pool, err := c.Pools().GetPool(t.Context(), &taskpoolv1.GetPoolRequest{Pool: "default"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Create(t.Context(), &taskpoolv1.NewTask{Title: "the first"})
	if err != nil {
		t.Fatal(err)
	}
	return &worker{client: c, chance: rand.New(rand.NewPCG(seed, 0)), ids: []string{first.GetId()}, start: pool.GetPool().GetCursor()}
}

// work does one thing. What a rule forbids doesn't happen; what a server that
// goes away leaves unknown may have happened.
func (w *worker) work(t *testing.T) {
	t.Helper()
	tasks, id := w.client.Tasks(), w.ids[w.chance.IntN(len(w.ids))]
	var err error
	switch n := w.chance.IntN(10); {
	case len(w.ids) < 20 || n == 0 && len(w.ids) < 2000:
		var answer *taskpoolv1.CreateTasksResponse
		if answer, err = tasks.CreateTasks(t.Context(), &taskpoolv1.CreateTasksRequest{Tasks: w.drafts()}); err == nil {
			for _, task := range answer.GetTasks() {
				w.ids = append(w.ids, task.GetId())
			}
		}
	case n == 1:
		_, err = tasks.DeleteTask(t.Context(), &taskpoolv1.DeleteTaskRequest{Id: id})
	case n < 5:
		_, err = tasks.UpdateTask(t.Context(), &taskpoolv1.UpdateTaskRequest{Id: id, Status: taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS.Enum()})
	case n < 8:
		_, err = tasks.UpdateTask(t.Context(), &taskpoolv1.UpdateTaskRequest{Id: id, Status: taskpoolv1.TaskStatus_TASK_STATUS_DONE.Enum()})
	default:
		_, err = tasks.UpdateTask(t.Context(), &taskpoolv1.UpdateTaskRequest{Id: id, Title: proto.String(fmt.Sprintf("renamed %d", w.chance.IntN(1000)))})
	}
	if err != nil && !client.IsRule(err) && !client.IsNotFound(err) && !client.IsHeld(err) && !client.IsNotPermitted(err) && !client.IsUnavailable(err) {
		t.Errorf("the worker: %v", err)
	}
}

func (w *worker) drafts() []*taskpoolv1.NewTask {
	drafts := make([]*taskpoolv1.NewTask, 1+w.chance.IntN(320))
	for i := range drafts {
		drafts[i] = &taskpoolv1.NewTask{Title: fmt.Sprintf("task %d", i), Ref: fmt.Sprintf("r%d", i)}
		if i%3 == 1 {
			drafts[i].DependencyIds = []string{fmt.Sprintf("ref:r%d", i-1)}
		}
	}
	return drafts
}

// create makes a task that every view shows, in the name of another.
func (w *worker) create(t *testing.T) int64 {
	t.Helper()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "taskpool-actor", "agent:z")
	task, err := w.client.Create(ctx, &taskpoolv1.NewTask{Title: "ready"})
	if err != nil {
		t.Fatal(err)
	}
	return task.GetRevision()
}

// recording is what one follower was told.
type recording struct {
	name    string
	options client.FollowOptions
	lines   []string
	view    map[string]*taskpoolv1.Task
	done    chan error
}

// record follows up to a revision that is told later; one change must come after
// it.
func record(ctx context.Context, c *client.Client, name string, o client.FollowOptions, end *atomic.Int64) *recording {
	r := &recording{name: name, options: o, view: map[string]*taskpoolv1.Task{}, done: make(chan error, 1)}
	o.MinBackoff, o.MaxBackoff = time.Millisecond, 50*time.Millisecond
	go func() {
		for change, err := range client.Follow(ctx, c, o) {
			if last := end.Load(); err != nil || last > 0 && change.Revision > last {
				r.done <- err
				return
			}
			r.lines = append(r.lines, content(told(change)))
			for _, t := range change.Tasks {
				if delete(r.view, t.GetTaskId()); t.GetTask() != nil {
					r.view[t.GetTaskId()] = t.GetTask()
				}
			}
		}
	}()
	return r
}

func (r *recording) wait(t *testing.T) {
	t.Helper()
	if err := <-r.done; err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
}

// followers are several, and a mirror, behind a proxy.
type followers struct {
	worker *worker
	all    []*recording
	last   atomic.Int64
	mirror *client.Mirror
	stop   func()
	ended  chan error
}

func newFollowers(t *testing.T, w *worker, proxy *cutter) *followers {
	t.Helper()
	f := &followers{worker: w, ended: make(chan error, 1)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	f.stop = cancel
	t.Cleanup(cancel)
	f.mirror = client.NewMirror(dial(t, proxy.addr), client.FollowOptions{MinBackoff: time.Millisecond, MaxBackoff: 50 * time.Millisecond})
	go func() { f.ended <- f.mirror.Run(ctx) }()
	ready := &taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{taskpoolv1.TaskStatus_TASK_STATUS_READY}}
	for name, o := range map[string]client.FollowOptions{
		"all":             {After: w.start},
		"with a snapshot": {},
		"what is ready":   {After: w.start, Filter: ready},
		"what is open":    {Filter: &taskpoolv1.TaskFilter{}},
		"but one's own":   {After: w.start, ExcludeActor: "agent:w"},
	} {
		f.all = append(f.all, record(ctx, dial(t, proxy.addr), name, o, &f.last))
	}
	return f
}

// end makes the last changes, and holds what everyone was told against the truth.
func (f *followers) end(t *testing.T) {
	t.Helper()
	w := f.worker
	last := w.create(t)
	listing := map[*taskpoolv1.TaskFilter]map[string]*taskpoolv1.Task{}
	for _, r := range f.all {
		listing[r.options.Filter] = w.list(t, r.options.Filter)
	}
	if err := f.mirror.WaitFor(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	same(t, "mirror", byID(f.mirror.List(nil)), listing[nil])

	f.last.Store(last)
	w.create(t)
	for _, r := range f.all {
		r.wait(t)
		if r.options.ExcludeActor == "" {
			same(t, r.name, r.view, listing[r.options.Filter])
		}
		if r.options.After == "" {
			continue
		}
		undisturbed := record(t.Context(), w.client, r.name, r.options, &f.last)
		undisturbed.wait(t)
		if !slices.Equal(r.lines, undisturbed.lines) {
			t.Errorf("%s: heard\n%s\nundisturbed\n%s", r.name, strings.Join(r.lines, "\n"), strings.Join(undisturbed.lines, "\n"))
		}
	}
	f.stop()
	if err := <-f.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("mirror: %v", err)
	}
}

// list is what the view of a filter must be, by id.
func (w *worker) list(t *testing.T, filter *taskpoolv1.TaskFilter) map[string]*taskpoolv1.Task {
	t.Helper()
	if filter == nil {
		filter = &taskpoolv1.TaskFilter{IncludeClosed: true}
	}
	all := map[string]*taskpoolv1.Task{}
	for task, err := range w.client.List(t.Context(), &taskpoolv1.ReadTaskRequest{Filter: filter, View: taskpoolv1.TaskView_TASK_VIEW_FULL, PageSize: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		all[task.GetId()] = task
	}
	return all
}

func byID(tasks []*taskpoolv1.Task) map[string]*taskpoolv1.Task {
	all := map[string]*taskpoolv1.Task{}
	for _, task := range tasks {
		all[task.GetId()] = task
	}
	return all
}

func same(t *testing.T, name string, got, want map[string]*taskpoolv1.Task) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d tasks, want %d", name, len(got), len(want))
	}
	for id, task := range want {
		if !proto.Equal(got[id], task) {
			t.Errorf("%s: has\n%v\nwant\n%v", name, got[id], task)
			return
		}
	}
}
