package server_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestImport_mergesAndTellsOfEach(t *testing.T) {
	from := start(t)
	from.tell()
	f := start(t).as("agent:b")
	f.create("there before")
	all := recordsOf(from.export(""))
	got, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{}, all, 2)
	if err != nil || got.GetCreated() != 3 || got.GetUnchanged() != 0 || got.GetRefusedCount() != 0 || got.GetReplayed() {
		t.Fatalf("got %v, %v", got, err)
	}
	before := recordsOf(f.export(""))
	again, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{Mode: merging}, all, 100)
	if err != nil || again.GetCreated() != 0 || again.GetUnchanged() != 3 || again.GetCursor() != got.GetCursor() {
		t.Fatalf("again: %v, %v", again, err)
	}
	sameMessages(t, recordsOf(f.export("")), before)

	from.set("T-1", done)
	all = recordsOf(from.export(""))
	all[len(all)-1] = proto.CloneOf(all[len(all)-1])
	got, err = f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{}, all, 3)
	if err != nil || got.GetUnchanged() != 2 || got.GetRefusedCount() != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if r := got.GetRefused()[0]; r.GetReason() != "TASK_DIFFERS" || r.GetId() != from.read("T-1").GetId() || r.GetIndex() != 1 || !strings.Contains(r.GetMessage(), "status") {
		t.Errorf("got %v", r)
	}
}

func TestImport_isAnsweredAgain(t *testing.T) {
	from := start(t)
	from.tell()
	all := recordsOf(from.export(""))
	for _, mode := range []taskpoolv1.ImportMode{merging, restoring} {
		f := start(t).as(task.Human)
		first := &taskpoolv1.ImportPoolRequest{Mode: mode, RequestId: "once"}
		want, err := f.take(f.ctx(), first, all, 2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.take(f.ctx(), first, all, 5)
		want.Replayed = true
		if err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", mode, got, err, want)
		}
		_, err = f.take(f.ctx(), first, all[:len(all)-1], 5)
		if mode == restoring { // that it was cut is found first
			refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField)
			continue
		}
		_, err = f.take(f.ctx(), first, all[1:], 5)
		refused(t, err, codes.AlreadyExists, pool.ReasonRequestIDReused)
	}
}

func TestImport_refusals(t *testing.T) {
	from := start(t)
	from.tell()
	all := recordsOf(from.export(""))
	f := start(t)
	human := f.as(task.Human)
	_, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{Mode: restoring}, all, 1)
	refused(t, err, codes.PermissionDenied, pool.ReasonNotPermitted)
	_, err = f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{Mode: 9}, all, 1)
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "mode")
	_, err = f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{RequestId: strings.Repeat("x", 200)}, all, 1)
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "request_id")
	_, err = f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{Pool: "nowhere"}, all, 1)
	refused(t, err, codes.NotFound, pool.ReasonPoolNotFound)

	bad := make([]*taskpoolv1.PoolRecord, len(all))
	for i, r := range all {
		bad[i] = proto.CloneOf(r)
		if m := bad[i].GetTask(); m != nil {
			m.CreatedAt = &timestamppb.Timestamp{Nanos: -1}
		}
	}
	_, err = human.take(human.ctx(), &taskpoolv1.ImportPoolRequest{Mode: restoring}, bad, 2)
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "records[1].task.created_at", "records[5].task.created_at", "records[8].task.created_at")
	bad[5].GetTask().Contract = &taskpoolv1.Contract{}
	_, err = human.take(human.ctx(), &taskpoolv1.ImportPoolRequest{Mode: restoring}, bad, 2)
	if r := refused(t, err, codes.Unimplemented, pool.ReasonNotAvailableYet); r.info.GetMetadata()["field"] != "records[5].task.contract" {
		t.Errorf("got %v", r.info)
	}
	got, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{}, bad, 2)
	if err != nil || got.GetRefusedCount() != 3 || got.GetRefused()[1].GetReason() != "NOT_AVAILABLE_YET" || got.GetRefused()[0].GetReason() != "INVALID_FIELD" {
		t.Errorf("got %v, %v", got, err)
	}

	// What can't be read names the record by its place in the stream.
	unknown := proto.CloneOf(all[4])
	unknown.GetEvent().ProtoReflect().SetUnknown([]byte{0xf8, 0x3f, 1})
	bad = append(slices.Clone(all[:4]), unknown)
	_, err = f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{}, bad, 3)
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "records[4].event")

	f.create("there")
	_, err = human.take(human.ctx(), &taskpoolv1.ImportPoolRequest{Mode: restoring}, all, 2)
	refused(t, err, codes.FailedPrecondition, pool.ReasonPoolNotEmpty)
	if n := len(recordsOf(f.export(""))); n != 3 {
		t.Errorf("the pool has %d records", n)
	}
}

func TestImport_laterMessages(t *testing.T) {
	from := start(t)
	from.tell()
	all := recordsOf(from.export(""))
	f := start(t)
	first := &taskpoolv1.ImportPoolRequest{RequestId: "r"}
	for name, c := range map[string]struct {
		second *taskpoolv1.ImportPoolRequest
		field  string
	}{
		"pool":        {&taskpoolv1.ImportPoolRequest{Pool: "web"}, "pool"},
		"request_id":  {&taskpoolv1.ImportPoolRequest{RequestId: "s"}, "request_id"},
		"mode":        {&taskpoolv1.ImportPoolRequest{Mode: restoring}, "mode"},
		"the same":    {&taskpoolv1.ImportPoolRequest{Pool: "default", RequestId: "r", Mode: merging}, ""},
		"empty":       {&taskpoolv1.ImportPoolRequest{}, ""},
		"and nothing": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stream, err := f.pools.ImportPool(f.ctx())
			if err != nil {
				t.Fatal(err)
			}
			m := proto.CloneOf(first)
			m.Records = all
			if err := stream.Send(m); err != nil {
				t.Fatal(err)
			}
			if c.second != nil {
				_ = stream.Send(c.second)
			}
			_, err = stream.CloseAndRecv()
			if c.field == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, c.field)
		})
	}
	stream, err := f.pools.ImportPool(f.ctx())
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.CloseAndRecv()
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField)
	// Nothing at all is nothing to do.
	got, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{}, nil, 1)
	if err != nil || got.GetCreated()+got.GetUnchanged()+got.GetRefusedCount() != 0 || got.GetCursor() == "" {
		t.Errorf("got %v, %v", got, err)
	}
}

// A stream that is cut has changed nothing, wherever that is.
func TestImport_cut(t *testing.T) {
	from := start(t)
	from.tell()
	all := recordsOf(from.export(""))
	f := start(t).as(task.Human)
	before := f.export("")
	for sent := range len(all) + 1 {
		ctx, cancel := context.WithCancel(f.ctx())
		stream, err := f.pools.ImportPool(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range all[:sent] {
			m := &taskpoolv1.ImportPoolRequest{Records: []*taskpoolv1.PoolRecord{r}}
			if i == 0 {
				m.Mode = restoring
			}
			if err := stream.Send(m); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := stream.RecvMsg(&taskpoolv1.ImportPoolResponse{}); err == nil {
			t.Fatal("it was answered")
		}
	}
	sameMessages(t, recordsOf(f.export("")), recordsOf(before))
	if got, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{Mode: restoring}, all, 4); err != nil || got.GetCreated() != 3 {
		t.Errorf("then: %v, %v", got, err)
	}
}
