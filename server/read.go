package server

import (
	"context"
	"slices"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// ReadTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) ReadTask(ctx context.Context, req *taskpoolv1.ReadTaskRequest) (*taskpoolv1.ReadTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	if err := checkRead(req); err != nil {
		return nil, err
	}
	if err := atLeast(ctx, p, req.GetAtLeastCursor()); err != nil {
		return nil, err
	}
	if req.Id != nil {
		return readOne(p, req)
	}
	return readPage(ctx, p, req)
}

// checkRead refuses what can't be asked for together.
func checkRead(req *taskpoolv1.ReadTaskRequest) error {
	var v task.Violations
	refuse := func(asked bool, field, why string) {
		if asked {
			v.Add(field, "%s", why)
		}
	}
	if req.Id != nil {
		needID(&v, req.GetId())
		const why = "selects among many, and id names one: send one of the two"
		refuse(req.GetFilter() != nil, "filter", why)
		refuse(req.GetPageSize() != 0, "page_size", why)
		refuse(req.GetPageToken() != "", "page_token", why)
		refuse(req.GetIncludeTotal(), "include_total", why)
	} else {
		const why = "is of one task, and this request lists many: name the task in id, or leave it out"
		refuse(req.GetIncludeThread(), "include_thread", why)
		refuse(req.GetIncludeRelatives(), "include_relatives", why)
	}
	if !req.GetIncludeThread() {
		const why = "is of the thread: set include_thread, too, or leave it out"
		refuse(req.GetThreadPageSize() != 0, "thread_page_size", why)
		refuse(req.GetThreadPageToken() != "", "thread_page_token", why)
	}
	checkView(&v, req.GetView())
	pageSize(&v, "page_size", req.GetPageSize())
	pageSize(&v, "thread_page_size", req.GetThreadPageSize())
	pageBytes(&v, "max_bytes", req.GetMaxBytes())
	return invalid(v)
}

// readOne answers with one task and what was asked for with it, all of one
// revision.
func readOne(p *pool.Pool, req *taskpoolv1.ReadTaskRequest) (*taskpoolv1.ReadTaskResponse, error) {
	d, relatives, err := p.Relatives(req.GetId())
	if err != nil {
		return nil, err
	}
	preview := p.Limits().HistoryPreviewLength
	resp := &taskpoolv1.ReadTaskResponse{Cursor: d.Cursor.String()}
	switch req.GetView() {
	case taskpoolv1.TaskView_TASK_VIEW_UNSPECIFIED, fullView:
		taskpb.SetDetail(resp, d.Task, d.Thread, d.Dependents, d.ExpiresAt)
	default:
		resp.Task = taskpb.Task(d.Task, req.GetView(), preview)
	}
	if req.GetIncludeRelatives() {
		resp.Children = taskpb.Tasks(relatives.Children, taskpoolv1.TaskView_TASK_VIEW_PREVIEW, preview)
		if relatives.Parent != nil {
			resp.Parent = taskpb.Task(relatives.Parent, taskpoolv1.TaskView_TASK_VIEW_PREVIEW, preview)
		}
	}
	if req.GetIncludeThread() {
		err = readThread(resp, p, d, req)
	}
	return resp, err
}

// readThread adds a page of the task's thread, oldest first.
func readThread(resp *taskpoolv1.ReadTaskResponse, p *pool.Pool, d *pool.Detail, req *taskpoolv1.ReadTaskRequest) error {
	var v task.Violations // found by checkRead
	size, most := pageSize(&v, "", req.GetThreadPageSize()), pageBytes(&v, "", req.GetMaxBytes())
	query := queryHash(&taskpoolv1.ReadTaskRequest{Pool: p.Name(), Id: &d.ID, IncludeThread: true})
	token, err := continued("thread_page_token", req.GetThreadPageToken(), query)
	if err != nil {
		return err
	}
	first, found := slices.BinarySearchFunc(d.Thread, token.after, func(e *task.Event, id int64) int { return int(e.ID - id) })
	if found {
		first++
	}
	rest := d.Thread[first:]
	resp.Events = taskpb.Events(rest[:min(size, len(rest))])
	resp.Events = resp.Events[:fitting(resp.Events, most)]
	if n := len(resp.Events); n < len(rest) {
		token.after = rest[n-1].ID
		resp.NextThreadPageToken = token.String()
	}
	return nil
}

// readPage answers with a page of the tasks that a filter selects.
func readPage(ctx context.Context, p *pool.Pool, req *taskpoolv1.ReadTaskRequest) (*taskpoolv1.ReadTaskResponse, error) {
	filter, v, err := filterOf(req.GetFilter())
	if err != nil {
		return nil, err
	}
	size, most := pageSize(&v, "page_size", req.GetPageSize()), pageBytes(&v, "max_bytes", req.GetMaxBytes())
	if err := invalid(v); err != nil {
		return nil, err
	}
	token, err := continued("page_token", req.GetPageToken(), pageQuery(ctx, p, req))
	if err != nil {
		return nil, err
	}
	page, err := p.List(ctx, actorOf(ctx), pool.Query{Filter: filter, After: token.after, Size: size, Count: req.GetIncludeTotal()})
	if err != nil {
		return nil, err
	}
	if token.cursor == "" {
		token.cursor, token.name = page.Cursor.String(), page.Cursor.Epoch
	} else if token.name != page.Cursor.Epoch {
		return nil, violation(pool.ReasonPageTokenMismatch, "page_token", "is of a time before the pool was cleared or restored: begin with the first page")
	}
	view := orDefault(req.GetView(), taskpoolv1.TaskView_TASK_VIEW_PREVIEW)
	resp := &taskpoolv1.ReadTaskResponse{Tasks: taskpb.Tasks(page.Tasks, view, p.Limits().HistoryPreviewLength), Cursor: token.cursor}
	n := fitting(resp.Tasks, most)
	resp.Tasks = resp.Tasks[:n]
	if page.More || n < len(page.Tasks) {
		token.after = page.Tasks[n-1].Number
		resp.NextPageToken = token.String()
	}
	if req.GetIncludeTotal() {
		resp.TotalMatches, resp.TotalIsExact = page.Total, page.Exact
	}
	return resp, nil
}

// pageQuery is the hash of what the pages of a listing have in common.
func pageQuery(ctx context.Context, p *pool.Pool, req *taskpoolv1.ReadTaskRequest) uint64 {
	view := orDefault(req.GetView(), taskpoolv1.TaskView_TASK_VIEW_PREVIEW)
	query := &taskpoolv1.ReadTaskRequest{Pool: p.Name(), Filter: req.GetFilter(), View: view}
	if dependsOnActor(req.GetFilter()) {
		return queryHash(query, actorOf(ctx))
	}
	return queryHash(query)
}
