package pool_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
)

func expired(t *testing.T, what string, f *fixture, err error) {
	t.Helper()
	var e *pool.CursorError
	if !errors.As(err, &e) {
		t.Errorf("%s: %v, want that it is expired", what, err)
		return
	}
	for name, text := range map[string]string{"oldest": e.Oldest, "head": e.Head} {
		c, err := feed.Parse(text)
		if err != nil {
			t.Errorf("%s: %s %q: %v", what, name, text, err)
			continue
		}
		w, err := f.Watch(t.Context(), f.actor, pool.WatchOptions{Start: pool.FromCursor, After: c})
		if err != nil {
			t.Errorf("%s: the %s cursor does not work: %v", what, name, err)
			continue
		}
		w.Close()
	}
}

// A position that nothing is certain of is refused, with those that work.
func TestWatch_expired(t *testing.T) {
	eachRing(t, func(t *testing.T, cfg pool.Config) {
		s := memory.New()
		t.Cleanup(func() { _ = s.Close() })
		cfg.Store = s
		f := openConfig(t, cfg)
		var at []feed.Cursor
		for i := range 10 {
			f.titled(fmt.Sprint(i))
			at = append(at, f.Cursor())
		}
		from := func(c feed.Cursor) error {
			w, err := f.Watch(t.Context(), f.actor, pool.WatchOptions{Start: pool.FromCursor, After: c})
			if err == nil {
				w.Close()
			}
			return err
		}
		wrong := at[5]
		wrong.Nonce++
		expired(t, "another history of this epoch", f, from(wrong))
		wrong = at[5]
		wrong.Epoch = "other"
		expired(t, "another epoch", f, from(wrong))
		wrong = at[9]
		wrong.Revision++
		expired(t, "the future", f, from(wrong))
		expired(t, "before everything, not the beginning", f, from(feed.Cursor{Epoch: at[0].Epoch, Nonce: 5}))
		if err := from(feed.Cursor{Epoch: at[0].Epoch}); err != nil {
			t.Errorf("the beginning: %v", err)
		}
		other := at[5]
		other.Filter = 3
		if err := from(other); reasonOf(err) != "INVALID_FIELD" {
			t.Errorf("another filter: %v", err)
		}
		if cfg.RingEntries == 0 {
			return
		}
		lagging := f.watch(pool.WatchOptions{Start: pool.FromCursor, After: at[0]})
		if err := s.Trim(t.Context(), "pool/default", at[5].Revision); err != nil {
			t.Fatal(err)
		}
		expired(t, "trimmed", f, from(at[4]))
		expired(t, "the beginning, trimmed", f, from(feed.Cursor{Epoch: at[0].Epoch}))
		if err := from(at[5]); err != nil {
			t.Errorf("the oldest: %v", err)
		}
		_, err := lagging.Next(t.Context(), nil)
		expired(t, "a watch that history was trimmed past", f, err)
		if got := len(f.watch(pool.WatchOptions{Start: pool.FromCursor, After: at[5]}).drain()); got != 4 {
			t.Errorf("%d changes after the oldest, want 4", got)
		}
	})
}

// Who watches a pool that is cleared is told, wherever it is.
func TestWatch_clear(t *testing.T) {
	eachRing(t, func(t *testing.T, cfg pool.Config) {
		f := openConfig(t, cfg)
		f.titled("a")
		before := f.Cursor()
		live, lagging := f.watch(pool.WatchOptions{Start: pool.FromNow}), f.watch(pool.WatchOptions{Start: pool.FromCursor, After: before})
		f.titled("b")
		live.drain()
		if _, err := f.as(operator).Clear(t.Context(), pool.Request{Actor: operator}, "default"); err != nil {
			t.Fatal(err)
		}
		for name, w := range map[string]*watcher{"live": live, "lagging": lagging} {
			_, err := w.Next(t.Context(), nil)
			expired(t, name, f, err)
		}
		_, err := f.Watch(t.Context(), f.actor, pool.WatchOptions{Start: pool.FromCursor, After: before})
		expired(t, "a cursor of before", f, err)
		after := f.watch(pool.WatchOptions{})
		if got := after.snapshot(); len(got) != 0 {
			t.Errorf("a snapshot after: %v", got)
		}
		f.titled("c")
		same(t, "after", short(after.drain()), []string{"5 upserted T-3 ready created"})
	})
}
