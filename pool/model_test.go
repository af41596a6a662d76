package pool_test

import (
	"context"
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/pooltest"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// TestModel does random mutations to a pool and to the model, and finds both
// alike after each: what was accepted, what was refused and why, every task,
// every count, who could claim what. Refused means unchanged, because the model
// is. Now and then the pool is opened again, or built anew from its first
// commit; a second registry on the same store follows all the time. Watches of
// both come and go, and what they saw keeps every guarantee.
func TestModel(t *testing.T) {
	checkModel(t, func(old store.Store) (store.Store, error) {
		if old != nil {
			return old, nil
		}
		return memory.New(), nil
	})
}

// TestModel_sqlite does a little of the same on disk, where opening again opens
// the file.
func TestModel_sqlite(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	if err := checks.Set("10"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = checks.Set(before) }()
	checkModelOnDisk(t)
}

func checkModelOnDisk(t *testing.T) {
	dir := ""
	checkModel(t, func(old store.Store) (store.Store, error) {
		if old == nil {
			dir = t.TempDir()
		} else if err := old.Close(); err != nil {
			return nil, err
		}
		return sqlite.Open(t.Context(), dir)
	})
}

// checkModel does it on a store that begin makes, or opens again after old.
func checkModel(t *testing.T, begin func(old store.Store) (store.Store, error)) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModelled(t, rt, begin)
		defer m.close()
		rt.Repeat(map[string]func(*rapid.T){
			"":          func(rt *rapid.T) { m.compare(rt) },
			"create":    m.create,
			"createAll": m.createAll,
			"update":    m.update,
			"update2":   m.update,
			"update3":   m.update,
			"move":      m.move,
			"move2":     m.move,
			"delete":    m.delete,
			"clear":     m.clear,
			"reopen":    m.reopen,
			"replay":    m.replay,
			"export":    m.export,
			"restore":   m.restore,
			"watch":     m.watch,
			"look":      m.look,
			"look2":     m.look,
			"list":      m.list,
			"trim":      m.trim,
		})
		m.judge(rt)
	})
}

var modelMembers = []string{"agent:a", "agent:b", task.Human, task.Anonymous}

// farOff is a not_before that no test lives to see.
var farOff = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// modelled is a pool and the model that it should be like.
type modelled struct {
	t     *testing.T
	rules task.Rules
	begin func(store.Store) (store.Store, error)
	store store.Store
	pool  *pool.Pool
	// other is over the same store, in another registry; nil where only one may be.
	other   *pool.Pool
	closers []func()
	model   *pooltest.Model
	asked   int
	// exported is what the pool was at some time before.
	exported [][]byte
	// trims: history is let go of, so that the pool can't be built from its
	// first commit.
	trims bool
	watching
}

// smallLimits are small, so that they are met.
var smallLimits = map[string]string{
	"TASKPOOL_MAX_CHILDREN": "3", "TASKPOOL_MAX_DEPENDENCIES": "3", "TASKPOOL_MAX_DEPENDENTS": "4",
	"TASKPOOL_MAX_DEPTH": "2", "LLM_CHAT_TASK_MAX_HISTORY_LENGTH": "100", "LLM_CHAT_TASK_MAX_TITLE_LENGTH": "20",
}

func smallEnv(name string) (string, bool) {
	value, ok := smallLimits[name]
	return value, ok
}

func newModelled(t *testing.T, rt *rapid.T, begin func(store.Store) (store.Store, error)) *modelled {
	s, err := begin(nil)
	if err != nil {
		rt.Fatal(err)
	}
	m := &modelled{t: t, begin: begin, store: s, rules: task.Rules{EditRule: task.EditRule(rapid.IntRange(0, 1).Draw(rt, "edit rule"))}}
	m.truth, m.trims = newTruth(s, "pool/team"), rapid.Bool().Draw(rt, "trims")
	r, err := pool.Open(t.Context(), pool.Config{Store: m.store, Codec: taskpb.Codec{}})
	if err != nil {
		rt.Fatal(err)
	}
	if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: task.Human}, pool.Info{Name: "team", Rules: m.rules}); err != nil {
		rt.Fatal(err)
	}
	r.Close()
	m.open(rt)
	if s.Shared() {
		r, m.other = m.acquire(rt)
		m.closers = append(m.closers, r.Close)
	}
	m.model = pooltest.New(task.ResolveLimits(nil, smallEnv), m.rules)
	return m
}

