package taskpb_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

var codec taskpb.Codec

func TestCodec_taskRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := tasks().Draw(t, "task")
		b, err := codec.EncodeTask(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := codec.DecodeTask(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("decoded\n%+v\nwant\n%+v", got, want)
		}
		again, err := codec.EncodeTask(got)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("encoding the decoded task gives other bytes (error %v)", err)
		}
		var m taskpoolv1.Task
		if err := proto.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if by, err := taskpb.EncodeBy(want); err != nil || !bytes.Equal(by, b) {
			t.Fatalf("the message encodes to other bytes (error %v)\n%x\n%x", err, by, b)
		}
		if by, err := taskpb.DecodeBy(b); err != nil || !reflect.DeepEqual(by, want) {
			t.Fatalf("by its message it decodes to\n%+v (error %v)\nwant\n%+v", by, err, want)
		}
		if _, ok := taskpb.ScanTask(b); !ok && !old(want) {
			t.Fatalf("only the slow way reads %+v", want)
		}
		if !proto.Equal(&m, taskpb.Task(want, taskpoolv1.TaskView_TASK_VIEW_FULL, 1)) {
			t.Fatal("the bytes are not those of the FULL view")
		}
	})
}

// old says whether a task has an instant that only the slow way reads.
func old(t *task.Task) bool {
	for _, at := range []time.Time{t.CreatedAt, t.UpdatedAt, t.ClosedAt, t.HeldAt, t.NotBefore} {
		if at.Unix() < 0 && !at.IsZero() {
			return true
		}
	}
	return t.Number >= 1e18
}

func TestCodec_eventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := events().Draw(t, "event")
		b, err := codec.EncodeEvent(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := codec.DecodeEvent(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("decoded\n%+v\nwant\n%+v", got, want)
		}
		again, err := codec.EncodeEvent(got)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("encoding the decoded event gives other bytes (error %v)", err)
		}
		if by, err := taskpb.EncodeEventBy(want); err != nil || !bytes.Equal(by, b) {
			t.Fatalf("the message encodes to other bytes (error %v)\n%x\n%x", err, by, b)
		}
		if by, err := taskpb.DecodeEventBy(b); err != nil || !reflect.DeepEqual(by, want) {
			t.Fatalf("by its message it decodes to\n%+v (error %v)\nwant\n%+v", by, err, want)
		}
		quick := want.Kind <= task.EventReleased && (want.At.IsZero() || want.At.Unix() >= 0)
		if _, ok := taskpb.ScanEvent(b); !ok && quick {
			t.Fatalf("only the slow way reads %+v", want)
		}
		var m taskpoolv1.TaskEvent
		if err := proto.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(&m, taskpb.Event(want)) {
			t.Fatal("the bytes are not those of the event for callers")
		}
	})
}

func TestCodec_isDeterministic(t *testing.T) {
	one := sample()
	one.Labels = map[string]string{}
	for i := range 30 {
		one.Labels[fmt.Sprintf("key-%d", i)] = strings.Repeat("v", i)
	}
	first, err := codec.EncodeTask(one)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, err := codec.EncodeTask(one); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("two encodings of one task differ (error %v)", err)
		}
	}
}

func TestCodec_refusesToWrite(t *testing.T) {
	bad := sample()
	bad.Title = "\xff"
	if _, err := codec.EncodeTask(bad); err == nil {
		t.Error("a title that is not UTF-8 was written")
	}
	e := &task.Event{ID: 1, Kind: task.EventStatus, Detail: task.CreatedDetail{}}
	if _, err := codec.EncodeEvent(e); err == nil {
		t.Error("an event with the detail of another kind was written")
	}
	if m := taskpb.Event(e); m.GetDetail() != nil {
		t.Errorf("a caller sees the detail %v of another kind", m.GetDetail())
	}
	if _, err := codec.EncodeEvent(&task.Event{ID: 1, Kind: task.EventStatus, Body: "\xff"}); err == nil {
		t.Error("a body that is not UTF-8 was written")
	}
}

