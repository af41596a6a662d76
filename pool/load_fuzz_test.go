package pool_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// FuzzLoad opens a pool on whatever records there are: it is served, without
// what can't be used, sound in itself, and does all that a pool does.
func FuzzLoad(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x01\x01\x10\x00\x02\x02\x11\x01\x03\x01\x00\x05\x02\x07"))
	for i := range uint64(300) { // a few of everything
		rnd := rand.New(rand.NewPCG(i, 5))
		seed := make([]byte, rnd.IntN(400))
		for k := range seed {
			seed[k] = byte(rnd.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := memory.New()
		defer s.Close()
		facts := (&weird{data: data}).facts()
		err := s.Append(t.Context(), []store.Batch{{Log: "pool/default", Commits: []store.Commit{{Revision: 1, At: time.Unix(1, 0), Facts: facts}}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p, release, err := r.Acquire(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if wrong := p.UnsoundButHolds(); wrong != "" {
			t.Fatal(wrong)
		}
		if q, err := pool.Replayed(t.Context(), s, taskpb.Codec{}, p); err == nil {
			_ = q.UnsoundButHolds()
		}
		exercise(t, p)
		if wrong := p.UnsoundButHolds(); wrong != "" {
			t.Fatal(wrong)
		}
		again := sides(t, s, 1)[0]
		defer again.Registry.Close()
		if wrong := again.UnsoundButHolds(); wrong != "" {
			t.Fatalf("opened again: %s", wrong)
		}
	})
}

// exercise does everything once; being refused is fine.
func exercise(t *testing.T, p *pool.Pool) {
	ctx := t.Context()
	var ids []string
	for _, x := range listed(t, p, "agent:a", pool.Filter{IncludeClosed: true}) {
		ids = append(ids, x.ID)
	}
	listed(t, p, "agent:a", pool.Filter{Claimable: true})
	for i, id := range ids {
		if _, _, err := p.Relatives(id); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Explain("agent:a", id); err != nil {
			t.Fatal(err)
		}
		r := pool.Request{Actor: []string{"agent:a", "human"}[i%2], ID: fmt.Sprint(i)}
		for _, status := range task.Statuses() {
			try(t, func() error {
				_, err := p.Update(ctx, pool.Request{Actor: r.Actor}, pool.Update{ID: id, Patch: task.Patch{Status: &status, Reason: "r", Force: true}})
				return err
			})
		}
		for _, patch := range []task.Patch{
			{AddDependencies: []string{ids[(i+1)%len(ids)]}},
			{RemoveDependencies: []string{ids[(i+2)%len(ids)]}},
			{Parent: &ids[(i+3)%len(ids)]},
			{HistoryEntry: new("entry"), Title: new("t"), Assignee: new("agent:b")},
			{Parent: new(""), NotBefore: &time.Time{}, Status: new(task.Ready)},
		} {
			try(t, func() error {
				_, err := p.Update(ctx, pool.Request{Actor: r.Actor}, pool.Update{ID: id, Patch: patch})
				return err
			})
		}
		try(t, func() error {
			_, err := p.Create(ctx, r, task.Draft{Title: "new", Dependencies: []string{id}, Parent: ids[(i+1)%len(ids)]})
			return err
		})
	}
	for _, id := range ids {
		try(t, func() error { _, err := p.Delete(ctx, pool.Request{Actor: "human"}, id, 0); return err })
	}
	if _, err := p.Create(ctx, pool.Request{Actor: "agent:a"}, task.Draft{Title: "last"}); err != nil {
		t.Fatal(err)
	}
}

// try fails the test for an error that is no refusal.
func try(t *testing.T, do func() error) {
	if err := do(); err != nil && reasonOf(err) == fmt.Sprintf("%T", err) {
		t.Fatal(err)
	}
}

// weird makes records of bytes: some raw, most nearly right.
type weird struct{ data []byte }

func (w *weird) next() int {
	if len(w.data) == 0 {
		return 0
	}
	b := w.data[0]
	w.data = w.data[1:]
	return int(b)
}

func (w *weird) id() string {
	return fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", w.next()%8)
}

func (w *weird) ids() (ids []string) {
	for range w.next() % 4 {
		ids = append(ids, w.id())
	}
	return ids
}

func (w *weird) number() int64 {
	switch n := w.next(); n {
	case 255:
		return 1 << 60
	case 254:
		return -1
	default:
		return int64(n % 8)
	}
}

func (w *weird) facts() (facts []store.Fact) {
	for len(w.data) > 0 {
		key := store.Key{Kind: uint8(w.next() % 8), ID: w.number()}
		value, err := []byte(nil), error(nil)
		switch w.next() % 8 {
		case 0:
			n := min(w.next(), len(w.data))
			value, w.data = w.data[:n], w.data[n:]
		default:
			value, err = w.value(&key)
		}
		if err == nil {
			facts = append(facts, store.Fact{Key: key, Value: value})
		}
	}
	return facts
}

func (w *weird) value(key *store.Key) ([]byte, error) {
	switch key.Kind {
	case recordMeta:
		key.ID = 0
		return fmt.Appendf(nil, `{"epoch":"e","last_number":%d,"last_event":%d}`, w.number(), w.number()), nil
	case recordTask, 0, 7: // most are tasks
		key.Kind = recordTask
		return taskpb.Codec{}.EncodeTask(w.task(key.ID))
	case recordEvent:
		key.Sub = w.number()
		e := &task.Event{ID: key.Sub, TaskID: w.id(), Actor: "agent:a", Kind: task.EventKind(w.next() % 12), Body: "b"}
		return taskpb.Codec{}.EncodeEvent(e)
	case recordClaim:
		return fmt.Appendf(nil, `{"token":"t%d","assigned_by_claim":%t}`, w.next(), w.next()%2 == 0), nil
	}
	return fmt.Appendf(nil, `{"actor":"agent:a","method":"CreateTask","id":"%d","at":"2000-01-01T00:00:00Z","tasks":[%q]}`, w.next(), w.id()), nil
}

func (w *weird) task(number int64) *task.Task {
	t := &task.Task{
		ID: w.id(), Number: number, Title: "t", Status: task.Status(w.next() % 9),
		Dependencies: w.ids(), Depth: w.next() % 5, ChildrenTotal: w.next() % 3, ChildrenDone: w.next() % 3,
		HistoryCount: w.next() % 3, Version: w.number(), Revision: w.number(), CreatedBy: "agent:a",
	}
	switch w.next() % 3 {
	case 0:
		t.Unfinished = w.ids()
	case 1:
		t.Unfinished = t.Dependencies
	}
	if w.next()%2 == 0 {
		t.ParentID = w.id()
	}
	if w.next()%4 == 0 {
		t.Holder, t.Assignee = "agent:a", "agent:b"
	}
	if w.next()%4 == 0 {
		t.NotBefore = time.Unix(int64(w.next())<<24, 0)
	}
	return t
}
