package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func TestWatchForPeople(t *testing.T) {
	f := newWatchFake(t, conversation{messages: append(
		presentMessages("c2", &taskpoolv1.Task{Id: id(9), Key: "T-10", Title: "Old", Status: done}, parser(2, pending), reader(1, ready)),
		changesMessage("c3", upsert(reader(3, inProgress), &taskpoolv1.TaskEvent{
			At: when(10), Actor: "agent:bob", Detail: &taskpoolv1.TaskEvent_Claimed{Claimed: &taskpoolv1.ClaimedDetail{Holder: "agent:bob"}},
		})),
		changesMessage("c4", upsert(reader(4, done), statusEvent(11, "agent:bob", inProgress, done)), upsert(parser(4, ready), statusEvent(11, "system:pool", pending, ready))),
		progressMessage("c5"),
		changesMessage("c6", &taskpoolv1.TaskChange{Revision: 6, TaskId: id(1), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_DELETED}),
	)})
	f.watch(t, "deleted", "--timeout", "1m").want(t, exitDone, `KEY  STATUS   TITLE              WAITS FOR
T-1  ready    Write the reader
T-2  pending  Write\nthe parser  1 task
and 1 closed task

2026-01-02 10:00:00Z  T-1    claimed by agent:bob            Write the reader
2026-01-02 11:00:00Z  T-1    done by agent:bob               Write the reader
2026-01-02 11:00:00Z  T-2    ready                           Write\nthe parser
2026-01-02 12:00:00Z  T-1    deleted                         Write the reader
`, "")
	r := f.watch(t, "deleted", "--color", "always")
	if !strings.Contains(r.out, "\x1b[2m2026-01-02 11:00:00Z\x1b[0m  T-2    \x1b[32mready\x1b[0m  ") {
		t.Errorf("in colour: %q", r.out)
	}
}

func TestWatchOfAView(t *testing.T) {
	leaves := &taskpoolv1.TaskChange{Revision: 5, TaskId: id(1), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW}
	leaves.Events = []*taskpoolv1.TaskEvent{statusEvent(11, "human", ready, done)}
	f := newWatchFake(t, conversation{messages: append(
		presentMessages("c2"),
		changesMessage("c4", upsert(reader(4, ready))), // for a reason that is not told
		changesMessage("c5", leaves),
		changesMessage("c5b", upsert(reader(6, ready))),
		changesMessage("c6", &taskpoolv1.TaskChange{Revision: 7, TaskId: id(8), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_LEFT_VIEW}),
		changesMessage("c7", &taskpoolv1.TaskChange{Revision: 8, TaskId: id(7), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_DELETED}),
	)})
	f.watch(t, "deleted", "--status", "ready").want(t, exitDone, `2026-01-02 09:00:00Z  T-1    came into view, ready           Write the reader
2026-01-02 11:00:00Z  T-1    done by human; left the view    Write the reader
2026-01-02 09:00:00Z  T-1    came into view, ready           Write the reader
2026-01-02 12:00:00Z  T-8    left the view                   Outside
2026-01-02 12:00:00Z  00000007  deleted
`, "no task to show yet\n")
}

