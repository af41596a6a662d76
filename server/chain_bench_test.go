package server

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// BenchmarkChain is what the interceptors add to a call that succeeds.
func BenchmarkChain(b *testing.B) {
	st := memory.New()
	defer func() { _ = st.Close() }()
	registry, err := pool.Open(b.Context(), pool.Config{Store: st, Codec: taskpb.Codec{}})
	if err != nil {
		b.Fatal(err)
	}
	defer registry.Close()
	s, err := New(registry, Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Drain(context.Background()) }()
	info := &grpc.UnaryServerInfo{FullMethod: taskpoolv1.TaskService_CreateTask_FullMethodName}
	req := &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", Steps: []string{"a", "b"}}}
	ctx := metadata.NewIncomingContext(b.Context(), metadata.Pairs(ActorKey, "agent:bob", "user-agent", "x", ":authority", "y"))
	call := func(ctx context.Context, _ any) (any, error) {
		if actorOf(ctx) != "agent:bob" {
			b.Fatal("another actor")
		}
		return req, nil
	}
	for _, interceptor := range slices.Backward(s.unaryChain()) {
		next := call
		call = func(ctx context.Context, req any) (any, error) { return interceptor(ctx, req, info, next) }
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := call(ctx, req); err != nil {
			b.Fatal(err)
		}
	}
}
