package pool_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// saved saves the pool to a file, and gives that.
func (f *fixture) saved(path string) string {
	f.t.Helper()
	if err := f.Save(f.t.Context(), path); err != nil {
		f.t.Fatalf("save: %v", err)
	}
	return contents(f.t, path)
}

func contents(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tasksJSON is a path for a file in a directory of its own.
func tasksJSON(t testing.TB) string { return filepath.Join(t.TempDir(), "tasks.json") }

func TestSave(t *testing.T) {
	f := open(t)
	a := f.create(task.Draft{Title: "a <&>", Description: "d", Priority: task.High, Type: task.Bug, Steps: []string{"s"}, Links: []string{"https://example.com"}})
	b := f.titled("b", a.ID)
	f.mustUpdate(b.ID, entry("two\nlines"))
	f.mustUpdate(a.ID, task.Patch{Status: new(task.InProgress)})
	f.mustUpdate(a.ID, task.Patch{Status: new(task.Done)})
	c := f.titled("c", b.ID)
	f.claim(b.ID)
	stamp := f.get(b.ID).History()[0].At.UTC().Format("2006-01-02T15:04:05.000Z")
	want := `{
  "tasks": [
    {
      "id": "` + a.ID + `",
      "title": "a <&>",
      "description": "d",
      "priority": "high",
      "type": "bug",
      "links": [
        "https://example.com"
      ],
      "steps": [
        "s"
      ],
      "history": "",
      "status": "done",
      "dependencyIds": []
    },
    {
      "id": "` + b.ID + `",
      "title": "b",
      "history": "[` + stamp + `] two\\nlines",
      "status": "in_progress",
      "dependencyIds": [
        "` + a.ID + `"
      ]
    },
    {
      "id": "` + c.ID + `",
      "title": "c",
      "history": "",
      "status": "pending",
      "dependencyIds": [
        "` + b.ID + `"
      ]
    }
  ]
}
`
	path := tasksJSON(t)
	if got := f.saved(path); got != want {
		t.Errorf("it says\n%s", got)
	}
	if got := f.saved(path); got != want {
		t.Errorf("again it says\n%s", got)
	}
}

// What the format would lose is refused by name, and nothing is written.
func TestSave_refusesWhatTheFileCannotHold(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cases := map[string]task.Task{
		"parent_id":          {Status: task.Ready, ParentID: id(1)},
		"labels":             {Status: task.Ready, Labels: map[string]string{"k": ""}},
		"body":               {Status: task.Ready, Brief: (&task.Brief{Body: "b"}).Pack()},
		"not_before":         {Status: task.Done, ClosedAt: at, NotBefore: at},
		"assignee":           {Status: task.InProgress, Holder: worker, HeldAt: at, Assignee: worker},
		"reviewer":           {Status: task.Ready, Reviewer: worker},
		"blocked_reason":     {Status: task.Ready, BlockedReason: "b"},
		"discovered_from_id": {Status: task.Ready, DiscoveredFrom: id(1)},
		"result":             {Status: task.Done, ClosedAt: at, Result: "r"},
		"submission":         {Status: task.Done, ClosedAt: at, Submission: 1},
		"lease":              {Status: task.InProgress, Holder: worker, HeldAt: at, Assignee: worker, AssignedByClaim: true, Lease: time.Minute},
	}
	var tried []string
	for field, with := range cases {
		tried = append(tried, field)
		unsaved(t, with, nil, field)
	}
	for _, s := range []task.Status{task.Review, task.Blocked, task.Cancelled, task.Failed} {
		with := task.Task{Status: s}
		if s.Closed() {
			with.ClosedAt = at
		}
		unsaved(t, with, nil, "status")
	}
	for kind, name := range map[task.EventKind]string{
		task.EventComment: "comments", task.EventSubmitted: "submissions", task.EventGate: "gates", task.EventVerdict: "verdicts", task.EventRetried: "retries",
	} {
		e := &task.Event{At: at, Actor: worker, Kind: kind, Body: "b"}
		unsaved(t, task.Task{Status: task.Ready}, []*task.Event{e, e}, name)
	}
	slices.Sort(tried)
	known := slices.DeleteFunc(pool.UnsavableFields(), func(name string) bool { return name == "status" })
	slices.Sort(known)
	if !slices.Equal(tried, known) {
		t.Errorf("tried %v of %v", tried, known)
	}
}

// unsaved makes a pool with such a task, and checks that saving it is refused for
// that alone.
func unsaved(t *testing.T, with task.Task, thread []*task.Event, field string) {
	t.Helper()
	f := open(t)
	with.ID, with.Title = id(2), "it"
	for _, e := range thread {
		e.TaskID = with.ID
	}
	r, err := f.Replace(t.Context(), pool.Request{Actor: operator}, nil, func() pool.Content {
		return pool.Content{
			Tasks:   []*task.Task{{ID: id(1), Title: "other", Status: task.Ready}, &with},
			Threads: map[string][]*task.Event{with.ID: slices.Clone(thread)},
		}
	})
	if err != nil {
		t.Fatalf("%s: %v", field, err)
	}
	path := tasksJSON(t)
	e := as[*pool.UnsavableError](t, f.Save(t.Context(), path))
	if e.Total != 1 || len(e.Tasks) != 1 || e.Tasks[0].ID != with.ID || e.Tasks[0].Key != f.get(with.ID).Key() || !slices.Equal(e.Tasks[0].Fields, []string{field}) {
		t.Errorf("%s: %+v", field, e)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: something was written: %v", field, err)
	}
	if f.Cursor() != r.Cursor {
		t.Errorf("%s: saving changed the pool", field)
	}
}

func TestSave_namesTheFirstOfMany(t *testing.T) {
	f := open(t)
	f.create(task.Draft{Title: "fine"})
	for range 12 {
		f.create(task.Draft{Title: "t", Body: "b", Labels: map[string]string{"k": "v"}})
	}
	e := as[*pool.UnsavableError](t, f.Save(t.Context(), tasksJSON(t)))
	if e.Total != 12 || len(e.Tasks) != 10 || e.Tasks[0].Key != "T-2" {
		t.Errorf("%+v", e)
	}
	for _, part := range []string{"labels, body of T-2; labels, body of T-3", "and for something of 2 more", "nothing was written", "ExportPool"} {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("%q is not in: %s", part, e)
		}
	}
}

