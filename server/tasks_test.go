package server_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

const (
	ready      = taskpoolv1.TaskStatus_TASK_STATUS_READY
	pending    = taskpoolv1.TaskStatus_TASK_STATUS_PENDING
	inProgress = taskpoolv1.TaskStatus_TASK_STATUS_IN_PROGRESS
	done       = taskpoolv1.TaskStatus_TASK_STATUS_DONE
)

func TestCreateTask(t *testing.T) {
	f := start(t)
	resp, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{
		Title: "  Fix it  ", Description: "d", Body: "b", Priority: 3, Type: 2, Assignee: "me", NoReview: true,
		Labels: map[string]string{"team": "web"}, Steps: []string{"look", "mend"}, NotBefore: &timestamppb.Timestamp{},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := resp.GetTask()
	if got.GetTitle() != "Fix it" || got.GetKey() != "T-1" || got.GetStatus() != ready || got.GetAssignee() != "agent:a" || got.GetCreatedBy() != "agent:a" ||
		got.GetLabels()["team"] != "web" || len(got.GetSteps()) != 2 || got.GetNotBefore() != nil || got.GetVersion() != 1 {
		t.Errorf("created %v", got)
	}
	if resp.GetCursor() == "" || resp.GetReplayed() {
		t.Errorf("the answer is %v", resp)
	}
	after := f.create("next", "T-1")
	if after.GetStatus() != pending || len(after.GetUnfinishedDependencyIds()) != 1 {
		t.Errorf("the dependent is %v", after)
	}
}

func TestCreateTask_refusals(t *testing.T) {
	f := start(t)
	long := strings.Repeat("x", 129)
	for name, c := range map[string]struct {
		req    *taskpoolv1.CreateTaskRequest
		reason pool.Reason
		code   codes.Code
		fields string
	}{
		"no task":         {&taskpoolv1.CreateTaskRequest{}, pool.ReasonInvalidField, codes.InvalidArgument, "task"},
		"ref":             {&taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", Ref: "r"}}, pool.ReasonInvalidField, codes.InvalidArgument, "task.ref"},
		"all at once":     {&taskpoolv1.CreateTaskRequest{RequestId: long, Task: &taskpoolv1.NewTask{Priority: 9, Steps: []string{"", "ok", " "}, NotBefore: &timestamppb.Timestamp{Nanos: -1}}}, pool.ReasonInvalidField, codes.InvalidArgument, "request_id task.priority task.not_before task.title task.steps[0] task.steps[2]"},
		"two of the pool": {&taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Links: []string{"javascript:alert(1)"}}}, pool.ReasonInvalidField, codes.InvalidArgument, "task.title task.links[0]"},
		"no such pool":    {&taskpoolv1.CreateTaskRequest{Pool: "nowhere", Task: &taskpoolv1.NewTask{Title: "t"}}, pool.ReasonPoolNotFound, codes.NotFound, ""},
		"no such task":    {&taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", DependencyIds: []string{"T-99"}}}, pool.ReasonTaskNotFound, codes.NotFound, ""},
		"contract":        {&taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", Contract: &taskpoolv1.Contract{}}}, pool.ReasonNotAvailableYet, codes.Unimplemented, ""},
		"reviewer":        {&taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", Reviewer: "human"}}, pool.ReasonNotAvailableYet, codes.Unimplemented, ""},
		"bare member":     {&taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", Assignee: "bob"}}, pool.ReasonMemberAmbiguous, codes.InvalidArgument, ""},
		"parent unknown":  {&taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", ParentId: "T-7"}}, pool.ReasonTaskNotFound, codes.NotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.tasks.CreateTask(f.ctx(), c.req)
			refused(t, err, c.code, c.reason).at(t, strings.Fields(c.fields)...)
		})
	}
	resp, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{})
	if err != nil || len(resp.GetTasks()) != 0 {
		t.Errorf("after refusals there are %d tasks, %v", len(resp.GetTasks()), err)
	}
}

func TestCreateTasks(t *testing.T) {
	f := start(t)
	req := &taskpoolv1.CreateTasksRequest{RequestId: "r1", Tasks: []*taskpoolv1.NewTask{
		{Title: "b", Ref: "b", DependencyIds: []string{"ref:a"}},
		{Title: "a", Ref: "a"},
	}}
	first, err := f.tasks.CreateTasks(f.ctx(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.GetTasks()) != 2 || first.GetTasks()[0].GetTitle() != "b" || first.GetTasks()[0].GetDependencyIds()[0] != first.GetTasks()[1].GetId() {
		t.Fatalf("created %v", first.GetTasks())
	}
	again, err := f.tasks.CreateTasks(f.ctx(), proto.CloneOf(req))
	if err != nil || !again.GetReplayed() || again.GetCursor() != first.GetCursor() || again.GetTasks()[1].GetId() != first.GetTasks()[1].GetId() {
		t.Errorf("the repeat gives %v, %v", again, err)
	}
	req.Tasks[0].Title = "c"
	_, err = f.tasks.CreateTasks(f.ctx(), req)
	refused(t, err, codes.AlreadyExists, pool.ReasonRequestIDReused)

	_, err = f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "tasks")
	_, err = f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: []*taskpoolv1.NewTask{{Title: "x"}, {}, {Type: 7, Title: "x"}}})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "tasks[1].title", "tasks[2].type")
	_, err = f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: []*taskpoolv1.NewTask{
		{Title: "x", Ref: "x", DependencyIds: []string{"ref:y"}}, {Title: "y", Ref: "y", DependencyIds: []string{"ref:x"}},
	}})
	if r := refused(t, err, codes.FailedPrecondition, pool.ReasonCycle); !strings.HasPrefix(r.info.GetMetadata()["path"], "ref:") {
		t.Errorf("the path is %q", r.info.GetMetadata()["path"])
	}
	_, err = f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: make([]*taskpoolv1.NewTask, 10_001)})
	refused(t, err, codes.ResourceExhausted, pool.ReasonBatchTooLarge)
	_, err = f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: []*taskpoolv1.NewTask{{Title: "x"}, {Title: "y", Contract: &taskpoolv1.Contract{}}}})
	if r := refused(t, err, codes.Unimplemented, pool.ReasonNotAvailableYet); r.info.GetMetadata()["field"] != "tasks[1].contract" {
		t.Errorf("the field is %q", r.info.GetMetadata()["field"])
	}
}

