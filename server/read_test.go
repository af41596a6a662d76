package server_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func (f *fixture) list(req *taskpoolv1.ReadTaskRequest) *taskpoolv1.ReadTaskResponse {
	f.t.Helper()
	resp, err := f.tasks.ReadTask(f.ctx(), req)
	if err != nil {
		f.t.Fatalf("list %v: %v", req, err)
	}
	return resp
}

func keys(tasks []*taskpoolv1.Task) string {
	all := make([]string, len(tasks))
	for i, t := range tasks {
		all[i] = t.GetKey()
	}
	return strings.Join(all, " ")
}

func TestReadTask_pages(t *testing.T) {
	f := start(t)
	for i := range 7 {
		f.create(fmt.Sprintf("task %d", i))
	}
	first := f.list(&taskpoolv1.ReadTaskRequest{PageSize: 3, IncludeTotal: true})
	if keys(first.GetTasks()) != "T-1 T-2 T-3" || first.GetTotalMatches() != 7 || !first.GetTotalIsExact() || first.GetNextPageToken() == "" {
		t.Fatalf("the first page is %v", first)
	}
	f.create("task 7") // between the pages
	second := f.list(&taskpoolv1.ReadTaskRequest{PageSize: 4, PageToken: first.GetNextPageToken()})
	if keys(second.GetTasks()) != "T-4 T-5 T-6 T-7" || second.GetCursor() != first.GetCursor() || second.GetTotalMatches() != 0 {
		t.Fatalf("the second page is %v", second)
	}
	last := f.list(&taskpoolv1.ReadTaskRequest{PageToken: second.GetNextPageToken(), View: taskpoolv1.TaskView_TASK_VIEW_PREVIEW, Pool: "default"})
	if keys(last.GetTasks()) != "T-8" || last.GetNextPageToken() != "" || last.GetCursor() != first.GetCursor() {
		t.Fatalf("the last page is %v", last)
	}
	if all := f.list(&taskpoolv1.ReadTaskRequest{PageSize: 1 << 30}); len(all.GetTasks()) != 8 || all.GetNextPageToken() != "" {
		t.Errorf("a huge page is %v", all)
	}
}

func TestReadTask_pageTokenIsBound(t *testing.T) {
	f := start(t)
	f.create("a")
	f.create("b")
	if _, err := f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: "web"}); err != nil {
		t.Fatal(err)
	}
	mine := &taskpoolv1.TaskFilter{Claimable: true}
	plain := f.list(&taskpoolv1.ReadTaskRequest{PageSize: 1}).GetNextPageToken()
	forMe := f.list(&taskpoolv1.ReadTaskRequest{PageSize: 1, Filter: mine}).GetNextPageToken()
	for name, c := range map[string]struct {
		by  *fixture
		req *taskpoolv1.ReadTaskRequest
	}{
		"pool":    {f, &taskpoolv1.ReadTaskRequest{PageToken: plain, Pool: "web"}},
		"filter":  {f, &taskpoolv1.ReadTaskRequest{PageToken: plain, Filter: mine}},
		"view":    {f, &taskpoolv1.ReadTaskRequest{PageToken: plain, View: taskpoolv1.TaskView_TASK_VIEW_FULL}},
		"caller":  {f.as("agent:b"), &taskpoolv1.ReadTaskRequest{PageToken: forMe, Filter: mine}},
		"garbage": {f, &taskpoolv1.ReadTaskRequest{PageToken: "AAAA"}},
	} {
		_, err := c.by.tasks.ReadTask(c.by.ctx(), c.req)
		t.Log(name)
		refused(t, err, codes.InvalidArgument, pool.ReasonPageTokenMismatch).at(t, "page_token")
	}
	if got := f.as("agent:b").list(&taskpoolv1.ReadTaskRequest{PageToken: plain}); keys(got.GetTasks()) != "T-2" {
		t.Errorf("another caller's page of the same query is %v", got)
	}
	if _, err := f.pools.ClearPool(f.as(task.Human).ctx(), &taskpoolv1.ClearPoolRequest{ConfirmName: "default"}); err != nil {
		t.Fatal(err)
	}
	_, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{PageToken: plain})
	refused(t, err, codes.InvalidArgument, pool.ReasonPageTokenMismatch).at(t, "page_token")
}

func TestReadTask_maxBytes(t *testing.T) {
	f := start(t)
	for range 4 {
		if _, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", Body: strings.Repeat("x", 10_000)}}); err != nil {
			t.Fatal(err)
		}
	}
	req := &taskpoolv1.ReadTaskRequest{View: taskpoolv1.TaskView_TASK_VIEW_FULL, MaxBytes: 25_000}
	page := f.list(req)
	if keys(page.GetTasks()) != "T-1 T-2" || page.GetNextPageToken() == "" {
		t.Fatalf("the page has %s", keys(page.GetTasks()))
	}
	req.PageToken, req.MaxBytes = page.GetNextPageToken(), 1
	if page = f.list(req); keys(page.GetTasks()) != "T-3" {
		t.Fatalf("a page of a byte has %s", keys(page.GetTasks()))
	}
	req.PageToken, req.MaxBytes = page.GetNextPageToken(), 1<<30
	if page = f.list(req); keys(page.GetTasks()) != "T-4" || page.GetNextPageToken() != "" {
		t.Errorf("the last page has %s", keys(page.GetTasks()))
	}
}