// What a claim does by itself is no reason: a pool in which somebody worked can
// be saved.
func TestSave_takesWhatWorkLeavesBehind(t *testing.T) {
	f := open(t)
	a, b, c := f.titled("a"), f.titled("b"), f.titled("c")
	f.as(worker).claim(a.ID)
	f.as(worker).set(a.ID, task.Done)
	f.as(worker).claim(b.ID)
	f.as(worker).set(b.ID, task.Ready)
	f.as(worker).claim(c.ID)
	f.mustUpdate(b.ID, task.Patch{Title: new("other"), AddDependencies: []string{c.ID}})
	f.saved(tasksJSON(t))
	f.mustUpdate(b.ID, task.Patch{Assignee: new(worker)})
	if err := f.Save(t.Context(), tasksJSON(t)); err == nil || !strings.Contains(err.Error(), "assignee of T-2;") {
		t.Error(err)
	}
	f.mustUpdate(b.ID, task.Patch{Assignee: new("")})
	f.saved(tasksJSON(t))

	// A claim that ended in blocking leaves its assignment behind.
	f.as(worker).set(c.ID, task.Blocked)
	f.as(worker).set(c.ID, task.Ready)
	if got := f.get(c.ID); got.Assignee == worker && got.AssignedByClaim {
		unsaved(t, task.Task{Status: task.Ready, Assignee: worker, AssignedByClaim: true}, nil, "assignee")
	} else {
		t.Errorf("it is %+v", got.Task)
	}
}

