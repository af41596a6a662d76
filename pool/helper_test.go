package pool_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// What the tests of what the pool means have in common.

const (
	filer    = "agent:filer"
	worker   = "agent:worker"
	stranger = "agent:stranger"
	operator = task.Operator
	nameless = task.Anonymous
)

// openAs opens a pool with limits and rules of its own, used by the filer.
func openAs(t testing.TB, limits task.LimitOptions, rule task.EditRule) *fixture {
	t.Helper()
	s := memory.New()
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { r.Close(); _ = s.Close() })
	info := pool.Info{Name: "team", Limits: limits, Rules: task.Rules{EditRule: rule}}
	if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: operator}, info); err != nil {
		t.Fatalf("create pool: %v", err)
	}
	p, release, err := r.Acquire(t.Context(), "team")
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	t.Cleanup(release)
	return &fixture{Pool: p, t: t, actor: filer}
}

// reasonOf names what kind of refusal an error is, as the API's ErrorReason does.
func reasonOf(err error) string {
	var (
		invalid   *pool.InvalidError
		missing   *pool.NotFoundError
		ambiguous *pool.AmbiguousError
		rule      *pool.RuleError
		quota     *pool.QuotaError
	)
	switch {
	case err == nil:
		return ""
	case errors.As(err, &invalid):
		return string(invalid.Reason)
	case errors.As(err, &missing):
		return string(missing.Reason)
	case errors.As(err, &ambiguous):
		return string(ambiguous.Reason)
	case errors.As(err, &rule):
		return string(rule.Reason)
	case errors.As(err, &quota):
		return string(quota.Reason)
	case errors.As(err, new(*pool.HeldError)):
		return "HELD"
	case errors.As(err, new(*pool.HoldLostError)):
		return "HOLD_LOST"
	case errors.As(err, new(*pool.DeniedError)):
		return "NOT_PERMITTED"
	case errors.As(err, new(*pool.VersionError)):
		return "VERSION_MISMATCH"
	case errors.As(err, new(*pool.ReusedError)):
		return "REQUEST_ID_REUSED"
	case errors.As(err, new(*pool.LaterError)):
		return "NOT_AVAILABLE_YET"
	}
	return fmt.Sprintf("%T", err)
}

// refusal is why something was refused. It is no error, for tests mostly leave it
// at the reason.
type refusal struct{ err error }

func (r refusal) String() string { return r.err.Error() }

// as is an error, or that of a refusal, as the kind that it must be of.
func as[E error](t testing.TB, from any) E {
	t.Helper()
	err, _ := from.(error)
	if r, ok := from.(refusal); ok {
		err = r.err
	}
	var e E
	if !errors.As(err, &e) {
		t.Fatalf("got %T (%v), want %T", err, err, e)
	}
	return e
}

// dump writes the whole pool: its position, every task, every thread.
func (f *fixture) dump() string {
	f.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", f.Cursor())
	for _, t := range f.all() {
		d := f.get(t.ID)
		fields := *d.Task
		fields.Brief = "" // packed
		fmt.Fprintf(&b, "%+v %+v %v\n", fields, *d.Brief.Unpack(), d.Dependents)
		for _, e := range d.Thread {
			fmt.Fprintf(&b, "  %+v\n", *e)
		}
	}
	return b.String()
}

// refused runs what must be refused for that reason, and checks that nothing
// changed: the same position, the same listing, the same threads.
func (f *fixture) refused(reason string, do func() error) refusal {
	f.t.Helper()
	before := f.dump()
	err := do()
	if got := reasonOf(err); got != reason {
		f.t.Fatalf("refused for %q (%v), want %q", got, err, reason)
	}
	if after := f.dump(); after != before {
		f.t.Fatalf("a refusal changed the pool: before\n%s\nafter\n%s", before, after)
	}
	return refusal{err}
}

// wontUpdate is refused for an update.
func (f *fixture) wontUpdate(id string, p task.Patch, reason string) refusal {
	f.t.Helper()
	return f.refused(reason, func() error { _, err := f.update(id, p); return err })
}

// wontCreate is refused for a batch.
func (f *fixture) wontCreate(reason string, drafts ...task.Draft) refusal {
	f.t.Helper()
	return f.refused(reason, func() error {
		_, err := f.CreateAll(f.t.Context(), f.request(), drafts)
		return err
	})
}

// mustUpdate makes a change that has to work.
func (f *fixture) mustUpdate(id string, p task.Patch) *pool.Detail {
	f.t.Helper()
	d, err := f.update(id, p)
	if err != nil {
		f.t.Fatalf("update %s: %v", id, err)
	}
	return d
}

