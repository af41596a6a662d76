package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

func refusing(t *testing.T, method string, answer func(proto.Message) (proto.Message, error)) shell {
	t.Helper()
	return at(newFake(t, map[string]func(proto.Message) (proto.Message, error){method: answer}))
}

func TestRefusals(t *testing.T) {
	held := refuses(t, codes.FailedPrecondition, "HELD", "T-1 is held by agent:bob\x1b[2J since 2026-01-02T09:00:00Z; take another task", map[string]string{"holder": "agent:bob"})
	refusing(t, "UpdateTask", held).run(t, "task", "update", "T-1", "--status", "in_progress").
		want(t, exitRefused, "", "taskpool: T-1 is held by agent:bob\\x1b[2J since 2026-01-02T09:00:00Z; take another task\n")

	one := refuses(t, codes.InvalidArgument, "INVALID_FIELD", "task.title is empty", nil, violations("task.title", "is empty: say what is to be done"))
	refusing(t, "CreateTask", one).run(t, "task", "create", "--title", "").
		want(t, exitRefused, "", "taskpool: task.title is empty: say what is to be done\n")

	two := refuses(t, codes.InvalidArgument, "INVALID_FIELD", "task.title is empty; task.links[0] is no URL", nil, violations("task.title", "is empty", "task.links[0]", "is no\nURL"))
	refusing(t, "CreateTask", two).run(t, "task", "create", "--title", "").
		want(t, exitRefused, "", "taskpool: 2 things are wrong with the request:\n  task.title is empty\n  task.links[0] is no\\nURL\n")

	cycle := refuses(t, codes.FailedPrecondition, "CYCLE", "that would close a circle", map[string]string{"path": "a,b,a"})
	refusing(t, "UpdateTask", cycle).run(t, "task", "update", "T-1", "--add-dependency", "b").
		want(t, exitRefused, "", "taskpool: that would close a circle\n  path: a → b → a\n")

	refusing(t, "UpdateTask", refuses(t, codes.Internal, "INTERNAL", "internal error", nil)).run(t, "task", "update", "T-1", "--note", "x").
		want(t, exitRefused, "", "taskpool: internal error\n")
}

func TestARefusedFileIsTalkedAboutByLine(t *testing.T) {
	file := "\n{\"ref\":\"master/1\",\"title\":\"a\"}\n{\"title\":\"b\"}\n"
	for _, c := range []struct {
		name   string
		answer func(proto.Message) (proto.Message, error)
		want   string
	}{
		{
			"violations",
			refuses(t, codes.InvalidArgument, "INVALID_FIELD", "x", nil, violations("tasks[0].title", "is too long", "tasks[1].dependency_ids[2]", "names nothing")),
			"taskpool: 2 things are wrong with the request:\n  line 2 (master/1): title is too long\n  line 3: dependency_ids[2] names nothing\n  nothing was created\n",
		},
		{
			"message",
			refuses(t, codes.NotFound, "TASK_NOT_FOUND", `tasks[1].parent_id: there is no task "T-9"`, nil),
			"taskpool: line 3: parent_id: there is no task \"T-9\"\n  nothing was created\n",
		},
		{
			"cycle",
			refuses(t, codes.FailedPrecondition, "CYCLE", "that would close a circle", map[string]string{"path": "5a1f0c2e,ref:master/1,5a1f0c2e"}),
			"taskpool: that would close a circle\n  path: 5a1f0c2e → master/1 → 5a1f0c2e\n  in standard input: line 2 (master/1)\n  nothing was created\n",
		},
	} {
		s := refusing(t, "CreateTasks", c.answer)
		s.stdin = file
		t.Run(c.name, func(t *testing.T) { s.run(t, "task", "create", "--from", "-").want(t, exitRefused, "", c.want) })
	}
}

