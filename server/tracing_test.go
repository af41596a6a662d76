package server_test

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/server"
)

// collector takes what is exported to it, and looks at the bytes alone.
type collector struct {
	mu  sync.Mutex
	got map[string][]byte
}

func (c *collector) handle(_ any, stream grpc.ServerStream) error {
	var b []byte
	if err := stream.RecvMsg(&b); err != nil {
		return err
	}
	method, _ := grpc.MethodFromServerStream(stream)
	c.mu.Lock()
	c.got[method] = append(c.got[method], b...)
	c.mu.Unlock()
	return stream.SendMsg([]byte{})
}

func (c *collector) spans() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.got["/opentelemetry.proto.collector.trace.v1.TraceService/Export"])
}

func TestTracing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &collector{got: map[string][]byte{}}
	s := grpc.NewServer(grpc.UnknownServiceHandler(c.handle), grpc.ForceServerCodecV2(raw{}))
	go func() { _ = s.Serve(l) }()
	defer s.Stop()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	t.Setenv("OTEL_SERVICE_NAME", "pool-of-the-test")
	f := start(t, func(c *server.Config) { c.Tracing = true })
	f.create("traced")
	if _, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{PageSize: -1}); err == nil {
		t.Fatal("a bad request is answered")
	}
	w := f.watch(&taskpoolv1.WatchTasksRequest{Start: now()}).opened()
	f.create("watched")
	w.changes(1)
	w.leave()
	eventually(t, "the watch has ended", func() bool { return f.registry.Watchers() == 0 })
	if err := f.server.Drain(t.Context()); err != nil {
		t.Errorf("drain: %v", err)
	}
	for _, want := range []string{"taskpool.v1.TaskService/CreateTask", "taskpool.v1.TaskService/ReadTask", "taskpool.v1.TaskService/WatchTasks", "pool-of-the-test"} {
		if !bytes.Contains(c.spans(), []byte(want)) {
			t.Errorf("no span mentions %s", want)
		}
	}
	if strings.Contains(f.log.String(), "spans could not be sent") {
		t.Error(f.log.String())
	}
}

// A collector that is not there delays nothing and fails nothing.
func TestTracing_withoutCollector(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	f := start(t, func(c *server.Config) { c.Tracing = true })
	f.create("not traced")
	if err := f.server.Drain(t.Context()); err != nil {
		t.Errorf("drain: %v", err)
	}
}

func TestTracing_otherProtocol(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	f := start(t)
	if _, err := server.New(f.registry, server.Config{Tracing: true}); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_PROTOCOL") {
		t.Errorf("another protocol gives %v", err)
	}
}
