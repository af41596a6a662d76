package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/server"
)

// serve serves on loopback and returns the addresses and what ends it.
func (f *fixture) serve() (grpcAddr, httpAddr string, stop func() error) {
	f.t.Helper()
	var addrs [2]net.Listener
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			f.t.Fatal(err)
		}
		addrs[i] = l
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.server.Serve(ctx, addrs[0], addrs[1]) }()
	f.t.Cleanup(cancel)
	return addrs[0].Addr().String(), addrs[1].Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

func get(t *testing.T, url string) (int, string, http.Header) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

func TestServe(t *testing.T) {
	f := start(t, func(c *server.Config) { c.Version = "v1<2" })
	grpcAddr, httpAddr, stop := f.serve()
	conn, err := grpc.NewClient(grpcAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := taskpoolv1.NewTaskServiceClient(conn).CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "over TCP"}}); err != nil {
		t.Fatal(err)
	}
	if got := f.list(&taskpoolv1.ReadTaskRequest{}); len(got.GetTasks()) != 1 {
		t.Errorf("in process one sees %v", got)
	}
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/":        {200, "taskpool v1&lt;2"},
		"/healthz": {200, "ok"},
		"/readyz":  {200, "ready"},
		"/metrics": {200, `taskpool_grpc_calls_total{code="OK",method="TaskService/CreateTask"} 1`},
		"/other":   {404, ""},
		// Only where it was asked for: see TestServe_profiles.
		"/debug/pprof/": {404, ""},
	} {
		code, body, header := get(t, "http://"+httpAddr+path)
		if code != want.code || !strings.Contains(body, want.text) || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s gives %d %v %q", path, code, header, body)
		}
	}
	_, metrics, _ := get(t, "http://"+httpAddr+"/metrics")
	for _, want := range []string{
		"taskpool_grpc_call_seconds_bucket{method=\"TaskService/CreateTask\"", "taskpool_store_healthy 1", "taskpool_draining 0", "taskpool_open_pools 1",
		"taskpool_panics_total 0", "taskpool_watches 0", "taskpool_watch_changes_total 0", "taskpool_watch_bytes_total 0", "taskpool_build_info{version=\"v1<2\"} 1", "go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if resp, err := http.Post("http://"+httpAddr+"/metrics", "text/plain", nil); err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a POST gives %v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
	if err := stop(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	if _, err := net.DialTimeout("tcp", grpcAddr, time.Second); err == nil {
		t.Error("the gRPC listener is still open")
	}
	if _, err := net.DialTimeout("tcp", httpAddr, time.Second); err == nil {
		t.Error("the HTTP listener is still open")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.server.Serve(t.Context(), l, nil); err == nil {
		t.Error("a drained server serves again")
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestServe_profiles(t *testing.T) {
	f := start(t, func(c *server.Config) { c.Profiling = true })
	_, httpAddr, stop := f.serve()
	if code, body, _ := get(t, "http://"+httpAddr+"/debug/pprof/"); code != http.StatusOK || !strings.Contains(body, "goroutine") {
		t.Errorf("got %d %s", code, body)
	}
	if code, _, _ := get(t, "http://"+httpAddr+"/debug/pprof/heap"); code != http.StatusOK {
		t.Errorf("the heap gives %d", code)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestServe_listenerFails(t *testing.T) {
	f := start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := f.server.Serve(t.Context(), l, nil); err == nil {
		t.Error("a closed listener is served")
	}
}

func TestHealth(t *testing.T) {
	s := faulty.Wrap(memory.New())
	t.Cleanup(func() { _ = s.Close() })
	f := startOn(t, s)
	_, httpAddr, stop := f.serve()
	health := healthv1.NewHealthClient(f.conn)
	services := []string{"", "taskpool.v1.TaskService", "taskpool.v1.PoolService", "taskpool.v1.GraphService", "taskpool.v1.AuthService"}
	all := func(want healthv1.HealthCheckResponse_ServingStatus) func() bool {
		return func() bool {
			for _, name := range services {
				resp, err := health.Check(f.ctx(), &healthv1.HealthCheckRequest{Service: name})
				if err != nil || resp.GetStatus() != want {
					return false
				}
			}
			return true
		}
	}
	if !all(healthv1.HealthCheckResponse_SERVING)() {
		t.Fatal("not serving at the beginning")
	}
	if _, err := health.Check(f.ctx(), &healthv1.HealthCheckRequest{Service: "other"}); status.Code(err) != codes.NotFound {
		t.Errorf("an unknown service is %v", err)
	}
	f.create("a")
	s.FailAll(faulty.NotApplied)
	_, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "b"}})
	refused(t, err, codes.Unavailable, pool.ReasonStoreUnavailable)
	eventually(t, "health says NOT_SERVING", all(healthv1.HealthCheckResponse_NOT_SERVING))
	if code, body, _ := get(t, "http://"+httpAddr+"/readyz"); code != http.StatusServiceUnavailable || !strings.HasPrefix(body, "not ready: ") || len(body) < 15 {
		t.Errorf("/readyz gives %d %q", code, body)
	}
	if code, _, _ := get(t, "http://"+httpAddr+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz gives %d", code)
	}
	if got := f.list(&taskpoolv1.ReadTaskRequest{}); len(got.GetTasks()) != 1 {
		t.Errorf("reads do not go on: %v", got)
	}
	s.Heal()
	eventually(t, "health says SERVING", all(healthv1.HealthCheckResponse_SERVING))
	f.create("c")

	watch, err := health.Watch(f.ctx(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := watch.Recv(); err != nil || first.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Fatalf("the watch begins with %v, %v", first, err)
	}
	begun := time.Now()
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("a health watch held up the drain for %v", took)
	}
	for {
		resp, err := watch.Recv()
		if err != nil {
			break
		}
		if resp.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
			t.Errorf("while draining the watch says %v", resp)
		}
	}
}

func TestStoreUncertain(t *testing.T) {
	s := faulty.Wrap(memory.New())
	t.Cleanup(func() { _ = s.Close() })
	f := startOn(t, s)
	f.create("a")
	s.Fail(1, faulty.Kept)
	req := &taskpoolv1.CreateTaskRequest{RequestId: "r", Task: &taskpoolv1.NewTask{Title: "b"}}
	_, err := f.tasks.CreateTask(f.ctx(), req)
	r := refused(t, err, codes.Unavailable, pool.ReasonCommitUnknown)
	if !strings.Contains(r.text, "request_id") {
		t.Errorf("the refusal is %q", r.text)
	}
	again, err := f.tasks.CreateTask(f.ctx(), req)
	if err != nil || !again.GetReplayed() || again.GetTask().GetKey() != "T-2" {
		t.Errorf("the repeat gives %v, %v", again, err)
	}
}

// A call that waits for the store is cut off at the drain's deadline, and its
// caller told that it may have happened.
func TestDrain_whileTheStoreHangs(t *testing.T) {
	s := faulty.Wrap(memory.New())
	t.Cleanup(func() { _ = s.Close() })
	f := startOn(t, s, func(c *server.Config) { c.DrainTimeout = 100 * time.Millisecond })
	f.create("a")
	arrived := s.Pause()
	t.Cleanup(s.Resume)
	_, _, stop := f.serve()
	ended := make(chan error, 1)
	go func() {
		_, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "b"}})
		ended <- err
	}()
	<-arrived
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-ended; status.Code(err) != codes.Unavailable {
		t.Errorf("the call ended with %v", err)
	}
}

