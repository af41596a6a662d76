package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		program.remove()
		os.Exit(code)
	}))
}

// fake is a server that answers as it is told and keeps what it was asked.
type fake struct {
	addr string

	mu      sync.Mutex
	answers map[string]func(proto.Message) (proto.Message, error)
	asked   []proto.Message
	headers []metadata.MD
}

// newFake starts a server that answers by method name.
func newFake(t *testing.T, answers map[string]func(proto.Message) (proto.Message, error)) *fake {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{addr: listener.Addr().String(), answers: answers}
	g := grpc.NewServer(grpc.UnaryInterceptor(f.answer), grpc.MaxRecvMsgSize(16<<20))
	taskpoolv1.RegisterTaskServiceServer(g, taskpoolv1.UnimplementedTaskServiceServer{})
	taskpoolv1.RegisterPoolServiceServer(g, taskpoolv1.UnimplementedPoolServiceServer{})
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-done })
	return f
}

func (f *fake) answer(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	header, _ := metadata.FromIncomingContext(ctx)
	f.asked = append(f.asked, request.(proto.Message))
	f.headers = append(f.headers, header)
	if answer := f.answers[path.Base(info.FullMethod)]; answer != nil {
		return answer(request.(proto.Message))
	}
	return handler(ctx, request)
}

// last is what was asked last.
func last[M proto.Message](t *testing.T, f *fake) M {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.asked) == 0 {
		t.Fatal("nothing was asked")
	}
	m, ok := f.asked[len(f.asked)-1].(M)
	if !ok {
		t.Fatalf("asked %T, want %T", f.asked[len(f.asked)-1], m)
	}
	return m
}

// always answers the same.
func always(answer proto.Message) func(proto.Message) (proto.Message, error) {
	return func(proto.Message) (proto.Message, error) { return answer, nil }
}

// refuses answers with an error as the server makes them.
func refuses(t *testing.T, code codes.Code, reason, message string, metadata map[string]string, more ...protoadapt.MessageV1) func(proto.Message) (proto.Message, error) {
	t.Helper()
	details := append([]protoadapt.MessageV1{&errdetails.ErrorInfo{Domain: "taskpool", Reason: reason, Metadata: metadata}}, more...)
	s, err := status.New(code, message).WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return func(proto.Message) (proto.Message, error) { return nil, s.Err() }
}

// violations are field and description by turns.
func violations(texts ...string) *errdetails.BadRequest {
	b := &errdetails.BadRequest{}
	for i := 0; i < len(texts); i += 2 {
		b.FieldViolations = append(b.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: texts[i], Description: texts[i+1]})
	}
	return b
}

// result is what a run of the program left behind.
type result struct {
	code     int
	out, err string
}

// shell runs the program.
type shell struct {
	env   map[string]string
	stdin string
}

// noon is when the program runs.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func (s shell) run(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	a := &app{
		env: func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		in:  strings.NewReader(s.stdin), out: &out, err: &errs,
		now: func() time.Time { return noon },
	}
	code := a.run(t.Context(), args)
	return result{code, out.String(), errs.String()}
}

// at is a shell whose server is f.
func at(f *fake) shell { return shell{env: map[string]string{"TASKPOOL_ADDR": f.addr}} }

// want compares a run with what it should be.
func (r result) want(t *testing.T, code int, out, err string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	if r.out != out {
		t.Errorf("standard output\n%s\nwant\n%s", r.out, out)
	}
	if r.err != err {
		t.Errorf("standard error\n%s\nwant\n%s", r.err, err)
	}
}
