package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// fill fills a server with something of everything.
func fill(t *testing.T, p *process) {
	t.Helper()
	p.taskpool(t, "task", "create", "--title", "Write the schema", "--priority", "high", "--step", "think", "--body", "tab\there, \u202edirection\u2028and \"quotes\" \\")
	p.taskpool(t, "task", "create", "--title", "Write the reader", "--depends-on", "T-1", "--label", "team=core", "--label", "area=io")
	p.taskpool(t, "task", "create", "--title", "gone")
	p.taskpool(t, "task", "create", "--title", "a part", "--parent", "T-2", "--not-before", "2100-01-01T00:00:00Z")
	p.taskpool(t, "task", "delete", "T-3")
	p.taskpool(t, "task", "update", "T-1", "--status", "in_progress", "--note", "half done")
	p.taskpool(t, "task", "create", "--title", "dropped")
	p.taskpool(t, "task", "update", "T-5", "--status", "cancelled")
}

// What is exported and restored elsewhere is exported as the same text, also after
// the power went on either side.
func TestExportRestoreExport(t *testing.T) {
	from := filepath.Join(t.TempDir(), "from")
	p := start(t, from)
	fill(t, p)
	text := p.taskpool(t, "pool", "export")
	p.kill(t)
	p = start(t, from)
	if again := p.taskpool(t, "pool", "export"); again != text {
		t.Errorf("after a kill\n%s\nbefore\n%s", again, text)
	}

	into := filepath.Join(t.TempDir(), "into")
	p = start(t, into)
	if r := invoke(t, text, "pool", "import", "--restore", "--addr", p.grpc); r.code != exitDone || r.out != "restored 4 tasks\n" || r.err != "" {
		t.Fatalf("%+v", r)
	}
	if got := p.taskpool(t, "pool", "export"); got != text {
		t.Errorf("restored\n%s\nwant\n%s", got, text)
	}
	p.kill(t)
	p = start(t, into)
	if got := p.taskpool(t, "pool", "export"); got != text {
		t.Errorf("restored, and after a kill\n%s\nwant\n%s", got, text)
	}
	if next := p.taskpool(t, "task", "create", "--title", "next"); !strings.HasPrefix(next, "created T-6 ") {
		t.Errorf("the next is %s", next)
	}
	if r := invoke(t, text, "pool", "import", "--restore", "--addr", p.grpc); r.code != exitRefused || !strings.Contains(r.err, "has 5 tasks") || !strings.HasSuffix(r.err, "  nothing was changed\n") {
		t.Errorf("%+v", r)
	}
}

