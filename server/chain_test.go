package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// logged is a log that several goroutines write and a test reads.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// odd is a service that does what no method of the API should.
type odd struct {
	do func(ctx context.Context) error
}

func (o *odd) desc() *grpc.ServiceDesc {
	unary := func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		req := &emptypb.Empty{}
		if err := dec(req); err != nil {
			return nil, err
		}
		return interceptor(ctx, req, &grpc.UnaryServerInfo{Server: srv, FullMethod: "/taskpool.v1.Odd/Call"}, func(ctx context.Context, _ any) (any, error) {
			return &emptypb.Empty{}, o.do(ctx)
		})
	}
	return &grpc.ServiceDesc{
		ServiceName: "taskpool.v1.Odd", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: unary}},
		Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, ClientStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
			return o.do(stream.Context())
		}}},
	}
}

// startOdd serves the odd service too.
func startOdd(t *testing.T, o *odd, cfg Config) (*Server, *grpc.ClientConn, *logged) {
	t.Helper()
	st := memory.New()
	registry, err := pool.Open(t.Context(), pool.Config{Store: st, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s, err := New(registry, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.grpc.RegisterService(readable(o.desc()), o)
	s.metrics.prepare(s.grpc)
	conn, err := s.Local()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		registry.Close()
		_ = st.Close()
	})
	return s, conn, log
}

func call(ctx context.Context, conn *grpc.ClientConn) error {
	return conn.Invoke(ctx, "/taskpool.v1.Odd/Call", &emptypb.Empty{}, &emptypb.Empty{})
}

func stream(ctx context.Context, conn *grpc.ClientConn) error {
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/taskpool.v1.Odd/Stream")
	if err != nil {
		return err
	}
	return s.RecvMsg(&emptypb.Empty{})
}

// A panic is INTERNAL with a fixed text for its caller, the stack for the log,
// and nothing for the others.
func TestPanic(t *testing.T) {
	o := &odd{}
	s, conn, log := startOdd(t, o, Config{})
	for name, do := range map[string]func(context.Context, *grpc.ClientConn) error{"unary": call, "stream": stream} {
		t.Run(name, func(t *testing.T) {
			o.do = func(context.Context) error { panic("the secret") }
			before := s.metric(t, "taskpool_panics_total")
			st := status.Convert(do(t.Context(), conn))
			if st.Code() != codes.Internal || st.Message() != internalText || strings.Contains(st.String(), "secret") || len(st.Details()) != 1 {
				t.Errorf("the caller gets %v", st)
			}
			if s.metric(t, "taskpool_panics_total") != before+1 {
				t.Error("it is not counted")
			}
			text := log.take()
			for _, want := range []string{"level=ERROR", "the secret", "chain_test.go", "reason=INTERNAL", "/taskpool.v1.Odd/"} {
				if !strings.Contains(text, want) {
					t.Errorf("the log lacks %q: %s", want, text)
				}
			}
			o.do = func(context.Context) error { return nil }
			if err := call(t.Context(), conn); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			log.take()
		})
	}
}

func TestLog(t *testing.T) {
	o := &odd{}
	_, conn, log := startOdd(t, o, Config{SlowCall: 50 * time.Millisecond, LogSample: 3})
	for name, c := range map[string]struct {
		do   func(context.Context) error
		want []string
		not  string
	}{
		"internal": {func(context.Context) error { return errSecret }, []string{"level=ERROR", "secret", "code=Internal"}, ""},
		"store away": {func(context.Context) error {
			return &pool.UnavailableError{Reason: pool.ReasonStoreUnavailable, Cause: errSecret}
		}, []string{"level=WARN", "STORE_UNAVAILABLE", "cause=\"disk /secret/path is full\""}, ""},
		"slow": {func(context.Context) error { time.Sleep(60 * time.Millisecond); return nil }, []string{"level=WARN", "slow call"}, ""},
		"slow refuse": {func(context.Context) error {
			time.Sleep(60 * time.Millisecond)
			return &pool.ReusedError{RequestID: "x"}
		}, []string{"slow call", "REQUEST_ID_REUSED"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o.do = c.do
			_ = call(t.Context(), conn)
			text := log.take()
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the log lacks %q: %q", want, text)
				}
			}
		})
	}
	o.do = func(context.Context) error { return nil }
	for range 9 {
		if err := call(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
	}
	if text := log.take(); strings.Count(text, "level=DEBUG") != 3 {
		t.Errorf("of nine calls, these are logged: %q", text)
	}
}

