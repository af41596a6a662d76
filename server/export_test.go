package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

const (
	restoring = taskpoolv1.ImportMode_IMPORT_MODE_RESTORE
	merging   = taskpoolv1.ImportMode_IMPORT_MODE_MERGE
)

// export is every message that an export of the pool gives.
func (f *fixture) export(name string) []*taskpoolv1.ExportPoolResponse {
	f.t.Helper()
	stream, err := f.pools.ExportPool(f.ctx(), &taskpoolv1.ExportPoolRequest{Pool: name})
	if err != nil {
		f.t.Fatal(err)
	}
	var all []*taskpoolv1.ExportPoolResponse
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, m)
	}
}

func recordsOf(all []*taskpoolv1.ExportPoolResponse) (records []*taskpoolv1.PoolRecord) {
	for _, m := range all {
		records = append(records, m.GetRecords()...)
	}
	return records
}

// take imports records, so many in a message. The first message is first.
func (f *fixture) take(ctx context.Context, first *taskpoolv1.ImportPoolRequest, records []*taskpoolv1.PoolRecord, size int) (*taskpoolv1.ImportPoolResponse, error) {
	f.t.Helper()
	stream, err := f.pools.ImportPool(ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	m := proto.CloneOf(first)
	for chunk := range slices.Chunk(records, size) {
		m.Records = chunk
		if err := stream.Send(m); err != nil {
			break // the answer says why
		}
		m = &taskpoolv1.ImportPoolRequest{}
	}
	if len(records) == 0 {
		_ = stream.Send(m)
	}
	return stream.CloseAndRecv()
}

func sameMessages[M proto.Message](t *testing.T, got, want []M) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		a, _ := proto.MarshalOptions{Deterministic: true}.Marshal(got[i])
		b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(want[i])
		if string(a) != string(b) {
			t.Fatalf("record %d is\n%v\nwant\n%v", i, got[i], want[i])
		}
	}
}

// tell makes tasks of which something can be told.
func (f *fixture) tell() {
	f.t.Helper()
	f.create("design")
	f.create("build", "T-1")
	f.create("gone")
	if _, err := f.as(task.Human).tasks.DeleteTask(f.as(task.Human).ctx(), &taskpoolv1.DeleteTaskRequest{Id: "T-3"}); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{
		Title: "child", ParentId: "T-2", Labels: map[string]string{"b": "1", "a": "2"}, Steps: []string{"look"}, Type: 2, Priority: 3,
	}}); err != nil {
		f.t.Fatal(err)
	}
	f.set("T-1", inProgress)
	if _, err := f.tasks.UpdateTask(f.ctx(), &taskpoolv1.UpdateTaskRequest{Id: "T-1", HistoryEntry: "half done"}); err != nil {
		f.t.Fatal(err)
	}
}

func TestExport_restoredElsewhereIsTheSame(t *testing.T) {
	from := start(t)
	from.tell()
	want := recordsOf(from.export(""))
	for _, size := range []int{1, 3, 1000} {
		f := start(t).as(task.Human)
		got, err := f.take(f.ctx(), &taskpoolv1.ImportPoolRequest{Mode: restoring}, want, size)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.pools.GetPool(f.ctx(), &taskpoolv1.GetPoolRequest{})
		if err != nil || got.GetCreated() != 3 || got.GetCursor() != info.GetPool().GetCursor() {
			t.Errorf("got %v, the pool is %v, %v", got, info, err)
		}
		sameMessages(t, recordsOf(f.export("default")), want)
	}
}