// What this version can't keep it must not read, or an older server would drop
// what a newer one wrote.
func TestCodec_refusesToReadTask(t *testing.T) {
	for name, spoil := range map[string]func(*taskpoolv1.Task){
		"unknown field":      func(m *taskpoolv1.Task) { m.ProtoReflect().SetUnknown([]byte{0xf8, 0x3f, 1}) },
		"contract":           func(m *taskpoolv1.Task) { m.Contract = &taskpoolv1.Contract{} },
		"graph":              func(m *taskpoolv1.Task) { m.GraphId = "tg-1" },
		"attempts":           func(m *taskpoolv1.Task) { m.Attempts = []*taskpoolv1.Attempt{{}} },
		"history":            func(m *taskpoolv1.Task) { m.History = []*taskpoolv1.ProgressEntry{{}} },
		"dependents":         func(m *taskpoolv1.Task) { m.DependentIds = []string{"x"} },
		"hold expiry":        func(m *taskpoolv1.Task) { m.HoldExpiresAt = &timestamppb.Timestamp{} },
		"no key":             func(m *taskpoolv1.Task) { m.Key = "" },
		"key with a zero":    func(m *taskpoolv1.Task) { m.Key = "T-012" },
		"key below 1":        func(m *taskpoolv1.Task) { m.Key = "T-0" },
		"no id":              func(m *taskpoolv1.Task) { m.Id = "" },
		"id in upper case":   func(m *taskpoolv1.Task) { m.Id = strings.ToUpper(m.GetId()) },
		"no status":          func(m *taskpoolv1.Task) { m.Status = 0 },
		"unknown status":     func(m *taskpoolv1.Task) { m.Status = 9 },
		"status beyond":      func(m *taskpoolv1.Task) { m.Status = 257 },
		"unknown priority":   func(m *taskpoolv1.Task) { m.Priority = -1 },
		"unknown type":       func(m *taskpoolv1.Task) { m.Type = 6 },
		"negative count":     func(m *taskpoolv1.Task) { m.ChildrenTotal = -1 },
		"nanos out of range": func(m *taskpoolv1.Task) { m.CreatedAt = &timestamppb.Timestamp{Nanos: -1} },
		"year 1":             func(m *taskpoolv1.Task) { m.HeldAt = timestamppb.New(time.Time{}) },
		"endless lease":      func(m *taskpoolv1.Task) { m.Lease = &durationpb.Duration{Seconds: 315_576_000_000} },
		"negative lease":     func(m *taskpoolv1.Task) { m.Lease = &durationpb.Duration{Seconds: -1} },
	} {
		t.Run(name, func(t *testing.T) {
			m := proto.CloneOf(taskpb.Task(sample(), taskpoolv1.TaskView_TASK_VIEW_FULL, 1))
			spoil(m)
			b, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := codec.DecodeTask(b); err == nil {
				t.Errorf("read as %+v", got)
			}
		})
	}
	if _, err := codec.DecodeTask([]byte("\x0a\x01\xff")); err == nil {
		t.Error("text that is not UTF-8 was read")
	}
}

func TestCodec_refusesToReadEvent(t *testing.T) {
	unknown := []byte{0xf8, 0x3f, 1}
	for name, m := range map[string]*taskpoolv1.TaskEvent{
		"no kind":            {Id: 1},
		"unknown kind":       {Id: 1, Kind: 17},
		"via":                {Id: 1, Kind: 2, Via: "agent:runner"},
		"redacted":           {Id: 1, Kind: 2, Redacted: true},
		"detail of another":  {Id: 1, Kind: 2, Detail: &taskpoolv1.TaskEvent_Created{Created: &taskpoolv1.CreatedDetail{}}},
		"empty of another":   {Id: 1, Kind: 9, Detail: &taskpoolv1.TaskEvent_Comment{Comment: &taskpoolv1.CommentDetail{}}},
		"later detail":       {Id: 1, Kind: 13, Detail: &taskpoolv1.TaskEvent_Gate{Gate: &taskpoolv1.GateDetail{}}},
		"attempt":            {Id: 1, Kind: 3, Detail: &taskpoolv1.TaskEvent_Claimed{Claimed: &taskpoolv1.ClaimedDetail{Attempt: 1}}},
		"claimed for review": {Id: 1, Kind: 3, Detail: &taskpoolv1.TaskEvent_Claimed{Claimed: &taskpoolv1.ClaimedDetail{ForReview: true}}},
		"unknown status":     {Id: 1, Kind: 5, Detail: &taskpoolv1.TaskEvent_Status{Status: &taskpoolv1.StatusDetail{To: 9}}},
		"unknown change":     {Id: 1, Kind: 7, Detail: &taskpoolv1.TaskEvent_Subtask{Subtask: &taskpoolv1.SubtaskDetail{Kind: 4}}},
		"bad instant":        {Id: 1, Kind: 2, At: &timestamppb.Timestamp{Nanos: 1_000_000_000}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := codec.DecodeEvent(b); err == nil {
				t.Errorf("read as %+v", got)
			}
		})
	}
	detail := &taskpoolv1.StatusDetail{}
	detail.ProtoReflect().SetUnknown(unknown)
	b, err := proto.Marshal(&taskpoolv1.TaskEvent{Id: 1, Kind: 5, Detail: &taskpoolv1.TaskEvent_Status{Status: detail}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := codec.DecodeEvent(b); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a detail with an unknown field gives %v", err)
	}
}