// A batch that is repeated after one of its tasks was deleted has that task's id
// alone, in its place.
func TestCreateTasks_replayOfDeleted(t *testing.T) {
	f := start(t)
	req := &taskpoolv1.CreateTasksRequest{RequestId: "r1", Tasks: []*taskpoolv1.NewTask{{Title: "a"}, {Title: "b"}}}
	first, err := f.tasks.CreateTasks(f.ctx(), req)
	if err != nil {
		t.Fatal(err)
	}
	gone := first.GetTasks()[0].GetId()
	if _, err := f.tasks.DeleteTask(f.as(task.Human).ctx(), &taskpoolv1.DeleteTaskRequest{Id: gone}); err != nil {
		t.Fatal(err)
	}
	again, err := f.tasks.CreateTasks(f.ctx(), req)
	if err != nil || len(again.GetTasks()) != 2 || !proto.Equal(again.GetTasks()[0], &taskpoolv1.Task{Id: gone}) || again.GetTasks()[1].GetTitle() != "b" {
		t.Errorf("the repeat gives %v, %v", again, err)
	}
}

func TestUpdateTask(t *testing.T) {
	f := start(t)
	f.create("a")
	resp, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{
		Id: "T-1", ExpectedVersion: 1, Description: proto.String("why"), Steps: &taskpoolv1.StringList{Values: []string{"s"}}, Status: inProgress.Enum(), HistoryEntry: "begun",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.GetTask(); got.GetHolder() != "agent:a" || got.GetDescription() != "why" || got.GetHistoryCount() != 1 || len(got.GetHistory()) != 0 || resp.GetHoldToken() == "" {
		t.Errorf("the answer is %v", resp)
	}
	if got := f.read("T-1"); len(got.GetHistory()) != 1 || got.GetHistory()[0].GetText() != "begun" || got.GetHistory()[0].GetActor() != "agent:a" {
		t.Errorf("read %v", got)
	}
	same, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: "T-1", Description: proto.String("why"), HoldToken: resp.GetHoldToken()})
	if err != nil || same.GetCursor() != resp.GetCursor() {
		t.Errorf("a change to what is there gives %v, %v", same, err)
	}
	cleared, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: "T-1", Description: proto.String(""), Steps: &taskpoolv1.StringList{}, Reviewer: proto.String("")})
	if err != nil || cleared.GetTask().GetDescription() != "" || len(cleared.GetTask().GetSteps()) != 0 {
		t.Errorf("clearing gives %v, %v", cleared, err)
	}
}

