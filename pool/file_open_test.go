package pool_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

func optionsOver(s store.Store) pool.LoadOptions {
	return pool.LoadOptions{Config: pool.Config{Store: s, Codec: taskpb.Codec{}}}
}

// openFile opens a file as a pool, until the test ends.
func openFile(t *testing.T, path string, o pool.LoadOptions) *pool.Loaded {
	t.Helper()
	l, err := pool.Load(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func TestLoad(t *testing.T) {
	s := memory.New()
	defer s.Close()
	o := optionsOver(s)
	o.Actor = worker
	l := openFile(t, theFile, o)
	f := &fixture{Pool: l.Pool, t: t, actor: worker}
	if l.Report.Tasks != 4 || l.Name() != pool.DefaultName || len(f.all()) != 4 {
		t.Errorf("%+v of %s", l.Report, l.Name())
	}
	runner := f.get("T-2")
	if runner.Holder != worker || runner.CreatedBy != worker {
		t.Errorf("the runner is %+v", runner.Task)
	}
	f.set(runner.ID, task.Done)
	path := tasksJSON(t)
	f.saved(path)
	l.Close()
	l.Close()
	if _, err := f.update(runner.ID, entry("after")); reasonOf(err) != "*pool.UnavailableError" {
		t.Errorf("after Close: %v", err)
	}

	// The store is as it was left, and what the file says replaces it.
	g := openOn(t, s)
	if got := titles(g.all()); got != "Write the parser Write the runner Tell the world Clean up" {
		t.Errorf("the store has %s", got)
	}
	if got := openFile(t, path, optionsOver(memory.New())); got.Report.Tasks != 4 {
		t.Errorf("%+v", got.Report)
	}
}

// llm-chat-task: the static load took no configuration, so a pool with other
// limits could not be loaded.
func TestLoad_hasLimits(t *testing.T) {
	path := asFile(t, tasksFile(`{"id": "`+id(1)+`", "title": "`+strings.Repeat("x", 150)+`", "status": "ready"}`))
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"LLM_CHAT_TASK_MAX_TITLE_LENGTH": "120", "LLM_CHAT_TASK_MAX_LINKS_PER_TASK": "7"}[name]
		return v, ok
	}
	for _, name := range []string{"", "team"} {
		s := memory.New()
		defer s.Close()
		o := optionsOver(s)
		o.Pool, o.Getenv = name, env
		if _, err := pool.Load(t.Context(), path, o); reasonOf(err) != "INVALID_FIELD" || !strings.Contains(err.Error(), "120 are allowed") {
			t.Errorf("%q: %v", name, err)
		}
		o = optionsOver(memory.New())
		o.Pool, o.Getenv, o.Limits = name, env, task.LimitOptions{"title_length": 150}
		l := openFile(t, path, o)
		if l.Limits().TitleLength != 150 || l.Limits().LinksPerTask != 7 || l.Limits().PlanFieldCount != 20 {
			t.Errorf("%q has the limits %+v", name, l.Limits())
		}
	}
}

// A pool that is there keeps its limits, and the others of its store are left
// alone.
func TestLoad_intoAPoolOfAStore(t *testing.T) {
	s := memory.New()
	defer s.Close()
	r, f := openRegistry(t, s, nil)
	f.titled("another pool's")
	if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: operator}, pool.Info{Name: "team", Limits: task.LimitOptions{"title_length": 20}}); err != nil {
		t.Fatal(err)
	}
	r.Close()
	o := optionsOver(s)
	o.Pool, o.Limits = "team", task.LimitOptions{"title_length": 5, "links_per_task": 3}
	l := openFile(t, theFile, o)
	if l.Name() != "team" || l.Limits().TitleLength != 20 || l.Limits().LinksPerTask != 3 {
		t.Errorf("%s has the limits %+v", l.Name(), l.Limits())
	}
	l.Close()
	if got := titles(openOn(t, s).all()); got != "another pool's" {
		t.Errorf("the default pool has %s", got)
	}
}

func TestLoad_refuses(t *testing.T) {
	s := memory.New()
	defer s.Close()
	change := func(do func(*pool.LoadOptions)) pool.LoadOptions {
		o := optionsOver(s)
		do(&o)
		return o
	}
	for name, c := range map[string]struct {
		o    pool.LoadOptions
		path string
		want string
	}{
		"no store":     {change(func(o *pool.LoadOptions) { o.Store = nil }), theFile, "*errors.errorString"},
		"no codec":     {change(func(o *pool.LoadOptions) { o.Codec = nil }), theFile, "*errors.errorString"},
		"the pool":     {change(func(o *pool.LoadOptions) { o.Actor = task.SystemPool }), theFile, "INVALID_FIELD"},
		"no member":    {change(func(o *pool.LoadOptions) { o.Actor = "worker" }), theFile, "INVALID_FIELD"},
		"no limit":     {change(func(o *pool.LoadOptions) { o.Limits = task.LimitOptions{"length": 1} }), theFile, "INVALID_FIELD"},
		"no name":      {change(func(o *pool.LoadOptions) { o.Pool = "No Name" }), theFile, "INVALID_FIELD"},
		"a bad file":   {optionsOver(s), asFile(t, "{}"), "INVALID_FIELD"},
		"a closed one": {optionsOver(closedStore()), theFile, "*pool.UnavailableError"},
	} {
		l, err := pool.Load(t.Context(), c.path, c.o)
		if l != nil || reasonOf(err) != c.want && c.want != "*pool.UnavailableError" || err == nil {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
	if _, err := pool.Load(t.Context(), filepath.Join(t.TempDir(), "none"), optionsOver(s)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// closedStore is one that takes nothing any more.
func closedStore() store.Store {
	s := memory.New()
	_ = s.Close()
	return s
}
