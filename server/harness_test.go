package server_test

import (
	"bytes"
	"context"
	"log/slog"
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

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
	"github.com/taskpool-dev/taskpool/server"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server over a store, and a caller.
type fixture struct {
	t        testing.TB
	server   *server.Server
	registry *pool.Registry
	conn     *grpc.ClientConn
	tasks    taskpoolv1.TaskServiceClient
	pools    taskpoolv1.PoolServiceClient
	log      *lines
	actor    string
}

// lines is a log that a test reads.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start serves an empty memory store within the process, until the test ends.
func start(t testing.TB, configure ...func(*server.Config)) *fixture {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	return startOn(t, s, configure...)
}

func startOn(t testing.TB, s store.Store, configure ...func(*server.Config)) *fixture {
	t.Helper()
	return startConfig(t, pool.Config{Store: s}, configure...)
}

func startConfig(t testing.TB, pools pool.Config, configure ...func(*server.Config)) *fixture {
	t.Helper()
	pools.Codec = taskpb.Codec{}
	registry, err := pool.Open(t.Context(), pools)
	if err != nil {
		t.Fatalf("open the registry: %v", err)
	}
	t.Cleanup(registry.Close)
	log := &lines{}
	cfg := server.Config{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), DrainTimeout: 5 * time.Second}
	for _, set := range configure {
		set(&cfg)
	}
	srv, err := server.New(registry, cfg)
	if err != nil {
		t.Fatalf("new server: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cfg.DrainTimeout)
		defer cancel()
		if err := srv.Drain(ctx); err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	conn, err := srv.Local()
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &fixture{
		t: t, server: srv, registry: registry, conn: conn, log: log, actor: "agent:a",
		tasks: taskpoolv1.NewTaskServiceClient(conn), pools: taskpoolv1.NewPoolServiceClient(conn),
	}
}

// as is the same server, called by another member.
func (f *fixture) as(actor string) *fixture {
	other := *f
	other.actor = actor
	return &other
}

// in is the same server, called by another test.
func (f *fixture) in(t testing.TB) *fixture {
	other := *f
	other.t = t
	return &other
}

// ctx is the context of a call by the fixture's member.
func (f *fixture) ctx() context.Context {
	return metadata.AppendToOutgoingContext(f.t.Context(), server.ActorKey, f.actor)
}

// create makes a task with that title.
func (f *fixture) create(title string, dependencies ...string) *taskpoolv1.Task {
	f.t.Helper()
	resp, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: title, DependencyIds: dependencies}})
	if err != nil {
		f.t.Fatalf("create %q: %v", title, err)
	}
	return resp.GetTask()
}

// set moves a task.
func (f *fixture) set(id string, to taskpoolv1.TaskStatus) *taskpoolv1.UpdateTaskResponse {
	f.t.Helper()
	resp, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: id, Status: &to})
	if err != nil {
		f.t.Fatalf("set %s to %s: %v", id, to, err)
	}
	return resp
}

// read reads one task, FULL.
func (f *fixture) read(id string) *taskpoolv1.Task {
	f.t.Helper()
	resp, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Id: &id})
	if err != nil {
		f.t.Fatalf("read %s: %v", id, err)
	}
	return resp.GetTask()
}

// refused checks the code and reason of an error, and returns it.
func refused(t testing.TB, err error, code codes.Code, reason pool.Reason) refusal {
	t.Helper()
	r := refusalOf(err)
	if status.Code(err) != code || r.info.GetReason() != string(reason) || r.infos > 1 {
		t.Fatalf("got %v with the reason %q (%d infos), want %s / %s", err, r.info.GetReason(), r.infos, code, reason)
	}
	if r.infos == 1 && r.info.GetDomain() != "taskpool" {
		t.Errorf("the domain is %q", r.info.GetDomain())
	}
	return r
}

func refusalOf(err error) refusal {
	r := refusal{text: status.Convert(err).Message(), info: &errdetails.ErrorInfo{}}
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			r.info = d
			r.infos++
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				r.fields = append(r.fields, v.GetField())
			}
		case *errdetails.RetryInfo:
			r.retry = d.GetRetryDelay().AsDuration()
		}
	}
	return r
}

// refusal is an error as a caller sees it.
type refusal struct {
	text   string
	info   *errdetails.ErrorInfo
	infos  int
	fields []string
	retry  time.Duration
}

// at checks which fields the refusal names.
func (r refusal) at(t testing.TB, fields ...string) {
	t.Helper()
	if strings.Join(r.fields, " ") != strings.Join(fields, " ") {
		t.Errorf("the refusal names %q, want %q: %s", r.fields, fields, r.text)
	}
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
