package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
)

// What a newcomer does, and then the power goes.
func TestWhatWasAnsweredIsThereAfterAKill(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data)
	if p.data != data {
		t.Errorf("says data=%s", p.data)
	}
	p.taskpool(t, "task", "create", "--title", "Write the schema", "--priority", "high", "--step", "think")
	p.taskpool(t, "task", "create", "--title", "Write the reader", "--depends-on", "T-1", "--label", "team=core")
	p.taskpool(t, "pool", "create", "web", "--limit", "title_length=200")
	p.taskpool(t, "task", "create", "--pool", "web", "--title", strings.Repeat("x", 150))
	p.taskpool(t, "task", "update", "T-1", "--status", "in_progress")
	p.taskpool(t, "task", "update", "T-1", "--note", "half done", "--description", "In SQL.")
	before := p.taskpool(t, "task", "list", "--all", "--json")
	thread := p.taskpool(t, "task", "read", "T-1", "--thread", "--json")
	p.kill(t)

	p = start(t, data)
	if after := p.taskpool(t, "task", "list", "--all", "--json"); after != before {
		t.Errorf("the list after the kill\n%s\nbefore\n%s", after, before)
	}
	if after := p.taskpool(t, "task", "read", "T-1", "--thread", "--json"); after != thread {
		t.Errorf("the thread after the kill\n%s\nbefore\n%s", after, thread)
	}
	if shown := p.taskpool(t, "pool", "show", "web"); !strings.Contains(shown, "tasks        1: 1 ready") || !strings.Contains(shown, "title_length                 200") {
		t.Errorf("%s", shown)
	}
	p.taskpool(t, "task", "update", "T-1", "--status", "done")
	list := p.taskpool(t, "task", "list", "--all")
	want := "KEY  STATUS  PRIORITY  TITLE             WHO\nT-1  done    high      Write the schema  human\nT-2  ready             Write the reader\n"
	if list != want {
		t.Errorf("listed\n%s\nwant\n%s", list, want)
	}
	if state := p.terminate(t); state.ExitCode() != exitDone {
		t.Errorf("after SIGTERM: %v", state)
	}
	p = start(t, data)
	if again := p.taskpool(t, "task", "list", "--all"); again != want {
		t.Errorf("after a restart\n%s", again)
	}
}

func TestASecondServerIsRefused(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data)
	began := time.Now()
	r := invoke(t, "", "serve", "--data", data, "--grpc-addr", "127.0.0.1:0", "--http-addr", "")
	if r.code != exitRefused || !strings.Contains(r.err, "process "+strconv.Itoa(p.cmd.Process.Pid)) || strings.Count(r.err, "\n") != 1 {
		t.Errorf("%+v", r)
	}
	if took := time.Since(began); took > patience/2 {
		t.Errorf("it took %s", took)
	}
	p.taskpool(t, "task", "create", "--title", "the first goes on")
}

func TestATakenAddressIsNamed(t *testing.T) {
	p := start(t, "memory")
	r := invoke(t, "", "serve", "--data", "memory", "--grpc-addr", p.grpc, "--http-addr", "")
	if r.code != exitRefused || !strings.Contains(r.err, p.grpc) || !strings.Contains(r.err, "choose another address with --grpc-addr") {
		t.Errorf("%+v", r)
	}
	r = invoke(t, "", "serve", "--data", "memory", "--grpc-addr", "127.0.0.1:0", "--http-addr", p.http)
	if r.code != exitRefused || !strings.Contains(r.err, "--http-addr") {
		t.Errorf("%+v", r)
	}
}

func TestBackupWhileServing(t *testing.T) {
	data, dest := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy.db")
	p := start(t, data)
	p.taskpool(t, "task", "create", "--title", "before")
	ctx, stop := context.WithCancel(t.Context())
	writing, begun := make(chan error, 1), make(chan struct{})
	go func() { writing <- createUntil(ctx, p.grpc, sync.OnceFunc(func() { close(begun) })) }()
	<-begun
	if r := invoke(t, "", "backup", "--data", data, dest); r.code != exitDone || r.out != "copied "+data+" to "+dest+"\n" {
		t.Errorf("%+v", r)
	}
	stop()
	if err := <-writing; err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, "", "backup", "--data", data, dest); r.code != exitRefused {
		t.Errorf("over a copy that is there: %+v", r)
	}
	if r := invoke(t, "", "backup", "--data", filepath.Join(data, "nowhere"), dest+"2"); r.code != exitRefused {
		t.Errorf("of nothing: %+v", r)
	}

	restored := t.TempDir()
	if err := os.Rename(dest, filepath.Join(restored, sqlite.DatabaseName)); err != nil {
		t.Fatal(err)
	}
	copied := start(t, restored)
	list := strings.Split(strings.TrimSuffix(copied.taskpool(t, "task", "list", "--limit", "0"), "\n"), "\n")[1:]
	for i, line := range list { // one moment: no gaps
		if want := fmt.Sprintf("T-%d ", i+1); !strings.HasPrefix(line, want) {
			t.Fatalf("task %d of the copy: %s", i+1, line)
		}
	}
	if len(list) == 0 || !strings.HasSuffix(list[0], "before") {
		t.Errorf("the copy has %d tasks", len(list))
	}
}

