package server_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestCreatePool(t *testing.T) {
	f := start(t)
	req := &taskpoolv1.CreatePoolRequest{
		Name: "den", RequestId: "r", EditRule: taskpoolv1.EditRule_EDIT_RULE_FILER, Limits: &taskpoolv1.PoolLimits{TitleLength: proto.Int64(200), Children: proto.Int64(-3)},
	}
	first, err := f.pools.CreatePool(f.ctx(), req)
	if err != nil {
		t.Fatal(err)
	}
	p := first.GetPool()
	if p.GetName() != "den" || p.GetEditRule() != taskpoolv1.EditRule_EDIT_RULE_FILER || p.GetReviewDefault() != taskpoolv1.ReviewDefault_REVIEW_DEFAULT_NONE ||
		p.GetIdentity() != taskpoolv1.PoolIdentity_POOL_IDENTITY_DECLARED || p.GetCreatedAt() == nil || p.GetEpoch() == "" || p.GetCounts().GetTotal() != 0 {
		t.Errorf("created %v", p)
	}
	if l := p.GetLimits(); l.GetTitleLength() != 200 || l.GetChildren() != 1 || l.GetBodyLength() != 20_000 {
		t.Errorf("its limits are %v", l)
	}
	if c, err := feed.Parse(first.GetCursor()); err != nil || c.Epoch != p.GetEpoch() || c.Revision != 0 {
		t.Errorf("its cursor is %+v, %v", c, err)
	}
	again, err := f.pools.CreatePool(f.ctx(), req)
	if err != nil || !again.GetReplayed() || again.GetCursor() != first.GetCursor() || again.GetPool().GetName() != "den" {
		t.Errorf("the repeat gives %v, %v", again, err)
	}
	_, err = f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: "other", RequestId: "r"})
	refused(t, err, codes.AlreadyExists, pool.ReasonRequestIDReused)
	_, err = f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: "den"})
	refused(t, err, codes.AlreadyExists, pool.ReasonPoolExists)
	_, err = f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: "Den"})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "name")
	_, err = f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: "x", EditRule: 9, ReviewDefault: -1})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "edit_rule", "review_default")
	_, err = f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: "x", ReviewDefault: taskpoolv1.ReviewDefault_REVIEW_DEFAULT_FILER})
	refused(t, err, codes.Unimplemented, pool.ReasonNotAvailableYet)
}

func TestGetPool(t *testing.T) {
	f := start(t)
	f.create("a")
	f.create("b", "T-1")
	last := f.set("T-1", inProgress)
	resp, err := f.pools.GetPool(f.ctx(), &taskpoolv1.GetPoolRequest{})
	if err != nil {
		t.Fatal(err)
	}
	p := resp.GetPool()
	if p.GetName() != "default" || p.GetCursor() != last.GetCursor() || p.GetCreatedAt() != nil ||
		!proto.Equal(p.GetCounts(), &taskpoolv1.PoolCounts{Total: 2, Pending: 1, InProgress: 1}) {
		t.Errorf("the pool is %v", p)
	}
	_, err = f.pools.GetPool(f.ctx(), &taskpoolv1.GetPoolRequest{Pool: "nowhere"})
	if r := refused(t, err, codes.NotFound, pool.ReasonPoolNotFound); r.info.GetMetadata()["name"] != "nowhere" {
		t.Errorf("metadata is %v", r.info.GetMetadata())
	}
}

func TestListPools(t *testing.T) {
	f := start(t)
	for i := range 4 {
		if _, err := f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: fmt.Sprintf("p%d", i), Limits: &taskpoolv1.PoolLimits{Depth: proto.Int64(7)}}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	req := &taskpoolv1.ListPoolsRequest{PageSize: 2}
	for {
		resp, err := f.pools.ListPools(f.ctx(), req)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range resp.GetPools() {
			names = append(names, p.GetName())
			if want := map[bool]int64{true: 3, false: 7}[p.GetName() == "default"]; p.GetLimits().GetDepth() != want || p.GetCounts() != nil || p.GetCursor() != "" {
				t.Errorf("listed %v", p)
			}
		}
		if req.PageToken = resp.GetNextPageToken(); req.GetPageToken() == "" {
			break
		}
	}
	if got := fmt.Sprint(names); got != "[default p0 p1 p2 p3]" {
		t.Errorf("listed %s", got)
	}
	_, err := f.pools.ListPools(f.ctx(), &taskpoolv1.ListPoolsRequest{PageSize: -1})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "page_size")
	_, err = f.pools.ListPools(f.ctx(), &taskpoolv1.ListPoolsRequest{PageToken: "x"})
	refused(t, err, codes.InvalidArgument, pool.ReasonPageTokenMismatch).at(t, "page_token")
}

func TestClearPool(t *testing.T) {
	f := start(t)
	before := f.create("a")
	old := f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
	_, err := f.pools.ClearPool(f.ctx(), &taskpoolv1.ClearPoolRequest{ConfirmName: "default"})
	refused(t, err, codes.PermissionDenied, pool.ReasonNotPermitted)
	f = f.as(task.Human)
	_, err = f.pools.ClearPool(f.ctx(), &taskpoolv1.ClearPoolRequest{})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "confirm_name")
	_, err = f.pools.ClearPool(f.ctx(), &taskpoolv1.ClearPoolRequest{ConfirmName: "dflt"})
	refused(t, err, codes.FailedPrecondition, pool.ReasonConfirmation)
	req := &taskpoolv1.ClearPoolRequest{ConfirmName: "default", RequestId: "c"}
	first, err := f.pools.ClearPool(f.ctx(), req)
	if err != nil || first.GetPool().GetCounts().GetTotal() != 0 || first.GetCursor() == "" {
		t.Fatalf("clear gives %v, %v", first, err)
	}
	again, err := f.pools.ClearPool(f.ctx(), req)
	if err != nil || !again.GetReplayed() || again.GetCursor() != first.GetCursor() {
		t.Errorf("the repeat gives %v, %v", again, err)
	}
	_, err = f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Id: &before.Id})
	refused(t, err, codes.NotFound, pool.ReasonTaskNotFound)
	_, err = f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{AtLeastCursor: old})
	refused(t, err, codes.OutOfRange, pool.ReasonCursorExpired)
	if next := f.create("b"); next.GetKey() != "T-2" {
		t.Errorf("the next key is %s", next.GetKey())
	}
}
