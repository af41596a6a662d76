package crash_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"google.golang.org/grpc/metadata"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// scribblers are members that do this and that to tasks which they share,
// whatever the pool makes of it.
type scribblers struct {
	tasks taskpoolv1.TaskServiceClient
	// ids are the tasks that they know of.
	mu  sync.Mutex
	ids []string
}

// scribble makes mutations in the name of a member until the server is gone or
// enough says so. It fails for what no caller should ever be told.
func (s *scribblers) scribble(ctx context.Context, actor string, rnd *rand.Rand, enough func() bool) error {
	ctx = metadata.AppendToOutgoingContext(ctx, "taskpool-actor", actor)
	for !enough() {
		err := s.one(ctx, actor, rnd)
		switch {
		case err == nil, client.IsNotFound(err), client.IsRule(err), client.IsHeld(err), client.IsNotPermitted(err):
		case client.IsUnavailable(err):
			return nil
		default:
			return fmt.Errorf("%s: %w", actor, err)
		}
	}
	return nil
}

func (s *scribblers) one(ctx context.Context, actor string, rnd *rand.Rand) error {
	switch n := rnd.IntN(20); {
	case n < 5:
		t := &taskpoolv1.NewTask{Title: "by " + actor, Priority: taskpoolv1.TaskPriority(rnd.IntN(4))}
		if id := s.any(rnd); id != "" && rnd.IntN(2) == 0 {
			t.DependencyIds = []string{id}
		}
		r, err := s.tasks.CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Task: t})
		if err == nil {
			s.add(r.Task.Id)
		}
		return err
	case n < 7 && s.any(rnd) != "":
		_, err := s.tasks.DeleteTask(ctx, &taskpoolv1.DeleteTaskRequest{Id: s.any(rnd)})
		return err
	}
	u := &taskpoolv1.UpdateTaskRequest{Id: s.any(rnd)}
	switch rnd.IntN(5) {
	case 0:
		u.SetLabels = map[string]string{"k": fmt.Sprint(rnd.IntN(2))}
	case 1:
		u.Assignee = new([]string{"agent:a", "agent:b", ""}[rnd.IntN(3)])
	case 2:
		u.HistoryEntry = "noted"
	default:
		u.Reason = "because"
		u.Status = new([]taskpoolv1.TaskStatus{
			taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS, taskpoolv1.TaskStatus_TASK_STATUS_DONE, taskpoolv1.TaskStatus_TASK_STATUS_READY,
			taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED, taskpoolv1.TaskStatus_TASK_STATUS_CANCELLED,
		}[rnd.IntN(5)])
	}
	if u.Id == "" {
		return nil
	}
	_, err := s.tasks.UpdateTask(ctx, u)
	return err
}

func (s *scribblers) add(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, id)
}

// any is one of the newest tasks, so that the members meet; "" before the first.
func (s *scribblers) any(rnd *rand.Rand) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == 0 {
		return ""
	}
	return s.ids[len(s.ids)-1-rnd.IntN(min(20, len(s.ids)))]
}
