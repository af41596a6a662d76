package pool_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// fickle is a shared store whose loads and followers can be made to fail or wait.
type fickle struct {
	*memory.Store
	loads   atomic.Int64 // how many more loads fail
	follows atomic.Int64 // how many more followers fail
	cut     atomic.Bool  // followers end with the next commit
	gate    chan struct{}
}

func (s *fickle) Load(ctx context.Context, log string, yield func(store.Key, []byte) error) (store.State, error) {
	if s.gate != nil && log != "system" {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return store.State{}, ctx.Err()
		}
	}
	if log != "system" && s.loads.Add(-1) >= 0 {
		return store.State{}, errAway
	}
	return s.Store.Load(ctx, log, yield)
}

func (s *fickle) Follow(ctx context.Context, log string, from int64) iter.Seq2[store.Commit, error] {
	if s.follows.Add(-1) >= 0 {
		return func(yield func(store.Commit, error) bool) { yield(store.Commit{}, errAway) }
	}
	return func(yield func(store.Commit, error) bool) {
		for c, err := range s.Store.Follow(ctx, log, from) {
			if s.cut.Load() {
				c, err = store.Commit{}, errAway
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func registryOn(t *testing.T, s store.Store) *pool.Registry {
	t.Helper()
	r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A pool that can't be opened is not there for now; the next caller tries again.
func TestRegistry_openFails(t *testing.T) {
	s := &fickle{Store: memory.New()}
	r := registryOn(t, s)
	s.loads.Store(1)
	_, _, err := r.Acquire(t.Context(), "")
	if !unavailable(err, pool.ReasonStoreUnavailable) || !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "the store can't be read now") {
		t.Errorf("it says %q, and no read goes on", err)
	}
	if r.OpenPools() != 0 {
		t.Error("it counts as open")
	}
	if _, _, err := r.Acquire(t.Context(), ""); err != nil {
		t.Error(err)
	}
	r.Close()
	_ = s.Close()
}

// Many who want a closed pool at once load it once. One who leaves while it is
// opened does not spoil it for the others.
func TestRegistry_openedOnce(t *testing.T) {
	s := &fickle{Store: memory.New(), gate: make(chan struct{})}
	r := registryOn(t, s)
	impatient, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, _, err := r.Acquire(impatient, "")
		left <- err
	}()
	for r.OpenPools() == 0 {
		// until the first has begun
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left was answered %v", err)
	}
	got := make([]*pool.Pool, 50)
	var work sync.WaitGroup
	for i := range got {
		work.Go(func() {
			p, release, err := r.Acquire(t.Context(), "")
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = p
			release()
		})
	}
	close(s.gate)
	work.Wait()
	for _, p := range got {
		if p != got[0] {
			t.Fatal("it was opened more than once")
		}
	}
	r.Close()
	_ = s.Close()
}

// Close while a pool is being opened ends that.
func TestRegistry_closeWhileOpening(t *testing.T) {
	s := &fickle{Store: memory.New(), gate: make(chan struct{})}
	r := registryOn(t, s)
	answer := make(chan error)
	go func() {
		_, _, err := r.Acquire(context.Background(), "")
		answer <- err
	}()
	for r.OpenPools() == 0 {
		// until it has begun
	}
	r.Close()
	if err := <-answer; !unavailable(err, pool.ReasonDraining) {
		t.Errorf("got %v", err)
	}
	_ = s.Close()
}

// A follower that the store lets down comes back, and misses nothing.
func TestRegistry_followsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fickle{Store: memory.New()}
		s.follows.Store(10)
		both := sides(t, s, 2)
		for range 3 {
			if _, err := both[0].Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "task"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			sameState(t, "followed", both[0].State(), both[1].State())
		}
		// Trimmed past: what is behind is loaded.
		s.cut.Store(true)
		for range 3 {
			if _, err := both[0].Create(t.Context(), pool.Request{Actor: "agent:a"}, task.Draft{Title: "task"}); err != nil {
				t.Fatal(err)
			}
		}
		head, _ := s.Head(t.Context(), "pool/default")
		if err := s.Trim(t.Context(), "pool/default", head.Revision); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		sameState(t, "loaded", both[0].State(), both[1].State())
		for _, b := range both {
			b.Registry.Close()
		}
		_ = s.Close()
	})
}

