package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// sampleChanges are changes of every kind, with and without the pool's bytes.
func sampleChanges(t *testing.T) []pool.WatchChange {
	t.Helper()
	at := time.Unix(1_700_000_000, 5).UTC()
	long := &task.Task{
		ID: "5a1f0c2e-0d3c-4a6e-9d53-0c6a5a4f7a11", Number: 7, Title: "日本 👩‍👩‍👧", Status: task.Ready, Priority: task.High, CreatedAt: at, UpdatedAt: at,
		Revision: 9, Version: 2, CreatedBy: "agent:a", Labels: map[string]string{"b": "2", "a": "1"},
		Brief: (&task.Brief{Description: strings.Repeat("long ", 400), Steps: []string{strings.Repeat("step ", 200), "two"}}).Pack(),
	}
	events := []*task.Event{
		{ID: 1, TaskID: long.ID, At: at, Actor: "agent:a", Kind: task.EventCreated, Detail: task.CreatedDetail{Title: long.Title}},
		{ID: 2, TaskID: long.ID, At: at, Actor: task.SystemPool, Kind: task.EventStatus, Detail: task.StatusDetail{From: task.Pending, To: task.Ready}},
	}
	changes := []pool.WatchChange{
		{Revision: 9, TaskID: long.ID, Kind: pool.Upserted, Task: long, Events: events},
		{Revision: 9, TaskID: "x", Kind: pool.LeftView, Events: events[1:]},
		{Revision: 1 << 40, TaskID: "y", Kind: pool.Deleted},
		{Revision: 12, TaskID: long.ID, Kind: pool.Upserted, Task: &task.Task{ID: long.ID, Number: 7, Title: "short"}},
	}
	encoded, err := watchView{view: fullView}.element(&changes[0])
	if err != nil {
		t.Fatal(err)
	}
	again := changes[0]
	again.Encoded = encoded
	return append(changes, again)
}

// want is the message that a batch is, made without any of the server's doing.
func want(batch pool.WatchBatch, view taskpoolv1.TaskView, preview int) *taskpoolv1.WatchTasksResponse {
	m := &taskpoolv1.WatchChanges{More: batch.More}
	for _, c := range batch.Changes {
		change := &taskpoolv1.TaskChange{Revision: c.Revision, TaskId: c.TaskID, Kind: taskpoolv1.ChangeKind(c.Kind), Events: taskpb.Events(c.Events)}
		if c.Task != nil {
			change.Task = taskpb.Task(c.Task, view, preview)
		}
		m.Changes = append(m.Changes, change)
	}
	resp := &taskpoolv1.WatchTasksResponse{Message: &taskpoolv1.WatchTasksResponse_Changes{Changes: m}}
	if batch.Cursor != (feed.Cursor{}) {
		resp.Cursor, resp.Revision = batch.Cursor.String(), batch.Cursor.Revision
	}
	return resp
}

// A frame is what marshalling the message would give, whatever it is put
// together from.
func TestFrame(t *testing.T) {
	changes := sampleChanges(t)
	cursor := feed.Cursor{Epoch: "dd0f4377a40ad2fc", Revision: 12, Nonce: 3, Filter: 9}
	for name, batch := range map[string]pool.WatchBatch{
		"all":            {Changes: changes, Cursor: cursor},
		"more":           {Changes: changes, More: true},
		"one":            {Changes: changes[:1], Cursor: cursor},
		"one, encoded":   {Changes: changes[4:], Cursor: cursor},
		"none":           {Cursor: cursor},
		"none, and more": {More: true},
	} {
		for _, view := range []taskpoolv1.TaskView{fullView, taskpoolv1.TaskView_TASK_VIEW_PREVIEW, taskpoolv1.TaskView_TASK_VIEW_COMPACT} {
			t.Run(fmt.Sprint(name, view), func(t *testing.T) {
				f, err := watchView{view, 60}.changes(batch)
				if err != nil {
					t.Fatal(err)
				}
				pieces, err := codec().Marshal(f)
				if err != nil {
					t.Fatal(err)
				}
				pieces.Free() // as gRPC does, once for every stream
				b := pieces.Materialize()
				if len(b) != f.size {
					t.Errorf("it has %d bytes and says %d", len(b), f.size)
				}
				got := &taskpoolv1.WatchTasksResponse{}
				if err := proto.Unmarshal(b, got); err != nil {
					t.Fatal(err)
				}
				message := want(batch, view, 60)
				if !proto.Equal(got, message) {
					t.Errorf("got %v\nwant %v", got, message)
				}
				whole, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
				if err != nil {
					t.Fatal(err)
				}
				if len(whole) != len(b) {
					t.Errorf("it has %d bytes, marshalling it gives %d", len(b), len(whole))
				}
			})
		}
	}
}

