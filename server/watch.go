package server

import (
	"context"

	"google.golang.org/grpc"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// WatchTasks implements [taskpoolv1.TaskServiceServer]. It always ends with an
// error, so that no caller takes a cut stream for a finished one.
func (s *taskService) WatchTasks(req *taskpoolv1.WatchTasksRequest, stream grpc.ServerStreamingServer[taskpoolv1.WatchTasksResponse]) error {
	ctx := stream.Context()
	p, release, err := s.acquire(ctx, req.GetPool())
	if err != nil {
		return err
	}
	options, err := watchOptions(ctx, req)
	if err != nil {
		release()
		return err
	}
	w, err := p.Watch(ctx, actorOf(ctx), options)
	if err != nil {
		release()
		return err
	}
	r := &watchRun{
		server: s.server, stream: stream, watch: w, start: options.Start,
		view: watchView{orDefault(req.GetView(), fullView), p.Limits().HistoryPreviewLength},
		done: func() { w.Close(); release() },
	}
	return r.supervise(ctx)
}

// watchOptions reads what to watch, and refuses what can't be, all at once.
func watchOptions(ctx context.Context, req *taskpoolv1.WatchTasksRequest) (pool.WatchOptions, error) {
	o := pool.WatchOptions{ExcludeActor: req.GetExcludeActor(), FilterHash: filterHash(req.GetFilter(), actorOf(ctx))}
	filter, v, err := filterOf(req.GetFilter())
	if err != nil {
		return o, err
	}
	if req.GetFilter() != nil {
		o.Filter = &filter
	}
	noText(&v, req.GetFilter())
	checkView(&v, req.GetView())
	switch start := req.GetStart().(type) {
	case *taskpoolv1.WatchTasksRequest_AfterCursor:
		o.Start = pool.FromCursor
		o.After, err = after(&v, start.AfterCursor, o.FilterHash)
	case *taskpoolv1.WatchTasksRequest_Now:
		o.Start = pool.FromNow
	default:
		o.Start = pool.FromSnapshot
	}
	if err != nil {
		return o, err
	}
	return o, invalid(v)
}

// after reads the cursor to go on after. One that is no cursor has a reason of
// its own, where nothing else is wrong.
func after(v *task.Violations, text string, filter uint32) (feed.Cursor, error) {
	const field = "after_cursor"
	c, err := feed.Parse(text)
	switch {
	case err != nil:
		const why = "is no cursor of this service: send one back as it was given, or leave it out to start with a snapshot"
		if len(*v) == 0 {
			return c, violation(pool.ReasonMalformedCursor, field, why)
		}
		v.Add(field, why)
	case c.Filter != 0 && c.Filter != filter:
		v.Add(field, "is of a watch with another filter, whose view was another: send the filter that it came with, or leave it out to start with a snapshot")
	}
	return c, nil
}
