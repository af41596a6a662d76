package crash_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

const (
	rounds  = 12
	writers = 8
	// acksPerRound is about how many answers a round lets through.
	acksPerRound = 150
)

// call is one mutation as its caller knows it.
type call struct {
	requestID string
	// create is the title, entry the history line; one of them is set.
	create, entry string
	// task is the id that an update is about, or that a create was answered with.
	task string
	// revision is the answer's; 0 where there was no answer.
	revision int64
}

// log is what one writer did, in order: it waits for each answer.
type log struct{ calls []*call }

// TestKill checks promise 1 and the order of a pool from outside. Writers create
// tasks, and all write into the progress log of one shared task, while the
// server is killed. Whatever was answered is there after the restart, with the
// revision that was answered; whatever was not is there whole or not at all, and
// repeating it with its request_id makes it there once.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	p := serve(t, dir)
	tasks, done := dial(t, p)
	shared, err := tasks.CreateTask(t.Context(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "shared"}})
	done()
	if err != nil {
		t.Fatal(err)
	}
	logs := make([]*log, writers)
	for i := range logs {
		logs[i] = &log{}
	}
	for round := range rounds {
		work(t, p, logs, round, shared.Task.Id)
		p = serve(t, dir)
		check(t, p, logs, shared.Task.Id)
	}
}

func dial(t *testing.T, p *process) (taskpoolv1.TaskServiceClient, func()) {
	t.Helper()
	conn, err := grpc.NewClient(p.addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)))
	if err != nil {
		t.Fatal(err)
	}
	return taskpoolv1.NewTaskServiceClient(conn), func() { _ = conn.Close() }
}

// work lets the writers write until about acksPerRound answers came, kills the
// server amid it, and returns when all have noticed.
func work(t *testing.T, p *process, logs []*log, round int, shared string) {
	t.Helper()
	tasks, done := dial(t, p)
	defer done()
	var acks atomic.Int64
	enough := int64(acksPerRound/2 + rand.IntN(acksPerRound))
	killed := make(chan struct{})
	var once sync.Once
	var group sync.WaitGroup
	for w, l := range logs {
		group.Go(func() {
			for i := 0; ; i++ {
				c := &call{requestID: fmt.Sprintf("r%d-w%d-%d", round, w, i)}
				if i%2 == 0 {
					c.create = c.requestID
				} else {
					c.entry, c.task = c.requestID, shared
				}
				l.calls = append(l.calls, c)
				if err := c.send(t.Context(), tasks); err != nil {
					if !client.IsUnavailable(err) {
						t.Errorf("%s was refused: %v", c.requestID, err)
						once.Do(func() { close(killed) })
					}
					return
				}
				if acks.Add(1) == enough {
					once.Do(func() { close(killed) })
				}
			}
		})
	}
	<-killed
	p.kill()
	group.Wait()
}

// send makes the call and keeps what the answer says.
func (c *call) send(ctx context.Context, tasks taskpoolv1.TaskServiceClient) error {
	if c.create != "" {
		r, err := tasks.CreateTask(ctx, &taskpoolv1.CreateTaskRequest{RequestId: c.requestID, Task: &taskpoolv1.NewTask{Title: c.create}})
		if err == nil {
			c.task, c.revision = r.Task.Id, r.Task.Revision
		}
		return err
	}
	r, err := tasks.UpdateTask(ctx, &taskpoolv1.UpdateTaskRequest{RequestId: c.requestID, Id: c.task, HistoryEntry: c.entry})
	if err == nil {
		c.revision = r.Task.Revision
	}
	return err
}

// check compares what is there with what the writers know.
func check(t *testing.T, p *process, logs []*log, shared string) {
	t.Helper()
	tasks, done := dial(t, p)
	defer done()
	there := list(t, tasks)
	// What was not answered is asked again with its request_id, so from here on
	// every call has an answer.
	for _, l := range logs {
		for _, c := range l.calls {
			if c.revision == 0 {
				if err := c.send(t.Context(), tasks); err != nil {
					t.Fatalf("repeat %s: %v", c.requestID, err)
				}
				continue
			}
			if c.create != "" && there[c.task] != c.create {
				t.Errorf("task %s was acknowledged as %q, and is %q after the restart", c.task, c.create, there[c.task])
			}
		}
	}
	titles := map[string]int{}
	for _, title := range list(t, tasks) {
		titles[title]++
	}
	var entries []*call
	for _, l := range logs {
		for _, c := range l.calls {
			if c.create != "" && titles[c.create] != 1 {
				t.Errorf("%q is there %d times", c.create, titles[c.create])
			}
			if c.entry != "" {
				entries = append(entries, c)
			}
		}
	}
	checkShared(t, tasks, entries, shared)
}

// checkShared wants the shared log to hold each entry once, in an order that
// keeps every writer's own, and that no answer's revision contradicts.
func checkShared(t *testing.T, tasks taskpoolv1.TaskServiceClient, entries []*call, shared string) {
	t.Helper()
	r, err := tasks.ReadTask(t.Context(), &taskpoolv1.ReadTaskRequest{Id: &shared})
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, e := range r.Task.History {
		if _, twice := at[e.Text]; twice {
			t.Errorf("entry %s is there twice", e.Text)
		}
		at[e.Text] = i
	}
	if len(at) != len(entries) {
		t.Errorf("the log has %d entries, the writers wrote %d", len(at), len(entries))
	}
	// A replayed answer shows the task as it is then, so only revisions of
	// entries that are alone with theirs say when they came.
	byRevision := map[int64][]*call{}
	for _, c := range entries {
		if _, ok := at[c.entry]; !ok {
			t.Errorf("entry %s is not there", c.entry)
		}
		byRevision[c.revision] = append(byRevision[c.revision], c)
	}
	last := -1
	for _, revision := range slices.Sorted(maps.Keys(byRevision)) {
		if same := byRevision[revision]; len(same) == 1 {
			if i := at[same[0].entry]; i < last {
				t.Errorf("entry %s of revision %d stands before one of an earlier revision", same[0].entry, revision)
			} else {
				last = i
			}
		}
	}
	lastOf := map[string]int{}
	for _, c := range entries {
		// The entries of one writer came in its order: they are in that order here.
		writer := strings.Split(c.entry, "-")[1]
		if at[c.entry] < lastOf[writer] {
			t.Errorf("entry %s stands before one that its writer wrote earlier", c.entry)
		}
		lastOf[writer] = at[c.entry]
	}
}

// list returns the title of every task by id.
func list(t *testing.T, tasks taskpoolv1.TaskServiceClient) map[string]string {
	t.Helper()
	titles := map[string]string{}
	request := &taskpoolv1.ReadTaskRequest{PageSize: 1000, View: taskpoolv1.TaskView_TASK_VIEW_COMPACT}
	for {
		r, err := tasks.ReadTask(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range r.Tasks {
			titles[task.Id] = task.Title
		}
		if request.PageToken = r.NextPageToken; request.PageToken == "" {
			return titles
		}
	}
}