func TestWatchAsksForWhatFlagsSay(t *testing.T) {
	f := newWatchFake(t, conversation{messages: []*taskpoolv1.WatchTasksResponse{openedMessage("c1"), changesMessage("c2", upsert(reader(2, ready)))}})
	snapshot := &taskpoolv1.WatchTasksRequest_Snapshot{Snapshot: &taskpoolv1.WatchFromSnapshot{}}
	const preview, full = taskpoolv1.TaskView_TASK_VIEW_PREVIEW, taskpoolv1.TaskView_TASK_VIEW_FULL
	for args, want := range map[string]*taskpoolv1.WatchTasksRequest{
		"--now":                             {View: preview, Start: &taskpoolv1.WatchTasksRequest_Now{Now: &taskpoolv1.WatchFromNow{}}},
		"--after c1 --json":                 {Start: &taskpoolv1.WatchTasksRequest_AfterCursor{AfterCursor: "c1"}},
		"--now --json --view full":          {View: full, Start: &taskpoolv1.WatchTasksRequest_Now{Now: &taskpoolv1.WatchFromNow{}}},
		"--now --exclude-me --pool web":     {View: preview, ExcludeActor: "me", Start: &taskpoolv1.WatchTasksRequest_Now{Now: &taskpoolv1.WatchFromNow{}}},
		"--now --exclude-actor agent:bob":   {View: preview, ExcludeActor: "agent:bob", Start: &taskpoolv1.WatchTasksRequest_Now{Now: &taskpoolv1.WatchFromNow{}}},
		"--status ready,done --assignee me": {View: preview, Filter: &taskpoolv1.TaskFilter{Statuses: []taskpoolv1.TaskStatus{ready, done}, Assignee: "me"}, Start: snapshot},
		"--all":                             {View: preview, Filter: &taskpoolv1.TaskFilter{IncludeClosed: true}, Start: snapshot},
		"":                                  {View: preview, Start: snapshot},
	} {
		until := "T-1"
		if _, ok := want.GetStart().(*taskpoolv1.WatchTasksRequest_Snapshot); ok {
			until = "err:lost" // this server knows no snapshot
		}
		f.mu.Lock()
		f.asked = nil
		f.mu.Unlock()
		if r := f.watch(t, until, strings.Fields(args)...); r.code != exitDone {
			t.Errorf("%s: %+v", args, r)
		}
		if want.Pool = "default"; strings.Contains(args, "--pool") {
			want.Pool = "web"
		}
		f.mu.Lock()
		if !proto.Equal(f.asked[0], want) {
			t.Errorf("%s: asked for %v", args, f.asked[0])
		}
		f.mu.Unlock()
	}
}

func TestWatchForPrograms(t *testing.T) {
	f := newWatchFake(t, conversation{messages: append(
		presentMessages("c2", reader(1, ready), parser(2, pending)),
		progressMessage("c2"),
		changesMessage("c4", upsert(reader(3, inProgress)), upsert(reader(4, done), statusEvent(11, "agent:\u202ebob", inProgress, done)), upsert(parser(4, ready))),
		progressMessage("c5"), progressMessage("c5"),
		changesMessage("c6", &taskpoolv1.TaskChange{Revision: 6, TaskId: id(1), Kind: taskpoolv1.ChangeKind_CHANGE_KIND_DELETED}),
	)})
	const (
		r = `"task":{"id":"00000001-0000-4000-8000-000000000000","key":"T-1","title":"Write the reader","status":"TASK_STATUS_`
		p = `"task":{"id":"00000002-0000-4000-8000-000000000000","key":"T-2","title":"Write\nthe parser","status":"TASK_STATUS_`
		a = `","updated_at":"2026-01-02T09:00:00Z"`
	)
	f.watch(t, "DELETED", "--json").want(t, exitDone, ""+
		`{"cursor":"","snapshot":true,"revision":"1","task_id":"`+id(1)+`","kind":"CHANGE_KIND_UPSERTED",`+r+`READY","revision":"1`+a+"}}\n"+
		`{"cursor":"c2","snapshot":true,"revision":"2","task_id":"`+id(2)+`","kind":"CHANGE_KIND_UPSERTED",`+p+`PENDING","revision":"2`+a+`,"unfinished_dependency_ids":["`+id(1)+`"]}}`+"\n"+
		`{"cursor":"c2~3~078f42071a08c364","snapshot":false,"revision":"3","task_id":"`+id(1)+`","kind":"CHANGE_KIND_UPSERTED",`+r+`IN_PROGRESS","revision":"3`+a+"}}\n"+
		`{"cursor":"","snapshot":false,"revision":"4","task_id":"`+id(1)+`","kind":"CHANGE_KIND_UPSERTED",`+r+`DONE","revision":"4`+a+`},"events":[{"at":"2026-01-02T11:00:00Z","actor":"agent:\u202ebob","kind":"TASK_EVENT_KIND_STATUS","status":{"from":"TASK_STATUS_IN_PROGRESS","to":"TASK_STATUS_DONE"}}]}`+"\n"+
		`{"cursor":"c4","snapshot":false,"revision":"4","task_id":"`+id(2)+`","kind":"CHANGE_KIND_UPSERTED",`+p+`READY","revision":"4`+a+"}}\n"+
		`{"cursor":"c5","snapshot":false}`+"\n"+
		`{"cursor":"c6","snapshot":false,"revision":"6","task_id":"`+id(1)+`","kind":"CHANGE_KIND_DELETED"}`+"\n", "")
}

