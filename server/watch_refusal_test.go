package server_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
)

// What can't be watched is refused before anything is sent, all that is wrong at
// once.
func TestWatch_refusals(t *testing.T) {
	f := start(t)
	f.create("a")
	head := f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
	mine := &taskpoolv1.TaskFilter{Assignee: "me"}
	of := func(by *fixture, filter *taskpoolv1.TaskFilter) string {
		w := by.watch(&taskpoolv1.WatchTasksRequest{Filter: filter, Start: now()}).opened()
		w.leave()
		return w.cursor
	}
	unfiltered := of(f, nil)
	for name, c := range map[string]struct {
		req    *taskpoolv1.WatchTasksRequest
		code   codes.Code
		reason pool.Reason
		fields string
	}{
		"pool":             {&taskpoolv1.WatchTasksRequest{Pool: "nowhere", View: 9}, codes.NotFound, pool.ReasonPoolNotFound, ""},
		"view":             {&taskpoolv1.WatchTasksRequest{View: 9}, codes.InvalidArgument, pool.ReasonInvalidField, "view"},
		"text":             {&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{Text: "x"}}, codes.InvalidArgument, pool.ReasonInvalidField, "filter.text"},
		"no cursor":        {&taskpoolv1.WatchTasksRequest{Start: after("")}, codes.InvalidArgument, pool.ReasonMalformedCursor, "after_cursor"},
		"malformed cursor": {&taskpoolv1.WatchTasksRequest{Start: after(head[1:])}, codes.InvalidArgument, pool.ReasonMalformedCursor, "after_cursor"},
		"another filter":   {&taskpoolv1.WatchTasksRequest{Filter: mine, Start: after(unfiltered)}, codes.InvalidArgument, pool.ReasonInvalidField, "after_cursor"},
		"no filter":        {&taskpoolv1.WatchTasksRequest{Start: after(of(f, mine))}, codes.InvalidArgument, pool.ReasonInvalidField, "after_cursor"},
		"an empty filter":  {&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{}, Start: after(unfiltered)}, codes.InvalidArgument, pool.ReasonInvalidField, "after_cursor"},
		"another's filter": {&taskpoolv1.WatchTasksRequest{Filter: mine, Start: after(of(f.as("agent:b"), mine))}, codes.InvalidArgument, pool.ReasonInvalidField, "after_cursor"},
		"all at once": {
			&taskpoolv1.WatchTasksRequest{View: -1, Start: after("x"), Filter: &taskpoolv1.TaskFilter{Text: "x", ParentId: "T-1", TopLevel: true, Statuses: []taskpoolv1.TaskStatus{99}}},
			codes.InvalidArgument, pool.ReasonInvalidField, "filter.statuses[0] filter.top_level view filter.text after_cursor",
		},
		"parent":            {&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{ParentId: "T-9"}}, codes.NotFound, pool.ReasonTaskNotFound, ""},
		"member":            {&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{Holder: "a b"}}, codes.NotFound, pool.ReasonMemberNotFound, ""},
		"excluded nobody":   {&taskpoolv1.WatchTasksRequest{ExcludeActor: "a b"}, codes.NotFound, pool.ReasonMemberNotFound, ""},
		"excluded the pool": {&taskpoolv1.WatchTasksRequest{ExcludeActor: "system:pool"}, codes.NotFound, pool.ReasonMemberNotFound, ""},
		"excluded many":     {&taskpoolv1.WatchTasksRequest{ExcludeActor: "bob"}, codes.InvalidArgument, pool.ReasonMemberAmbiguous, ""},
		"graph":             {&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{GraphId: "g"}}, codes.Unimplemented, pool.ReasonNotAvailableYet, ""},
		"instant":           {&taskpoolv1.WatchTasksRequest{Filter: &taskpoolv1.TaskFilter{ClosedSince: &timestamppb.Timestamp{Nanos: -1}}}, codes.InvalidArgument, pool.ReasonInvalidField, "filter.closed_since"},
	} {
		t.Run(name, func(t *testing.T) {
			w := f.in(t).watch(c.req)
			_, err := w.stream.Recv()
			r := refused(t, err, c.code, c.reason)
			r.at(t, strings.Fields(c.fields)...)
			if c.fields != "" && r.info.GetMetadata()["field"] != strings.Fields(c.fields)[0] {
				t.Errorf("the metadata is %v", r.info.GetMetadata())
			}
		})
	}
	if n := f.registry.Watchers(); n != 0 {
		t.Errorf("%d watches are open", n)
	}
}