// What is not at the level of the log costs nothing but a look at the level.
func TestLog_sparesQuietLogs(t *testing.T) {
	o := &odd{do: func(context.Context) error { return nil }}
	log := &logged{}
	_, conn, _ := startOdd(t, o, Config{LogSample: 1, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err := call(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	o.do = func(context.Context) error { return &pool.ReusedError{RequestID: "x"} }
	_ = call(t.Context(), conn)
	if text := log.take(); text != "" {
		t.Errorf("logged %q", text)
	}
}

// metric is the value of a counter or gauge with those labels' values, in the
// order of the labels' names.
func (s *Server) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := s.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			var values []string
			for _, pair := range m.GetLabel() {
				values = append(values, pair.GetValue())
			}
			if slices.Equal(values, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

func TestMetrics(t *testing.T) {
	o := &odd{do: func(context.Context) error { return nil }}
	s, conn, _ := startOdd(t, o, Config{})
	for range 3 {
		_ = call(t.Context(), conn)
	}
	o.do = func(context.Context) error { return &pool.ReusedError{RequestID: "x"} }
	_ = call(t.Context(), conn)
	_ = stream(t.Context(), conn)
	for label, want := range map[[2]string]float64{{"Odd/Call", "OK"}: 3, {"Odd/Call", "AlreadyExists"}: 1, {"Odd/Stream", "AlreadyExists"}: 1} {
		if got := s.metric(t, "taskpool_grpc_calls_total", label[1], label[0]); got != want {
			t.Errorf("%v counts %v, want %v", label, got, want)
		}
	}
	if got := s.metric(t, "taskpool_grpc_streams"); got != 0 {
		t.Errorf("%v streams are open", got)
	}
}

// Draining ends streams at once, waits for calls, and after its deadline cuts
// them off.
func TestDrain(t *testing.T) {
	t.Run("ends streams", func(t *testing.T) {
		entered := make(chan struct{})
		o := &odd{do: func(ctx context.Context) error { close(entered); <-ctx.Done(); return ctx.Err() }}
		s, conn, _ := startOdd(t, o, Config{})
		ended := make(chan error, 1)
		go func() { ended <- stream(t.Context(), conn) }()
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		if err := <-ended; status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "shutting down") {
			t.Errorf("the stream ended with %v", err)
		}
	})
	t.Run("waits for calls", func(t *testing.T) {
		entered, finish := make(chan struct{}), make(chan struct{})
		o := &odd{do: func(context.Context) error { close(entered); <-finish; return nil }}
		s, conn, _ := startOdd(t, o, Config{})
		ended, drained := make(chan error, 1), make(chan error, 1)
		go func() { ended <- call(t.Context(), conn) }()
		<-entered
		go func() { drained <- s.Drain(t.Context()) }()
		<-s.draining.Done()
		if _, err := s.Local(); !isDrainingError(err) {
			t.Errorf("a draining server gives a connection, %v", err)
		}
		close(finish)
		if err := <-ended; err != nil {
			t.Errorf("the call ended with %v", err)
		}
		if err := <-drained; err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	t.Run("cuts off", func(t *testing.T) {
		entered := make(chan struct{})
		o := &odd{do: func(ctx context.Context) error { close(entered); <-ctx.Done(); return ctx.Err() }}
		s, conn, _ := startOdd(t, o, Config{})
		ended := make(chan error, 1)
		go func() { ended <- call(t.Context(), conn) }()
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := s.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		if err := <-ended; status.Code(err) != codes.Unavailable {
			t.Errorf("the call ended with %v", err)
		}
	})
}

func isDrainingError(err error) bool {
	e, ok := errors.AsType[*pool.UnavailableError](err)
	return ok && e.Reason == pool.ReasonDraining
}
