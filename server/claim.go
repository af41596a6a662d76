package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// ClaimTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) ClaimTask(ctx context.Context, req *taskpoolv1.ClaimTaskRequest) (*taskpoolv1.ClaimTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	r := requestOf(ctx, req, &v)
	c := pool.Claim{ID: req.GetId(), Lease: leaseOf(&v, req.GetLease()), RunID: req.GetRunId()}
	if req.GetForReview() {
		return nil, &pool.LaterError{Feature: "review", Field: "for_review"}
	}
	if c.ID == "" {
		return s.claimNext(ctx, p, r, req, pool.Next{Lease: c.Lease, RunID: c.RunID}, v)
	}
	if req.GetFilter() != nil {
		v.Add("filter", "selects among many, and id names one: send one of the two")
	}
	if req.GetWait() != nil {
		v.Add("wait", "is for whichever task comes next, and id names one: send one of the two")
	}
	if err := invalid(v); err != nil {
		return nil, err
	}
	result, err := p.Claim(ctx, r, c)
	if err != nil {
		return nil, err
	}
	return claimed(result), nil
}

// claimNext answers a claim that names no task. v is what is wrong with the request
// already.
func (s *taskService) claimNext(ctx context.Context, p *pool.Pool, r pool.Request, req *taskpoolv1.ClaimTaskRequest, next pool.Next, v task.Violations) (*taskpoolv1.ClaimTaskResponse, error) {
	filter, wrong, err := filterOf(req.GetFilter())
	if err != nil {
		return nil, err
	}
	if err := invalid(append(v, wrong...)); err != nil {
		return nil, err
	}
	next.Filter = filter
	claim := func() (pool.Result, string, error) { return p.ClaimNext(ctx, r, next) }
	if wait := waitOf(req.GetWait()); wait != 0 {
		claim = func() (pool.Result, string, error) { return s.server.claimWait(ctx, p, r, next, wait) }
	}
	result, why, err := claim()
	if err != nil {
		return nil, err
	}
	if why != "" {
		return &taskpoolv1.ClaimTaskResponse{Nothing: why, Cursor: result.Cursor.String()}, nil
	}
	return claimed(result), nil
}

// waitOf reads how long a claim is to wait; below 0 where it is no duration.
func waitOf(d *durationpb.Duration) time.Duration {
	if d != nil && d.CheckValid() != nil {
		return -1
	}
	return d.AsDuration()
}

// claimWait waits for a task, but not for longer than the server takes calls.
func (s *Server) claimWait(ctx context.Context, p *pool.Pool, r pool.Request, next pool.Next, wait time.Duration) (pool.Result, string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)() //nolint:contextcheck // the wait ends with either
	result, why, err := p.ClaimWait(ctx, r, next, wait)
	if errors.Is(err, context.Canceled) && s.isDraining() {
		err = &pool.UnavailableError{Reason: pool.ReasonDraining, Cause: err}
	}
	return result, why, err
}

// claimed is the answer with a task.
func claimed(r pool.Result) *taskpoolv1.ClaimTaskResponse {
	resp := &taskpoolv1.ClaimTaskResponse{
		HoldToken: r.Token, HoldExpiresAt: moment(r.ExpiresAt), Cursor: r.Cursor.String(), Replayed: r.Replayed,
	}
	taskpb.SetHeld(resp, r.Tasks[0].Task, r.ExpiresAt)
	return resp
}

// RenewHold implements [taskpoolv1.TaskServiceServer].
func (s *taskService) RenewHold(ctx context.Context, req *taskpoolv1.RenewHoldRequest) (*taskpoolv1.RenewHoldResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	r := requestOf(ctx, req, &v)
	needID(&v, req.GetId())
	lease := leaseOf(&v, req.GetLease())
	if err := invalid(v); err != nil {
		return nil, err
	}
	result, err := p.Renew(ctx, r, req.GetId(), req.GetHoldToken(), lease)
	if err != nil {
		return nil, err
	}
	resp := &taskpoolv1.RenewHoldResponse{
		HoldExpiresAt: moment(result.ExpiresAt), Cursor: result.Cursor.String(), Replayed: result.Replayed,
	}
	taskpb.SetHeld(resp, result.Tasks[0].Task, result.ExpiresAt)
	return resp, nil
}

// ReleaseTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) ReleaseTask(ctx context.Context, req *taskpoolv1.ReleaseTaskRequest) (*taskpoolv1.ReleaseTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	r := requestOf(ctx, req, &v)
	if needID(&v, req.GetId()); len(v) > 0 {
		return nil, invalid(v)
	}
	result, err := p.Release(ctx, r, req.GetId(), req.GetHoldToken(), req.GetReason())
	if err != nil {
		return nil, err
	}
	return answered(&taskpoolv1.ReleaseTaskResponse{Cursor: result.Cursor.String(), Replayed: result.Replayed}, result), nil
}

// CommentTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) CommentTask(ctx context.Context, req *taskpoolv1.CommentTaskRequest) (*taskpoolv1.CommentTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	r := requestOf(ctx, req, &v)
	if needID(&v, req.GetId()); len(v) > 0 {
		return nil, invalid(v)
	}
	event, result, err := p.Comment(ctx, r, req.GetId(), req.GetHoldToken(), req.GetBody())
	if err != nil {
		return nil, err
	}
	return &taskpoolv1.CommentTaskResponse{Event: taskpb.Event(event), Cursor: result.Cursor.String(), Replayed: result.Replayed}, nil
}

// leaseOf reads a lease; absent is 0, and what is there is one.
func leaseOf(v *task.Violations, d *durationpb.Duration) time.Duration {
	if d == nil {
		return 0
	}
	lease := time.Duration(-1) // what a lease can't be, where it is no duration at all
	if d.CheckValid() == nil {
		lease = d.AsDuration()
	}
	*v = append(*v, task.CheckLease(lease)...)
	return lease
}

// moment is an instant as responses have it; absent for zero.
func moment(at time.Time) *timestamppb.Timestamp {
	if at.IsZero() {
		return nil
	}
	return timestamppb.New(at)
}