// createAll makes a batch that has to work.
func (f *fixture) createAll(drafts ...task.Draft) []*pool.Detail {
	f.t.Helper()
	r, err := f.CreateAll(f.t.Context(), f.request(), drafts)
	if err != nil {
		f.t.Fatalf("create %d tasks: %v", len(drafts), err)
	}
	return r.Tasks
}

// claim starts a task as a member, and returns the hold's token.
func (f *fixture) claim(id string) string {
	f.t.Helper()
	r, err := f.Update(f.t.Context(), f.request(), pool.Update{ID: id, Patch: task.Patch{Status: new(task.InProgress)}})
	if err != nil {
		f.t.Fatalf("claim %s: %v", id, err)
	}
	if r.Token == "" {
		f.t.Fatalf("claiming %s gave no token", id)
	}
	return r.Token
}

// delete removes a task as the operator.
func (f *fixture) delete(id string) {
	f.t.Helper()
	if _, err := f.Delete(f.t.Context(), pool.Request{Actor: operator}, id, 0); err != nil {
		f.t.Fatalf("delete %s: %v", id, err)
	}
}

// list lists by a filter, as this member.
func (f *fixture) list(filter pool.Filter) []*task.Task {
	f.t.Helper()
	page, err := f.List(f.t.Context(), f.actor, pool.Query{Filter: filter, Size: 1 << 20})
	if err != nil {
		f.t.Fatalf("list %+v: %v", filter, err)
	}
	return page.Tasks
}

// titles of tasks, for comparing listings.
func titles(tasks []*task.Task) string {
	all := make([]string, len(tasks))
	for i, t := range tasks {
		all[i] = t.Title
	}
	return strings.Join(all, " ")
}

// told writes the events after the first skip of a thread in full, one a line.
func told(d *pool.Detail, skip int) string {
	var b strings.Builder
	for _, e := range d.Thread[skip:] {
		fmt.Fprintf(&b, "%s %s", e.Actor, e.Kind)
		if e.Body != "" {
			fmt.Fprintf(&b, " %q", e.Body)
		}
		if e.Detail != nil {
			fmt.Fprintf(&b, " %+v", e.Detail)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// wantTold compares the newest events of a thread with lines in which names
// stand for ids.
func (f *fixture) wantTold(id string, skip int, ids map[string]string, want ...string) {
	f.t.Helper()
	got := told(f.get(id), skip)
	for _, name := range slices.SortedFunc(maps.Keys(ids), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		got = strings.ReplaceAll(got, ids[name], name)
	}
	if all := strings.Join(append(want, ""), "\n"); got != all {
		f.t.Errorf("the thread of %s tells\n%swant\n%s", f.get(id).Title, got, all)
	}
}

// loweredLimits fills the default pool of a store, and gives limits below it.
func loweredLimits(t testing.TB, fill func(*fixture)) (store.Store, map[string]string) {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	r, f := openRegistry(t, s, nil)
	fill(f)
	r.Close()
	return s, map[string]string{
		"LLM_CHAT_TASK_MAX_TITLE_LENGTH": "10", "LLM_CHAT_TASK_MAX_DESCRIPTION_LENGTH": "10",
		"LLM_CHAT_TASK_MAX_PLAN_FIELD_COUNT": "2", "LLM_CHAT_TASK_MAX_PLAN_FIELD_LENGTH": "3",
		"LLM_CHAT_TASK_MAX_HISTORY_LENGTH": "200", "TASKPOOL_MAX_LABELS": "1", "TASKPOOL_MAX_DEPTH": "1",
		"TASKPOOL_MAX_DEPENDENCIES": "1", "TASKPOOL_MAX_CHILDREN": "1",
	}
}

// openWith opens the default pool of a store under an environment.
func openWith(t testing.TB, s store.Store, env map[string]string) *fixture {
	t.Helper()
	r, f := openRegistry(t, s, env)
	t.Cleanup(r.Close)
	return f
}

func openRegistry(t testing.TB, s store.Store, env map[string]string) (*pool.Registry, *fixture) {
	t.Helper()
	getenv := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}, Getenv: getenv})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	t.Cleanup(release)
	return r, &fixture{Pool: p, t: t, actor: filer}
}

// cantTry skips a test whose machine lacks what it needs, which CI may not.
func cantTry(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("CI must be able to try it:", err)
	}
	t.Skip(err)
}
