package pool_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// The kinds of record, as they lie in a log.
const (
	recordMeta uint8 = iota + 1
	recordTask
	recordEvent
	recordClaim
	recordRequest
	recordPool
)

// bad is a store some of whose records are not as they were written.
type bad struct {
	*memory.Store
	spoil map[store.Key]func([]byte) []byte // nil: the record is not there
}

func (s *bad) Shared() bool { return false }

func (s *bad) Load(ctx context.Context, log string, yield func(store.Key, []byte) error) (store.State, error) {
	return s.Store.Load(ctx, log, func(key store.Key, value []byte) error {
		spoil, spoilt := s.spoil[key]
		switch {
		case !spoilt || log == "system" && key.Kind != recordPool:
			return yield(key, value)
		case spoil == nil:
			return nil
		}
		return yield(key, spoil(value))
	})
}

func garbage([]byte) []byte { return []byte("\xff\xffnonsense") }

// spoilt opens a store anew after something happened to some of its records.
func spoilt(t *testing.T, s *bad) (*pool.Registry, *pool.Pool, string) {
	t.Helper()
	var log bytes.Buffer
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	p, release, err := r.Acquire(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { release(); r.Close() })
	return r, p, log.String()
}

// family makes a pool with edges of every kind:
//
//	T-1 parent of T-2 (parent of T-3) and T-4; T-5 needs T-1 and T-4;
//	T-4 is held, T-3 is done, T-6 has a progress log, T-7 was deleted.
func family(t *testing.T, s store.Store) feedCursor {
	t.Helper()
	f := openOn(t, s)
	f.titled("one")
	f.create(task.Draft{Title: "two", Parent: "T-1"})
	f.create(task.Draft{Title: "three", Parent: "T-2"})
	f.create(task.Draft{Title: "four", Parent: "T-1"})
	f.titled("five", "T-1", "T-4")
	f.titled("six")
	f.titled("seven")
	f.set("T-4", task.InProgress)
	f.set("T-3", task.Done)
	for _, entry := range []string{"a", "b", "c"} {
		if _, err := f.update("T-6", task.Patch{HistoryEntry: &entry}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Delete(t.Context(), pool.Request{Actor: "human", ID: "x"}, "T-7", 0); err != nil {
		t.Fatal(err)
	}
	return feedCursor{f.Cursor().Epoch, f.Cursor().Revision}
}

type feedCursor struct {
	epoch    string
	revision int64
}

func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name  string
		key   store.Key
		spoil func([]byte) []byte
		// gone is the key of a task that is lost, named what the log names.
		gone, named string
		check       func(t *testing.T, f *fixture)
	}{
		{name: "a task with children and dependents", key: store.Key{Kind: recordTask, ID: 1}, spoil: garbage, gone: "T-1", named: "2/1/0", check: func(t *testing.T, f *fixture) {
			if two, three := f.get("T-2"), f.get("T-3"); two.ParentID != "" || two.Depth != 0 || three.Depth != 1 {
				t.Errorf("T-2 under %q at %d, T-3 at %d", two.ParentID, two.Depth, three.Depth)
			}
			if five := f.get("T-5"); len(five.Dependencies) != 1 || len(five.Unfinished) != 1 || five.Dependencies[0] != f.get("T-4").ID {
				t.Errorf("T-5 needs %v", five.Dependencies)
			}
		}},
		{name: "a task that is all another waits for", key: store.Key{Kind: recordTask, ID: 4}, spoil: garbage, gone: "T-4", named: "2/4/0", check: func(t *testing.T, f *fixture) {
			f.set("T-2", task.Done)
			f.set("T-1", task.Done)
			if got := f.get("T-5"); got.Status != task.Ready {
				t.Errorf("T-5 is %s", got.Status)
			}
		}},
		{name: "a child", key: store.Key{Kind: recordTask, ID: 3}, spoil: garbage, gone: "T-3", named: "2/3/0", check: func(t *testing.T, f *fixture) {
			if two := f.get("T-2"); two.ChildrenTotal != 0 || two.ChildrenDone != 0 {
				t.Errorf("T-2 counts %d of %d", two.ChildrenDone, two.ChildrenTotal)
			}
		}},
		{name: "the newest task", key: store.Key{Kind: recordTask, ID: 6}, spoil: garbage, gone: "T-6", named: "2/6/0"},
		{name: "a task that is not there, without a trace", key: store.Key{Kind: recordTask, ID: 4}, gone: "T-4", named: "T-1"},
		{name: "a task under another number", key: store.Key{Kind: recordTask, ID: 6}, gone: "T-6", named: "says number 2", spoil: func([]byte) []byte {
			b, _ := taskpb.Codec{}.EncodeTask(&task.Task{ID: "00000000-0000-4000-8000-000000000000", Number: 2, Status: task.Ready})
			return b
		}},
		{name: "an event", key: store.Key{Kind: recordEvent, ID: 6, Sub: -1}, spoil: garbage, named: "3/6/", check: func(t *testing.T, f *fixture) {
			if six := f.get("T-6"); six.HistoryCount != len(six.History()) || six.HistoryCount != 2 {
				t.Errorf("T-6 counts %d entries of %d", six.HistoryCount, len(six.History()))
			}
		}},
		{name: "a hold", key: store.Key{Kind: recordClaim, ID: 4}, spoil: garbage, named: "4/4/0", check: func(t *testing.T, f *fixture) {
			if four := f.get("T-4"); four.Holder != "agent:a" {
				t.Errorf("T-4 is held by %q", four.Holder)
			}
			f.set("T-4", task.Ready) // by name
		}},
		{name: "a request record", key: store.Key{Kind: recordRequest, ID: -1}, spoil: garbage, named: "5/"},
		{name: "the pool's own record", key: store.Key{Kind: recordMeta}, spoil: garbage, named: "1/0/0"},
		{name: "a task that says what others don't", key: store.Key{Kind: recordTask, ID: 5}, named: "T-5", spoil: func(b []byte) []byte {
			x, _ := taskpb.Codec{}.DecodeTask(b)
			x.Status, x.Unfinished, x.ChildrenTotal, x.Depth = task.Ready, nil, 4, 9
			b, _ = taskpb.Codec{}.EncodeTask(x)
			return b
		}},
		{name: "a task that needs itself", key: store.Key{Kind: recordTask, ID: 2}, named: "it needs itself", spoil: func(b []byte) []byte {
			x, _ := taskpb.Codec{}.DecodeTask(b)
			x.Dependencies, x.Unfinished, x.Status = []string{x.ParentID}, []string{x.ParentID}, task.Pending
			b, _ = taskpb.Codec{}.EncodeTask(x)
			return b
		}},
		{name: "the twin of another task", key: store.Key{Kind: recordTask, ID: 6}, gone: "T-6", named: "has the id of task 2", spoil: func([]byte) []byte {
			b, _ := taskpb.Codec{}.EncodeTask(&task.Task{ID: twinID, Number: 6, Status: task.Ready})
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &bad{Store: memory.New()}
			t.Cleanup(func() { _ = s.Close() })
			before := family(t, s)
			c.key = s.find(t, c.key)
			s.spoil = map[store.Key]func([]byte) []byte{c.key: c.spoil}
			if strings.Contains(c.name, "twin") {
				s.twin(t)
				before.revision++
			}
			_, p, log := spoilt(t, s)
			f := &fixture{Pool: p, t: t, actor: "agent:a"}
			if !strings.Contains(log, "level=ERROR") || !strings.Contains(log, c.named) || !strings.Contains(log, "pool/default") {
				t.Errorf("the log does not name %q:\n%s", c.named, log)
			}
			if got := p.Cursor(); got.Epoch == before.epoch || got.Revision != before.revision+1 {
				t.Errorf("at %v, was at %v", got, before)
			}
			want := []string{"T-1", "T-2", "T-3", "T-4", "T-5", "T-6"}
			want = slices.DeleteFunc(want, func(k string) bool { return k == c.gone })
			var got []string
			for _, x := range f.all() {
				got = append(got, x.Key())
			}
			if !slices.Equal(got, want) {
				t.Errorf("there are %v, want %v", got, want)
			}
			if wrong := p.UnsoundButHolds(); wrong != "" {
				t.Error(wrong)
			}
			if c.check != nil {
				c.check(t, f)
			}
			fresh := f.titled("new")
			if fresh.Number < 7 || c.key.Kind != recordMeta && fresh.Number != 8 || len(fresh.Thread) != 1 || fresh.Holder != "" {
				t.Errorf("a new task is %s, with %d events", fresh.Key(), len(fresh.Thread))
			}
			s.spoil = nil // what was set aside stays so
			state := p.State()
			_, again, log := spoilt(t, s)
			if log != "" && c.spoil != nil {
				t.Errorf("the next start tells again:\n%s", log)
			}
			if c.spoil != nil && !strings.Contains(c.name, "itself") && !strings.Contains(c.name, "others") {
				sameState(t, "opened again", state, again.State())
			}
			if wrong := again.UnsoundButHolds(); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

const twinID = "00000000-0000-4000-8000-000000000002"

// find completes a key: an id or sub of -1 stands for the highest that there is.
func (s *bad) find(t *testing.T, key store.Key) store.Key {
	t.Helper()
	found := key
	_, err := s.Store.Load(t.Context(), "pool/default", func(k store.Key, _ []byte) error {
		if k.Kind == key.Kind && (key.ID == -1 && k.ID > found.ID || k.ID == key.ID && key.Sub == -1 && k.Sub > found.Sub) {
			found = k
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// twin gives T-2 the id that another will have.
func (s *bad) twin(t *testing.T) {
	t.Helper()
	var old string
	as := func(b []byte) []byte {
		x, err := taskpb.Codec{}.DecodeTask(b)
		if err != nil {
			t.Fatal(err)
		}
		if x.Number == 2 {
			old, x.ID = x.ID, twinID
		}
		if x.ParentID != "" && x.ParentID == old {
			x.ParentID = twinID
		}
		b, _ = taskpb.Codec{}.EncodeTask(x)
		return b
	}
	two, three := store.Key{Kind: recordTask, ID: 2}, store.Key{Kind: recordTask, ID: 3}
	values := map[store.Key][]byte{}
	if _, err := s.Store.Load(t.Context(), "pool/default", func(k store.Key, v []byte) error { values[k] = v; return nil }); err != nil {
		t.Fatal(err)
	}
	facts := []store.Fact{{Key: two, Value: as(values[two])}, {Key: three, Value: as(values[three])}}
	head, _ := s.Head(t.Context(), "pool/default")
	err := s.Append(t.Context(), []store.Batch{{Log: "pool/default", After: head.Revision, Commits: []store.Commit{{Revision: head.Revision + 1, At: time.Now(), Facts: facts}}}})
	if err != nil {
		t.Fatal(err)
	}
}

// Damage in the list of pools is named; the other pools are served. Made again,
// the pool has its tasks.
func TestDamage_catalog(t *testing.T) {
	s := &bad{Store: memory.New()}
	defer s.Close()
	r, _, _ := spoilt(t, s)
	for _, name := range []string{"one", "two"} {
		if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	p, release, err := r.Acquire(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "kept"}); err != nil {
		t.Fatal(err)
	}
	release()
	r.Close()

	s.spoil = map[store.Key]func([]byte) []byte{{Kind: recordPool, ID: 1}: garbage}
	r, _, log := spoilt(t, s)
	if !strings.Contains(log, "6/1/0") || !strings.Contains(log, "system") {
		t.Errorf("the log does not name it:\n%s", log)
	}
	infos, _ := r.Pools("", 10)
	if fmt.Sprint(infos[0].Name, infos[1].Name) != "defaulttwo" || len(infos) != 2 {
		t.Errorf("there are %v", infos)
	}
	if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: "one"}); err != nil {
		t.Fatal(err)
	}
	s.spoil = nil
	p, release, err = r.Acquire(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if tasks := listed(t, p, "human", pool.Filter{}); len(tasks) != 1 || tasks[0].Title != "kept" {
		t.Errorf("it has %v", tasks)
	}
}

// A registry that follows learns what another put right.
func TestDamage_followed(t *testing.T) {
	s := memory.New()
	defer s.Close()
	family(t, s)
	follower := sides(t, s, 1)[0]
	defer follower.Registry.Close()
	damaged := &bad{Store: s, spoil: map[store.Key]func([]byte) []byte{{Kind: recordTask, ID: 1}: garbage}}
	_, p, _ := spoilt(t, damaged)
	if err := follower.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	sameState(t, "followed", p.State(), follower.State())
}

// What a reload finds damaged is told and put right as at the start.
func TestDamage_reload(t *testing.T) {
	s := &bad{Store: memory.New()}
	defer s.Close()
	before := family(t, s)
	_, p, _ := spoilt(t, s)
	s.spoil = nil
	other := sides(t, s, 1)[0]
	defer other.Registry.Close()
	if _, err := other.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "eight"}); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "nine"}); err != nil {
		t.Fatal(err)
	}
	head, _ := s.Head(t.Context(), "pool/default")
	if err := s.Trim(t.Context(), "pool/default", head.Revision); err != nil {
		t.Fatal(err)
	}
	s.spoil = map[store.Key]func([]byte) []byte{{Kind: recordTask, ID: 1}: garbage}
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.AwaitRevision(head.Revision + 1)
	if wrong := p.Unsound(); wrong != "" || p.Cursor().Epoch == before.epoch {
		t.Errorf("at %v: %s", p.Cursor(), wrong)
	}
	if _, err := p.Get("T-1"); err == nil {
		t.Error("T-1 is there")
	}
}