func TestUpdateTask_refusals(t *testing.T) {
	f := start(t)
	f.create("a")
	f.create("b", "T-1")
	held := f.set("T-1", inProgress)
	for name, c := range map[string]struct {
		as     string
		req    *taskpoolv1.UpdateTaskRequest
		code   codes.Code
		reason pool.Reason
		meta   map[string]string
	}{
		"no id":          {"", &taskpoolv1.UpdateTaskRequest{}, codes.InvalidArgument, pool.ReasonInvalidField, map[string]string{"field": "id"}},
		"unknown":        {"", &taskpoolv1.UpdateTaskRequest{Id: "T-77"}, codes.NotFound, pool.ReasonTaskNotFound, map[string]string{"name": "T-77"}},
		"version":        {"", &taskpoolv1.UpdateTaskRequest{Id: "T-1", ExpectedVersion: 9}, codes.Aborted, pool.ReasonVersionMismatch, map[string]string{"task": "T-1", "expected": "9", "current": "2"}},
		"bad version":    {"", &taskpoolv1.UpdateTaskRequest{Id: "T-1", ExpectedVersion: -1}, codes.InvalidArgument, pool.ReasonInvalidField, map[string]string{"field": "expected_version"}},
		"held":           {"agent:b", &taskpoolv1.UpdateTaskRequest{Id: "T-1", Status: inProgress.Enum()}, codes.FailedPrecondition, pool.ReasonHeld, map[string]string{"task": "T-1", "holder": "agent:a"}},
		"lost":           {"", &taskpoolv1.UpdateTaskRequest{Id: "T-1", HoldToken: "another", Title: proto.String("x")}, codes.FailedPrecondition, pool.ReasonHoldLost, map[string]string{"holder": "agent:a"}},
		"pending":        {"", &taskpoolv1.UpdateTaskRequest{Id: "T-1", Status: pending.Enum()}, codes.InvalidArgument, "STATUS_DERIVED", map[string]string{"field": "status"}},
		"in the way":     {"", &taskpoolv1.UpdateTaskRequest{Id: "T-2", Status: inProgress.Enum()}, codes.FailedPrecondition, pool.ReasonDependenciesUnfinished, map[string]string{"related_ids": f.read("T-1").GetId()}},
		"no reason":      {"", &taskpoolv1.UpdateTaskRequest{Id: "T-1", Status: taskpoolv1.TaskStatus_TASK_STATUS_BLOCKED.Enum()}, codes.FailedPrecondition, pool.ReasonReasonRequired, nil},
		"cycle":          {"", &taskpoolv1.UpdateTaskRequest{Id: "T-2", AddDependencyIds: []string{"T-2"}}, codes.FailedPrecondition, pool.ReasonCycle, map[string]string{"path": "T-2,T-2"}},
		"reviewer":       {"", &taskpoolv1.UpdateTaskRequest{Id: "T-1", Reviewer: proto.String("human")}, codes.Unimplemented, pool.ReasonNotAvailableYet, map[string]string{"feature": "review", "field": "reviewer"}},
		"everything bad": {"", &taskpoolv1.UpdateTaskRequest{Id: "T-1", Title: proto.String(""), Type: taskpoolv1.TaskType(44).Enum()}, codes.InvalidArgument, pool.ReasonInvalidField, map[string]string{"field": "type"}},
	} {
		t.Run(name, func(t *testing.T) {
			by := f
			if c.as != "" {
				by = f.as(c.as)
			}
			_, err := by.tasks.UpdateTask(by.ctx(), c.req)
			r := refused(t, err, c.code, c.reason)
			for key, want := range c.meta {
				if r.info.GetMetadata()[key] != want {
					t.Errorf("metadata %s is %q, want %q (all: %v)", key, r.info.GetMetadata()[key], want, r.info.GetMetadata())
				}
			}
		})
	}
	if got := f.read("T-1"); got.GetVersion() != held.GetTask().GetVersion() {
		t.Errorf("refusals changed the task: %v", got)
	}
}

