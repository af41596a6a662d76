package crash_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
)

// The titles of the tasks that end a round, before its number: one is left ready,
// one done, so that every view shows one of them.
const (
	leftReady = "ready after round "
	leftDone  = "done after round "
)

// TestKill_watches checks promise 2 from outside. Members write and others watch
// while the server is killed, over and over. Watches resume where they were; what
// the feed told from the very first gives what a listing gives each time, and all
// that any watch saw keeps every guarantee: also one that lags far behind, and
// one that never moves on from its first cursor.
func TestKill_watches(t *testing.T) {
	dir := t.TempDir()
	p := serve(t, dir)
	members := []string{"agent:a", "agent:b", "human"}
	watchers := views()
	s := &scribblers{}
	for round := range rounds {
		tasks, done := dial(t, p)
		s.tasks = tasks
		var acks atomic.Int64
		enough := int64(acksPerRound/2 + rand.IntN(acksPerRound))
		var writing, watching sync.WaitGroup
		for _, w := range watchers {
			watching.Go(func() {
				if err := w.follow(t.Context(), tasks, "nothing ends it"); err != nil && !client.IsUnavailable(err) {
					t.Error(err)
				}
			})
		}
		for i, actor := range members {
			rnd := rand.New(rand.NewPCG(uint64(round), uint64(i)))
			writing.Go(func() {
				// Who is first to see enough kills the server under the others.
				over := func() bool {
					if acks.Add(1) == enough {
						p.kill()
					}
					return acks.Load() > 4*enough // it was not killed
				}
				if err := s.scribble(t.Context(), actor, rnd, over); err != nil {
					t.Error(err)
					p.kill()
				}
			})
		}
		writing.Wait()
		watching.Wait()
		done()
		p = serve(t, dir)
		judge(t, p, watchers, round)
		if t.Failed() {
			return
		}
	}
}

// views are the watches of the test. The first is of everything.
func views() []*watcher {
	status := func(s ...taskpoolv1.TaskStatus) *taskpoolv1.TaskFilter { return &taskpoolv1.TaskFilter{Statuses: s} }
	const ready, over = taskpoolv1.TaskStatus_TASK_STATUS_READY, taskpoolv1.TaskStatus_TASK_STATUS_DONE
	isReady := func(t *taskpoolv1.Task) bool { return t.Status == ready }
	isClaimable := func(t *taskpoolv1.Task) bool {
		return t.Status == ready && (t.Assignee == "" || t.Assignee == "agent:a")
	}
	isDone := func(t *taskpoolv1.Task) bool { return t.Status == over }
	unassigned := func(t *taskpoolv1.Task) bool {
		return t.Assignee == "" && t.Status != over && t.Status != taskpoolv1.TaskStatus_TASK_STATUS_CANCELLED
	}
	all := []*watcher{
		view("all", leftDone, nil, nil),
		view("all but mine", leftDone, nil, nil),
		view("ready", leftReady, status(ready), isReady),
		view("ready but mine", leftReady, status(ready), isReady),
		view("claimable", leftReady, &taskpoolv1.TaskFilter{Claimable: true}, isClaimable),
		view("done", leftDone, status(over), isDone),
		view("unassigned", leftReady, &taskpoolv1.TaskFilter{Unassigned: true}, unassigned),
		view("all, slowly", leftDone, nil, nil),
		view("ready, slowly", leftReady, status(ready), isReady),
		view("all, stuck", leftDone, nil, nil),
		view("ready, stuck", leftReady, status(ready), isReady),
	}
	for i, exclude := range map[int]string{1: "agent:a", 3: "agent:b"} {
		all[i].request.ExcludeActor, all[i].tr.Exclude = exclude, exclude
	}
	all[7].most, all[8].most = 4, 3
	all[9].stuck, all[10].stuck = true, true
	return all
}

func view(name, until string, f *taskpoolv1.TaskFilter, fits func(*taskpoolv1.Task) bool) *watcher {
	w := &watcher{actor: "agent:a", until: until, request: &taskpoolv1.WatchTasksRequest{Filter: f}}
	w.tr.Name = name
	if fits != nil {
		w.tr.Fits = func(s pooltest.State) bool { return fits(s.Fields.(*taskpoolv1.Task)) }
	}
	return w
}

// judge lets the watchers come to the head, and holds what they saw against
// what a watch of everything and a listing say. In the last round those that
// lag come too.
func judge(t *testing.T, p *process, watchers []*watcher, round int) {
	t.Helper()
	conn, err := client.Dial(p.addr, client.WithActor("agent:judge"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, title := range []string{leftReady, leftDone} {
		made, err := conn.Create(t.Context(), &taskpoolv1.NewTask{Title: fmt.Sprint(title, round)})
		if err == nil && title == leftDone {
			_, err = conn.Tasks().UpdateTask(t.Context(), &taskpoolv1.UpdateTaskRequest{Id: made.Id, Status: new(taskpoolv1.TaskStatus_TASK_STATUS_DONE)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	head, listed := listing(t, conn)
	var all []*pooltest.Traffic
	var watching sync.WaitGroup
	for _, w := range watchers {
		all = append(all, &w.tr)
		if round == rounds-1 {
			w.most, w.stuck = 0, false
		}
		watching.Go(func() {
			if err := w.follow(t.Context(), conn.Tasks(), fmt.Sprint(w.until, round)); err != nil {
				t.Error(err)
			}
		})
	}
	watching.Wait()
	ref, err := pooltest.ReferenceOf(&watchers[0].tr, doer)
	if err != nil {
		t.Fatal(err)
	}
	ref.Listings = map[int64][]pooltest.State{head: listed}
	if ref.Last < head {
		t.Errorf("the watch of everything ends at revision %d, the listing is of %d", ref.Last, head)
	}
	if err := pooltest.Validate(ref, all...); err != nil {
		t.Error(err)
	}
}

// listing is the whole pool, and its revision.
func listing(t *testing.T, conn *client.Client) (head int64, states []pooltest.State) {
	t.Helper()
	request := &taskpoolv1.ReadTaskRequest{PageSize: 1000, View: taskpoolv1.TaskView_TASK_VIEW_FULL, Filter: &taskpoolv1.TaskFilter{IncludeClosed: true}}
	for {
		r, err := conn.Tasks().ReadTask(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range r.Tasks {
			states = append(states, stateOf(task))
		}
		if request.PageToken = r.NextPageToken; request.PageToken != "" {
			continue
		}
		c, err := feed.Parse(r.Cursor)
		if err != nil {
			t.Fatal(err)
		}
		return c.Revision, states
	}
}