// A cursor fits the filter that it is of, whoever is left out and whatever view
// is asked for, and each cursor of a mutation or read fits every filter.
func TestWatch_cursorsFit(t *testing.T) {
	f := start(t)
	f.create("a")
	head := f.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
	for name, filter := range map[string]*taskpoolv1.TaskFilter{
		"none": nil, "empty": {}, "mine": {Assignee: "me"}, "claimable": {Claimable: true},
		"labels": {Labels: map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := f.in(t)
			w := f.watch(&taskpoolv1.WatchTasksRequest{Filter: filter, Start: after(head)}).opened()
			again := f.watch(&taskpoolv1.WatchTasksRequest{
				Filter: filter, Start: after(w.cursor), View: taskpoolv1.TaskView_TASK_VIEW_COMPACT, ExcludeActor: "agent:z",
			}).opened()
			if again.cursor != w.cursor {
				t.Errorf("%s becomes %s", w.cursor, again.cursor)
			}
		})
	}
}

// A cursor whose history is not there is told so at once, with those that work.
func TestWatch_expiredCursors(t *testing.T) {
	s := keep(t)
	f := startOn(t, s)
	cursors := make([]feed.Cursor, 11)
	for i := 1; i < len(cursors); i++ {
		resp, err := f.tasks.CreateTask(f.ctx(), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "t"}})
		if err != nil {
			t.Fatal(err)
		}
		cursors[i], _ = feed.Parse(resp.GetCursor())
	}
	oldest := cursors[6]
	if err := s.Trim(t.Context(), "pool/default", oldest.Revision); err != nil {
		t.Fatal(err)
	}
	f = startOn(t, s) // which has nothing in memory
	change := func(c feed.Cursor, how func(*feed.Cursor)) feed.Cursor { how(&c); return c }
	for name, c := range map[string]feed.Cursor{
		"the beginning":  {Epoch: oldest.Epoch},
		"long ago":       cursors[1],
		"just too old":   cursors[5],
		"another epoch":  change(cursors[8], func(c *feed.Cursor) { c.Epoch = "dd0f4377a40ad2fc" }),
		"no epoch":       change(cursors[8], func(c *feed.Cursor) { c.Epoch = "" }),
		"another commit": change(cursors[8], func(c *feed.Cursor) { c.Nonce++ }),
		"another head":   change(cursors[10], func(c *feed.Cursor) { c.Nonce++ }),
		"another oldest": change(cursors[6], func(c *feed.Cursor) { c.Nonce++ }),
		"the future":     change(cursors[10], func(c *feed.Cursor) { c.Revision++ }),
		"the far future": change(cursors[10], func(c *feed.Cursor) { c.Revision = 1 << 62 }),
	} {
		t.Run(name, func(t *testing.T) {
			f := f.in(t)
			_, err := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(c.String())}).stream.Recv()
			r := refused(t, err, codes.OutOfRange, pool.ReasonCursorExpired)
			for key, want := range map[string]feed.Cursor{"oldest": oldest, "head": cursors[10]} {
				if got := r.info.GetMetadata()[key]; got != want.String() {
					got, _ := feed.Parse(got)
					t.Errorf("%s is %+v, want %+v", key, got, want)
				}
				f.watch(&taskpoolv1.WatchTasksRequest{Start: after(r.info.GetMetadata()[key])}).opened()
			}
		})
	}
	w := f.watch(&taskpoolv1.WatchTasksRequest{Start: after(oldest.String())}).opened()
	if got := w.changes(4); len(got) != 4 {
		t.Errorf("after the oldest comes %v", got)
	}
}

