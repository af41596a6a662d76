package server

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// CreateTask implements [taskpoolv1.TaskServiceServer].
func (s *taskService) CreateTask(ctx context.Context, req *taskpoolv1.CreateTaskRequest) (*taskpoolv1.CreateTaskResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	r := requestOf(ctx, req, &v)
	if req.GetTask() == nil {
		v.Add("task", "is absent: say what is to be created")
	}
	if req.GetTask().GetRef() != "" {
		v.Add("task.ref", "names a task within CreateTasks: leave it out here")
	}
	drafts, err := draftsOf(&v, p.Limits(), []*taskpoolv1.NewTask{req.GetTask()}, func(int) string { return "task" })
	if err != nil {
		return nil, err
	}
	result, err := p.Create(ctx, r, drafts[0])
	if err != nil {
		return nil, err
	}
	return answered(&taskpoolv1.CreateTaskResponse{Cursor: result.Cursor.String(), Replayed: result.Replayed}, result), nil
}

// CreateTasks implements [taskpoolv1.TaskServiceServer].
func (s *taskService) CreateTasks(ctx context.Context, req *taskpoolv1.CreateTasksRequest) (*taskpoolv1.CreateTasksResponse, error) {
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return nil, err
	}
	defer release()
	var v task.Violations
	r := requestOf(ctx, req, &v)
	var drafts []task.Draft
	if len(req.GetTasks()) <= p.Limits().TasksPerBatch { // else the pool refuses them unread
		drafts, err = draftsOf(&v, p.Limits(), req.GetTasks(), func(i int) string { return fmt.Sprintf("tasks[%d]", i) })
	} else {
		drafts, err = make([]task.Draft, len(req.GetTasks())), invalid(v)
	}
	if err != nil {
		return nil, err
	}
	result, err := p.CreateAll(ctx, r, drafts)
	if err != nil {
		return nil, err
	}
	resp := &taskpoolv1.CreateTasksResponse{Tasks: created(result, fullView), Cursor: result.Cursor.String(), Replayed: result.Replayed}
	if result.Replayed && proto.Size(resp) > MaxMessageBytes {
		// They have grown since, and one answer can't hold them any more.
		resp.Tasks = created(result, taskpoolv1.TaskView_TASK_VIEW_COMPACT)
	}
	return resp, nil
}

// created are the tasks of a batch, in its order; those that are gone have their
// id alone.
func created(r pool.Result, view taskpoolv1.TaskView) []*taskpoolv1.Task {
	tasks := make([]*taskpoolv1.Task, len(r.Tasks))
	for i, d := range r.Tasks {
		if d.Number == 0 { // gone since
			tasks[i] = &taskpoolv1.Task{Id: d.ID}
		} else {
			tasks[i] = taskpb.Task(d.Task, view, 0)
		}
	}
	return tasks
}

// draftsOf reads new tasks. v is what is wrong with the request already; if
// anything is, the answer has that and all that is wrong with the tasks.
func draftsOf(v *task.Violations, limits task.Limits, all []*taskpoolv1.NewTask, field func(int) string) ([]task.Draft, error) {
	drafts := make([]task.Draft, len(all))
	unread := map[int]task.Violations{}
	for i, m := range all {
		d, found, err := taskpb.Draft(m)
		if later, ok := errors.AsType[*taskpb.LaterError](err); ok {
			return nil, &pool.LaterError{Feature: later.Feature, Field: field(i) + "." + later.Field}
		}
		drafts[i] = d
		if len(found) > 0 {
			unread[i] = found
		}
	}
	if len(*v) == 0 && len(unread) == 0 {
		return drafts, nil
	}
	for i, m := range all {
		if m != nil {
			_, found := drafts[i].Check(limits)
			*v = append(*v, append(unread[i], found...).At(field(i))...)
		}
	}
	return nil, invalid(*v)
}