func TestExport_messages(t *testing.T) {
	f := start(t)
	f.tell()
	large := strings.Repeat("x", 20_000)
	for range 4 {
		drafts := make([]*taskpoolv1.NewTask, 400)
		for i := range drafts {
			drafts[i] = &taskpoolv1.NewTask{Title: "t"}
			if i%8 == 0 {
				drafts[i].Body = large
			}
		}
		if _, err := f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: drafts}); err != nil {
			t.Fatal(err)
		}
	}
	info, err := f.pools.GetPool(f.ctx(), &taskpoolv1.GetPoolRequest{})
	if err != nil {
		t.Fatal(err)
	}
	all := f.export("")
	full := 0
	for _, m := range all {
		if n := len(m.GetRecords()); n == 0 || n > 256 || proto.Size(m) > 1<<20 || m.GetCursor() != info.GetPool().GetCursor() {
			t.Errorf("a message of %d records, %d bytes, at %s", n, proto.Size(m), m.GetCursor())
		} else if n == 256 {
			full++
		}
	}
	if full == 0 || full == len(all) {
		t.Errorf("%d of %d messages have as many records as they may", full, len(all))
	}
	records := recordsOf(all)
	if p := records[0].GetPool(); p.GetName() != "default" || p.GetLimits().GetTitleLength() != 100 || p.GetEditRule() == 0 || p.GetReviewDefault() == 0 ||
		p.GetEpoch() != "" || p.GetCursor() != "" || p.GetCounts() != nil || p.GetCreatedAt() != nil || p.GetIdentity() != 0 {
		t.Errorf("the first record is %v", p)
	}
	if x := records[0].GetExtent(); x.GetTasks() != 1603 || x.GetLastTaskNumber() != 1604 || x.GetEvents() != int64(len(records))-1604 {
		t.Errorf("%d records, and the first says %v", len(records), x)
	}
	// A record that is larger than a message comes alone.
	into := startWith(t, "wide", map[string]int64{"body_length": 1 << 22})
	if _, err := into.tasks.CreateTasks(into.ctx(), &taskpoolv1.CreateTasksRequest{Pool: "wide", Tasks: []*taskpoolv1.NewTask{
		{Title: "a"}, {Title: "b", Body: strings.Repeat("x", 3<<20)}, {Title: "c"},
	}}); err != nil {
		t.Fatal(err)
	}
	if got := into.export("wide"); len(got) != 3 || len(got[1].GetRecords()) != 1 || got[1].GetRecords()[0].GetTask().GetTitle() != "b" {
		t.Errorf("%d messages", len(got))
	}
}

// startWith has a pool with limits of its own.
func startWith(t *testing.T, name string, limits map[string]int64) *fixture {
	t.Helper()
	f := start(t)
	m := &taskpoolv1.PoolLimits{}
	for field, value := range limits {
		d := m.ProtoReflect().Descriptor().Fields().ByTextName(field)
		m.ProtoReflect().Set(d, protoreflect.ValueOfInt64(value))
	}
	if _, err := f.pools.CreatePool(f.ctx(), &taskpoolv1.CreatePoolRequest{Name: name, Limits: m}); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestExport_ofNoPool(t *testing.T) {
	f := start(t)
	stream, err := f.pools.ExportPool(f.ctx(), &taskpoolv1.ExportPoolRequest{Pool: "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	refused(t, err, codes.NotFound, pool.ReasonPoolNotFound)
}

// While tasks change, an export is of one revision.
func TestExport_whileThePoolChanges(t *testing.T) {
	f := start(t)
	drafts := make([]*taskpoolv1.NewTask, 2000)
	for i := range drafts {
		drafts[i] = &taskpoolv1.NewTask{Title: fmt.Sprint(i)}
	}
	if _, err := f.tasks.CreateTasks(f.ctx(), &taskpoolv1.CreateTasksRequest{Tasks: drafts}); err != nil {
		t.Fatal(err)
	}
	want := recordsOf(f.export(""))
	stream, err := f.pools.ExportPool(f.ctx(), &taskpoolv1.ExportPoolRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var got []*taskpoolv1.PoolRecord
	for i := 0; ; i++ {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.GetRecords()...)
		f.set(fmt.Sprintf("T-%d", 2000-i), done)
	}
	sameMessages(t, got, want)
}