func (m *modelled) acquire(rt *rapid.T) (*pool.Registry, *pool.Pool) {
	r, err := pool.Open(m.t.Context(), pool.Config{Store: m.store, Codec: taskpb.Codec{}, Getenv: smallEnv, RingEntries: 4})
	if err != nil {
		rt.Fatal(err)
	}
	p, _, err := r.Acquire(m.t.Context(), "team")
	if err != nil {
		rt.Fatal(err)
	}
	return r, p
}

func (m *modelled) open(rt *rapid.T) {
	r, p := m.acquire(rt)
	m.pool = p
	m.closers = append([]func(){r.Close}, m.closers...)
}

func (m *modelled) close() {
	for _, r := range m.recorders {
		r.cut()
	}
	for _, c := range m.closers {
		c()
	}
	_ = m.store.Close()
}

// reopen closes the registry and opens another, and the file too where there is
// one: nothing is lost, nothing gained.
func (m *modelled) reopen(rt *rapid.T) {
	before := m.pool.State()
	m.closers[0]()
	m.closers = m.closers[1:]
	var err error
	if m.store, err = m.begin(m.store); err != nil {
		rt.Fatal(err)
	}
	m.truth.store = m.store
	m.open(rt)
	sameState(rt, "opened again", before, m.pool.State())
}

// replay builds the pool from its first commit, where there is one, and looks at
// the one that follows.
func (m *modelled) replay(rt *rapid.T) {
	if m.trims {
		m.follow(rt)
		return
	}
	p, err := pool.Replayed(m.t.Context(), m.store, taskpb.Codec{}, m.pool)
	if err != nil {
		rt.Fatal(err)
	}
	sameState(rt, "replayed", m.pool.State(), p.State())
	if wrong := p.Unsound(); wrong != "" {
		rt.Fatalf("replayed: %s", wrong)
	}
	m.follow(rt)
}

// follow looks at the pool of the other registry.
func (m *modelled) follow(rt *rapid.T) {
	if m.other == nil {
		return
	}
	if err := m.other.Refresh(m.t.Context()); err != nil {
		rt.Fatal(err)
	}
	sameState(rt, "followed", m.pool.State(), m.other.State())
	if wrong := m.other.Unsound(); wrong != "" {
		rt.Fatalf("followed: %s", wrong)
	}
}

