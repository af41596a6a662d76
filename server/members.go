package server

import (
	"context"
	"strings"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// ListMembers implements [taskpoolv1.TaskServiceServer]. With no directory every
// well-formed id is a member; those known are the operator and the caller.
func (s *taskService) ListMembers(ctx context.Context, req *taskpoolv1.ListMembersRequest) (*taskpoolv1.ListMembersResponse, error) {
	if _, err := s.server.registry.Pool(req.GetPool()); err != nil {
		return nil, err
	}
	actor := actorOf(ctx)
	if req.GetName() != "" {
		return resolveMember(req, actor)
	}
	var v task.Violations
	size := pageSize(&v, "page_size", req.GetPageSize())
	if err := invalid(v); err != nil {
		return nil, err
	}
	token, err := continued("page_token", req.GetPageToken(), queryHash(&taskpoolv1.ListMembersRequest{Pool: poolName(req.GetPool())}, actor))
	if err != nil {
		return nil, err
	}
	resp := &taskpoolv1.ListMembersResponse{}
	known := []string{actor, task.Human} // in the order of their ids: agent:, ext:, human
	if actor == task.Human {
		known = known[:1]
	}
	for _, id := range known {
		switch {
		case id <= token.name:
		case len(resp.GetMembers()) == size:
			token.name = resp.GetMembers()[size-1].GetId()
			resp.NextPageToken = token.String()
		default:
			resp.Members = append(resp.Members, memberOf(id))
		}
	}
	return resp, nil
}

// resolveMember tells whom a name means for the actor.
func resolveMember(req *taskpoolv1.ListMembersRequest, actor string) (*taskpoolv1.ListMembersResponse, error) {
	var v task.Violations
	const why = "is of a listing, and name asks for one member: send one of the two"
	if req.GetPageSize() != 0 {
		v.Add("page_size", why)
	}
	if req.GetPageToken() != "" {
		v.Add("page_token", why)
	}
	if err := invalid(v); err != nil {
		return nil, err
	}
	id, err := pool.ResolveMember(req.GetName(), actor)
	if err != nil {
		return nil, err
	}
	return &taskpoolv1.ListMembersResponse{Members: []*taskpoolv1.Member{memberOf(id)}, ResolvedId: id}, nil
}

func memberOf(id string) *taskpoolv1.Member {
	m := &taskpoolv1.Member{Id: id, Name: task.MemberName(id), Kind: taskpoolv1.MemberKind_MEMBER_KIND_HUMAN}
	switch {
	case task.IsAgent(id):
		m.Kind = taskpoolv1.MemberKind_MEMBER_KIND_AGENT
	case strings.HasPrefix(id, task.ExternalPrefix):
		m.Kind = taskpoolv1.MemberKind_MEMBER_KIND_EXTERNAL
	}
	return m
}