// While it drains the server says so, and a call under way is answered.
func TestDrain_answersWhatIsUnderWay(t *testing.T) {
	s := faulty.Wrap(memory.New())
	t.Cleanup(func() { _ = s.Close() })
	f := startOn(t, s, func(c *server.Config) { c.DrainTimeout = time.Minute })
	f.create("a")
	arrived := s.Pause()
	_, httpAddr, stop := f.serve()
	ended, stopped := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "b"}})
		ended <- err
	}()
	<-arrived
	go func() { stopped <- stop() }()
	eventually(t, "/readyz says that it drains", func() bool {
		code, body, _ := get(t, "http://"+httpAddr+"/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "shutting down")
	})
	s.Resume()
	if err := <-ended; err != nil {
		t.Errorf("the call ended with %v", err)
	}
	if err := <-stopped; err != nil {
		t.Errorf("stop: %v", err)
	}
}

// The deadline of a call is its caller's own.
func TestDeadline(t *testing.T) {
	s := faulty.Wrap(memory.New())
	t.Cleanup(func() { _ = s.Close() })
	f := startOn(t, s)
	f.create("a")
	arrived := s.Pause()
	defer s.Resume()
	ctx, cancel := context.WithTimeout(f.ctx(), 100*time.Millisecond)
	defer cancel()
	_, err := f.tasks.CreateTask(ctx, &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "b"}})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the call ended with %v", err)
	}
	<-arrived
}

func TestReflection(t *testing.T) {
	f := start(t)
	want := "taskpool.v1.TaskService taskpool.v1.PoolService taskpool.v1.GraphService taskpool.v1.AuthService grpc.health.v1.Health"
	v1, err := reflectionv1.NewServerReflectionClient(f.conn).ServerReflectionInfo(f.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if err := v1.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	resp, err := v1.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range resp.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	for _, name := range strings.Fields(want) {
		if !strings.Contains(fmt.Sprint(names), name) {
			t.Errorf("reflection does not list %s: %v", name, names)
		}
	}
	if err := v1.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "taskpool.v1.Task"}}); err != nil {
		t.Fatal(err)
	}
	if resp, err := v1.Recv(); err != nil || len(resp.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("the file of Task is %v, %v", resp, err)
	}
	// Older tools ask for v1alpha, whose messages are the same.
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	alpha, err := f.conn.NewStream(f.ctx(), desc, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
	if err != nil {
		t.Fatal(err)
	}
	if err := alpha.SendMsg(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	if err := alpha.RecvMsg(&reflectionv1.ServerReflectionResponse{}); err != nil {
		t.Errorf("v1alpha: %v", err)
	}
	// Both streams stay open: they must not hold up the drain.
	begun := time.Now()
	if err := f.server.Drain(t.Context()); err != nil {
		t.Errorf("drain: %v", err)
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("idle reflection streams held up the drain for %v", took)
	}
	for {
		if _, err = v1.Recv(); err != nil {
			break
		}
	}
	if status.Code(err) != codes.Unavailable && !errors.Is(err, io.EOF) {
		t.Errorf("the stream ended with %v", err)
	}
}
