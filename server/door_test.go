package server_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/server"
)

// What every call has to pass: who asks, and whether the request can be read.

func TestActor(t *testing.T) {
	f := start(t)
	for name, c := range map[string]struct {
		said []string
		want string // "": refused
	}{
		"nobody":         {nil, "ext:anonymous"},
		"agent":          {[]string{"agent:bob"}, "agent:bob"},
		"key":            {[]string{"ext:ci"}, "ext:ci"},
		"operator":       {[]string{"human"}, "human"},
		"the pool":       {[]string{"system:pool"}, ""},
		"another system": {[]string{"system:x"}, ""},
		"bare name":      {[]string{"bob"}, ""},
		"empty":          {[]string{""}, ""},
		"spaces":         {[]string{"agent:a b"}, ""},
		"two":            {[]string{"agent:a", "agent:b"}, ""},
		"twice":          {[]string{"agent:a", "agent:a"}, ""},
		"long":           {[]string{"agent:" + strings.Repeat("x", 64)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			for _, s := range c.said {
				ctx = metadata.AppendToOutgoingContext(ctx, server.ActorKey, s)
			}
			resp, err := f.tasks.ListMembers(ctx, &taskpoolv1.ListMembersRequest{Name: "me"})
			if c.want == "" {
				refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, server.ActorKey)
				stream, err := f.tasks.WatchTasks(ctx, &taskpoolv1.WatchTasksRequest{})
				if err == nil {
					_, err = stream.Recv()
				}
				refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, server.ActorKey)
				return
			}
			if err != nil || resp.GetResolvedId() != c.want {
				t.Errorf("the actor is %v, %v, want %s", resp, err, c.want)
			}
		})
	}
}

func TestUnknownFields(t *testing.T) {
	f := start(t)
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 1)
	with := func(m proto.Message) proto.Message {
		m.ProtoReflect().SetUnknown(unknown)
		return m
	}
	item := with(&taskpoolv1.NewTask{Title: "x"}).(*taskpoolv1.NewTask)
	for want, call := range map[string]func() error{
		"": func() error {
			_, err := f.tasks.ReadTask(f.ctx(), with(&taskpoolv1.ReadTaskRequest{}).(*taskpoolv1.ReadTaskRequest))
			return err
		},
		"tasks[1]": func() error {
			_, err := f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: []*taskpoolv1.NewTask{{Title: "ok"}, item}})
			return err
		},
		"task.not_before": func() error {
			at := with(timestamppb.Now()).(*timestamppb.Timestamp)
			_, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "x", NotBefore: at}})
			return err
		},
		"steps": func() error {
			list := with(&taskpoolv1.StringList{}).(*taskpoolv1.StringList)
			_, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: "T-1", Steps: list})
			return err
		},
		"filter": func() error {
			filter := with(&taskpoolv1.TaskFilter{}).(*taskpoolv1.TaskFilter)
			_, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Filter: filter})
			return err
		},
	} {
		r := refused(t, call(), codes.InvalidArgument, pool.ReasonInvalidField)
		r.at(t, want)
		if !strings.Contains(r.text, "999") {
			t.Errorf("the refusal is %q", r.text)
		}
	}
}

// raw sends bytes as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

var _ encoding.CodecV2 = raw{}

// Text that is not UTF-8 is refused like any other bad field, wherever it is.
func TestNotUTF8(t *testing.T) {
	f := start(t)
	const bad = "a\xffb"
	text := func(b []byte, number protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), s)
	}
	task := func(inner []byte) []byte { return text(nil, 3, string(inner)) }
	for want, c := range map[string]struct {
		method string
		body   []byte
	}{
		"pool":                  {"CreateTask", text(nil, 1, bad)},
		"task.title":            {"CreateTask", task(text(nil, 1, bad))},
		"task.steps[1]":         {"CreateTask", task(text(text(nil, 14, "fine"), 14, bad))},
		"task.labels":           {"CreateTask", task(text(nil, 9, string(text(text(nil, 1, "k"), 2, bad))))},
		"tasks[1].body":         {"CreateTasks", text(text(nil, 3, string(text(nil, 1, "ok"))), 3, string(text(nil, 3, bad)))},
		"steps.values[0]":       {"UpdateTask", text(nil, 20, string(text(nil, 1, bad)))},
		"filter.text":           {"ReadTask", text(nil, 7, string(text(nil, 18, bad)))},
		"set_labels":            {"UpdateTask", text(nil, 26, string(text(nil, 1, bad)))},
		"confirm_name":          {"PoolService/ClearPool", text(nil, 3, bad)},
		"add_dependency_ids[0]": {"UpdateTask", text(nil, 11, bad)},
	} {
		t.Run(want, func(t *testing.T) {
			method := "/taskpool.v1.TaskService/" + c.method
			if strings.Contains(c.method, "/") {
				method = "/taskpool.v1." + c.method
			}
			var out []byte
			err := f.conn.Invoke(f.ctx(), method, c.body, &out, grpc.ForceCodecV2(raw{}))
			refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, want)
		})
	}
	for method, b := range map[string][]byte{"WatchTasks": text(nil, 1, bad), "ReadTask": text(nil, 1, bad)} {
		m := taskpoolv1.File_taskpool_v1_task_service_proto.Services().Get(0).Methods().ByName(protoreflect.Name(method))
		refused(t, callRaw(f, m, b), codes.InvalidArgument, pool.ReasonInvalidField).at(t, "pool")
	}
	var out []byte
	err := f.conn.Invoke(f.ctx(), "/taskpool.v1.TaskService/CreateTask", []byte{0xff, 0xff}, &out, grpc.ForceCodecV2(raw{}))
	if r := refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField); strings.Contains(r.text, "proto:") {
		t.Errorf("the decoder's own words are told: %q", r.text)
	}
}

