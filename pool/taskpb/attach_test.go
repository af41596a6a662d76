package taskpb_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// What is set as bytes arrives as what is set as a message.
func TestSetTask(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := tasks().Draw(t, "task")
		thread := rapid.SliceOfN(events(), 0, 4).Draw(t, "thread")
		thread = append(thread, &task.Event{Kind: task.EventProgress, Body: "half done"}, &task.Event{Kind: task.EventProgress, Actor: "agent:a", At: sample().CreatedAt})
		dependents := idLists().Draw(t, "dependents")

		got := &taskpoolv1.CreateTaskResponse{Cursor: "c", Replayed: true}
		taskpb.SetTask(got, one)
		want := &taskpoolv1.CreateTaskResponse{Cursor: "c", Replayed: true, Task: taskpb.Task(one, taskpoolv1.TaskView_TASK_VIEW_FULL, 0)}
		arrive(t, got, want, &taskpoolv1.CreateTaskResponse{})

		read := &taskpoolv1.ReadTaskResponse{Cursor: "c"}
		until := instants().Draw(t, "until")
		taskpb.SetDetail(read, one, thread, dependents, until)
		detail := taskpb.Detail(one, thread, dependents)
		if !until.IsZero() {
			detail.HoldExpiresAt = timestamppb.New(until)
		}
		arrive(t, read, &taskpoolv1.ReadTaskResponse{Cursor: "c", Task: detail}, &taskpoolv1.ReadTaskResponse{})

		claimed := &taskpoolv1.ClaimTaskResponse{Cursor: "c"}
		taskpb.SetHeld(claimed, one, until)
		held := taskpb.Task(one, taskpoolv1.TaskView_TASK_VIEW_FULL, 0)
		held.HoldExpiresAt = detail.GetHoldExpiresAt()
		arrive(t, claimed, &taskpoolv1.ClaimTaskResponse{Cursor: "c", Task: held}, &taskpoolv1.ClaimTaskResponse{})
	})
}

func arrive(t *rapid.T, sent, want, received proto.Message) {
	b, err := proto.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(b, received); err != nil || !proto.Equal(received, want) {
		t.Fatalf("got %v (error %v)\nwant %v", received, err, want)
	}
}