func FuzzDecodeTask(f *testing.F) {
	b, err := codec.EncodeTask(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := codec.DecodeTask(b)
		if err != nil {
			return
		}
		if err := settled(got, codec.EncodeTask, codec.DecodeTask); err != nil {
			t.Fatal(err)
		}
		if by, err := taskpb.DecodeBy(b); err != nil || !reflect.DeepEqual(by, got) {
			t.Fatalf("by its message it is %+v (error %v), else %+v", by, err, got)
		}
	})
}

func FuzzDecodeEvent(f *testing.F) {
	for _, kind := range task.EventKinds() {
		b, err := codec.EncodeEvent(&task.Event{ID: 1, TaskID: sample().ID, Kind: kind, At: time.Unix(1, 0), Body: "x"})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := codec.DecodeEvent(b)
		if err != nil {
			return
		}
		if err := settled(got, codec.EncodeEvent, codec.DecodeEvent); err != nil {
			t.Fatal(err)
		}
		if by, err := taskpb.DecodeEventBy(b); err != nil || !reflect.DeepEqual(by, got) {
			t.Fatalf("by its message it is %+v (error %v), else %+v", by, err, got)
		}
	})
}

// settled checks that what was read can be written, and is read again as it was.
func settled[T any](got T, encode func(T) ([]byte, error), decode func([]byte) (T, error)) error {
	b, err := encode(got)
	if err != nil {
		return err
	}
	again, err := decode(b)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(got, again) {
		return errors.New("read, written and read again it is another")
	}
	return nil
}

func sample() *task.Task {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	return &task.Task{
		ID: "5a1f0c2e-0d3c-4a6e-9d53-0c6a5a4f7a11", Number: 12, Title: "Fix the 👩‍👩‍👧‍👦 picker", Brief: (&task.Brief{
			Description: "It breaks", Body: "Long\ntext", AcceptanceCriteria: []string{"it works"}, Links: []string{"https://example.com"},
			Steps: []string{"look", "fix"}, Constraints: []string{"c"}, OutOfScope: []string{"o"}, Verification: []string{"v"},
			Context: []string{"x"}, EdgeCases: []string{"e"},
		}).Pack(),
		Priority: task.High, Type: task.Bug, Labels: map[string]string{"team": "web", "area": ""}, Status: task.InProgress,
		Dependencies: []string{"77b0a9d3-8f4f-4e6b-8a2a-1d9d1f0e2b33"}, HistoryCount: 1,
		Assignee: "agent:bob", CreatedBy: "human", Holder: "agent:bob", HeldAt: at, Lease: time.Minute,
		CreatedAt: at, UpdatedAt: at, Revision: 7, Version: 3, ChildrenTotal: 2, ChildrenDone: 1,
	}
}

func BenchmarkCodec(b *testing.B) {
	one := sample()
	bytes, err := codec.EncodeTask(one)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("EncodeTask", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.EncodeTask(one); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("DecodeTask", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := codec.DecodeTask(bytes); err != nil {
				b.Fatal(err)
			}
		}
	})
}
