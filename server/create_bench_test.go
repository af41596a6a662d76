package server

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// discarding keeps nothing of what is appended.
type discarding struct{ store.Store }

func (discarding) Append(context.Context, []store.Batch) error { return nil }

// BenchmarkCreateTask is a create of some 1 KB from the bytes of its request to
// those of its answer: everything but gRPC's transport and the disk.
func BenchmarkCreateTask(b *testing.B) {
	st := memory.New()
	defer func() { _ = st.Close() }()
	registry, err := pool.Open(b.Context(), pool.Config{Store: discarding{st}, Codec: taskpb.Codec{}})
	if err != nil {
		b.Fatal(err)
	}
	defer registry.Close()
	s, err := New(registry, Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Drain(context.Background()) }()
	bytes, err := proto.Marshal(benchRequest())
	if err != nil {
		b.Fatal(err)
	}
	service, c := &taskService{server: s}, codec()
	ctx := metadata.NewIncomingContext(b.Context(), metadata.Pairs(ActorKey, "agent:bob", "user-agent", "x", ":authority", "y"))
	info := &grpc.UnaryServerInfo{FullMethod: taskpoolv1.TaskService_CreateTask_FullMethodName}
	call := func() error {
		var in taskpoolv1.CreateTaskRequest
		if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(bytes)}, &incoming{message: &in}); err != nil {
			return err
		}
		out, err := identifyUnary(ctx, &in, info, func(ctx context.Context, _ any) (any, error) { return service.CreateTask(ctx, &in) })
		if err != nil {
			return err
		}
		data, err := c.Marshal(out)
		data.Free()
		return err
	}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := call(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func benchRequest() *taskpoolv1.CreateTaskRequest {
	return &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{
		Title:              "Make the thing number 7 work as it should",
		Description:        "It does not do what it says, which was reported twice by people who need it to.",
		Body:               strings.Repeat("What is known of it by now, at some length. ", 9),
		AcceptanceCriteria: []string{"it does what it says", "there is a test for it that fails without it"},
		Steps:              []string{"find out why it does not work", "write the test", "mend it", "look for others of its kind"},
		Priority:           taskpoolv1.TaskPriority_TASK_PRIORITY_MEDIUM, Type: taskpoolv1.TaskType_TASK_TYPE_BUG,
		Labels: map[string]string{"area": "things", "team": "core"},
	}}
}
