package pool_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// theFile is one in the form of llm-chat-task.
const theFile = "taskfile/testdata/tasks.json"

// asFile writes a task file.
func asFile(t testing.TB, data string) string {
	t.Helper()
	path := tasksJSON(t)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// inFile is one task of a file.
func inFile(n int, status string, more ...string) string {
	return fmt.Sprintf(`{"id": "%s", "title": "t%d", "status": "%s"%s}`, id(n), n, status, strings.Join(append([]string{""}, more...), ", "))
}

func tasksFile(tasks ...string) string { return `{"tasks": [` + strings.Join(tasks, ", ") + `]}` }

func needs(ns ...int) string {
	ids := make([]string, len(ns))
	for i, n := range ns {
		ids[i] = `"` + id(n) + `"`
	}
	return `"dependencyIds": [` + strings.Join(ids, ", ") + `]`
}

// loaded loads a file as the operator.
func (f *fixture) loaded(path string) pool.LoadReport {
	f.t.Helper()
	report, err := f.LoadFile(f.t.Context(), pool.Request{Actor: operator}, path)
	if err != nil {
		f.t.Fatalf("load: %v", err)
	}
	if wrong := f.Unsound(); wrong != "" {
		f.t.Fatal(wrong)
	}
	return report
}

// wontLoad is refused, and changes nothing.
func (f *fixture) wontLoad(data, reason string) refusal {
	f.t.Helper()
	path := asFile(f.t, data)
	return f.refused(reason, func() error {
		_, err := f.LoadFile(f.t.Context(), pool.Request{Actor: operator}, path)
		return err
	})
}

func TestLoadFile(t *testing.T) {
	f := open(t)
	f.titled("old")
	f.titled("older")
	before := f.Cursor()
	report := f.loaded(theFile)
	if want := (pool.LoadReport{Tasks: 4, Cursor: f.Cursor()}); !reflect.DeepEqual(report, want) {
		t.Errorf("%+v, want %+v", report, want)
	}
	if report.Cursor.Epoch == before.Epoch || report.Cursor.Revision != before.Revision+1 {
		t.Errorf("from %v to %v", before, report.Cursor)
	}
	if err := f.Check(t.Context(), before); reasonOf(err) != "*pool.CursorError" {
		t.Errorf("a cursor of before: %v", err)
	}
	if got := titles(f.all()); got != "Write the parser Write the runner Tell the world Clean up" {
		t.Errorf("there are %s", got)
	}
	parser, runner, world := f.get("T-3"), f.get("T-4"), f.get("T-5")
	if parser.Status != task.Done || parser.ClosedAt.IsZero() || parser.CreatedBy != operator || parser.Version != 1 || !slices.Equal(parser.Dependents, []string{runner.ID, world.ID}) {
		t.Errorf("the parser is %+v", parser)
	}
	if runner.Status != task.InProgress || runner.Holder != operator || runner.Assignee != operator || runner.Lease != 0 || runner.HeldAt.IsZero() {
		t.Errorf("the runner is %+v", runner.Task)
	}
	if world.Status != task.Pending || !slices.Equal(world.Unfinished, []string{runner.ID}) {
		t.Errorf("the world is %+v", world.Task)
	}
	h := parser.History()
	if len(h) != 2 || parser.HistoryCount != 2 || h[0].Body != "begun" || !h[0].At.Equal(time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)) || h[0].Actor != operator {
		t.Errorf("its history is %+v", h)
	}
	if got := told(runner, 0); got != "human created {Title:Write the runner ParentID: DiscoveredFrom:}\nhuman progress \"begun\"\nhuman claimed {Holder:human Lease:0s RunID:}\n" {
		t.Errorf("the runner's thread is\n%s", got)
	}

	// What is held is the actor's to finish, and what waits for it goes on.
	f.as(operator).set(runner.ID, task.Done)
	if got := f.get(world.ID); got.Status != task.Ready {
		t.Errorf("the world is %s", got.Status)
	}
	if got := f.saved(tasksJSON(t)); !strings.Contains(got, `"status": "done"`) || strings.Contains(got, "in_progress") {
		t.Errorf("saved:\n%s", got)
	}
}

