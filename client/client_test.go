package client_test

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/client"
	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers with what its fields say and keeps what it was asked.
type server struct {
	taskpoolv1.UnimplementedTaskServiceServer
	taskpoolv1.UnimplementedPoolServiceServer

	mu       sync.Mutex
	requests []proto.Message
	headers  []metadata.MD
	refuse   []error // one a call, then success
	pages    []*taskpoolv1.ReadTaskResponse
}

func (s *server) take(ctx context.Context, request proto.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	header, _ := metadata.FromIncomingContext(ctx)
	s.requests = append(s.requests, request)
	s.headers = append(s.headers, header)
	if len(s.refuse) == 0 {
		return nil
	}
	err := s.refuse[0]
	s.refuse = s.refuse[1:]
	return err
}

func (s *server) CreateTask(ctx context.Context, r *taskpoolv1.CreateTaskRequest) (*taskpoolv1.CreateTaskResponse, error) {
	if err := s.take(ctx, r); err != nil {
		return nil, err
	}
	return &taskpoolv1.CreateTaskResponse{Task: &taskpoolv1.Task{Title: r.GetTask().GetTitle(), Key: "T-1"}}, nil
}

func (s *server) ReadTask(ctx context.Context, r *taskpoolv1.ReadTaskRequest) (*taskpoolv1.ReadTaskResponse, error) {
	if err := s.take(ctx, r); err != nil {
		return nil, err
	}
	if r.Id != nil {
		return &taskpoolv1.ReadTaskResponse{Task: &taskpoolv1.Task{Id: r.GetId()}}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	page := s.pages[0]
	s.pages = s.pages[1:]
	return page, nil
}

func (s *server) WatchTasks(r *taskpoolv1.WatchTasksRequest, stream grpc.ServerStreamingServer[taskpoolv1.WatchTasksResponse]) error {
	return s.take(stream.Context(), r)
}

func serve(t *testing.T, s *server) (target string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(grpc.MaxRecvMsgSize(client.MaxMessageBytes), grpc.MaxSendMsgSize(client.MaxMessageBytes))
	taskpoolv1.RegisterTaskServiceServer(g, s)
	taskpoolv1.RegisterPoolServiceServer(g, s)
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-done })
	return listener.Addr().String()
}

func dial(t *testing.T, target string, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.Dial(target, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestDefaultsTravelAndTheRequestStaysAsItWas(t *testing.T) {
	s := &server{}
	c := dial(t, serve(t, s), client.WithPool("web"), client.WithActor("agent:bob"), client.WithToken("secret"))
	request := &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "a", Steps: []string{"one"}, Labels: map[string]string{"k": "v"}}}
	before := proto.CloneOf(request)
	for range 2 {
		if _, err := c.Tasks().CreateTask(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	if !proto.Equal(before, request) {
		t.Errorf("the caller's request was changed: %v", request)
	}
	first, second := s.requests[0].(*taskpoolv1.CreateTaskRequest), s.requests[1].(*taskpoolv1.CreateTaskRequest)
	if first.GetPool() != "web" || !proto.Equal(first.GetTask(), before.GetTask()) {
		t.Errorf("arrived: %v", first)
	}
	if len(first.GetRequestId()) != 36 || first.GetRequestId() == second.GetRequestId() {
		t.Errorf("request ids %q and %q, want two different UUIDs", first.GetRequestId(), second.GetRequestId())
	}
	for key, want := range map[string]string{"taskpool-actor": "agent:bob", "authorization": "Bearer secret"} {
		if got := s.headers[0].Get(key); len(got) != 1 || got[0] != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
}

func TestWhatTheCallerSetsStays(t *testing.T) {
	s := &server{}
	c := dial(t, serve(t, s), client.WithPool("web"), client.WithActor("agent:bob"))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "taskpool-actor", "agent:carol")
	if _, err := c.Tasks().CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Pool: "own", RequestId: "mine"}); err != nil {
		t.Fatal(err)
	}
	got := s.requests[0].(*taskpoolv1.CreateTaskRequest)
	if got.GetPool() != "own" || got.GetRequestId() != "mine" {
		t.Errorf("arrived: %v", got)
	}
	if actor := s.headers[0].Get("taskpool-actor"); len(actor) != 1 || actor[0] != "agent:carol" {
		t.Errorf("actor = %q", actor)
	}
}

