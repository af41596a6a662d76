package server

import (
	"context"

	"google.golang.org/grpc"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
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
	checkView(&v, req.GetView())
	var malformed error
	switch start := req.GetStart().(type) {
	case *taskpoolv1.WatchTasksRequest_AfterCursor:
		o.Start = pool.FromCursor
		o.After, malformed = feed.Parse(start.AfterCursor)
	case *taskpoolv1.WatchTasksRequest_Now:
		o.Start = pool.FromNow
	default:
		o.Start = pool.FromSnapshot
	}
	v = append(v, o.Check()...)
	if malformed != nil {
		const field, why = "after_cursor", "is no cursor of this service: send one back as it was given, or leave it out to start with a snapshot"
		if len(v) == 0 { // the reason of its own is told where nothing else is wrong
			return o, violation(pool.ReasonMalformedCursor, field, why)
		}
		v.Add(field, why)
	}
	return o, invalid(v)
}