// What was saved is loaded and saved again as the same bytes.
func TestLoadFile_andSaveIsTheSame(t *testing.T) {
	f := open(t)
	f.loaded(theFile)
	if got := f.saved(tasksJSON(t)); got != contents(t, theFile) {
		t.Errorf("saved:\n%s", got)
	}
}

func TestLoadFile_derivesPendingAndReady(t *testing.T) {
	f := open(t)
	f.loaded(asFile(t, tasksFile(
		inFile(1, "pending"),
		inFile(2, "ready", needs(1)),
		inFile(3, "in_progress", needs(1)),
		inFile(4, "done", needs(1, 3)),
		inFile(5, "pending", needs(4)),
		inFile(6, "pending", `"dependencyIds": ["00000000-0000-4000-8000-000000000000"]`),
	)))
	var got []task.Status
	for _, x := range f.all() {
		got = append(got, x.Status)
	}
	if want := []task.Status{task.Ready, task.Pending, task.InProgress, task.Done, task.Ready, task.Ready}; !slices.Equal(got, want) {
		t.Errorf("they are %v, want %v", got, want)
	}
	if got := f.get(id(4)); len(got.Unfinished) != 2 {
		t.Errorf("what is done misses %v", got.Unfinished)
	}
}

func TestLoadFile_reportsWhatItPruned(t *testing.T) {
	f := open(t)
	report := f.loaded(asFile(t, tasksFile(inFile(1, "ready", `"dependencyIds": ["gone", "`+id(2)+`", "`+id(9)+`"]`), inFile(2, "done"))))
	if want := map[string][]string{id(1): {"gone", id(9)}}; !reflect.DeepEqual(report.Pruned, want) {
		t.Errorf("pruned %v, want %v", report.Pruned, want)
	}
	if got := f.get(id(1)); !slices.Equal(got.Dependencies, []string{id(2)}) {
		t.Errorf("left %v", got.Dependencies)
	}
}

func TestLoadFile_refusesTheWholeFile(t *testing.T) {
	f := open(t)
	f.titled("old")
	f.wontLoad("", "INVALID_FIELD")
	f.wontLoad(tasksFile(inFile(1, "ready"), `{"id": "`+id(2)+`", "title": "no status"}`), "INVALID_FIELD")
	f.wontLoad(tasksFile(inFile(1, "ready"), inFile(1, "ready")), "INVALID_FIELD")
	e := as[*pool.InvalidError](t, f.wontLoad(tasksFile(inFile(1, "blocked", `"milestone": "m"`, needs(1)), inFile(2, "ready", `"steps": [""]`)), "INVALID_FIELD"))
	var fields []string
	for _, v := range e.Violations {
		fields = append(fields, v.Field)
	}
	if want := []string{"tasks[0].milestone", "tasks[0].status", "tasks[1].steps[0]", "tasks[0].dependencyIds[0]"}; !slices.Equal(fields, want) {
		t.Errorf("wrong are %v, want %v", fields, want)
	}
	cycle := as[*pool.RuleError](t, f.wontLoad(tasksFile(inFile(1, "ready", needs(2)), inFile(2, "done", needs(3)), inFile(3, "ready", needs(1))), "CYCLE"))
	if want := []string{id(1), id(2), id(3), id(1)}; !slices.Equal(cycle.Path, want) || !strings.HasPrefix(cycle.Message, "tasks[0].dependencyIds[0] closes a cycle: tasks[0] "+id(1)+" → ") {
		t.Errorf("the path is %v: %s", cycle.Path, cycle)
	}
	for name, actor := range map[string]string{"an agent": worker, "nobody": nameless} {
		err := f.refused("NOT_PERMITTED", func() error {
			_, err := f.LoadFile(t.Context(), pool.Request{Actor: actor}, theFile)
			return err
		})
		if !strings.Contains(err.String(), "load a file") {
			t.Errorf("%s: %s", name, err)
		}
	}
}