func sameState(rt interface{ Fatalf(string, ...any) }, how, want, got string) {
	if want == got {
		return
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	from := max(0, at-300)
	rt.Fatalf("%s: the state differs at byte %d:\n%s\n--- want ↑, got ↓ ---\n%s", how, at, want[from:min(len(want), at+300)], got[from:min(len(got), at+300)])
}

// check makes the mutation in the model as well.
func (m *modelled) check(rt *rapid.T, r pooltest.Request, invalid []string, got pool.Result, err error, run func(*pooltest.Model) ([]string, string, []string)) {
	refused, replayed := m.model.Try(r, invalid, run)
	m.refused(rt, err, refused)
	if err == nil && replayed != got.Replayed {
		rt.Fatalf("replayed %t, want %t", got.Replayed, replayed)
	}
	if err == nil && !replayed && got.Cursor != m.pool.Cursor() {
		rt.Fatalf("answered with cursor %v, the pool is at %v", got.Cursor, m.pool.Cursor())
	}
}

func (m *modelled) refused(rt *rapid.T, err error, want []string) {
	if got := reasonOf(err); err == nil && len(want) > 0 || err != nil && !slices.Contains(want, got) {
		rt.Fatalf("refused for %q (%v), want one of %q", got, err, want)
	}
}

// compare looks at all that a caller can see.
func (m *modelled) compare(rt *rapid.T) {
	if got := m.pool.Cursor().Revision; got != m.model.Revision {
		rt.Fatalf("revision %d, want %d", got, m.model.Revision)
	}
	tasks := listed(rt, m.pool, modelMembers[0], pool.Filter{IncludeClosed: true})
	if len(tasks) != len(m.model.Tasks) {
		rt.Fatalf("%d tasks, want %d", len(tasks), len(m.model.Tasks))
	}
	counts := map[task.Status]int64{}
	for i, want := range m.model.Tasks {
		m.compareTask(rt, tasks[i], want)
		counts[want.Status]++
	}
	_, stat := m.pool.Stat()
	for status, n := range stat {
		if n != counts[status] {
			rt.Fatalf("%d are %s, want %d", n, status, counts[status])
		}
	}
	for _, actor := range modelMembers {
		m.compareClaimable(rt, actor)
	}
	if wrong := m.pool.Unsound(); wrong != "" {
		rt.Fatal(wrong)
	}
}

func (m *modelled) compareTask(rt *rapid.T, t *task.Task, want *pooltest.Task) {
	d, err := m.pool.Get(t.ID)
	if err != nil {
		rt.Fatal(err)
	}
	got := &pooltest.Task{
		ID: t.ID, Number: t.Number, Title: t.Title, Priority: t.Priority, Labels: t.Labels, Status: t.Status, Later: !t.NotBefore.IsZero(),
		Dependencies: t.Dependencies, Parent: t.ParentID, CreatedBy: t.CreatedBy, Assignee: t.Assignee, Holder: t.Holder,
		ByClaim: t.AssignedByClaim, Token: want.Token, BlockedReason: t.BlockedReason, Version: t.Version, Unfinished: t.Unfinished,
		Depth: t.Depth, ChildrenTotal: t.ChildrenTotal, ChildrenDone: t.ChildrenDone, Events: map[string]int{},
	}
	for _, e := range d.Thread {
		got.Events[e.Actor+" "+e.Kind.String()]++
	}
	for _, e := range d.History() {
		got.History = append(got.History, e.Body)
	}
	if got.String() != want.String() || t.HistoryCount != len(want.History) || !maps.Equal(got.Events, want.Events) {
		rt.Fatalf("task\n%s\nwant\n%s", got, want)
	}
	if d.Task != t || !slices.Equal(d.Dependents, m.model.Dependents(t.ID)) || !slices.Equal(m.pool.UnfinishedDependencies(t.ID), want.Unfinished) {
		rt.Fatalf("%s: read, listing and dependents %v disagree; want %v", t.Key(), d.Dependents, m.model.Dependents(t.ID))
	}
}

func (m *modelled) compareClaimable(rt *rapid.T, actor string) {
	var want []int64
	for _, t := range m.model.Tasks {
		claimable := m.model.Claimable(t, actor)
		if claimable {
			want = append(want, t.Number)
		}
		_, checks, err := m.pool.Explain(actor, t.ID)
		if err != nil {
			rt.Fatal(err)
		}
		if failing := slices.ContainsFunc(checks, func(c task.Check) bool { return !c.Holds }); failing == claimable {
			rt.Fatalf("%s, claimable %t, is explained to %s: %+v", task.Key(t.Number), claimable, actor, checks)
		}
	}
	if got := numbersOf(listed(rt, m.pool, actor, pool.Filter{Claimable: true})); !slices.Equal(got, want) {
		rt.Fatalf("%s can claim %v, want %v", actor, got, want)
	}
}

func listed(t interface{ Fatal(...any) }, p *pool.Pool, actor string, f pool.Filter) []*task.Task {
	page, err := p.List(context.Background(), actor, pool.Query{Filter: f, Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return page.Tasks
}

func numbersOf(tasks []*task.Task) (numbers []int64) {
	for _, t := range tasks {
		numbers = append(numbers, t.Number)
	}
	return numbers
}