func TestStreamsGetThePool(t *testing.T) {
	s := &server{}
	c := dial(t, serve(t, s), client.WithPool("web"))
	stream, err := c.Tasks().WatchTasks(t.Context(), &taskpoolv1.WatchTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err == nil {
		t.Fatal("the fake server ends the stream at once")
	}
	if got := s.requests[0].(*taskpoolv1.WatchTasksRequest); got.GetPool() != "web" {
		t.Errorf("arrived: %v", got)
	}
}

func TestAMutationIsRepeatedUnderOneRequestID(t *testing.T) {
	s := &server{refuse: []error{status.Error(codes.Unavailable, "away"), status.Error(codes.Unavailable, "away")}}
	c := dial(t, serve(t, s))
	// Bigger than what gRPC keeps for a repeat unless told.
	task, err := c.Create(t.Context(), &taskpoolv1.NewTask{Title: "a", Body: strings.Repeat("x", 1<<20)})
	if err != nil || task.GetKey() != "T-1" {
		t.Fatalf("task %v, error %v", task, err)
	}
	ids := map[string]bool{}
	for _, r := range s.requests {
		ids[r.(*taskpoolv1.CreateTaskRequest).GetRequestId()] = true
	}
	if len(s.requests) != 3 || len(ids) != 1 {
		t.Errorf("%d calls under %d ids, want 3 under 1", len(s.requests), len(ids))
	}
}

func TestOnlyUnavailableIsRepeated(t *testing.T) {
	for _, code := range []codes.Code{codes.FailedPrecondition, codes.Aborted, codes.ResourceExhausted, codes.Internal, codes.DeadlineExceeded} {
		s := &server{refuse: []error{status.Error(code, "no")}}
		c := dial(t, serve(t, s))
		if _, err := c.Get(t.Context(), "T-1"); status.Code(err) != code {
			t.Errorf("%v: got %v", code, err)
		}
		if len(s.requests) != 1 {
			t.Errorf("%v: %d calls, want 1", code, len(s.requests))
		}
	}
}

func TestListGoesThroughAllPages(t *testing.T) {
	pages := func() []*taskpoolv1.ReadTaskResponse {
		return []*taskpoolv1.ReadTaskResponse{
			{Tasks: []*taskpoolv1.Task{{Key: "T-1"}, {Key: "T-2"}}, NextPageToken: "second"},
			{NextPageToken: "third"},
			{Tasks: []*taskpoolv1.Task{{Key: "T-3"}}},
		}
	}
	s := &server{pages: pages()}
	c := dial(t, serve(t, s))
	var keys []string
	for task, err := range c.List(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, task.GetKey())
	}
	if got := strings.Join(keys, " "); got != "T-1 T-2 T-3" {
		t.Errorf("listed %s", got)
	}
	s.pages, s.refuse = pages(), []error{nil, status.Error(codes.NotFound, "gone")}
	var failed error
	for _, err := range c.List(t.Context(), &taskpoolv1.ReadTaskRequest{PageSize: 2}) {
		failed = err
	}
	if status.Code(failed) != codes.NotFound {
		t.Errorf("the second page's error is lost: %v", failed)
	}
}

func TestAConnectionIsOnlyMadeWhenNeeded(t *testing.T) {
	c := dial(t, "127.0.0.1:1")
	_, err := c.Get(t.Context(), "T-1")
	if !client.IsUnavailable(err) || client.Reason(err) != "" {
		t.Errorf("got %v", err)
	}
}

func TestATokenStaysOnThisMachineUnlessEncrypted(t *testing.T) {
	plain := client.WithTransportCredentials(insecure.NewCredentials())
	for _, c := range []struct {
		target string
		opts   []client.Option
		ok     bool
	}{
		{"127.0.0.1:7420", nil, true},
		{"127.8.9.1:7420", nil, true},
		{"localhost:7420", nil, true},
		{"[::1]:7420", nil, true},
		{"unix:/run/taskpool.sock", nil, true},
		{"dns:///localhost:7420", nil, true},
		{"passthrough:///127.0.0.1:7420", nil, true},
		{"tasks.example.com:443", nil, true}, // TLS
		{"tasks.example.com:7420", []client.Option{plain}, false},
		{"10.0.0.1:7420", []client.Option{plain}, false},
		{"dns://127.0.0.1/tasks.example.com:7420", []client.Option{plain}, false},
	} {
		connection, err := client.Dial(c.target, append(c.opts, client.WithToken("secret"))...)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.target, err)
		}
		if connection != nil {
			_ = connection.Close()
		}
	}
}

// What a program pulls in by importing the client.
func TestImportsStayThin(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"github.com/taskpool-dev/taskpool/client", "github.com/taskpool-dev/taskpool/gen/",
		"google.golang.org/grpc", "google.golang.org/protobuf", "google.golang.org/genproto/googleapis/rpc",
		"github.com/google/uuid", "golang.org/x/net/", "golang.org/x/sys/", "golang.org/x/text/", // gRPC's own
	}
	for path := range strings.FieldsSeq(string(out)) {
		first, _, _ := strings.Cut(path, "/")
		if !strings.Contains(first, ".") || strings.HasPrefix(path, "vendor/") {
			continue // standard library
		}
		known := false
		for _, prefix := range allowed {
			known = known || strings.HasPrefix(path, prefix)
		}
		if !known {
			t.Errorf("the client pulls in %s", path)
		}
	}
}