func TestLoadFile_refusesWhatIsNoFile(t *testing.T) {
	f := open(t)
	load := func(path string) error {
		_, err := f.LoadFile(t.Context(), pool.Request{Actor: operator}, path)
		return err
	}
	dir := t.TempDir()
	for _, path := range []string{"", filepath.Join(dir, "none.json")} {
		if err := load(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, path := range []string{dir, os.DevNull} {
		f.refused("INVALID_FIELD", func() error { return load(path) })
	}
	large := filepath.Join(dir, "large.json")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, pool.MaxFileBytes+1); err != nil { // holes take no space
		cantTry(t, err)
	}
	err := f.refused("REVISION_TOO_LARGE", func() error { return load(large) })
	if !strings.Contains(err.String(), "512 MiB") {
		t.Error(err)
	}
}

// A file may have more tasks than one revision changes otherwise.
func TestLoadFile_isOutsideARevisionsLimits(t *testing.T) {
	f := open(t)
	const n = 10_050
	tasks := make([]string, n)
	for i := range tasks {
		tasks[i] = inFile(i, "ready")
		if i > 0 {
			tasks[i] = inFile(i, "ready", needs(i-1))
		}
	}
	path := asFile(t, tasksFile(tasks...))
	if report := f.loaded(path); report.Tasks != n {
		t.Errorf("%d tasks", report.Tasks)
	}
	if _, counts := f.Stat(); counts[task.Ready] != 1 || counts[task.Pending] != n-1 {
		t.Errorf("there are %v", counts)
	}
}

func TestLoadFile_repeated(t *testing.T) {
	f := open(t)
	path := asFile(t, tasksFile(inFile(1, "ready", `"dependencyIds": ["gone"]`)))
	once := pool.Request{Actor: operator, ID: "once"}
	first, err := f.LoadFile(t.Context(), once, path)
	if err != nil {
		t.Fatal(err)
	}
	f.titled("since")
	again, err := f.LoadFile(t.Context(), once, path)
	if err != nil || !again.Replayed || again.Cursor != first.Cursor || !reflect.DeepEqual(again.Pruned, first.Pruned) {
		t.Errorf("%+v, %v; first it was %+v", again, err, first)
	}
	if got := titles(f.all()); got != "t1 since" {
		t.Errorf("there are %s", got)
	}
	if err := os.WriteFile(path, []byte(tasksFile()), 0o600); err != nil {
		t.Fatal(err)
	}
	f.refused("REQUEST_ID_REUSED", func() error { _, err := f.LoadFile(t.Context(), once, path); return err })
	f.loaded(path)
	if got := f.all(); len(got) != 0 {
		t.Errorf("an empty file left %v", got)
	}
	if got := f.titled("next"); got.Number != 3 {
		t.Errorf("the key %s was given out before", got.Key())
	}
}

// An entry without a time has that of the loading.
func TestLoadFile_timesOfHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		f.loaded(asFile(t, tasksFile(
			inFile(1, "ready", `"history": "by hand"`),
			inFile(2, "ready", `"history": "by hand\n[2020-01-01T00:00:00Z] stamped"`))))
		now, then := time.Now(), time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		for n, want := range map[int][]time.Time{1: {now}, 2: {then, then}} {
			for i, e := range f.get(id(n)).History() {
				if !e.At.Equal(want[i]) {
					t.Errorf("entry %d of task %d is of %s, want %s", i, n, e.At, want[i])
				}
			}
		}
	})
}

// llm-chat-task: an entry forges a dated line; and a log longer than the cap is
// kept, and takes no more.
func TestLoadFile_history(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	lie := "did it\n[2020-01-01T00:00:00.000Z] approved by human"
	f.mustUpdate(it.ID, entry(lie))
	path := tasksJSON(t)
	f.saved(path)
	f.loaded(path)
	if h := f.get(it.ID).History(); len(h) != 1 || h[0].Body != lie {
		t.Errorf("the history is %+v", h)
	}
	long := strings.Repeat("x", 20_000)
	f.loaded(asFile(t, tasksFile(inFile(1, "ready", `"history": "[2020-01-01T00:00:00Z] `+long+`"`))))
	if h := f.get(id(1)).History(); len(h) != 1 || h[0].Body != long {
		t.Error("a long history was cut")
	}
	f.wontUpdate(id(1), entry("more"), "HISTORY_FULL")
}