func TestDeleteTask(t *testing.T) {
	f := start(t)
	f.create("a")
	f.create("b", "T-1")
	_, err := f.tasks.DeleteTask(f.ctx(), &taskpoolv1.DeleteTaskRequest{Id: "T-1"})
	if r := refused(t, err, codes.PermissionDenied, pool.ReasonNotPermitted); r.info.GetMetadata()["who_may"] == "" {
		t.Errorf("metadata is %v", r.info.GetMetadata())
	}
	f = f.as(task.Human)
	_, err = f.tasks.DeleteTask(f.ctx(), &taskpoolv1.DeleteTaskRequest{Id: "T-1"})
	refused(t, err, codes.FailedPrecondition, pool.ReasonHasDependents)
	_, err = f.tasks.DeleteTask(f.ctx(), &taskpoolv1.DeleteTaskRequest{})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "id")
	req := &taskpoolv1.DeleteTaskRequest{Id: "T-2", RequestId: "d"}
	first, err := f.tasks.DeleteTask(f.ctx(), req)
	if err != nil || first.GetCursor() == "" {
		t.Fatalf("delete gives %v, %v", first, err)
	}
	again, err := f.tasks.DeleteTask(f.ctx(), req)
	if err != nil || !again.GetReplayed() || again.GetCursor() != first.GetCursor() {
		t.Errorf("the repeat gives %v, %v", again, err)
	}
	_, err = f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Id: proto.String("T-2")})
	refused(t, err, codes.NotFound, pool.ReasonTaskNotFound)
}

func TestExplainTask(t *testing.T) {
	f := start(t)
	a := f.create("a")
	f.create("b", "T-1")
	yes, err := f.tasks.ExplainTask(f.ctx(), &taskpoolv1.ExplainTaskRequest{Id: a.GetId()[:8]})
	if err != nil || !yes.GetClaimable() || yes.GetTaskId() != a.GetId() || len(yes.GetChecks()) < 5 {
		t.Errorf("a is explained as %v, %v", yes, err)
	}
	no, err := f.tasks.ExplainTask(f.ctx(), &taskpoolv1.ExplainTaskRequest{Id: "t-2"})
	if err != nil || no.GetClaimable() {
		t.Fatalf("b is explained as %v, %v", no, err)
	}
	for _, c := range no.GetChecks() {
		if c.GetName() == "dependencies" && (c.GetHolds() || len(c.GetRelatedIds()) != 1 || c.GetRelatedIds()[0] != a.GetId() || !strings.Contains(c.GetDetail(), "T-1")) {
			t.Errorf("the check of dependencies is %v", c)
		}
	}
	f.set("T-1", inProgress)
	held, err := f.as("agent:b").tasks.ExplainTask(f.as("agent:b").ctx(), &taskpoolv1.ExplainTaskRequest{Id: "T-1"})
	if err != nil || held.GetClaimable() {
		t.Errorf("a held task is explained as %v, %v", held, err)
	}
	_, err = f.tasks.ExplainTask(f.ctx(), &taskpoolv1.ExplainTaskRequest{})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "id")
}

