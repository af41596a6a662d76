package server_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// A watch starts with the present state, which is not all that ever happened,
// and goes on with what happens.
func TestWatch_snapshot(t *testing.T) {
	f := start(t)
	f.create("a")
	f.create("b", "T-1")
	f.set("T-1", inProgress)
	head := f.set("T-1", done).GetCursor()
	w := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	if w.cursor != "" {
		t.Errorf("there is the cursor %q before the snapshot", w.cursor)
	}
	if got := w.snapshot(); got != "a b" {
		t.Errorf("the snapshot has %s", got)
	}
	w.isListing(f, nil)
	at, err := feed.Parse(w.cursor)
	if want, _ := feed.Parse(head); err != nil || at.Filter == 0 || at.Revision != want.Revision || at.Nonce != want.Nonce || at.Epoch != want.Epoch {
		t.Errorf("the snapshot is of %+v, %v; the head is %+v", at, err, want)
	}
	f.create("c", "T-2")
	if got := told(w.changes(1)); got != "UPSERTED c pending: CREATED" {
		t.Errorf("then comes %s", got)
	}
	f.set("T-2", inProgress)
	f.set("T-2", done)
	w.changes(3)
	w.isListing(f, nil)
}

// An empty pool has an empty snapshot, and a cursor.
func TestWatch_emptyPool(t *testing.T) {
	f := start(t)
	w := f.watch(&taskpoolv1.WatchTasksRequest{Start: &taskpoolv1.WatchTasksRequest_Snapshot{Snapshot: &taskpoolv1.WatchFromSnapshot{}}}).opened()
	if m := w.next(); m.GetSnapshotEnd() == nil || m.GetCursor() == "" {
		t.Errorf("the second message is %v", m)
	}
	f.create("a")
	if got := told(w.changes(1)); got != "UPSERTED a ready: CREATED" {
		t.Errorf("then comes %s", got)
	}
}

// From now means: not what was, all that will be, and what happens between the
// opening and the first change is not lost when the watch is cut there.
func TestWatch_now(t *testing.T) {
	f := start(t)
	f.create("a")
	w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	opened := w.cursor
	f.create("b")
	if got := told(w.changes(1)); got != "UPSERTED b ready: CREATED" {
		t.Errorf("what comes is %s", got)
	}
	w.leave()
	again := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(opened)}).opened()
	if again.cursor != opened {
		t.Errorf("it resumes at %s, not %s", again.cursor, opened)
	}
	if got := told(again.changes(1)); got != "UPSERTED b ready: CREATED" {
		t.Errorf("after the cursor of `opened` comes %s", got)
	}
}

// After a cursor comes what follows it: the revision itself not again, none left
// out, whichever answer the cursor is from.
func TestWatch_after(t *testing.T) {
	f := start(t)
	beginning := f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
	var cursors []string
	for i := range 5 {
		resp, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: fmt.Sprint("t", i)}})
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, resp.GetCursor())
	}
	titles := func(from string, n int) string {
		w := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(from)}).opened()
		w.changes(n)
		w.leave()
		return w.titles()
	}
	if got := titles(beginning, 5); got != "t0 t1 t2 t3 t4" {
		t.Errorf("after the beginning comes %s", got)
	}
	for i, c := range cursors[:4] {
		want := strings.Join(strings.Fields("t0 t1 t2 t3 t4")[i+1:], " ")
		if got := titles(c, 4-i); got != want {
			t.Errorf("after t%d comes %s", i, got)
		}
	}
	for _, name := range []string{"the last mutation", "a listing"} {
		c := cursors[4]
		if name == "a listing" {
			c = f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
		}
		w := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(c)}).opened()
		resumed, err := feed.Parse(w.cursor)
		if err != nil || resumed.Filter == 0 {
			t.Errorf("after %s: the cursor of `opened` is %+v, %v", name, resumed, err)
		}
		title := "after " + name
		f.create(title)
		if got := told(w.changes(1)); got != "UPSERTED "+title+" ready: CREATED" {
			t.Errorf("after %s comes %s", name, got)
		}
		w.leave()
	}
}

