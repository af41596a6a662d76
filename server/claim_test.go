package server_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

// Hundreds who claim one task at once, over connections of their own: one wins, the
// others are told who holds it, and nothing else happens.
func TestClaimTask_oneWinner(t *testing.T) {
	f := start(t)
	const clients = 200
	each := make([]*fixture, clients)
	for i := range each {
		each[i] = f
		if i%10 == 0 {
			each[i] = f.anotherConn()
		}
		each[i] = each[max(0, i-i%10)].as(fmt.Sprintf("agent:w%d", i))
	}
	for round := range 5 {
		id := f.create(fmt.Sprint(round)).GetId()
		var wins atomic.Int64
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for _, c := range each {
			wg.Go(func() {
				<-begin
				resp, err := c.tasks.ClaimTask(c.ctx(), &taskpoolv1.ClaimTaskRequest{Id: id, Lease: durationpb.New(time.Minute)})
				if err != nil {
					r := refused(t, err, codes.FailedPrecondition, pool.ReasonHeld)
					if m := r.info.GetMetadata(); m["holder"] == "" || m["since"] == "" || m["expires_at"] == "" {
						t.Errorf("told %v", m)
					}
					return
				}
				wins.Add(1)
				if resp.GetHoldToken() == "" || resp.GetTask().GetHoldExpiresAt() == nil || resp.GetTask().GetLease().AsDuration() != time.Minute {
					t.Errorf("got %v", resp)
				}
			})
		}
		close(begin)
		wg.Wait()
		if wins.Load() != 1 {
			t.Errorf("%d won", wins.Load())
		}
	}
}

func TestClaimTask_refusesRequests(t *testing.T) {
	f := start(t)
	f.create("it")
	for name, c := range map[string]struct {
		req   *taskpoolv1.ClaimTaskRequest
		field string
	}{
		"too short":    {&taskpoolv1.ClaimTaskRequest{Id: "T-1", Lease: durationpb.New(time.Millisecond)}, "lease"},
		"none":         {&taskpoolv1.ClaimTaskRequest{Id: "T-1", Lease: &durationpb.Duration{}}, "lease"},
		"no duration":  {&taskpoolv1.ClaimTaskRequest{Id: "T-1", Lease: &durationpb.Duration{Seconds: 1, Nanos: -1}}, "lease"},
		"both":         {&taskpoolv1.ClaimTaskRequest{Id: "T-1", Filter: &taskpoolv1.TaskFilter{}}, "filter"},
		"waiting":      {&taskpoolv1.ClaimTaskRequest{Id: "T-1", Wait: durationpb.New(time.Second)}, "wait"},
		"NUL in a run": {&taskpoolv1.ClaimTaskRequest{Id: "T-1", RunId: "a\x00"}, "run_id"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.tasks.ClaimTask(f.ctx(), c.req)
			r := refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField)
			if got := r.info.GetMetadata()["field"]; got != c.field {
				t.Errorf("refused for %q", got)
			}
		})
	}
	for name, req := range map[string]*taskpoolv1.ClaimTaskRequest{
		"without a lease": {Wait: durationpb.New(time.Second)},
		"too long":        {Wait: durationpb.New(2 * time.Hour), Lease: durationpb.New(time.Minute)},
		"no duration":     {Wait: &durationpb.Duration{Seconds: 1, Nanos: -1}, Lease: durationpb.New(time.Minute)},
	} {
		_, err := f.tasks.ClaimTask(f.ctx(), req)
		r := refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField)
		t.Logf("%s: %s", name, r.text)
	}
}

// Many who wait over real connections are served one by one; a server that stops
// sends the others away at once, to come again.
func TestClaimTask_waits(t *testing.T) {
	f := start(t)
	const waiters, tasks = 100, 30
	got, sentAway := make(chan string, waiters), make(chan error, waiters)
	for i := range waiters {
		c := f.as(fmt.Sprintf("agent:w%d", i))
		go func() {
			resp, err := c.tasks.ClaimTask(c.ctx(), &taskpoolv1.ClaimTaskRequest{Wait: durationpb.New(time.Hour), Lease: durationpb.New(time.Minute)})
			if err != nil {
				sentAway <- err
				return
			}
			got <- resp.GetTask().GetId()
		}()
	}
	f.fill(tasks, 1)
	seen := map[string]bool{}
	for range tasks {
		id := <-got
		if seen[id] {
			t.Errorf("%s was given twice", id)
		}
		seen[id] = true
	}
	wait := f.drain(30 * time.Second)
	for range waiters - tasks {
		refused(t, <-sentAway, codes.Unavailable, pool.ReasonDraining)
	}
	wait()
}

// The best that fits comes first, and where nothing does the answer says so.
func TestClaimTask_next(t *testing.T) {
	f := start(t)
	f.create("usual")
	if _, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{
		Title: "urgent", Priority: taskpoolv1.TaskPriority_TASK_PRIORITY_HIGH, Labels: map[string]string{"k": "v"},
	}}); err != nil {
		t.Fatal(err)
	}
	next := func(filter *taskpoolv1.TaskFilter) *taskpoolv1.ClaimTaskResponse {
		t.Helper()
		resp, err := f.tasks.ClaimTask(f.ctx(), &taskpoolv1.ClaimTaskRequest{Filter: filter, Lease: durationpb.New(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	if r := next(&taskpoolv1.TaskFilter{Labels: map[string]string{"k": "other"}}); r.GetTask() != nil || r.GetNothing() == "" || r.GetHoldToken() != "" || r.GetCursor() == "" {
		t.Errorf("got %v", r)
	}
	for _, want := range []string{"urgent", "usual"} {
		if r := next(nil); r.GetTask().GetTitle() != want || r.GetNothing() != "" || r.GetHoldExpiresAt() == nil {
			t.Errorf("got %v, want %s", r, want)
		}
	}
	if r := next(nil); r.GetNothing() != "no task is ready; 0 wait for others, 2 are in progress, 0 are blocked" {
		t.Errorf("got %v", r)
	}
	_, err := f.tasks.ClaimTask(f.ctx(), &taskpoolv1.ClaimTaskRequest{Filter: &taskpoolv1.TaskFilter{ParentId: "T-99"}})
	refused(t, err, codes.NotFound, pool.ReasonTaskNotFound)
}