// A catalog whose commits were trimmed away is read anew, and still takes pools.
func TestRegistry_catalogTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fickle{Store: memory.New()}
		both := sides(t, s, 2)
		s.follows.Store(1 << 30) // nobody is told
		create := func(b side, name string) error {
			_, _, err := b.CreatePool(t.Context(), pool.Request{Actor: "human", ID: name, Digest: name}, pool.Info{Name: name})
			return err
		}
		both[0].Registry.Close()
		both[0] = sides(t, s, 1)[0] // one that does not follow
		for i := range 5 {
			if err := create(both[1], fmt.Sprint("p", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Trim(t.Context(), "system", 5); err != nil {
			t.Fatal(err)
		}
		if err := create(both[0], "p2"); err != nil { // a replay of what the other did
			t.Errorf("asked again elsewhere: %v", err)
		}
		if err := create(both[0], "mine"); err != nil {
			t.Error(err)
		}
		infos, _ := both[0].Pools("", 100)
		if len(infos) != 7 {
			t.Errorf("%d pools", len(infos))
		}
		for _, b := range both {
			b.Registry.Close()
		}
		_ = s.Close()
	})
}

// Pools come and go while they are used: nobody meets one that was closed.
func TestRegistry_busy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}, IdleAfter: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		const pools = 5
		for i := range pools {
			if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: fmt.Sprint("p", i)}); err != nil {
				t.Fatal(err)
			}
		}
		var made [pools]atomic.Int64
		var work sync.WaitGroup
		for i := range 20 {
			work.Go(func() {
				for k := range 30 {
					time.Sleep(time.Duration((i*7+k*13)%60) * time.Millisecond)
					n := (i + k) % pools
					p, release, err := r.Acquire(t.Context(), fmt.Sprint("p", n))
					if err != nil {
						t.Error(err)
						continue
					}
					d := task.Draft{Title: "task", NotBefore: time.Now().Add(time.Duration(k) * time.Millisecond)}
					if _, err := p.Create(t.Context(), pool.Request{Actor: "agent:a"}, d); err != nil {
						t.Error(err)
					}
					made[n].Add(1)
					release()
				}
			})
		}
		work.Wait()
		time.Sleep(time.Minute)
		if r.OpenPools() != 0 {
			t.Errorf("%d pools stay open", r.OpenPools())
		}
		for n := range made {
			p, release, err := r.Acquire(t.Context(), fmt.Sprint("p", n))
			if err != nil {
				t.Fatal(err)
			}
			if _, counts := p.Stat(); counts[task.Ready] != made[n].Load() {
				t.Errorf("p%d has %v, want %d ready", n, counts, made[n].Load())
			}
			release()
		}
		r.Close()
		_ = s.Close()
	})
}

// Pools are listed by name, the default pool at its place, whatever the size of
// a page and wherever it begins.
func TestRegistry_pools(t *testing.T) {
	r := registryOn(t, memory.New())
	defer r.Close()
	want := []string{"a", "deep", "default", "default-2", "z"}
	for _, i := range []int{4, 0, 3, 1} {
		if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: want[i]}); err != nil {
			t.Fatal(err)
		}
	}
	for size := 1; size <= 6; size++ {
		var got []string
		after, more := "", true
		for more {
			var infos []pool.Info
			infos, more = r.Pools(after, size)
			for _, info := range infos {
				got = append(got, info.Name)
			}
			after = got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v", size, got)
		}
	}
	for after, first := range map[string]string{"b": "deep", "deep": "default", "defau": "default", "default": "default-2", "default-2": "z", "zz": ""} {
		infos, _ := r.Pools(after, 1)
		if first == "" && len(infos) > 0 || first != "" && infos[0].Name != first {
			t.Errorf("after %q comes %v, want %q", after, infos, first)
		}
	}
	for _, name := range want {
		if info, err := r.Pool(name); err != nil || info.Name != name {
			t.Errorf("%s is %v, %v", name, info, err)
		}
		if _, _, err := r.CreatePool(t.Context(), pool.Request{Actor: "human"}, pool.Info{Name: name}); !errors.As(err, new(*pool.ExistsError)) {
			t.Errorf("%s again: %v", name, err)
		}
	}
	if _, err := r.Pool("b"); reasonOf(err) != "POOL_NOT_FOUND" {
		t.Errorf("got %v", err)
	}
}
