package pool_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// openLarge opens a pool whose tasks may have very long texts.
func openLarge(t *testing.T, cfg pool.Config) *fixture {
	t.Helper()
	cfg.Getenv = func(name string) (string, bool) { return "20000000", name == "TASKPOOL_MAX_BODY_LENGTH" }
	return openConfig(t, cfg)
}

// comesOnce wants one change, then nothing, with the head's cursor.
func (w *watcher) comesOnce() {
	w.t.Helper()
	seen := 0
	for range 5 {
		b, err := w.Next(w.t.Context(), due())
		if err != nil {
			w.t.Fatal(err)
		}
		if seen += len(b.Changes); !b.More && b.Cursor.Revision == w.p.Cursor().Revision {
			break
		}
	}
	if seen != 1 {
		w.t.Errorf("it came %d times in five batches", seen)
	}
}

// A change that is larger than a batch comes once, alone, also as the last of its
// revision.
func TestWatch_largeChange(t *testing.T) {
	eachRing(t, func(t *testing.T, cfg pool.Config) {
		f := openLarge(t, cfg)
		w := f.watch(pool.WatchOptions{Start: pool.FromNow})
		f.create(task.Draft{Title: "large", Body: strings.Repeat("x", 2<<20)})
		w.comesOnce()
		f.titled("small")
		w.comesOnce()
		// First, amid and last of a revision that comes in parts.
		f.createAll(
			task.Draft{Title: "1", Body: strings.Repeat("x", 2<<20)}, task.Draft{Title: "2"},
			task.Draft{Title: "3", Body: strings.Repeat("x", 2<<20)}, task.Draft{Title: "4"},
			task.Draft{Title: "5", Body: strings.Repeat("x", 2<<20)},
		)
		f.titled("6")
		var titles []string
		for _, c := range w.drain() {
			titles = append(titles, c.Task.Title)
		}
		same(t, "titles", titles, []string{"1", "2", "3", "4", "5", "6"})
	})
}

// With the usual limits a merge brings a task with its whole thread at once.
func TestWatch_largeThread(t *testing.T) {
	f := open(t)
	d := f.titled("talkative")
	records := f.records()[1:] // nobody counts the comments
	for i := range 60 {
		records = append(records, task.Record{Event: &task.Event{
			ID: int64(100 + i), TaskID: d.ID, At: d.CreatedAt, Actor: "agent:bob", Kind: task.EventComment, Body: strings.Repeat("x", 20000),
		}})
	}
	g := open(t)
	w := g.watch(pool.WatchOptions{Start: pool.FromNow})
	g.takeIn(pool.ImportMerge, records)
	w.comesOnce()
}

// records are the pool's, but for what is of the pool itself.
func (f *fixture) records() (records []task.Record) {
	for r := range f.Export().Records() {
		records = append(records, r)
	}
	return records
}

func (f *fixture) takeIn(mode pool.ImportMode, records []task.Record) feed.Cursor {
	f.t.Helper()
	in, err := f.Import(f.actor, mode)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, r := range records {
		if err := in.Add(r, nil, nil); err != nil {
			f.t.Fatal(err)
		}
	}
	result, err := in.Run(f.t.Context(), f.request())
	if err != nil {
		f.t.Fatal(err)
	}
	return result.Cursor
}

// No message can split one change, so none is made that a message can't hold.
func TestChange_tooLarge(t *testing.T) {
	f := openLarge(t, pool.Config{})
	before := f.Cursor()
	f.wontCreate("REVISION_TOO_LARGE", task.Draft{Title: "huge", Body: strings.Repeat("x", 15<<20)})
	if f.Cursor() != before {
		t.Error("it was refused, and something changed")
	}
	f.create(task.Draft{Title: "large", Body: strings.Repeat("x", 15<<20-1000)})
}

// What a watch has read ahead is bounded by bytes too: it stays in memory when it
// has left the ring.
func TestWatch_aheadIsBounded(t *testing.T) {
	f := openLarge(t, pool.Config{RingBytes: 64 << 20})
	w := f.watch(pool.WatchOptions{Start: pool.FromNow})
	for range 40 {
		f.create(task.Draft{Title: "large", Body: strings.Repeat("x", 300_000)})
	}
	if _, err := w.Next(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := w.Ahead(); n > 4 {
		t.Errorf("%d commits of 300,000 bytes are held ahead", n)
	}
	if got := len(w.drain()); got == 0 {
		t.Error("nothing came after")
	}
}

// The commit that a restore makes has the whole pool, and nobody reads it to
// know where the epoch began; and its beginning is no place to start from.
func TestWatch_afterRestore(t *testing.T) {
	f := open(t)
	drafts := make([]task.Draft, 250)
	for range 8 {
		for i := range drafts {
			drafts[i] = task.Draft{Title: fmt.Sprint(i), Body: strings.Repeat("x", 20000)}
		}
		f.createAll(drafts...)
	}
	s, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	g := openConfig(t, pool.Config{Store: s, RingEntries: 1}).as(operator)
	before := g.Cursor()
	restored := g.takeIn(pool.ImportRestore, f.records())
	g.titled("next")
	g.titled("and next")
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	refused := func(c feed.Cursor) error {
		w, err := g.Watch(t.Context(), operator, pool.WatchOptions{Start: pool.FromCursor, After: c})
		if err == nil {
			w.Close()
		}
		return err
	}
	expired(t, "a cursor of before", g, refused(before))
	expired(t, "the beginning", g, refused(feed.Cursor{Epoch: restored.Epoch}))
	if got := len(g.watch(pool.WatchOptions{Start: pool.FromCursor, After: restored}).drain()); got != 2 {
		t.Errorf("%d changes after the restore, want 2", got)
	}
	runtime.ReadMemStats(&end)
	if spent := (end.TotalAlloc - start.TotalAlloc) >> 20; spent > 20 {
		t.Errorf("%d MiB were spent on a pool of 38 MiB", spent)
	}
}
