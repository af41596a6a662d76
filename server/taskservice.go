package server

import (
	"context"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// taskService has a method per RPC of TaskService, in files by what they do. The
// embedded interface makes the build fail where one is missing.
type taskService struct {
	taskpoolv1.UnsafeTaskServiceServer
	server *Server
}

var _ taskpoolv1.TaskServiceServer = (*taskService)(nil)

func (s *taskService) acquire(ctx context.Context, name string) (*pool.Pool, func(), error) {
	return s.server.registry.Acquire(ctx, name)
}

// fullView is the view that mutations are answered in.
const fullView = taskpoolv1.TaskView_TASK_VIEW_FULL

// answered gives a response the one task that a mutation was about.
func answered[M proto.Message](m M, r pool.Result) M {
	if len(r.Tasks) > 0 {
		taskpb.SetTask(m, r.Tasks[0].Task)
	}
	return m
}

// UpdateTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) UpdateTask(ctx context.Context, req *taskpoolv1.UpdateTaskRequest) (*taskpoolv1.UpdateTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	needID(&v, req.GetId())
	r := requestOf(ctx, req, &v)
	checkVersion(&v, req.GetExpectedVersion())
	patch, unread, err := taskpb.Patch(req)
	if err != nil {
		return nil, err
	}
	if v = append(v, unread...); len(v) > 0 {
		_, more := patch.Check(p.Limits())
		return nil, invalid(append(v, more...))
	}
	result, err := p.Update(ctx, r, pool.Update{
		ID: req.GetId(), ExpectedVersion: req.GetExpectedVersion(), HoldToken: req.GetHoldToken(), Patch: patch,
	})
	if err != nil {
		return nil, err
	}
	resp := &taskpoolv1.UpdateTaskResponse{HoldToken: result.Token, Cursor: result.Cursor.String(), Replayed: result.Replayed}
	return answered(resp, result), nil
}

// DeleteTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) DeleteTask(ctx context.Context, req *taskpoolv1.DeleteTaskRequest) (*taskpoolv1.DeleteTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	needID(&v, req.GetId())
	r := requestOf(ctx, req, &v)
	checkVersion(&v, req.GetExpectedVersion())
	if err := invalid(v); err != nil {
		return nil, err
	}
	result, err := p.Delete(ctx, r, req.GetId(), req.GetExpectedVersion())
	if err != nil {
		return nil, err
	}
	return &taskpoolv1.DeleteTaskResponse{Cursor: result.Cursor.String(), Replayed: result.Replayed}, nil
}

func checkVersion(v *task.Violations, version int64) {
	if version < 0 {
		v.Add("expected_version", "is negative: send Task.version, or 0 for any")
	}
}

// ExplainTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) ExplainTask(ctx context.Context, req *taskpoolv1.ExplainTaskRequest) (*taskpoolv1.ExplainTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	if needID(&v, req.GetId()); len(v) > 0 {
		return nil, invalid(v)
	}
	t, checks, err := p.Explain(actorOf(ctx), req.GetId())
	if err != nil {
		return nil, err
	}
	resp := &taskpoolv1.ExplainTaskResponse{TaskId: t.ID, Claimable: true}
	for _, c := range checks {
		resp.Claimable = resp.Claimable && c.Holds
		resp.Checks = append(resp.Checks, &taskpoolv1.ExplainCheck{
			Name: c.Name, Holds: c.Holds, Detail: c.Detail, RelatedIds: c.Related, MemberIds: c.Members,
		})
	}
	return resp, nil
}
