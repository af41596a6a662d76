package server_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

var update = flag.Bool("update", false, "write testdata anew")

// unstable is what differs from run to run.
var unstable = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`\bAR[\w-]{30,}`), "CURSOR"},
}

// TestRefusals_golden keeps the sentences that people and agents act on. They
// may change, but not by accident: go test ./server -run golden -update
func TestRefusals_golden(t *testing.T) {
	f := start(t)
	human := f.as(task.Human)
	f.create("design")
	f.create("build", "T-1")
	f.set("T-1", inProgress)
	f.create("parent")
	if _, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "child", ParentId: "T-3"}}); err != nil {
		t.Fatal(err)
	}
	f.create("assigned")
	if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: "T-5", Assignee: proto.String("agent:b")}); err != nil {
		t.Fatal(err)
	}
	updating := func(by *fixture, req *taskpoolv1.UpdateTaskRequest) error {
		_, err := by.tasks.UpdateTask(by.ctx(), req)
		return err
	}
	creating := func(m *taskpoolv1.NewTask) error {
		_, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: m})
		return err
	}
	reading := func(req *taskpoolv1.ReadTaskRequest) error {
		_, err := f.tasks.ReadTask(f.ctx(), req)
		return err
	}
	deleting := func(by *fixture, id string) error {
		_, err := by.tasks.DeleteTask(by.ctx(), &taskpoolv1.DeleteTaskRequest{Id: id})
		return err
	}
	watching := func(req *taskpoolv1.WatchTasksRequest) error {
		_, err := f.watch(req).stream.Recv()
		return err
	}
	batch := func(tasks ...*taskpoolv1.NewTask) error {
		_, err := f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: tasks})
		return err
	}
	restore := func(by *fixture, change func([]*taskpoolv1.PoolRecord) []*taskpoolv1.PoolRecord) error {
		records := recordsOf(f.export(""))
		_, err := by.take(by.ctx(), &taskpoolv1.ImportPoolRequest{Mode: restoring}, change(records), 100)
		return err
	}
	same := func(r []*taskpoolv1.PoolRecord) []*taskpoolv1.PoolRecord { return r }
	var out strings.Builder
	for _, c := range []struct {
		name string
		err  error
	}{
		{"title missing, step blank, link unsafe", creating(&taskpoolv1.NewTask{Steps: []string{"a", " "}, Links: []string{"javascript:alert(1)"}})},
		{"title too long", creating(&taskpoolv1.NewTask{Title: strings.Repeat("👩‍👩‍👧‍👦", 30)})},
		{"unknown priority", creating(&taskpoolv1.NewTask{Title: "x", Priority: 9})},
		{"no such dependency", creating(&taskpoolv1.NewTask{Title: "x", DependencyIds: []string{"T-99"}})},
		{"ambiguous member", creating(&taskpoolv1.NewTask{Title: "x", Assignee: "bob"})},
		{"no such member", creating(&taskpoolv1.NewTask{Title: "x", Assignee: "a b"})},
		{"contract", creating(&taskpoolv1.NewTask{Title: "x", Contract: &taskpoolv1.Contract{}})},
		{"no such pool", func() error {
			_, err := f.pools.GetPool(f.ctx(), &taskpoolv1.GetPoolRequest{Pool: "nowhere"})
			return err
		}()},
		{"cycle in a batch", batch(
			&taskpoolv1.NewTask{Title: "12.1", Ref: "12.1", DependencyIds: []string{"ref:12.4"}},
			&taskpoolv1.NewTask{Title: "12.4", Ref: "12.4", DependencyIds: []string{"ref:12.1"}},
		)},
		{"unknown ref", batch(&taskpoolv1.NewTask{Title: "x", DependencyIds: []string{"ref:y"}})},
		{"cycle", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-3", AddDependencyIds: []string{"T-3"}})},
		{"no such task", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-77", Title: proto.String("x")})},
		{"held", updating(f.as("agent:b"), &taskpoolv1.UpdateTaskRequest{Id: "T-1", Status: inProgress.Enum()})},
		{"hold lost", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-1", HoldToken: "old", Status: done.Enum()})},
		{"version", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-1", ExpectedVersion: 99})},
		{"waits", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-2", Status: inProgress.Enum()})},
		{"set pending", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-2", Status: pending.Enum()})},
		{"set unspecified", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-2", Status: taskpoolv1.TaskStatus(0).Enum()})},
		{"review", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-1", Status: taskpoolv1.TaskStatus_TASK_STATUS_REVIEW.Enum()})},
		{"block without a reason", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-1", Status: taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED.Enum()})},
		{"children open", updating(f, &taskpoolv1.UpdateTaskRequest{Id: "T-3", Status: done.Enum()})},
		{"assigned to another", updating(f.as("agent:c"), &taskpoolv1.UpdateTaskRequest{Id: "T-5", Status: inProgress.Enum()})},
		{"reassign", updating(f.as("agent:c"), &taskpoolv1.UpdateTaskRequest{Id: "T-5", Assignee: proto.String("agent:c")})},
		{"delete by a member", deleting(f, "T-2")},
		{"delete with dependents", deleting(human, "T-1")},
		{"delete with children", deleting(human, "T-3")},
		{"clear with another name", func() error {
			_, err := human.pools.ClearPool(human.ctx(), &taskpoolv1.ClearPoolRequest{ConfirmName: "web"})
			return err
		}()},
		{"empty id", reading(&taskpoolv1.ReadTaskRequest{Id: proto.String("")})},
		{"id and filter", reading(&taskpoolv1.ReadTaskRequest{Id: proto.String("T-1"), Filter: &taskpoolv1.TaskFilter{}})},
		{"page token", reading(&taskpoolv1.ReadTaskRequest{PageToken: "AAAA"})},
		{"malformed cursor", reading(&taskpoolv1.ReadTaskRequest{AtLeastCursor: "AAAA"})},
		{"expired cursor", reading(&taskpoolv1.ReadTaskRequest{AtLeastCursor: feed.Cursor{Epoch: "e", Revision: 1}.String()})},
		{"watch for a text", watching(&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{Text: "x"}, View: 9})},
		{"watch after no cursor", watching(&taskpoolv1.WatchTasksRequest{Start: after("AAAA")})},
		{"watch after a cursor of another filter", watching(&taskpoolv1.WatchTasksRequest{Start: after(feed.Cursor{Epoch: "e", Revision: 1, Filter: 1}.String())})},
		{"watch after an expired cursor", watching(&taskpoolv1.WatchTasksRequest{Start: after(feed.Cursor{Epoch: "e", Revision: 1}.String())})},
		{"method to come", func() error {
			_, err := f.tasks.SubmitTask(f.ctx(), &taskpoolv1.SubmitTaskRequest{})
			return err
		}()},
		{"restore by a member", restore(f, same)},
		{"restore into a pool with tasks", restore(human, same)},
		{"restore of an export that was cut", restore(human, func(r []*taskpoolv1.PoolRecord) []*taskpoolv1.PoolRecord { return r[:len(r)-1] })},
		{"restore of what was edited", restore(human, func(r []*taskpoolv1.PoolRecord) []*taskpoolv1.PoolRecord {
			r[1].GetTask().Title, r[1].GetTask().CreatedBy = "", "bob"
			r[2].GetEvent().Actor = ""
			return r
		})},
		{"restore of what does not follow", restore(human, func(r []*taskpoolv1.PoolRecord) []*taskpoolv1.PoolRecord {
			r[1].GetTask().Depth = 2
			return r
		})},
		{"restore of a cycle", restore(human, func(r []*taskpoolv1.PoolRecord) []*taskpoolv1.PoolRecord {
			for _, one := range r {
				if it := one.GetTask(); it.GetKey() == "T-1" {
					it.ParentId = it.GetId()
				}
			}
			return r
		})},
		{"restore of a graph", restore(human, func(r []*taskpoolv1.PoolRecord) []*taskpoolv1.PoolRecord {
			return append(r, &taskpoolv1.PoolRecord{Record: &taskpoolv1.PoolRecord_Graph{Graph: &taskpoolv1.Graph{Id: "tg-1"}}})
		})},
		{"actor", updating(f.as("bob"), &taskpoolv1.UpdateTaskRequest{Id: "T-1"})},
	} {
		fmt.Fprintf(&out, "# %s\n%s\n", c.name, shown(c.err))
	}
	got := out.String()
	for _, u := range unstable {
		got = u.pattern.ReplaceAllString(got, u.with)
	}
	golden := filepath.Join("testdata", "refusals.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range gotLines {
			if i >= len(wantLines) || gotLines[i] != wantLines[i] {
				t.Fatalf("line %d of %s differs:\n got %s\nwant %s", i+1, golden, gotLines[i], strings.Join(wantLines[min(i, len(wantLines)):min(i+1, len(wantLines))], ""))
			}
		}
		t.Fatalf("%s has more lines", golden)
	}
}

// shown is an error as the golden file has it.
func shown(err error) string {
	st := status.Convert(err)
	var b strings.Builder
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			fmt.Fprintf(&b, "%s / %s", st.Code(), d.GetReason())
			for _, k := range slices.Sorted(maps.Keys(d.GetMetadata())) {
				fmt.Fprintf(&b, " %s=%s", k, d.GetMetadata()[k])
			}
			fmt.Fprintf(&b, "\n%s\n", st.Message())
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				fmt.Fprintf(&b, "- %s: %s\n", v.GetField(), v.GetDescription())
			}
		}
	}
	return b.String()
}