func TestAFileThatCantBeReadIsNotSent(t *testing.T) {
	f := newFake(t, ok())
	s := at(f)
	s.stdin = "{\"titel\": \"a\"}\n{\"title\": 1}\n"
	s.run(t, "task", "create", "--from", "-").want(t, exitRefused, "", `taskpool: standard input can't be read as tasks, nothing was created:
  line 1: there is no field "titel" (did you mean "title"?)
  line 2: is no task: invalid value for string field title: 1 (column 11)
`)
	name := filepath.Join(t.TempDir(), "tasks.jsonl")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.run(t, "task", "create", "--from", name); r.code != exitRefused || !strings.HasPrefix(r.err, "taskpool: "+name+": there is no task in it") {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "task", "create", "--from", name+".missing"); r.code != exitRefused || !strings.Contains(r.err, "no such file") {
		t.Errorf("%+v", r)
	}
	// Bigger than a call takes.
	s.stdin = strings.Repeat(`{"body":"`+strings.Repeat("x", 1<<20)+`"}`+"\n", 17)
	if r := s.run(t, "task", "create", "--from", "-"); r.code != exitRefused || r.err != "taskpool: standard input holds 17.0 MiB of tasks and one call takes 16: split it\n" {
		t.Errorf("%+v", r)
	}
	if len(f.asked) != 0 {
		t.Errorf("%d calls were made", len(f.asked))
	}
}

func TestNoServer(t *testing.T) {
	s := shell{env: map[string]string{"TASKPOOL_ADDR": "127.0.0.1:1"}}
	want := "taskpool: no server answers at 127.0.0.1:1 (connection refused); start one with \"taskpool serve\", or name another with --addr or TASKPOOL_ADDR\n"
	s.run(t, "task", "list").want(t, exitRefused, "", want)
	s.run(t, "task", "create", "--title", "x").want(t, exitRefused, "", want) // certain that nothing happened
	// Not even time for all attempts to connect.
	want = "taskpool: no server answers at 127.0.0.1:1 within 20ms; start one with \"taskpool serve\", or name another with --addr or TASKPOOL_ADDR\n"
	s.run(t, "task", "list", "--timeout", "20ms").want(t, exitRefused, "", want)
	s.run(t, "task", "create", "--title", "x", "--timeout", "20ms").want(t, exitRefused, "", want)
}

func TestAnotherServer(t *testing.T) {
	f := newFake(t, nil)
	r := at(f).run(t, "task", "list")
	if r.code != exitRefused || !strings.HasPrefix(r.err, "taskpool: what answers at "+f.addr+" is no taskpool server, or one of another version: ") {
		t.Errorf("%+v", r)
	}
}

func TestAnUnknownOutcomeNamesTheRequestID(t *testing.T) {
	unknown := refuses(t, codes.Unavailable, "COMMIT_UNKNOWN", "nobody knows", nil)
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"CreateTask": unknown})
	r := at(f).run(t, "task", "create", "--title", "x", "--request-id", "mine")
	r.want(t, exitRefused, "", "taskpool: nobody knows\n  it may have happened all the same: repeat it with --request-id mine, and it happens once\n")

	lost := func(proto.Message) (proto.Message, error) { return nil, status.Error(codes.Unavailable, "broken") }
	f = newFake(t, map[string]func(proto.Message) (proto.Message, error){"UpdateTask": lost})
	r = at(f).run(t, "task", "update", "T-1", "--note", "x")
	id := last[*taskpoolv1.UpdateTaskRequest](t, f).GetRequestId()
	if r.code != exitRefused || id == "" || !strings.Contains(r.err, "--request-id "+id+",") {
		t.Errorf("%+v", r)
	}

	release := make(chan struct{})
	defer close(release)
	slow := func(proto.Message) (proto.Message, error) {
		<-release
		return &taskpoolv1.DeleteTaskResponse{}, nil
	}
	f = newFake(t, map[string]func(proto.Message) (proto.Message, error){"DeleteTask": slow})
	r = at(f).run(t, "task", "delete", "T-1", "--timeout", "100ms", "--request-id", "mine")
	r.want(t, exitRefused, "", "taskpool: no answer from "+f.addr+" within 100ms; look whether the server is well, or wait longer with --timeout\n"+
		"  it may have happened all the same: repeat it with --request-id mine, and it happens once\n")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	f := newFake(t, map[string]func(proto.Message) (proto.Message, error){"ReadTask": func(proto.Message) (proto.Message, error) {
		cancel()
		<-release
		return &taskpoolv1.ReadTaskResponse{}, nil
	}})
	var out, errs strings.Builder
	a := &app{env: func(string) (string, bool) { return "", false }, in: strings.NewReader(""), out: &out, err: &errs, now: time.Now}
	if code := a.run(ctx, []string{"task", "list", "--addr", f.addr}); code != exitRefused || errs.String() != "taskpool: interrupted\n" {
		t.Errorf("%d %q", code, errs.String())
	}
}