// The bytes that all watches share are sent as they are, not copied.
func TestFrame_sharesBytes(t *testing.T) {
	element := []byte("an element")
	f := changesFrame("c", 1, true, [][]byte{element, element})
	found := 0
	for _, p := range f.pieces {
		if b := p.ReadOnlyData(); &b[0] == &element[0] {
			found++
		}
	}
	if found != 2 || len(f.pieces) != 4 {
		t.Errorf("%d of %d pieces are the element", found, len(f.pieces))
	}
}

// The numbers that a frame is written with are those of the API.
func TestFrame_fieldNumbers(t *testing.T) {
	response := (&taskpoolv1.WatchTasksResponse{}).ProtoReflect().Descriptor().Fields()
	changes := (&taskpoolv1.WatchChanges{}).ProtoReflect().Descriptor().Fields()
	for name, pair := range map[string][2]protowire.Number{
		"cursor":          {response.ByName("cursor").Number(), responseCursorField},
		"changes":         {response.ByName("changes").Number(), responseChangesField},
		"revision":        {response.ByName("revision").Number(), responseRevisionField},
		"changes.changes": {changes.ByName("changes").Number(), changesChangesField},
		"changes.more":    {changes.ByName("more").Number(), changesMoreField},
		"snapshot.tasks":  {(&taskpoolv1.WatchSnapshot{}).ProtoReflect().Descriptor().Fields().ByName("tasks").Number(), snapshotTasksField},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s has the number %d, not %d", name, pair[0], pair[1])
		}
	}
}

// A snapshot comes in parts of at most 256 tasks and 1 MiB; one task that is
// larger comes alone.
func TestSnapshotParts(t *testing.T) {
	sized := func(n int) *task.Task {
		return &task.Task{Title: "x", Brief: (&task.Brief{Body: strings.Repeat("y", n)}).Pack()}
	}
	repeat := func(n int, t *task.Task) []*task.Task {
		all := make([]*task.Task, n)
		for i := range all {
			all[i] = t
		}
		return all
	}
	for name, c := range map[string]struct {
		tasks []*task.Task
		parts string
	}{
		"none":              {nil, "[]"},
		"one":               {repeat(1, sized(1)), "[1]"},
		"256":               {repeat(256, sized(1)), "[256]"},
		"257":               {repeat(257, sized(1)), "[256 1]"},
		"bytes":             {repeat(5, sized(400<<10)), "[2 2 1]"},
		"a large one":       {append(append(repeat(2, sized(1)), sized(3<<20)), sized(1)), "[2 1 1]"},
		"large ones":        {repeat(2, sized(2<<20)), "[1 1]"},
		"just below a MiB":  {repeat(2, sized(1<<19-100)), "[2]"},
		"just above a MiB":  {repeat(2, sized(1<<19)), "[1 1]"},
		"all in one and on": {repeat(600, sized(1)), "[256 256 88]"},
	} {
		t.Run(name, func(t *testing.T) {
			parts := []int{}
			err := watchView{view: fullView}.snapshotParts(c.tasks, func(m *taskpoolv1.WatchTasksResponse, size int) error {
				n := len(m.GetSnapshot().GetTasks())
				parts = append(parts, n)
				if whole := proto.Size(m); n > 1 && whole > maxMessageBytes+16 || size > whole {
					t.Errorf("a part of %d tasks has %d bytes, and is said to have %d", n, whole, size)
				}
				return nil
			})
			if err != nil || fmt.Sprint(parts) != c.parts {
				t.Errorf("the parts are %v, %v; want %s", parts, err, c.parts)
			}
		})
	}
}