// There are only so many watches, in all and for each member; the place of one
// that ended is free.
func TestWatch_quotas(t *testing.T) {
	f := startConfig(t, pool.Config{Store: keep(t), MaxWatchers: 3, MaxWatchersPerMember: 2})
	first := f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	f.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	full := func(by *fixture) {
		t.Helper()
		_, err := by.watch(&taskpoolv1.WatchTasksRequest{}).stream.Recv()
		if r := refused(t, err, codes.ResourceExhausted, pool.ReasonWatchersExceeded); r.retry <= 0 {
			t.Errorf("the refusal does not say when to try again: %v", r.text)
		}
	}
	full(f)
	b := f.as("agent:b")
	b.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	full(f.as("agent:c"))
	first.leave()
	eventually(t, "its place is free", func() bool { return f.registry.Watchers() == 2 })
	b.watch(&taskpoolv1.WatchTasksRequest{}).opened()
	full(b)
}

// FuzzWatch sends bytes as the request of a watch. Whatever they are, the watch
// opens or the caller is told what is wrong with them.
func FuzzWatch(f *testing.F) {
	served := start(f)
	served.create("a task to name")
	head := served.list(&taskpoolv1.ReadTaskRequest{}).GetCursor()
	for _, m := range []*taskpoolv1.WatchTasksRequest{
		{},
		{Start: now()},
		{Start: after(head)},
		{Start: after(feed.Cursor{Epoch: "e", Revision: 7}.String())},
		{View: 3, ExcludeActor: "agent:a"},
		{Filter: &taskpoolv1.TaskFilter{Claimable: true, Labels: map[string]string{"a": "b"}, ClosedSince: timestamppb.Now(), ParentId: "T-1"}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{0xff, 0xff})
	f.Add(protowire.AppendString(protowire.AppendTag(nil, 6, protowire.BytesType), "a\xffb"))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := served.in(t).watchRaw(b)
		if err != nil && len(status.Convert(err).Details()) == 0 {
			t.Fatalf("%v has no details", err)
		}
		switch status.Code(err) {
		case codes.OK, codes.InvalidArgument, codes.NotFound, codes.OutOfRange, codes.Unimplemented:
		default:
			t.Fatalf("%v\n%s", err, served.log)
		}
	})
}

// watchRaw asks to watch with those bytes, and returns the error, nil when the
// watch is open. Where the client would not even send them it is nil, too.
func (f *fixture) watchRaw(b []byte) error {
	ctx, cancel := context.WithCancel(f.ctx())
	defer cancel()
	stream, err := f.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/taskpool.v1.TaskService/WatchTasks", grpc.ForceCodecV2(raw{}))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(b); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	var out []byte
	if err := stream.RecvMsg(&out); err != nil {
		return err
	}
	m := &taskpoolv1.WatchTasksResponse{}
	if err := proto.Unmarshal(out, m); err != nil || m.GetOpened() == nil {
		f.t.Fatalf("the first message is %v, %v", m, err)
	}
	return nil
}

// Bytes that are no request are refused like those of any other method.
func TestWatch_garbage(t *testing.T) {
	f := start(t)
	for name, b := range map[string][]byte{
		"no message":    {0xff, 0xff},
		"cut":           {0x0a, 0x05, 'a'},
		"unknown field": protowire.AppendVarint(protowire.AppendTag(nil, 999, protowire.VarintType), 1),
		"not UTF-8":     protowire.AppendString(protowire.AppendTag(nil, 6, protowire.BytesType), "a\xffb"),
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, f.in(t).watchRaw(b), codes.InvalidArgument, pool.ReasonInvalidField)
		})
	}
}