func TestMessageSize(t *testing.T) {
	f := start(t)
	for name, c := range map[string]struct {
		size int
		code codes.Code
	}{
		"as large as can be": {server.MaxMessageBytes, codes.InvalidArgument}, // read, and its body is too long
		"a byte more":        {server.MaxMessageBytes + 1, codes.ResourceExhausted},
	} {
		req := &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "x", Body: strings.Repeat("y", c.size-64)}}
		req.Task.Body += strings.Repeat("y", c.size-proto.Size(req))
		if proto.Size(req) != c.size {
			t.Fatalf("the request has %d bytes, not %d", proto.Size(req), c.size)
		}
		_, err := f.tasks.CreateTask(f.ctx(), req, grpc.MaxCallSendMsgSize(1<<30))
		refused(t, err, c.code, map[codes.Code]pool.Reason{codes.InvalidArgument: pool.ReasonInvalidField}[c.code])
		t.Logf("%s: %v", name, err)
	}
	f.create("and the connection goes on")
}

// Every method of every service is there, and says which part of the API it
// waits for.
func TestLater(t *testing.T) {
	f := start(t)
	working := map[string]bool{}
	for _, name := range []string{
		"CreateTask", "CreateTasks", "ReadTask", "UpdateTask", "DeleteTask", "ExplainTask", "ListMembers", "WatchTasks", "CreatePool", "GetPool", "ListPools", "ClearPool",
		"ExportPool", "ImportPool", "ClaimTask", "RenewHold", "ReleaseTask", "CommentTask",
	} {
		working[name] = true
	}
	files := []protoreflect.FileDescriptor{
		taskpoolv1.File_taskpool_v1_task_service_proto, taskpoolv1.File_taskpool_v1_pool_service_proto,
		taskpoolv1.File_taskpool_v1_graph_service_proto, taskpoolv1.File_taskpool_v1_auth_service_proto,
	}
	tried := 0
	for _, file := range files {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				m := methods.Get(j)
				if working[string(m.Name())] {
					continue
				}
				tried++
				err := callRaw(f, m, nil)
				r := refused(t, err, codes.Unimplemented, pool.ReasonNotAvailableYet)
				if r.info.GetMetadata()["feature"] == "" || !strings.HasPrefix(r.text, string(m.Name())+" is not available in this version") {
					t.Errorf("%s: %q, %v", m.Name(), r.text, r.info.GetMetadata())
				}
			}
		}
	}
	if tried != 14 {
		t.Errorf("%d methods were tried", tried)
	}
}

// callRaw calls a method with those bytes, and returns its error.
func callRaw(f *fixture, m protoreflect.MethodDescriptor, b []byte) error {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.ctx())
	defer cancel()
	desc := &grpc.StreamDesc{ServerStreams: m.IsStreamingServer(), ClientStreams: m.IsStreamingClient()}
	stream, err := f.conn.NewStream(ctx, desc, "/"+string(m.Parent().FullName())+"/"+string(m.Name()), grpc.ForceCodecV2(raw{}))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(b); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	var out []byte
	return stream.RecvMsg(&out)
}

// A repeat is known by its whole content, and the id alone does not make two
// requests the same.
func TestRequestID(t *testing.T) {
	f := start(t)
	labels := map[string]string{}
	for _, k := range strings.Fields("a b c d e f g h i j k l") {
		labels[k] = k
	}
	request := func(id, title string) *taskpoolv1.CreateTaskRequest {
		return &taskpoolv1.CreateTaskRequest{RequestId: id, Task: &taskpoolv1.NewTask{Title: title, Labels: labels}}
	}
	first, err := f.tasks.CreateTask(f.ctx(), request("one", "x"))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 { // maps are encoded in an order of their own each time
		again, err := f.tasks.CreateTask(f.ctx(), request("one", "x"))
		if err != nil || !again.GetReplayed() || again.GetTask().GetId() != first.GetTask().GetId() || again.GetCursor() != first.GetCursor() {
			t.Fatalf("the repeat gives %v, %v", again, err)
		}
	}
	_, err = f.tasks.CreateTask(f.ctx(), request("one", "y"))
	refused(t, err, codes.AlreadyExists, pool.ReasonRequestIDReused)
	if other, err := f.as("agent:b").tasks.CreateTask(f.as("agent:b").ctx(), request("one", "y")); err != nil || other.GetReplayed() {
		t.Errorf("another caller's request of that id gives %v, %v", other, err)
	}
	if ok, err := f.tasks.CreateTask(f.ctx(), request(strings.Repeat("é", 128), "z")); err != nil {
		t.Errorf("an id of 128 characters gives %v, %v", ok, err)
	}
	for _, id := range []string{strings.Repeat("é", 129), "a\x00b"} {
		_, err := f.tasks.CreateTask(f.ctx(), request(id, "z"))
		refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "request_id")
	}
}
