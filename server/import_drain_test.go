package server_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
)

// An import that has come whole is answered, as any mutation under way is when the
// server drains: its caller must not be told to send again what is stored.
func TestImport_whileDraining(t *testing.T) {
	from := start(t)
	from.tell()
	all := recordsOf(from.export(""))
	s := faulty.Wrap(memory.New())
	f := startOn(t, s).as("human")
	f.create("opens the pool")
	arrived := s.Pause()
	type answer struct {
		resp *taskpoolv1.ImportPoolResponse
		err  error
	}
	answered, drained := make(chan answer, 1), make(chan error, 1)
	go func() {
		resp, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{}, all, 100)
		answered <- answer{resp, err}
	}()
	<-arrived
	go func() { drained <- f.server.Drain(context.Background()) }()
	for { // until no call is taken any more
		if _, err := f.pools.ListPools(f.ctx(), &taskpoolv1.ListPoolsRequest{}); err != nil {
			break
		}
	}
	s.Resume()
	if a := <-answered; a.err != nil || a.resp.GetCreated() == 0 {
		t.Errorf("got %v, error %v", a.resp, a.err)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// One that has not come whole is ended, and nothing of it is taken.
func TestImport_unfinishedWhileDraining(t *testing.T) {
	f := start(t).as("human")
	stream, err := f.pools.ImportPool(f.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&taskpoolv1.ImportPoolRequest{}); err != nil {
		t.Fatal(err)
	}
	if err := f.server.Drain(context.Background()); err != nil {
		t.Error(err)
	}
	_, err = stream.CloseAndRecv()
	if status.Code(err) != codes.Unavailable || errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