func TestReadTask_filters(t *testing.T) {
	f := start(t)
	f.create("alpha")
	f.create("beta", "T-1")
	f.create("Gamma")
	f.set("T-3", inProgress)
	f.set("T-3", done)
	for name, c := range map[string]struct {
		filter *taskpoolv1.TaskFilter
		want   string
	}{
		"none":       {nil, "T-1 T-2"},
		"pending":    {&taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{pending, pending}}, "T-2"},
		"closed too": {&taskpoolv1.TaskFilter{IncludeClosed: true}, "T-1 T-2 T-3"},
		"available":  {&taskpoolv1.TaskFilter{Available: true}, "T-1"},
		"claimable":  {&taskpoolv1.TaskFilter{Claimable: true}, "T-1"},
		"text":       {&taskpoolv1.TaskFilter{Text: "ALPH"}, "T-1"},
		"done":       {&taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{done}}, "T-3"},
		"since":      {&taskpoolv1.TaskFilter{ClosedSince: &timestamppb.Timestamp{}}, "T-1 T-2 T-3"},
		"year 1":     {&taskpoolv1.TaskFilter{ClosedSince: &timestamppb.Timestamp{Seconds: -62135596800}}, "T-1 T-2 T-3"},
		"far":        {&taskpoolv1.TaskFilter{ClosedSince: &timestamppb.Timestamp{Seconds: 253402300799}}, "T-1 T-2"},
		"no urgency": {&taskpoolv1.TaskFilter{Priorities: []taskpoolv1.TaskPriority{0}}, "T-1 T-2"},
		"bugs":       {&taskpoolv1.TaskFilter{Types: []taskpoolv1.TaskType{2}}, ""},
		"reviewer":   {&taskpoolv1.TaskFilter{Reviewer: "me"}, ""},
		"mine":       {&taskpoolv1.TaskFilter{CreatedBy: "me"}, "T-1 T-2"},
	} {
		if got := keys(f.list(&taskpoolv1.ReadTaskRequest{Filter: c.filter}).GetTasks()); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestReadTask_refusals(t *testing.T) {
	f := start(t)
	f.create("a")
	id := proto.String("T-1")
	for name, c := range map[string]struct {
		req    *taskpoolv1.ReadTaskRequest
		fields string
	}{
		"empty id":        {&taskpoolv1.ReadTaskRequest{Id: proto.String("")}, "id"},
		"id and listing":  {&taskpoolv1.ReadTaskRequest{Id: id, Filter: &taskpoolv1.TaskFilter{}, PageSize: 1, PageToken: "x", IncludeTotal: true}, "filter page_size page_token include_total"},
		"thread of many":  {&taskpoolv1.ReadTaskRequest{IncludeThread: true, IncludeRelatives: true}, "include_thread include_relatives"},
		"page of nothing": {&taskpoolv1.ReadTaskRequest{Id: id, ThreadPageSize: 1, ThreadPageToken: "x"}, "thread_page_size thread_page_token"},
		"negative":        {&taskpoolv1.ReadTaskRequest{PageSize: -1, MaxBytes: -1}, "page_size max_bytes"},
		"negative thread": {&taskpoolv1.ReadTaskRequest{Id: id, IncludeThread: true, ThreadPageSize: -5}, "thread_page_size"},
		"view":            {&taskpoolv1.ReadTaskRequest{View: 77}, "view"},
		"statuses":        {&taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{ready, 0, 99}}}, "filter.statuses[1] filter.statuses[2]"},
		"enums":           {&taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{Priorities: []taskpoolv1.TaskPriority{-1}, Types: []taskpoolv1.TaskType{6}}}, "filter.priorities[0] filter.types[0]"},
		"parent and top":  {&taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{ParentId: "T-1", TopLevel: true}}, "filter.top_level"},
		"closed since":    {&taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{ClosedSince: &timestamppb.Timestamp{Nanos: -1}}}, "filter.closed_since"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.tasks.ReadTask(f.ctx(), c.req)
			refused(t, err, codes.InvalidArgument, pool.ReasonInvalidField).at(t, strings.Fields(c.fields)...)
		})
	}
	for field, filter := range map[string]*taskpoolv1.TaskFilter{"filter.graph_id": {GraphId: "tg-1"}, "filter.agent": {Agent: "coder"}} {
		_, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Filter: filter})
		if r := refused(t, err, codes.Unimplemented, pool.ReasonNotAvailableYet); r.info.GetMetadata()["field"] != field {
			t.Errorf("metadata is %v", r.info.GetMetadata())
		}
	}
	_, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{Holder: "a b"}})
	refused(t, err, codes.NotFound, pool.ReasonMemberNotFound)
	_, err = f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Filter: &taskpoolv1.TaskFilter{ParentId: "T-9"}})
	refused(t, err, codes.NotFound, pool.ReasonTaskNotFound)
}