// Line ends, blank lines and a byte order mark make no difference.
func TestImport_lineEnds(t *testing.T) {
	p := start(t, "memory")
	fill(t, p)
	text := p.taskpool(t, "pool", "export")
	_, want, _ := strings.Cut(text, "\n")
	for name, variant := range map[string]string{
		"crlf": strings.ReplaceAll(text, "\n", "\r\n"), "cr": strings.ReplaceAll(text, "\n", "\r"),
		"bom": "\ufeff" + text, "blank": "\n \r\n" + strings.ReplaceAll(text, "\n", "\n\n"), "unended": strings.TrimSuffix(text, "\n"),
	} {
		p.taskpool(t, "pool", "create", name)
		if r := invoke(t, variant, "pool", "import", "--restore", "--addr", p.grpc, "--pool", name); r.code != exitDone {
			t.Errorf("%s: %+v", name, r)
		}
		if _, got, _ := strings.Cut(p.taskpool(t, "pool", "export", name), "\n"); got != want {
			t.Errorf("%s\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestImport_merges(t *testing.T) {
	p := start(t, "memory")
	fill(t, p)
	text := p.taskpool(t, "pool", "export")
	p.taskpool(t, "pool", "create", "web")
	file := filepath.Join(t.TempDir(), "pool.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(stdin string, args ...string) result {
		t.Helper()
		return invoke(t, stdin, append([]string{"pool", "import", "--addr", p.grpc, "--pool", "web"}, args...)...)
	}
	in("", file).want(t, exitDone, "created 4, unchanged 0, refused 0\n", "")
	shown := p.taskpool(t, "pool", "show", "web")
	state := p.taskpool(t, "pool", "export", "web")
	in(text).want(t, exitDone, "created 0, unchanged 4, refused 0\n", "")
	in(text, "-").want(t, exitDone, "created 0, unchanged 4, refused 0\n", "")
	if again := p.taskpool(t, "pool", "show", "web"); again != shown { // its cursor is the same
		t.Errorf("importing twice made\n%s\nof\n%s", again, shown)
	}
	if again := p.taskpool(t, "pool", "export", "web"); again != state {
		t.Errorf("importing twice made\n%s\nof\n%s", again, state)
	}
	if thread := p.taskpool(t, "task", "read", "T-1", "--thread", "--pool", "web"); !strings.Contains(thread, "imported  was T-1 where it came from") {
		t.Errorf("%s", thread)
	}

	p.taskpool(t, "task", "update", "T-1", "--pool", "web", "--title", "mine")
	p.taskpool(t, "task", "update", "T-3", "--pool", "web", "--title", "mine, too")
	lines := strings.Split(text, "\n")
	differs := strings.Join(append(lines[:1:1], append([]string{""}, lines[1:]...)...), "\n")
	r := in(differs)
	if r.code != exitRefused || r.out != "created 0, unchanged 2, refused 2\n" ||
		r.err != "taskpool: 2 tasks were refused:\n  line 3: T-1 differs here in title, thread; it was left as it is\n  line 10: T-3 differs here in title, thread; it was left as it is\n" {
		t.Errorf("%+v", r)
	}
	if r := in(text, "--json"); r.code != exitRefused || !strings.Contains(r.out, `"refused_count": 2`) || !strings.Contains(r.out, `"reason": "TASK_DIFFERS"`) {
		t.Errorf("%+v", r)
	}
}

func TestImport_whatCantBeTaken(t *testing.T) {
	p := start(t, "memory")
	fill(t, p)
	text := p.taskpool(t, "pool", "export")
	p.taskpool(t, "pool", "create", "web")
	lines := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		"unknown fields": {
			strings.ReplaceAll(text, `"title":"Write the `, `"titel":"Write the `), nil, exitRefused,
			"taskpool: standard input can't be read as what export writes, nothing was changed:\n" +
				"  line 2: there is no field \"task.titel\" (did you mean \"title\"?)\n" +
				"  line 3: there is no field \"event.created.titel\" (did you mean \"title\"?)\n" +
				"  line 6: there is no field \"task.titel\" (did you mean \"title\"?)\n" +
				"  line 7: there is no field \"event.created.titel\" (did you mean \"title\"?)\n",
		},
		"no JSON":   {text + "{\n", nil, exitRefused, "taskpool: standard input can't be read as what export writes, nothing was changed:\n  line 14: is no record: unexpected EOF\n"},
		"nothing":   {"\n", nil, exitRefused, "taskpool: there is no record in standard input; \"taskpool pool export\" writes them\n"},
		"no file":   {"", []string{"nowhere.jsonl"}, exitRefused, "taskpool: open nowhere.jsonl: no such file or directory\n"},
		"two files": {"", []string{"a", "b"}, exitUsage, "taskpool: \"b\" is one argument too many; see taskpool pool import --help\n"},
		"cut":       {strings.Join(lines[:len(lines)-2], ""), nil, exitRefused, "taskpool: line 1: extent counts 4 tasks and 8 events, and 4 and 7 came: the export was cut or changed; export again, or merge without this first record\n  nothing was changed\n"},
		"huge": {
			text + `{"task":{"title":"` + strings.Repeat("x", 16<<20) + "\"}}\n",
			nil,
			exitRefused,
			"taskpool: standard input can't be read as what export writes, nothing was changed:\n" +
				"  line 14: is 16777226 bytes, and a message takes 16776192: no pool has such a task; take the line out\n",
		},
		"restore without the count": {
			strings.Join(lines[1:], ""),
			[]string{"--restore"},
			exitRefused,
			"taskpool: line 1: extent is absent: a restore begins with the first record of an export, which counts the others; begin with it, or merge\n" +
				"  nothing was changed\n",
		},
		"restore by a member": {
			text,
			[]string{"--restore", "--actor", "agent:a"},
			exitRefused,
			"taskpool: you may not restore a pool; the operator (human) may\n  nothing was changed\n",
		},
		"restore of what is wrong": {
			strings.ReplaceAll(text, `"created_by":"human"`, `"created_by":""`),
			[]string{"--restore"},
			exitRefused,
			"taskpool: 4 things are wrong with the request:\n" +
				"  line 2: task.created_by is empty: write a member's id, as in agent:NAME, ext:NAME or human\n" +
				"  line 6: task.created_by is empty: write a member's id, as in agent:NAME, ext:NAME or human\n" +
				"  line 9: task.created_by is empty: write a member's id, as in agent:NAME, ext:NAME or human\n" +
				"  line 11: task.created_by is empty: write a member's id, as in agent:NAME, ext:NAME or human\n" +
				"  nothing was changed\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			invoke(t, c.stdin, append([]string{"pool", "import", "--addr", p.grpc, "--pool", "web"}, c.args...)...).want(t, c.code, "", c.want)
		})
	}
	if shown := p.taskpool(t, "pool", "show", "web"); !strings.Contains(shown, "tasks        0") {
		t.Errorf("the pool is\n%s", shown)
	}
	bad := strings.Replace(text, `"title":"dropped"`, `"title":"`+strings.Repeat("x", 101)+`"`, 1)
	invoke(t, bad, "pool", "import", "--addr", p.grpc, "--pool", "web").want(t, exitRefused, "created 3, unchanged 0, refused 1\n",
		"taskpool: 1 task was refused:\n  line 11: title is 101 characters long, 100 are allowed: shorten it and put the rest into description or body\n")
	if r := invoke(t, "", "pool", "export", "nowhere", "--addr", p.grpc); r.code != exitRefused || r.out != "" || !strings.Contains(r.err, `there is no pool "nowhere"`) {
		t.Errorf("%+v", r)
	}
}

// transferFake is a server that begins an export and goes quiet, or goes away once
// it has all of an import.
type transferFake struct {
	taskpoolv1.UnimplementedPoolServiceServer
}

func (transferFake) ExportPool(r *taskpoolv1.ExportPoolRequest, stream grpc.ServerStreamingServer[taskpoolv1.ExportPoolResponse]) error {
	_ = stream.Send(&taskpoolv1.ExportPoolResponse{Records: []*taskpoolv1.PoolRecord{{Record: &taskpoolv1.PoolRecord_Task{Task: &taskpoolv1.Task{Key: "T-1"}}}}})
	if r.GetPool() == "breaks" {
		return status.Error(codes.Unavailable, "gone")
	}
	<-stream.Context().Done()
	return stream.Context().Err()
}

func (transferFake) ImportPool(stream grpc.ClientStreamingServer[taskpoolv1.ImportPoolRequest, taskpoolv1.ImportPoolResponse]) error {
	for {
		if _, err := stream.Recv(); err != nil {
			return status.Error(codes.Unavailable, "gone")
		}
	}
}

func TestTransfer_whenTheServerFails(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	taskpoolv1.RegisterPoolServiceServer(g, transferFake{})
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(listener) }()
	t.Cleanup(func() { g.Stop(); <-done })
	addr := listener.Addr().String()
	s := shell{env: map[string]string{"TASKPOOL_ADDR": addr}, stdin: `{"task":{"key":"T-1"}}`}

	line := "{\"task\":{\"key\":\"T-1\"}}\n"
	s.run(t, "pool", "export", "--timeout", "100ms").want(t, exitRefused, line,
		"the export is not whole: it ends after 1 task\ntaskpool: no answer from "+addr+" within 100ms; look whether the server is well, or wait longer with --timeout\n")
	if r := s.run(t, "pool", "export", "breaks"); r.code != exitRefused || r.out != line || !strings.HasPrefix(r.err, "the export is not whole: it ends after 1 task\ntaskpool: no server answers at "+addr) {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "pool", "import"); r.code != exitRefused || r.out != "" || !strings.HasSuffix(r.err, "  it may have happened all the same: repeat it; what is there by then stays as it is\n") {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "pool", "import", "--restore", "--request-id", "once"); r.code != exitRefused || !strings.HasSuffix(r.err, "  it may have happened all the same: repeat it with --request-id once, and it happens once\n") {
		t.Errorf("%+v", r)
	}
	s.env["TASKPOOL_ADDR"] = "127.0.0.1:1"
	if r := s.run(t, "pool", "import"); r.code != exitRefused || !strings.HasPrefix(r.err, "taskpool: no server answers at 127.0.0.1:1") || strings.Contains(r.err, "may have happened") {
		t.Errorf("%+v", r)
	}
}
