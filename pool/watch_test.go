package pool_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// openConfig opens the default pool of a registry that is configured.
func openConfig(t testing.TB, cfg pool.Config) *fixture {
	t.Helper()
	if cfg.Store == nil {
		s := memory.New()
		t.Cleanup(func() { _ = s.Close() })
		cfg.Store = s
	}
	cfg.Codec = taskpb.Codec{}
	r, err := pool.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatalf("acquire: %v", err)
	}
	t.Cleanup(func() { release(); r.Close() })
	return &fixture{Pool: p, t: t, actor: filer}
}

// watcher is a watch and the test it belongs to.
type watcher struct {
	*pool.Watch
	t testing.TB
	p *pool.Pool
}

func (f *fixture) watch(o pool.WatchOptions) *watcher {
	f.t.Helper()
	w, err := f.Watch(f.t.Context(), f.actor, o)
	if err != nil {
		f.t.Fatalf("watch: %v", err)
	}
	f.t.Cleanup(w.Close)
	return &watcher{w, f.t, f.Pool}
}

// snapshot reads the whole of it.
func (w *watcher) snapshot() []*task.Task {
	w.t.Helper()
	var all []*task.Task
	for {
		part, err := w.Snapshot(w.t.Context())
		if err != nil {
			w.t.Fatalf("snapshot: %v", err)
		}
		if len(part) == 0 {
			return all
		}
		all = append(all, part...)
	}
}

// due is a time that has come.
func due() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

// drain reads all that has happened so far, and one batch without changes.
func (w *watcher) drain() (all []pool.WatchChange) {
	w.t.Helper()
	for {
		b, err := w.Next(w.t.Context(), due())
		if err != nil {
			w.t.Fatalf("next: %v", err)
		}
		all = append(all, b.Changes...)
		if !b.More && b.Cursor.Revision == w.p.Cursor().Revision {
			return all
		}
	}
}