// Each view shows of tasks what ReadTask shows in it, in the snapshot and in
// changes.
func TestWatch_views(t *testing.T) {
	f := start(t)
	long := strings.Repeat("long ", 55)
	for _, view := range []taskpoolv1.TaskView{0, taskpoolv1.TaskView_TASK_VIEW_FULL, taskpoolv1.TaskView_TASK_VIEW_PREVIEW, taskpoolv1.TaskView_TASK_VIEW_COMPACT} {
		t.Run(view.String(), func(t *testing.T) {
			f := f.in(t)
			resp, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "x", Body: long, Steps: []string{long}}})
			if err != nil {
				t.Fatal(err)
			}
			id := resp.GetTask().GetId()
			as := func() *taskpoolv1.Task {
				listed := taskpoolv1.TaskView_TASK_VIEW_FULL
				if view != 0 {
					listed = view
				}
				for _, m := range f.list(&taskpoolv1.ReadTaskRequest{View: listed, PageSize: 100}).GetTasks() {
					if m.GetId() == id {
						return m
					}
				}
				return nil
			}
			w := f.watch(&taskpoolv1.WatchTasksRequest{View: view}).opened()
			w.snapshot()
			if !proto.Equal(w.tasks[id], as()) {
				t.Errorf("the snapshot has %v, a listing %v", w.tasks[id], as())
			}
			if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: id, HistoryEntry: long, Priority: taskpoolv1.TaskPriority_TASK_PRIORITY_HIGH.Enum()}); err != nil {
				t.Fatal(err)
			}
			c := w.changes(1)
			if !proto.Equal(c[0].GetTask(), as()) {
				t.Errorf("the change has %v, a listing %v", c[0].GetTask(), as())
			}
			if len(c[0].GetEvents()) != 2 || c[0].GetEvents()[0].GetBody()+c[0].GetEvents()[1].GetBody() != strings.TrimSpace(long) {
				t.Errorf("its events are %v", c[0].GetEvents())
			}
		})
	}
}

// A revision that is too large for one message comes in parts, and can be
// resumed after the last of them alone.
func TestWatch_parts(t *testing.T) {
	f := start(t)
	w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	batch := &taskpoolv1.CreateTasksRequest{}
	for i := range 1000 {
		batch.Tasks = append(batch.Tasks, &taskpoolv1.NewTask{Title: fmt.Sprint("t", i)})
	}
	resp, err := f.tasks.CreateTasks(f.ctx(), batch)
	if err != nil {
		t.Fatal(err)
	}
	f.create("and on")
	var shape []string
	for len(w.tasks) < 1001 {
		m := w.next()
		shape = append(shape, fmt.Sprint(len(m.GetChanges().GetChanges()), m.GetChanges().GetMore(), m.GetCursor() != ""))
	}
	if got := strings.Join(shape, ", "); got != "256 true false, 256 true false, 256 true false, 232 false true, 1 false true" {
		t.Errorf("the messages have %s", got)
	}
	w.isListing(f, nil)
	w.upTo(resp.GetCursor())
	again := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	if again.snapshot(); len(again.tasks) != 1001 {
		t.Errorf("the snapshot has %d tasks", len(again.tasks))
	}
}

// Messages stay about a MiB, and a task that is larger comes all the same.
func TestWatch_largeTasks(t *testing.T) {
	f := startConfig(t, pool.Config{Store: keep(t), Getenv: func(name string) (string, bool) {
		return "3000000", name == "TASKPOOL_MAX_BODY_LENGTH"
	}})
	batch := &taskpoolv1.CreateTasksRequest{}
	for i, size := range []int{400_000, 400_000, 400_000, 2_500_000, 10} {
		batch.Tasks = append(batch.Tasks, &taskpoolv1.NewTask{Title: fmt.Sprint("t", i), Body: strings.Repeat("x", size)})
	}
	live := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	if _, err := f.tasks.CreateTasks(f.ctx(), batch); err != nil {
		t.Fatal(err)
	}
	f.watch(&taskpoolv1.WatchTasksRequest{}).opened().fits(5)
	live.fits(5)
}

// fits reads until there are that many tasks, and checks the messages' sizes.
func (w *watching) fits(tasks int) {
	w.t.Helper()
	for len(w.tasks) < tasks {
		m := w.next()
		if n := len(m.GetSnapshot().GetTasks()) + len(m.GetChanges().GetChanges()); n > 1 && proto.Size(m) > 1<<20+2048 {
			w.t.Errorf("a message with %d tasks has %d bytes", n, proto.Size(m))
		}
	}
}

// keep is a memory store until the test's end.
func keep(t testing.TB) *memory.Store {
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// A filtered watch is a view: tasks come into it and leave it by what is done to
// others, too, and in that very revision.
func TestWatch_view(t *testing.T) {
	f := start(t)
	ready := &taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{taskpoolv1.TaskStatus_TASK_STATUS_READY}}
	f.create("a")
	f.create("b", "T-1")
	f.create("hidden", "T-2")
	w := f.watch(&taskpoolv1.WatchTasksRequest{Filter: ready}).opened()
	if got := w.snapshot(); got != "a" {
		t.Errorf("the snapshot has %s", got)
	}
	human := f.as(task.Human)
	for _, step := range []struct {
		do   func()
		want string // "": the watch sees nothing
	}{
		{func() { f.set("T-1", inProgress) }, "LEFT_VIEW: CLAIMED"},
		{func() { f.set("T-1", done) }, "UPSERTED b ready: STATUS"}, // by the pool
		{func() { f.edit("T-3", "still hidden") }, ""},
		{func() { f.set("T-1", readyStatus) }, "UPSERTED a ready: STATUS; LEFT_VIEW: STATUS"}, // reopened: b waits again
		{func() { human.remove("T-3") }, ""},
		{func() { f.set("T-1", inProgress); f.set("T-1", done) }, "LEFT_VIEW: CLAIMED; UPSERTED b ready: STATUS"},
		{func() { human.remove("T-2") }, "DELETED"},
	} {
		step.do()
		marker := f.create("marker") // so that seeing nothing is seen
		var seen []*taskpoolv1.TaskChange
		for w.tasks[marker.GetId()] == nil {
			seen = append(seen, w.next().GetChanges().GetChanges()...)
		}
		if got := told(seen[:len(seen)-1]); got != step.want {
			t.Errorf("the watch sees %q, want %q", got, step.want)
		}
		human.remove(marker.GetId())
		w.changes(1)
		w.isListing(f, ready)
	}
}