// What could not be loaded again is not saved.
func TestSave_refusesWhatIsTooLargeToLoad(t *testing.T) {
	f := open(t)
	f.titled("one")
	f.titled("two")
	path := tasksJSON(t)
	size := len(f.saved(path))
	f.titled("three")
	for _, most := range []int{0, size, len(f.saved(tasksJSON(t))) - 1} {
		e := as[*pool.QuotaError](t, f.SaveAtMost(t.Context(), path, most))
		if e.Reason != pool.ReasonRevisionTooLarge || !strings.Contains(e.Message, "ExportPool") || len(contents(t, path)) != size {
			t.Errorf("at most %d: %v", most, e)
		}
	}
	if err := f.SaveAtMost(t.Context(), path, len(f.saved(tasksJSON(t)))); err != nil {
		t.Error(err)
	}
}

// A fault at any step leaves the old file or the new one, whole, and nothing
// beside it.
func TestSave_isAllOrNothing(t *testing.T) {
	f := open(t)
	f.titled("new")
	whole := f.saved(tasksJSON(t))
	for _, old := range []string{"", "old"} {
		for _, step := range pool.SaveSteps {
			path := tasksJSON(t)
			if old != "" {
				if err := os.WriteFile(path, []byte(old), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			var steps []string
			err := f.SaveFailing(t.Context(), path, step, func(at string) {
				steps = append(steps, at)
				want := old
				if at == "sync the directory" {
					want = whole
				}
				if got, _ := os.ReadFile(path); string(got) != want {
					t.Errorf("before %q the file is %q", at, got)
				}
			})
			if !errors.Is(err, pool.ErrDisk) {
				t.Errorf("%s: %v", step, err)
			}
			if step == "sync the directory" {
				old := slices.Equal(steps, pool.SaveSteps)
				if got := contents(t, path); got != whole || !old || !strings.Contains(err.Error(), "in its place") {
					t.Errorf("after %v: %v and %q", steps, err, got)
				}
			} else if got, _ := os.ReadFile(path); string(got) != old {
				t.Errorf("%s: the file is %q", step, got)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if left := len(entries); err != nil || left > 1 || left == 1 && entries[0].Name() != "tasks.json" {
				t.Errorf("%s: there are %v, %v", step, entries, err)
			}
		}
	}
}

func TestSave_keepsModeAndLinks(t *testing.T) {
	f := open(t)
	f.titled("t")
	mode := func(path string) fs.FileMode {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "tasks.json"), filepath.Join(t.TempDir(), "link.json")
	f.saved(path)
	if got := mode(path); got != 0o600 {
		t.Errorf("a new file has the mode %v", got)
	}
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	f.titled("another")
	f.saved(link)
	if got := mode(path); got != 0o664 || mode(link)&fs.ModeSymlink == 0 {
		t.Errorf("the file has the mode %v, the link %v", got, mode(link))
	}
	if !strings.Contains(contents(t, path), "another") {
		t.Error("saving to a link changed another file")
	}
}

// socket is a file of a kind that nobody would miss, were it replaced.
func socket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tp") // the names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		cantTry(t, err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestSave_refusesOddPlaces(t *testing.T) {
	f := open(t)
	dir := t.TempDir()
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	inFile := filepath.Join(dir, "file")
	f.saved(inFile)
	for name, path := range map[string]string{
		"a directory": dir, "nothing": "", "no such directory": filepath.Join(dir, "no", "tasks.json"),
		"in a file": filepath.Join(inFile, "tasks.json"), "a link to nowhere": dangling, "a socket": socket(t), "NUL": "a\x00b",
	} {
		if err := f.Save(t.Context(), path); err == nil {
			t.Errorf("%s: it was saved", name)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("there are %v, %v", entries, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(dir, "tasks.json")
	if err := f.Save(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("and something was written: %v", err)
	}
}