// short writes changes as lines: "5 upserted T-2 ready: status".
func short(changes []pool.WatchChange) []string {
	kinds := []string{"", "upserted", "left", "deleted"}
	var lines []string
	for _, c := range changes {
		line := fmt.Sprintf("%d %s", c.Revision, kinds[c.Kind])
		if c.Task != nil {
			line += fmt.Sprintf(" %s %s", c.Task.Key(), c.Task.Status)
		}
		for _, e := range c.Events {
			line += " " + e.Kind.String()
		}
		lines = append(lines, line)
	}
	return lines
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What a ring of one entry sends to the store reads as what the ring holds.
func eachRing(t *testing.T, run func(*testing.T, pool.Config)) {
	for name, entries := range map[string]int{"ring": 0, "history": 1} {
		t.Run(name, func(t *testing.T) { run(t, pool.Config{RingEntries: entries}) })
	}
}

func TestWatch_starts(t *testing.T) {
	eachRing(t, func(t *testing.T, cfg pool.Config) {
		f := openConfig(t, cfg)
		f.titled("a")
		at := f.Cursor()
		f.titled("b", "T-1")
		fresh, now, after := f.watch(pool.WatchOptions{}), f.watch(pool.WatchOptions{Start: pool.FromNow}), f.watch(pool.WatchOptions{Start: pool.FromCursor, After: at})
		f.set("T-1", task.Done)
		if got := fresh.snapshot(); len(got) != 2 || got[0].Status != task.Ready {
			t.Errorf("the snapshot is not that of the start: %v", got)
		}
		done := []string{"4 upserted T-1 done status", "4 upserted T-2 ready status"}
		same(t, "after the snapshot", short(fresh.drain()), done)
		if got := now.snapshot(); got != nil {
			t.Errorf("a snapshot from now on: %v", got)
		}
		same(t, "from now", short(now.drain()), done)
		same(t, "after a cursor", short(after.drain()), append([]string{"3 upserted T-2 pending created"}, done...))
	})
}

// A view is entered and left, also through what only follows from a change.
func TestWatch_view(t *testing.T) {
	eachRing(t, func(t *testing.T, cfg pool.Config) {
		f := openConfig(t, cfg)
		f.titled("a")
		f.titled("b", "T-1")
		ready := f.watch(pool.WatchOptions{Filter: &pool.Filter{Statuses: []task.Status{task.Ready}}})
		mine := f.as(worker).watch(pool.WatchOptions{Filter: &pool.Filter{Claimable: true}})
		open := f.watch(pool.WatchOptions{Filter: &pool.Filter{}})
		if got := ready.snapshot(); len(got) != 1 || got[0].Key() != "T-1" {
			t.Errorf("ready: %v", got)
		}
		mine.snapshot()
		open.snapshot()
		f.set("T-1", task.Done)                  // T-2 becomes ready
		f.as(worker).set("T-2", task.InProgress) // and is taken
		f.as(worker).set("T-2", task.Ready)      // and put back
		f.as(operator).drop("T-2")
		same(t, "ready", short(ready.drain()), []string{
			"4 left status", "4 upserted T-2 ready status", "5 left claimed", "6 upserted T-2 ready released", "7 deleted",
		})
		same(t, "claimable", short(mine.drain()), []string{
			"4 left status", "4 upserted T-2 ready status", "5 left claimed", "6 upserted T-2 ready released", "7 deleted",
		})
		same(t, "open", short(open.drain()), []string{
			"4 left status", "4 upserted T-2 ready status", "5 upserted T-2 in_progress claimed", "6 upserted T-2 ready released", "7 deleted",
		})
	})
}

func (f *fixture) drop(id string) {
	f.t.Helper()
	if _, err := f.Delete(f.t.Context(), f.request(), id, 0); err != nil {
		f.t.Fatal(err)
	}
}

// A member that watches is not woken by itself, but by what the pool makes of it.
func TestWatch_excludeActor(t *testing.T) {
	eachRing(t, func(t *testing.T, cfg pool.Config) {
		f := openConfig(t, cfg)
		f.titled("a")
		f.titled("b", "T-1")
		w := f.watch(pool.WatchOptions{Start: pool.FromNow, ExcludeActor: "me"})
		ready := f.watch(pool.WatchOptions{Start: pool.FromNow, ExcludeActor: filer, Filter: &pool.Filter{Statuses: []task.Status{task.Ready}}})
		f.titled("c")
		f.set("T-1", task.Done) // its own, but T-2 follows from it
		f.as(worker).set("T-3", task.InProgress)
		f.titled("child of T-2")
		f.as(operator).drop("T-4")
		same(t, "all", short(w.drain()), []string{
			"5 upserted T-2 ready status", "6 upserted T-3 in_progress claimed", "8 deleted",
		})
		same(t, "ready", short(ready.drain()), []string{
			"5 left", "5 upserted T-2 ready status", "6 left claimed", "8 deleted",
		})
	})
}

// A large revision comes in parts, alone, and only its end has a cursor.
func TestWatch_parts(t *testing.T) {
	eachRing(t, func(t *testing.T, cfg pool.Config) {
		f := openConfig(t, cfg)
		w := f.watch(pool.WatchOptions{Start: pool.FromNow})
		f.titled("before")
		drafts := make([]task.Draft, 600)
		for i := range drafts {
			drafts[i].Title = fmt.Sprint(i)
		}
		if _, err := f.CreateAll(t.Context(), f.request(), drafts); err != nil {
			t.Fatal(err)
		}
		f.titled("after")
		var shape []string
		for range 5 {
			b, err := w.Next(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			shape = append(shape, fmt.Sprintf("%d more %v cursor %d", len(b.Changes), b.More, b.Cursor.Revision))
		}
		same(t, "batches", shape, []string{
			"1 more false cursor 2", "256 more true cursor 0", "256 more true cursor 0", "88 more false cursor 3", "1 more false cursor 4",
		})
	})
}

// A batch is cut at about a MiB, but a change that is larger comes all the same.
func TestWatch_bytes(t *testing.T) {
	f := openConfig(t, pool.Config{})
	w := f.watch(pool.WatchOptions{Start: pool.FromNow})
	body := strings.Repeat("é", 20_000) // 40,000 bytes
	for range 60 {
		f.create(task.Draft{Title: "large", Body: body})
	}
	total := 0
	for total < 60 {
		b, err := w.Next(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, c := range b.Changes {
			size += len(c.Encoded)
		}
		if size > 1<<20+1000 || b.More {
			t.Errorf("%d changes of %d bytes, more %v", len(b.Changes), size, b.More)
		}
		total += len(b.Changes)
	}
}

// Progress says how far the feed was looked at, also when all of it is filtered
// out and it never rests.
func TestWatch_progress(t *testing.T) {
	f := openConfig(t, pool.Config{})
	w := f.watch(pool.WatchOptions{Start: pool.FromNow, FilterHash: 7, Filter: &pool.Filter{Assignee: stranger}})
	for i := range 3 {
		f.titled(fmt.Sprint(i))
		b, err := w.Next(t.Context(), due())
		for err == nil && b.Cursor.Revision < f.Cursor().Revision {
			b, err = w.Next(t.Context(), due())
		}
		want := f.Cursor()
		want.Filter = 7
		if err != nil || len(b.Changes) > 0 || b.Cursor != want {
			t.Fatalf("%+v, %v, want nothing up to %+v", b, err, want)
		}
		again := f.watch(pool.WatchOptions{Start: pool.FromCursor, After: b.Cursor, FilterHash: 7})
		if got := short(again.drain()); len(got) != 0 {
			t.Errorf("after progress comes what was before: %v", got)
		}
	}
}

// A watch that waits ends with its context, and with the registry.
func TestWatch_ends(t *testing.T) {
	s := memory.New()
	defer func() { _ = s.Close() }()
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	w, err := p.Watch(t.Context(), filer, pool.WatchOptions{Start: pool.FromNow})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := w.Next(t.Context(), nil)
		ended <- err
	}()
	r.Close()
	if e := (*pool.UnavailableError)(nil); !errors.As(<-ended, &e) || e.Reason != pool.ReasonDraining {
		t.Errorf("it ended with %v", e)
	}
	w.Close()
	w.Close()
	if n := r.Watchers(); n != 0 {
		t.Errorf("%d watches are still counted", n)
	}
}

// A member gets no more than its share, and a watch that ended leaves room.
func TestWatch_quota(t *testing.T) {
	f := openConfig(t, pool.Config{MaxWatchers: 3, MaxWatchersPerMember: 2})
	first := f.watch(pool.WatchOptions{})
	f.watch(pool.WatchOptions{})
	open := func(f *fixture) error {
		w, err := f.Watch(t.Context(), f.actor, pool.WatchOptions{})
		if err == nil {
			t.Cleanup(w.Close)
		}
		return err
	}
	if err := open(f); reasonOf(err) != "WATCHERS_EXCEEDED" {
		t.Errorf("a third of one member: %v", err)
	}
	if err := open(f.as(worker)); err != nil {
		t.Errorf("another member's first: %v", err)
	}
	if err := open(f.as(stranger)); reasonOf(err) != "WATCHERS_EXCEEDED" {
		t.Errorf("a fourth of all: %v", err)
	}
	if _, err := f.Watch(t.Context(), filer, pool.WatchOptions{Filter: &pool.Filter{Text: "x"}}); reasonOf(err) != "INVALID_FIELD" {
		t.Errorf("by text: %v", err)
	}
	first.Close()
	if err := open(f.as(stranger)); err != nil {
		t.Errorf("after one ended: %v", err)
	}
	if _, err := f.Watch(t.Context(), filer, pool.WatchOptions{ExcludeActor: "no such: member"}); reasonOf(err) != "MEMBER_NOT_FOUND" {
		t.Errorf("excluding nobody: %v", err)
	}
}
