package pool_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// TestCrowd_groupCommit: hundreds of members at once are served by far fewer
// appends than mutations.
func TestCrowd_groupCommit(t *testing.T) {
	s := newAlone()
	r, p := openAlone(t, s)
	defer func() { r.Close(); _ = s.Close() }()
	const members, each = 300, 10
	appends := s.Appends()
	var work sync.WaitGroup
	for i := range members {
		work.Go(func() {
			me := pool.Request{Actor: fmt.Sprint("agent:", i)}
			got, err := p.Create(context.Background(), me, task.Draft{Title: "mine"})
			for k := 1; k < each && err == nil; k++ {
				_, err = p.Update(context.Background(), me, pool.Update{ID: got.Tasks[0].ID, Patch: task.Patch{HistoryEntry: new(fmt.Sprint(k))}})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if n := s.Appends() - appends; n > members*each/5 {
		t.Errorf("%d appends for %d mutations", n, members*each)
	} else {
		t.Logf("%d appends for %d mutations", n, members*each)
	}
	if got := p.Cursor().Revision; got != 1+members*each {
		t.Errorf("revision %d after %d mutations", got, members*each)
	}
	for _, x := range listed(t, p, "human", pool.Filter{}) {
		if x.HistoryCount != each-1 {
			t.Errorf("%s has %d entries", x.Key(), x.HistoryCount)
		}
	}
}

// TestCrowd_gone: who leaves while waiting did not ask; who leaves while the
// append is under way did.
func TestCrowd_gone(t *testing.T) {
	s := newAlone()
	r, p := openAlone(t, s)
	defer func() { r.Close(); _ = s.Close() }()
	create := func(ctx context.Context, title string) error {
		_, err := p.Create(ctx, pool.Request{Actor: "agent:a", ID: title}, task.Draft{Title: title})
		return err
	}
	arrived := s.Pause()
	early, leaveEarly := context.WithCancel(t.Context())
	late, leaveLate := context.WithCancel(t.Context())
	errs := make(chan error, 2)
	go func() { errs <- create(late, "begun") }()
	<-arrived
	go func() { errs <- create(early, "waiting") }()
	p.AwaitQueue(1)
	leaveEarly()
	leaveLate()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("who left was answered %v", err)
		}
	}
	s.Resume()
	if err := create(t.Context(), "after"); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, x := range listed(t, p, "human", pool.Filter{}) {
		titles = append(titles, x.Title)
	}
	if fmt.Sprint(titles) != "[begun after]" {
		t.Errorf("there are %v", titles)
	}
}

// TestCrowd_goneFromCreatePool: the same for pools.
func TestCrowd_goneFromCreatePool(t *testing.T) {
	s := newAlone()
	r, _ := openAlone(t, s)
	defer func() { r.Close(); _ = s.Close() }()
	arrived := s.Pause()
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := r.CreatePool(ctx, pool.Request{Actor: "human"}, pool.Info{Name: "one"})
		done <- err
	}()
	<-arrived
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("answered %v", err)
	}
	s.Resume()
	if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: "one"}); !errors.As(err, new(*pool.ExistsError)) {
		t.Errorf("the pool that was begun: %v", err)
	}
}

// TestCrowd_close: Close answers everyone, and what was acknowledged is there.
func TestCrowd_close(t *testing.T) {
	s := memory.New()
	defer s.Close()
	b := sides(t, s, 1)[0]
	var work sync.WaitGroup
	var acknowledged, refused atomic.Int64
	busy := make(chan struct{}, 200)
	for i := range 200 {
		work.Go(func() {
			for {
				_, err := b.Create(context.Background(), pool.Request{Actor: fmt.Sprint("agent:", i)}, task.Draft{Title: "task"})
				if err != nil {
					if !unavailable(err, pool.ReasonDraining) {
						t.Error(err)
					}
					refused.Add(1)
					return
				}
				if acknowledged.Add(1); len(busy) < cap(busy) {
					select {
					case busy <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	for range cap(busy) {
		<-busy
	}
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(b.Registry.Close)
	}
	work.Wait()
	closers.Wait()
	if refused.Load() != 200 {
		t.Errorf("%d of 200 were told", refused.Load())
	}
	if _, _, err := b.Acquire(t.Context(), ""); !unavailable(err, pool.ReasonDraining) {
		t.Errorf("a closed registry opens pools: %v", err)
	}
	again := sides(t, s, 1)[0]
	defer again.Registry.Close()
	if got := int64(len(listed(t, again.Pool, "human", pool.Filter{}))); got != acknowledged.Load() {
		t.Errorf("%d tasks, %d were acknowledged", got, acknowledged.Load())
	}
}

// TestCrowd_closeWhileStoring: Close waits for an append under way, and those who
// wait behind it are answered.
func TestCrowd_closeWhileStoring(t *testing.T) {
	s := newAlone()
	r, p := openAlone(t, s)
	arrived := s.Pause()
	errs := make(chan error, 20)
	for range cap(errs) {
		go func() {
			_, err := p.Create(context.Background(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "task"})
			errs <- err
		}()
	}
	batch := <-arrived
	p.AwaitQueue(cap(errs) - len(batch[0].Commits))
	closed := make(chan struct{})
	go func() { r.Close(); close(closed) }()
	s.Resume()
	<-closed
	stored := 0
	for range cap(errs) {
		switch err := <-errs; {
		case err == nil:
			stored++
		case !unavailable(err, pool.ReasonDraining):
			t.Error(err)
		}
	}
	if stored != cap(errs) {
		t.Errorf("%d of %d that waited were stored", stored, cap(errs))
	}
	_ = s.Close()
}

// TestCrowd_oneTask: many who change one task at once, each something else, lose
// nothing; of many who claim it, one does.
func TestCrowd_oneTask(t *testing.T) {
	f := open(t)
	id := f.titled("one").ID
	var work sync.WaitGroup
	var won atomic.Int64
	for i := range 100 {
		work.Go(func() {
			who := f.as(fmt.Sprint("agent:", i))
			if _, err := who.update(id, task.Patch{SetLabels: map[string]string{fmt.Sprint("k", i%30): "v"}, HistoryEntry: new(fmt.Sprint("entry ", i))}); err != nil {
				t.Error(err)
			}
			_, err := who.update(id, task.Patch{Status: new(task.InProgress)})
			if err == nil {
				won.Add(1)
			} else if !errors.As(err, new(*pool.HeldError)) {
				t.Error(err)
			}
		})
	}
	work.Wait()
	d := f.get(id)
	if d.HistoryCount != 100 || len(d.Labels) != 30 || won.Load() != 1 {
		t.Errorf("%d entries, %d labels, %d claims", d.HistoryCount, len(d.Labels), won.Load())
	}
}
