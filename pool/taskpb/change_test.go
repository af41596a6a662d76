package taskpb_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// Changes laid end to end are the message that marshalling them would give.
func TestCodec_AppendChange(t *testing.T) {
	var c taskpb.Codec
	at := time.Unix(1_700_000_000, 5).UTC()
	made := &task.Task{
		ID: "6f1d7b0a-3c0e-4a52-9d0a-5f2c3b1a9e77", Number: 3, Title: "A title", Status: task.Ready,
		Brief: (&task.Brief{Body: "text"}).Pack(), CreatedAt: at, UpdatedAt: at, Revision: 300, Version: 1, CreatedBy: "agent:a",
	}
	created := &task.Event{ID: 9, TaskID: made.ID, At: at, Actor: "agent:a", Kind: task.EventCreated, Detail: task.CreatedDetail{Title: "A title"}}
	progress := &task.Event{ID: 10, TaskID: made.ID, At: at, Actor: "agent:a", Kind: task.EventProgress, Body: "begun"}
	encode := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := c.AppendChange(nil, 300, made.ID, encode(c.EncodeTask(made)), [][]byte{encode(c.EncodeEvent(created)), encode(c.EncodeEvent(progress))})
	b = c.AppendChange(b, 301, "gone", nil, nil)
	want := &taskpoolv1.WatchChanges{Changes: []*taskpoolv1.TaskChange{
		{
			Revision: 300, TaskId: made.ID, Kind: taskpoolv1.ChangeKind_CHANGE_KIND_UPSERTED,
			Task: taskpb.Task(made, 0, 0), Events: []*taskpoolv1.TaskEvent{taskpb.Event(created), taskpb.Event(progress)},
		},
		{Revision: 301, TaskId: "gone", Kind: taskpoolv1.ChangeKind_CHANGE_KIND_DELETED},
	}}
	var got taskpoolv1.WatchChanges
	if err := proto.Unmarshal(b, &got); err != nil || !proto.Equal(&got, want) {
		t.Fatalf("%v: %v, want %v", err, &got, want)
	}
	if marshalled, err := (proto.MarshalOptions{Deterministic: true}).Marshal(want); err != nil || string(marshalled) != string(b) {
		t.Errorf("the bytes are not those of marshalling: %x, want %x (%v)", b, marshalled, err)
	}
}
