package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// The server to compare with: gRPC with the same messages, and nothing behind it.
// Its watch is the plain way to write one: each change is marshalled for each
// watcher, so many in a message.
type emptyServer struct {
	taskpoolv1.UnimplementedTaskServiceServer
	created, large *taskpoolv1.CreateTaskResponse
	read           *taskpoolv1.ReadTaskResponse
	changes, batch int
	change         *taskpoolv1.TaskChange
}

func (e *emptyServer) CreateTask(_ context.Context, req *taskpoolv1.CreateTaskRequest) (*taskpoolv1.CreateTaskResponse, error) {
	if req.GetRequestId() == "large" {
		return e.large, nil
	}
	return e.created, nil
}

func (e *emptyServer) ReadTask(context.Context, *taskpoolv1.ReadTaskRequest) (*taskpoolv1.ReadTaskResponse, error) {
	return e.read, nil
}

func (e *emptyServer) WatchTasks(_ *taskpoolv1.WatchTasksRequest, stream grpc.ServerStreamingServer[taskpoolv1.WatchTasksResponse]) error {
	for i := 0; i < e.changes; i += e.batch {
		err := stream.Send(&taskpoolv1.WatchTasksResponse{
			Cursor: "AQAAAAAAAAAAAAAAAAAAAAAAAAAA", Revision: int64(i),
			Message: &taskpoolv1.WatchTasksResponse_Changes{Changes: &taskpoolv1.WatchChanges{
				Changes: slices.Repeat([]*taskpoolv1.TaskChange{e.change}, min(e.batch, e.changes-i)),
			}},
		})
		if err != nil {
			return err
		}
	}
	<-stream.Context().Done()
	return stream.Context().Err()
}

// serveEmpty is the process of that server.
func serveEmpty(args []string) error {
	flags := flag.NewFlagSet("empty", flag.ContinueOnError)
	same := flags.Bool("same", false, "with the options of the product that concern speed")
	changes := flags.Int("changes", 0, "how many changes a watch has")
	batch := flags.Int("batch", 1, "how many of them a message has")
	file := flags.String("change", "", "a file with the TaskChange that all of them are")
	if err := flags.Parse(args); err != nil {
		return err
	}
	change := &taskpoolv1.TaskChange{}
	if *file != "" {
		b, err := os.ReadFile(*file)
		if err != nil {
			return err
		}
		if err := proto.Unmarshal(b, change); err != nil {
			return err
		}
	}
	var options []grpc.ServerOption
	if *same {
		options = sameOptions()
	}
	now := timestamppb.New(time.Unix(1_800_000_000, 0))
	draft := draft(0)
	task := &taskpoolv1.Task{
		Id: "5a1f0c2e-0d3c-4a6e-9d53-0c6a5a4f7a11", Key: "T-1000", Title: draft.GetTitle(), Status: taskpoolv1.TaskStatus_TASK_STATUS_READY,
		Revision: 1000, Version: 1, UpdatedAt: now, CreatedAt: now, CreatedBy: "agent:bench", Labels: draft.GetLabels(),
		Priority: draft.GetPriority(), Type: draft.GetType(), Description: draft.GetDescription(), Body: draft.GetBody(),
		AcceptanceCriteria: draft.GetAcceptanceCriteria(), Steps: draft.GetSteps(),
	}
	const cursor = "AQAAAAAAAAAAAAAAAAAAAAAAAAAA"
	e := &emptyServer{
		created: &taskpoolv1.CreateTaskResponse{Task: &taskpoolv1.Task{Id: task.GetId()}, Cursor: cursor[:14]},
		large:   &taskpoolv1.CreateTaskResponse{Task: task, Cursor: cursor},
		read:    &taskpoolv1.ReadTaskResponse{Task: task, Cursor: cursor}, changes: *changes, batch: *batch, change: change,
	}
	s := grpc.NewServer(options...)
	taskpoolv1.RegisterTaskServiceServer(s, e)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening grpc=%s http=off\n", l.Addr())
	return s.Serve(l)
}

// draft is a task of about 1 KB, as people write them.
func draft(i int) *taskpoolv1.NewTask {
	return &taskpoolv1.NewTask{
		Title:              fmt.Sprintf("Make the thing number %d work as it should", i),
		Description:        "It does not do what it says, which was reported twice by people who need it to.",
		Body:               strings.Repeat("What is known of it by now, at some length. ", 9),
		AcceptanceCriteria: []string{"it does what it says", "there is a test for it that fails without it"},
		Steps:              []string{"find out why it does not work", "write the test", "mend it", "look for others of its kind"},
		Priority:           taskpoolv1.TaskPriority_TASK_PRIORITY_MEDIUM, Type: taskpoolv1.TaskType_TASK_TYPE_BUG,
		Labels: map[string]string{"area": "things", "team": "core"},
	}
}
