package server_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// FuzzRequests sends bytes to every method that works. Whatever they are, the
// caller is at fault or the call succeeds, and the server goes on.
func FuzzRequests(f *testing.F) {
	methods := strings.Fields("TaskService/CreateTask TaskService/CreateTasks TaskService/ReadTask TaskService/UpdateTask TaskService/DeleteTask " +
		"TaskService/ExplainTask TaskService/ListMembers PoolService/CreatePool PoolService/GetPool PoolService/ListPools PoolService/ClearPool")
	for i, m := range []proto.Message{
		&taskpoolv1.CreateTaskRequest{RequestId: "r", Task: &taskpoolv1.NewTask{Title: "t", Labels: map[string]string{"a": "b"}, Links: []string{"https://example.com"}}},
		&taskpoolv1.CreateTasksRequest{Tasks: []*taskpoolv1.NewTask{{Title: "t", Ref: "a"}, {Title: "u", DependencyIds: []string{"ref:a"}}}},
		&taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{Text: "x", Statuses: []taskpoolv1.TaskStatus{1}}, PageToken: "AQ"},
		&taskpoolv1.UpdateTaskRequest{Id: "T-1", Title: proto.String("t"), HistoryEntry: "h", Status: inProgress.Enum(), Steps: &taskpoolv1.StringList{Values: []string{"s"}}},
		&taskpoolv1.DeleteTaskRequest{Id: "T-1"},
		&taskpoolv1.ExplainTaskRequest{Id: "T-1"},
		&taskpoolv1.ListMembersRequest{Name: "me"},
		&taskpoolv1.CreatePoolRequest{Name: "p", Limits: &taskpoolv1.PoolLimits{TitleLength: proto.Int64(-1)}},
		&taskpoolv1.GetPoolRequest{Pool: "p"},
		&taskpoolv1.ListPoolsRequest{PageSize: 2},
		&taskpoolv1.ClearPoolRequest{ConfirmName: "default"},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, b)
	}
	served := start(f)
	served.create("a task to name")
	f.Fuzz(func(t *testing.T, i int, b []byte) {
		server := served.in(t)
		method := methods[(i%len(methods)+len(methods))%len(methods)]
		var out []byte
		err := server.conn.Invoke(server.ctx(), "/taskpool.v1."+method, b, &out, grpc.ForceCodecV2(raw{}))
		switch status.Code(err) {
		case codes.Internal, codes.Unknown, codes.Unavailable, codes.DataLoss:
			t.Fatalf("%s: %v\n%s", method, err, server.log)
		}
		if err != nil && len(status.Convert(err).Details()) == 0 {
			t.Fatalf("%s: %v has no details", method, err)
		}
	})
}

// FuzzText creates a task with any text in every place, and reads it back: what
// was taken is kept, trimmed where that is the rule, and never cut or changed.
func FuzzText(f *testing.F) {
	for _, s := range []string{"a", " a ", "👩‍👩‍👧‍👦", "日本", "a\nb", "\x00", "\xff", "\u2028", strings.Repeat("é", 101)} {
		f.Add(s, s, s)
	}
	served := start(f)
	f.Fuzz(func(t *testing.T, title, body, step string) {
		server := served.in(t)
		for _, s := range []string{title, body, step} {
			if !utf8.ValidString(s) {
				t.Skip("the client does not send it; FuzzRequests does")
			}
		}
		resp, err := server.tasks.CreateTask(server.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: title, Body: body, Steps: []string{step}}})
		if err != nil {
			if status.Code(err) != codes.InvalidArgument {
				t.Fatal(err)
			}
			return
		}
		got := server.read(resp.GetTask().GetId())
		if got.GetTitle() != strings.TrimSpace(title) || got.GetBody() != body || got.GetSteps()[0] != strings.TrimSpace(step) {
			t.Fatalf("%q, %q, %q became %v", title, body, step, got)
		}
	})
}