func TestReadTask_views(t *testing.T) {
	f := start(t)
	long := strings.Repeat("y", 300)
	if _, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t", Body: long}}); err != nil {
		t.Fatal(err)
	}
	f.create("after", "T-1")
	if got := f.list(&taskpoolv1.ReadTaskRequest{}).GetTasks()[0]; got.GetBody() != long[:200]+"..." {
		t.Errorf("listed with the body %q", got.GetBody())
	}
	for view, body := range map[taskpoolv1.TaskView]string{0: long, 1: long[:200] + "...", 2: long, 3: ""} {
		resp := f.list(&taskpoolv1.ReadTaskRequest{Id: proto.String("T-1"), View: view})
		if resp.GetTask().GetBody() != body || (len(resp.GetTask().GetDependentIds()) == 1) != (body == long) || resp.GetCursor() == "" {
			t.Errorf("in %v it is %v", view, resp.GetTask())
		}
	}
}

func TestReadTask_threadAndRelatives(t *testing.T) {
	f := start(t)
	f.create("parent")
	for range 2 {
		if _, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "child", ParentId: "T-1"}}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: "T-1", HistoryEntry: fmt.Sprintf("step %d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	req := &taskpoolv1.ReadTaskRequest{Id: proto.String("T-1"), IncludeThread: true, IncludeRelatives: true, ThreadPageSize: 3}
	var ids []int64
	pages := 0
	for {
		resp := f.list(req)
		pages++
		if keys(resp.GetChildren()) != "T-2 T-3" || resp.GetParent() != nil {
			t.Fatalf("the relatives are %v and %v", resp.GetChildren(), resp.GetParent())
		}
		for _, e := range resp.GetEvents() {
			ids = append(ids, e.GetId())
		}
		if req.ThreadPageToken = resp.GetNextThreadPageToken(); req.GetThreadPageToken() == "" {
			break
		}
	}
	if len(ids) != 8 || pages != 3 { // created, two subtasks, five entries
		t.Errorf("%d events on %d pages: %v", len(ids), pages, ids)
	}
	for i := range ids[1:] {
		if ids[i] >= ids[i+1] {
			t.Errorf("the events are not oldest first: %v", ids)
		}
	}
	child := f.list(&taskpoolv1.ReadTaskRequest{Id: proto.String("T-2"), IncludeRelatives: true, IncludeThread: true, MaxBytes: 1})
	if child.GetParent().GetKey() != "T-1" || len(child.GetChildren()) != 0 || len(child.GetEvents()) != 1 {
		t.Errorf("the child is read as %v", child)
	}
	token := f.list(&taskpoolv1.ReadTaskRequest{Id: proto.String("T-1"), IncludeThread: true, ThreadPageSize: 1}).GetNextThreadPageToken()
	_, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{Id: proto.String("T-2"), IncludeThread: true, ThreadPageToken: token})
	refused(t, err, codes.InvalidArgument, pool.ReasonPageTokenMismatch).at(t, "thread_page_token")
}

func TestReadTask_atLeastCursor(t *testing.T) {
	f := start(t)
	f.create("a")
	made := f.set("T-1", inProgress)
	for _, cursor := range []string{made.GetCursor(), f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()} {
		f.list(&taskpoolv1.ReadTaskRequest{AtLeastCursor: cursor})
		f.list(&taskpoolv1.ReadTaskRequest{AtLeastCursor: cursor, Id: proto.String("T-1")})
	}
	head, err := feed.Parse(made.GetCursor())
	if err != nil {
		t.Fatal(err)
	}
	future, epoch, nonce := head, head, head
	future.Revision += 5
	epoch.Epoch = "another"
	nonce.Nonce++
	for name, c := range map[string]feed.Cursor{"future": future, "epoch": epoch, "nonce": nonce} {
		_, err := f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{AtLeastCursor: c.String()})
		r := refused(t, err, codes.OutOfRange, pool.ReasonCursorExpired)
		if r.info.GetMetadata()["head"] != made.GetCursor() || r.info.GetMetadata()["oldest"] == "" {
			t.Errorf("%s: metadata is %v", name, r.info.GetMetadata())
		}
	}
	_, err = f.tasks.ReadTask(f.ctx(), &taskpoolv1.ReadTaskRequest{AtLeastCursor: "nonsense"})
	refused(t, err, codes.InvalidArgument, pool.ReasonMalformedCursor).at(t, "at_least_cursor")
}