// createUntil creates tasks, one after the other, until ctx ends; it calls created
// after each, and at its end.
func createUntil(ctx context.Context, addr string, created func()) error {
	defer created()
	connection, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	tasks := taskpoolv1.NewTaskServiceClient(connection)
	for ctx.Err() == nil {
		if _, err := tasks.CreateTask(context.WithoutCancel(ctx), &taskpoolv1.CreateTaskRequest{Task: &taskpoolv1.NewTask{Title: "more"}}); err != nil {
			return errors.Join(err, connection.Close())
		}
		created()
	}
	return connection.Close()
}

// A call that never ends keeps a server that drains; a second signal ends it.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	p := start(t, "memory", "--drain-timeout", "1h")
	connection, err := grpc.NewClient(p.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// A call whose request never comes.
	if _, err := connection.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, taskpoolv1.TaskService_CreateTask_FullMethodName); err != nil {
		t.Fatal(err)
	}
	p.taskpool(t, "task", "list") // by now the server has met that call
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
		t.Fatalf("the server did not wait for the call: %s", p.said())
	case <-time.After(500 * time.Millisecond):
	}
	if state := p.terminate(t); state.ExitCode() == exitDone {
		t.Errorf("after a second SIGTERM: %v", state)
	}
}

func TestMemoryKeepsNothing(t *testing.T) {
	p := start(t, "memory", "--log-format", "json", "--log-level", "warn")
	p.taskpool(t, "task", "create", "--title", "gone soon")
	if p.data != "memory" {
		t.Errorf("says data=%s", p.data)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.http+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("metrics: %s", answer.Status)
	}
	if state := p.terminate(t); state.ExitCode() != exitDone {
		t.Errorf("after SIGTERM: %v", state)
	}
	if found, err := os.ReadDir(p.cmd.Dir); err != nil || len(found) != 0 {
		t.Errorf("it left %v, %v", found, err)
	}
	if said := p.said(); strings.Count(said, "\n") != 1 {
		t.Errorf("it said more than that it listens: %s", said)
	}
}

// The default needs no flag: the data lies where the server was started.
func TestServeInProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	ended := make(chan int, 1)
	go func() {
		defer func() { _ = writer.Close() }()
		env := func(name string) (string, bool) {
			v, ok := map[string]string{"TASKPOOL_GRPC_ADDR": "127.0.0.1:0", "LLM_CHAT_TASK_MAX_TITLE_LENGTH": "7"}[name]
			return v, ok
		}
		ended <- run(ctx, []string{"serve", "--http-addr", ""}, env, strings.NewReader(""), writer, writer)
	}()
	text := make([]byte, 4096)
	said := ""
	for !strings.Contains(said, "taskpool: listening ") {
		n, err := reader.Read(text)
		if said += string(text[:n]); err != nil {
			t.Fatalf("%v after %q", err, said)
		}
	}
	if !strings.Contains(said, "http=off data=./taskpool-data\n") || !strings.Contains(said, `limits="default, but title_length=7"`) {
		t.Errorf("%q", said)
	}
	addr := strings.Fields(said[strings.Index(said, "grpc=")+len("grpc="):])[0]
	s := shell{env: map[string]string{"TASKPOOL_ADDR": addr}}
	if r := s.run(t, "task", "create", "--title", "1234567"); r.code != exitDone {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "task", "create", "--title", "12345678"); r.code != exitRefused {
		t.Errorf("%+v", r)
	}
	stop()
	select {
	case code := <-ended:
		if code != exitDone {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	if _, err := os.Stat(filepath.Join("taskpool-data", sqlite.DatabaseName)); err != nil {
		t.Error(err)
	}
}

// Boards of real teams: TASKPOOL_TEST_BOARDS names their folder.
func TestBoards(t *testing.T) {
	folder := os.Getenv("TASKPOOL_TEST_BOARDS")
	if folder == "" {
		t.Skip("TASKPOOL_TEST_BOARDS is not set")
	}
	p := start(t, filepath.Join(t.TempDir(), "data"))
	r := invoke(t, "", "task", "create", "--from", filepath.Join(folder, "board-with-cycle.jsonl"), "--addr", p.grpc)
	if r.code != exitRefused || !strings.Contains(r.err, "master/12.1 → master/12.4 → master/12.1") {
		t.Errorf("%+v", r)
	}
	empty := p.taskpool(t, "pool", "show")
	if !strings.Contains(empty, "tasks        0\n") {
		t.Errorf("it left\n%s", empty)
	}
	if out := p.taskpool(t, "task", "create", "--from", filepath.Join(folder, "board.jsonl")); out != "created 706 tasks, T-1 to T-706\n" {
		t.Errorf("%s", out)
	}
	p.kill(t)
	p = start(t, p.data)
	list := p.taskpool(t, "task", "list", "--all", "--limit", "0", "--json", "--view", "full")
	if n := strings.Count(list, `"key": "T-`); n != 706 {
		t.Errorf("%d tasks are listed", n)
	}
	if n := dependenciesIn(t, list); n != 549 {
		t.Errorf("%d dependencies are listed", n)
	}
}

// dependenciesIn counts those of a listing.
func dependenciesIn(t *testing.T, list string) int {
	t.Helper()
	var page struct {
		Tasks []struct {
			DependencyIDs []string `json:"dependency_ids"`
		}
	}
	if err := json.Unmarshal([]byte(list), &page); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, task := range page.Tasks {
		n += len(task.DependencyIDs)
	}
	return n
}