func TestWatchTellsOnceThatTheConnectionIsLostAndBack(t *testing.T) {
	drains, err := refuses(t, codes.Unavailable, "DRAINING", "the server is shutting down; connect again", nil)(nil)
	if drains != nil {
		t.Fatal(drains)
	}
	broken := status.Error(codes.Internal, "broken \x1b[2J")
	f := newWatchFake(
		t,
		conversation{presentMessages("c2", reader(2, ready)), err},
		conversation{end: broken},
		conversation{end: broken},
		conversation{messages: []*taskpoolv1.WatchTasksResponse{openedMessage("c2"), changesMessage("c3", upsert(reader(3, done), statusEvent(11, "human", ready, done)))}},
	)
	f.watch(t, "done by human").want(t, exitDone, `KEY  STATUS  TITLE
T-1  ready   Write the reader

2026-01-02 11:00:00Z  T-1    done by human                   Write the reader
`, "lost the connection to "+f.addr+" (the server is shutting down); trying again until it is back\nconnected to "+f.addr+" again\n")
}

// After history is gone, only what is not as it was is told.
func TestWatchCatchesUp(t *testing.T) {
	_, gone := refuses(t, codes.OutOfRange, "CURSOR_EXPIRED", "the history after this cursor is gone", nil)(nil)
	other := &taskpoolv1.Task{Id: id(3), Key: "T-3", Title: "Other", Status: ready, Revision: 3, UpdatedAt: when(8)}
	f := newWatchFake(
		t,
		conversation{presentMessages("c3", reader(1, ready), parser(2, pending), other), status.Error(codes.Unavailable, "error reading from server: EOF")},
		conversation{end: gone},
		conversation{messages: append(
			presentMessages("c9", other, parser(9, ready), &taskpoolv1.Task{Id: id(4), Key: "T-4", Title: "New", Status: ready, Revision: 8, UpdatedAt: when(10)}),
			changesMessage("c10", upsert(parser(10, ready))),
		)},
	)
	f.watch(t, "changed").want(t, exitDone, `KEY  STATUS   TITLE              WAITS FOR
T-1  ready    Write the reader
T-2  pending  Write\nthe parser  1 task
T-3  ready    Other

2026-01-02 09:00:00Z  T-2    now ready                       Write\nthe parser
2026-01-02 10:00:00Z  T-4    came into view, ready           New
2026-01-02 12:00:00Z  T-1    deleted                         Write the reader
2026-01-02 09:00:00Z  T-2    changed                         Write\nthe parser
`, "lost the connection to "+f.addr+" (it broke off); trying again until it is back\n"+
		"the history since then is gone; going on with how things stand now\n"+
		"connected to "+f.addr+" again\n")
}

func TestWatchShowsNoMoreAtFirstThanAPersonReads(t *testing.T) {
	var tasks []*taskpoolv1.Task
	for i := range 120 {
		t := &taskpoolv1.Task{Id: string(rune('a' + i)), Key: "T-" + strings.Repeat("1", 1+i%3), Title: "x", Status: ready}
		if i >= 100 {
			t.Status = done
		}
		tasks = append(tasks, t)
	}
	f := newWatchFake(t, conversation{messages: append(presentMessages("c1", tasks...), changesMessage("c2", upsert(reader(2, ready))))})
	r := f.watch(t, "T-1    ")
	if lines := strings.Split(r.out, "\n"); len(lines) != 1+mostAtFirst+4 || lines[1+mostAtFirst] != "and 50 more tasks, and 20 closed tasks" {
		t.Errorf("%s", r.out)
	}
}

// A pool that was cleared is no reason to fill the screen.
func TestWatchCatchesUpInBrief(t *testing.T) {
	_, gone := refuses(t, codes.OutOfRange, "CURSOR_EXPIRED", "the history after this cursor is gone", nil)(nil)
	var tasks []*taskpoolv1.Task
	for i := range 200 {
		tasks = append(tasks, &taskpoolv1.Task{Id: fmt.Sprintf("%08d", 500-i), Key: fmt.Sprintf("T-%d", i+1), Title: "x", Status: ready, Revision: 1})
	}
	f := newWatchFake(
		t,
		conversation{presentMessages("c1", tasks...), gone},
		conversation{messages: append(presentMessages("c3", reader(3, ready)), changesMessage("c4", upsert(reader(4, ready))))},
	)
	r := f.watch(t, "changed  ")
	_, after, _ := strings.Cut(r.out, "\n\n")
	lines := strings.Split(after, "\n")
	if len(lines) != mostAtFirst+3 || !strings.Contains(lines[0], "T-1    came into view") || !strings.Contains(lines[1], "  T-1    deleted") ||
		!strings.Contains(lines[mostAtFirst-1], "  T-49   deleted") || lines[mostAtFirst] != "and 151 more tasks, changed or gone meanwhile" {
		t.Errorf("%s", after)
	}
}

func TestWatchEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(proto.Message) (proto.Message, error)
		args []string
		want string
	}{
		"no such pool": {
			refuses(t, codes.NotFound, "POOL_NOT_FOUND", `there is no pool "web"; see ListPools`, nil),
			nil, "taskpool: there is no pool \"web\"; see ListPools\n",
		},
		"a wrong field": {
			refuses(t, codes.InvalidArgument, "INVALID_FIELD", "x", nil, violations("filter.assignee", "names nobody")),
			[]string{"--json"},
			"taskpool: filter.assignee names nobody\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.end(nil)
			newWatchFake(t, conversation{end: err}).watch(t, "never", c.args...).want(t, exitRefused, "", c.want)
		})
	}
	t.Run("an older server", func(t *testing.T) {
		f := newFake(t, nil)
		r := at(f).run(t, "watch")
		if r.code != exitRefused || !strings.HasPrefix(r.err, "taskpool: what answers at "+f.addr+" is no taskpool server, or one of another version: ") {
			t.Errorf("%+v", r)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		f := newWatchFake(t, conversation{messages: presentMessages("c1", reader(1, ready))})
		if r := f.watch(t, "T-1"); r.code != exitDone || r.err != "" {
			t.Errorf("%+v", r)
		}
	})
}

func TestWatchWaitsForAServer(t *testing.T) {
	f := &watchFake{addr: "127.0.0.1:1"}
	waits := "no connection to 127.0.0.1:1 yet (connection refused); trying again\n"
	f.watch(t, "", "--timeout", "300ms").want(t, exitRefused, "",
		waits+"taskpool: no server answers at 127.0.0.1:1 (connection refused); start one with \"taskpool serve\", or name another with --addr or TASKPOOL_ADDR\n")
	f.watch(t, "err:trying again", "--timeout", "0").want(t, exitDone, "", waits)

	silent := newWatchFake(t, conversation{})
	silent.watch(t, "", "--timeout", "300ms").want(t, exitRefused, "",
		"taskpool: no answer from "+silent.addr+" within 300ms; look whether the server is well, or wait longer with --timeout\n")

	// It is about the beginning: a watch that is open has no time.
	f = newWatchFake(t, conversation{presentMessages("c1", reader(1, ready)), status.Error(codes.Unavailable, "away")}, conversation{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	a := &app{env: func(string) (string, bool) { return "", false }, in: strings.NewReader(""), out: &out, err: &errs, now: time.Now}
	if code := a.run(ctx, []string{"watch", "--addr", f.addr, "--timeout", "300ms"}); code != exitDone || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("%d %q", code, errs.String())
	}
}

func TestWatchEndsWhenNobodyReads(t *testing.T) {
	f := newWatchFake(t, conversation{messages: presentMessages("c1", reader(1, ready))})
	for _, args := range [][]string{nil, {"--json"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		var errs bytes.Buffer
		a := &app{env: func(string) (string, bool) { return "", false }, in: strings.NewReader(""), out: w, err: &errs, now: time.Now}
		if code := a.run(t.Context(), append([]string{"watch", "--addr", f.addr}, args...)); code != exitDone || errs.Len() > 0 {
			t.Errorf("%d %q", code, errs.String())
		}
		_ = w.Close()
	}
	var errs bytes.Buffer
	a := &app{env: func(string) (string, bool) { return "", false }, in: strings.NewReader(""), out: full{}, err: &errs, now: time.Now}
	if code := a.run(t.Context(), []string{"watch", "--addr", f.addr}); code != exitRefused || errs.String() != "taskpool: short write\n" {
		t.Errorf("%d %q", code, errs.String())
	}
}

// full is where nothing can be written any more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
