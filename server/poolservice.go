package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// poolService has a method per RPC of PoolService.
type poolService struct {
	taskpoolv1.UnsafePoolServiceServer
	server *Server
}

var _ taskpoolv1.PoolServiceServer = (*poolService)(nil)

// CreatePool implements [taskpoolv1.PoolServiceServer].
func (s *poolService) CreatePool(ctx context.Context, req *taskpoolv1.CreatePoolRequest) (*taskpoolv1.CreatePoolResponse, error) {
	var v task.Violations
	r := requestOf(ctx, req, &v)
	rules := taskpb.ReadRules(&v, req.GetEditRule(), req.GetReviewDefault())
	if err := invalid(v); err != nil {
		return nil, err
	}
	made, replayed, err := s.server.registry.CreatePool(ctx, r, pool.Info{
		Name: req.GetName(), Limits: taskpb.LimitOptions(req.GetLimits()), Rules: rules,
	})
	if err != nil {
		return nil, err
	}
	p, release, err := s.server.registry.Acquire(ctx, made.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	m := opened(p)
	return &taskpoolv1.CreatePoolResponse{Pool: m, Cursor: feed.Cursor{Epoch: m.GetEpoch()}.String(), Replayed: replayed}, nil
}

// GetPool implements [taskpoolv1.PoolServiceServer].
func (s *poolService) GetPool(ctx context.Context, req *taskpoolv1.GetPoolRequest) (*taskpoolv1.GetPoolResponse, error) {
	p, release, err := s.server.registry.Acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	return &taskpoolv1.GetPoolResponse{Pool: opened(p)}, nil
}

// ListPools implements [taskpoolv1.PoolServiceServer]. It opens none of them.
func (s *poolService) ListPools(_ context.Context, req *taskpoolv1.ListPoolsRequest) (*taskpoolv1.ListPoolsResponse, error) {
	var v task.Violations
	size := pageSize(&v, "page_size", req.GetPageSize())
	if err := invalid(v); err != nil {
		return nil, err
	}
	token, err := continued("page_token", req.GetPageToken(), queryHash(&taskpoolv1.ListPoolsRequest{}))
	if err != nil {
		return nil, err
	}
	infos, more := s.server.registry.Pools(token.name, size)
	resp := &taskpoolv1.ListPoolsResponse{}
	for _, info := range infos {
		resp.Pools = append(resp.Pools, poolOf(info, s.server.registry.Limits(info)))
	}
	if more && len(infos) > 0 {
		token.name = infos[len(infos)-1].Name
		resp.NextPageToken = token.String()
	}
	return resp, nil
}

// ClearPool implements [taskpoolv1.PoolServiceServer].
func (s *poolService) ClearPool(ctx context.Context, req *taskpoolv1.ClearPoolRequest) (*taskpoolv1.ClearPoolResponse, error) {
	p, release, err := s.server.registry.Acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	r := requestOf(ctx, req, &v)
	if req.GetConfirmName() == "" {
		v.Add("confirm_name", "is empty: repeat the pool's name, %s, to clear it of all its tasks", p.Name())
	}
	if err := invalid(v); err != nil {
		return nil, err
	}
	result, err := p.Clear(ctx, r, req.GetConfirmName())
	if err != nil {
		return nil, err
	}
	return &taskpoolv1.ClearPoolResponse{Pool: opened(p), Cursor: result.Cursor.String(), Replayed: result.Replayed}, nil
}

// opened is a pool with its head and counts, both of one revision.
func opened(p *pool.Pool) *taskpoolv1.Pool {
	m := poolOf(pool.Info{Name: p.Name(), Rules: p.Rules(), CreatedAt: p.CreatedAt()}, p.Limits())
	cursor, counts := p.Stat()
	m.Epoch, m.Cursor, m.Counts = cursor.Epoch, cursor.String(), taskpb.Counts(counts)
	return m
}

// poolOf is a pool as it is listed. Callers say who they are, and are believed.
func poolOf(info pool.Info, limits task.Limits) *taskpoolv1.Pool {
	m := &taskpoolv1.Pool{Name: info.Name, Limits: taskpb.Limits(limits), Identity: taskpoolv1.PoolIdentity_POOL_IDENTITY_DECLARED}
	m.EditRule, m.ReviewDefault = taskpb.Rules(info.Rules)
	if !info.CreatedAt.IsZero() {
		m.CreatedAt = timestamppb.New(info.CreatedAt)
	}
	return m
}