func TestListMembers(t *testing.T) {
	f := start(t)
	all, err := f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{})
	if err != nil || len(all.GetMembers()) != 2 || all.GetMembers()[0].GetId() != "agent:a" || all.GetMembers()[1].GetId() != "human" || all.GetNextPageToken() != "" {
		t.Errorf("members are %v, %v", all, err)
	}
	one, err := f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{PageSize: 1})
	if err != nil || len(one.GetMembers()) != 1 || one.GetNextPageToken() == "" {
		t.Fatalf("the first page is %v, %v", one, err)
	}
	two, err := f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{PageSize: 1, PageToken: one.GetNextPageToken()})
	if err != nil || len(two.GetMembers()) != 1 || two.GetMembers()[0].GetId() != "human" || two.GetNextPageToken() != "" {
		t.Errorf("the second page is %v, %v", two, err)
	}
	for name, want := range map[string]string{"me": "agent:a", "you": "human", "human": "human", "ext:ci": "ext:ci"} {
		got, err := f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{Name: name})
		if err != nil || got.GetResolvedId() != want || len(got.GetMembers()) != 1 || got.GetMembers()[0].GetId() != want {
			t.Errorf("%q resolves to %v, %v", name, got, err)
		}
	}
	if got, err := f.as("ext:ci").tasks.ListMembers(f.as("ext:ci").ctx(), &taskpoolv1.ListMembersRequest{Name: "me"}); err != nil || got.GetMembers()[0].GetKind() != taskpoolv1.MemberKind_MEMBER_KIND_EXTERNAL || got.GetMembers()[0].GetName() != "ci" {
		t.Errorf("ext:ci is %v, %v", got, err)
	}
	_, err = f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{Name: "ci"})
	if r := refused(t, err, codes.InvalidArgument, pool.ReasonMemberAmbiguous); r.info.GetMetadata()["candidates"] != "agent:ci,ext:ci" {
		t.Errorf("metadata is %v", r.info.GetMetadata())
	}
	_, err = f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{Name: "system:pool"})
	refused(t, err, codes.NotFound, pool.ReasonMemberNotFound)
	_, err = f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{Name: "me", PageSize: 3, PageToken: "x"})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "page_size", "page_token")
	_, err = f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{Pool: "nowhere"})
	refused(t, err, codes.NotFound, pool.ReasonPoolNotFound)
	_, err = f.tasks.ListMembers(f.ctx(), &taskpoolv1.ListMembersRequest{PageSize: -1})
	refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, "page_size")
}

// A repeated batch whose tasks have grown beyond one message is still answered.
func TestCreateTasks_replayOfGrown(t *testing.T) {
	f := start(t)
	req := &taskpoolv1.CreateTasksRequest{RequestId: "r1"}
	for range 900 {
		req.Tasks = append(req.Tasks, &taskpoolv1.NewTask{Title: "a"})
	}
	first, err := f.tasks.CreateTasks(f.ctx(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range first.GetTasks() {
		if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: made.GetId(), Body: proto.String(strings.Repeat("x", 20_000))}); err != nil {
			t.Fatal(err)
		}
	}
	again, err := f.tasks.CreateTasks(f.ctx(), req)
	if err != nil || len(again.GetTasks()) != 900 || again.GetTasks()[899].GetId() != first.GetTasks()[899].GetId() || again.GetTasks()[0].GetBody() != "" {
		t.Errorf("the repeat gives %d tasks, %v", len(again.GetTasks()), err)
	}
	// A listing of them in full comes in pages that fit.
	list := &taskpoolv1.ReadTaskRequest{PageSize: 1000, MaxBytes: 1 << 30, View: taskpoolv1.TaskView_TASK_VIEW_FULL}
	n, pages := 0, 0
	for {
		page := f.list(list)
		n += len(page.GetTasks())
		pages++
		if list.PageToken = page.GetNextPageToken(); list.GetPageToken() == "" {
			break
		}
	}
	if n != 900 || pages != 2 {
		t.Errorf("%d tasks on %d pages", n, pages)
	}
}

// A plan of 5,000 tasks goes in by one call, and is listed whole in pages.
func TestCreateTasks_fiveThousand(t *testing.T) {
	f := start(t)
	req := &taskpoolv1.CreateTasksRequest{}
	for range 5000 {
		req.Tasks = append(req.Tasks, &taskpoolv1.NewTask{Title: "a", Body: strings.Repeat("x", 1000)})
	}
	made, err := f.tasks.CreateTasks(f.ctx(), req)
	if err != nil || len(made.GetTasks()) != 5000 {
		t.Fatalf("%d tasks, %v", len(made.GetTasks()), err)
	}
	list, seen := &taskpoolv1.ReadTaskRequest{PageSize: 1000, IncludeTotal: true}, map[string]bool{}
	for {
		page := f.list(list)
		if page.GetTotalMatches() != 5000 || !page.GetTotalIsExact() {
			t.Fatalf("a total of %d", page.GetTotalMatches())
		}
		for _, one := range page.GetTasks() {
			seen[one.GetId()] = true
		}
		if list.PageToken = page.GetNextPageToken(); list.GetPageToken() == "" {
			break
		}
	}
	if len(seen) != 5000 {
		t.Errorf("%d tasks are listed", len(seen))
	}
}
