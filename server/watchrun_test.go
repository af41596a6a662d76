package server

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

// sink is a stream of a caller whom nothing reaches.
type sink struct {
	grpc.ServerStream
	ctx  context.Context
	send func(m any) error
}

func (s *sink) Context() context.Context { return s.ctx }

func (s *sink) SendMsg(m any) error { return s.send(m) }

// watchInto runs a watch into a stream, and gives its end.
func watchInto(t *testing.T, s *Server, send func(m any) error) error {
	t.Helper()
	service := &taskService{server: s}
	return service.WatchTasks(&taskpoolv1.WatchTasksRequest{}, &grpc.GenericServerStream[taskpoolv1.WatchTasksRequest, taskpoolv1.WatchTasksResponse]{
		ServerStream: &sink{ctx: t.Context(), send: send},
	})
}

// A panic of the goroutine that sends is its handler's: counted, logged by it,
// and nobody else's business.
func TestWatchRun_panic(t *testing.T) {
	s, _, _ := startOdd(t, &odd{}, Config{})
	before := s.metric(t, "taskpool_panics_total")
	err := watchInto(t, s, func(any) error { panic("the secret") })
	var p *panicError
	if !errors.As(err, &p) || p.value != "the secret" || !strings.Contains(string(p.stack), "watchrun_test.go") {
		t.Errorf("the watch ends with %v", err)
	}
	if s.metric(t, "taskpool_panics_total") != before+1 || s.metric(t, "taskpool_watches_ended_total", "INTERNAL") != 1 {
		t.Error("it is not counted")
	}
	if n := s.registry.Watchers(); n != 0 {
		t.Errorf("%d watches are open", n)
	}
}

// A connection that breaks while a message is sent is its caller's leaving, and
// no fault of the server.
func TestWatchRun_connectionBreaks(t *testing.T) {
	s, _, _ := startOdd(t, &odd{}, Config{})
	for _, code := range []codes.Code{codes.Unavailable, codes.Canceled} {
		err := watchInto(t, s, func(any) error { return status.Error(code, "transport is closing") })
		if got := status.Code(failureOf(err)); got != codes.Canceled {
			t.Errorf("%s ends the watch with %s, %v", code, got, err)
		}
	}
	if s.metric(t, "taskpool_watches_ended_total", "CALLER_LEFT") != 2 {
		t.Error("it is not counted as the caller's leaving")
	}
}

// A Send that does not come back holds up the handler for SendTimeout. gRPC ends
// it once the handler has returned; the watch's place is taken until then.
func TestWatchRun_stuck(t *testing.T) {
	s, _, _ := startOdd(t, &odd{}, Config{SendTimeout: 20 * time.Millisecond})
	release := make(chan struct{})
	err := watchInto(t, s, func(any) error { <-release; return context.Canceled })
	var slow *tooSlowError
	if !errors.As(err, &slow) || slow.cursor != "" || slow.within != 20*time.Millisecond {
		t.Errorf("the watch ends with %v", err)
	}
	if n := s.registry.Watchers(); n != 1 {
		t.Errorf("%d watches are open while it is being sent to", n)
	}
	close(release)
	for s.registry.Watchers() > 0 {
		time.Sleep(time.Millisecond)
	}
	if s.metric(t, "taskpool_watches_ended_total", "WATCHER_TOO_SLOW") != 1 || s.metric(t, "taskpool_watches") != 0 {
		t.Error("it is not counted")
	}
}

// The end of watches with the server is no fault either: no line of the log for
// each.
func TestWatchRun_drainIsQuiet(t *testing.T) {
	s, conn, log := startOdd(t, &odd{}, Config{LogSample: 1 << 30})
	stream, err := taskpoolv1.NewTaskServiceClient(conn).WatchTasks(t.Context(), &taskpoolv1.WatchTasksRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		if m, err := stream.Recv(); err != nil || m.GetSnapshotEnd() != nil {
			break
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if text := log.take(); text != "" {
		t.Errorf("logged %q", text)
	}
	if s.metric(t, "taskpool_watches_ended_total", string(pool.ReasonDraining)) != 1 {
		t.Error("it is not counted")
	}
}

// A caller that opens a stream and asks for nothing does not hold up a server
// that stops.
func TestWatchRun_noRequest(t *testing.T) {
	s, _, _ := startOdd(t, &odd{}, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, nil) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/taskpool.v1.TaskService/WatchTasks", grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	for s.metric(t, "taskpool_grpc_streams") == 0 {
		time.Sleep(time.Millisecond)
	}
	begun := time.Now()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it held up the drain for %s", took)
	}
	if err := stream.RecvMsg(&taskpoolv1.WatchTasksResponse{}); status.Code(err) != codes.Unavailable {
		t.Errorf("the stream ended with %v", err)
	}
}