const readyStatus = taskpoolv1.TaskStatus_TASK_STATUS_READY

func (f *fixture) edit(id, title string) {
	f.t.Helper()
	if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: id, Title: &title}); err != nil {
		f.t.Fatalf("edit %s: %v", id, err)
	}
}

func (f *fixture) remove(id string) {
	f.t.Helper()
	if _, err := f.tasks.DeleteTask(f.ctx(), &taskpoolv1.DeleteTaskRequest{Id: id}); err != nil {
		f.t.Fatalf("delete %s: %v", id, err)
	}
}

// A derived change is the pool's, whoever caused it.
func TestWatch_derivedEvents(t *testing.T) {
	f := start(t)
	f.create("a")
	f.create("b", "T-1")
	f.set("T-1", inProgress)
	w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	f.set("T-1", done)
	changes := w.changes(2)
	for _, c := range changes {
		want := map[string]string{"a": "agent:a", "b": task.SystemPool}[c.GetTask().GetTitle()]
		if len(c.GetEvents()) != 1 || c.GetEvents()[0].GetActor() != want || c.GetRevision() != changes[0].GetRevision() {
			t.Errorf("of %s it tells %v", c.GetTask().GetTitle(), c)
		}
	}
}

// A member that leaves itself out is not woken by what it does, but by what
// follows from it and by what others do.
func TestWatch_excludeActor(t *testing.T) {
	f := start(t)
	f.create("a")
	f.create("b", "T-1")
	other := f.as("agent:b")
	open := &taskpoolv1.TaskFilter{}
	for _, name := range []string{"agent:a", "me"} {
		w := f.watch(&taskpoolv1.WatchTasksRequest{Filter: open, ExcludeActor: name, Start: now()}).opened()
		f.set("T-1", inProgress)    // its own
		other.edit("T-2", "edited") // another's
		f.set("T-1", done)          // its own; T-1 leaves the view, T-2 is ready
		f.set("T-1", readyStatus)   // and back
		other.edit("T-2", "b")
		if got := told(w.changes(5)); got != "UPSERTED edited pending: EDITED; LEFT_VIEW; UPSERTED edited ready: STATUS; UPSERTED edited pending: STATUS; UPSERTED b pending: EDITED" {
			t.Errorf("leaving out %s it is told %s", name, got)
		}
		w.leave()
	}
}

// Reads, refusals, repeats and what changes nothing tell nothing; what changes
// something tells it once.
func TestWatch_onceForEachMutation(t *testing.T) {
	f := start(t)
	w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	revisions := func() int { return len(w.seen) }
	request := &taskpoolv1.CreateTaskRequest{RequestId: "one", Task: &taskpoolv1.NewTask{Title: "a"}}
	for range 3 {
		if _, err := f.tasks.CreateTask(f.ctx(), request); err != nil {
			t.Fatal(err)
		}
	}
	f.list(&taskpoolv1.ReadTaskRequest{})
	f.read("T-1")
	if _, err := f.tasks.ExplainTask(f.ctx(), &taskpoolv1.ExplainTaskRequest{Id: "T-1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: "T-1", Title: proto.String("")}); err == nil {
		t.Fatal("a task without a title is taken")
	}
	f.set("T-1", inProgress)
	f.set("T-1", inProgress) // its own already
	if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{RequestId: "noop", Id: "T-1", Title: proto.String("a")}); err != nil {
		t.Fatal(err)
	}
	f.set("T-1", done)
	f.create("the last")
	w.changes(4)
	if revisions() != 4 {
		t.Errorf("it tells of %v", w.seen)
	}
	w.upTo(f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor())
}

// What all watches share is compressed for one that asks for it, and stays as it
// is for the others.
func TestWatch_compressed(t *testing.T) {
	f := start(t)
	f.create("before")
	var all []*watching
	for _, options := range [][]grpc.CallOption{nil, {grpc.UseCompressor(gzip.Name)}, nil} {
		all = append(all, f.watch(&taskpoolv1.WatchTasksRequest{}, options...).opened())
	}
	for _, w := range all {
		w.snapshot()
	}
	f.fillBatch(300, 2000)
	for _, w := range all {
		w.changes(300)
		w.isListing(f, nil)
	}
}
