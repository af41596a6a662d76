package pool_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Many watch while many write, in two registries over one store: all see the
// same, in order and once, whether the ring, the store or the follower of the
// other registry brings it.
func TestWatch_crowd(t *testing.T) {
	for _, entries := range []int{3, 64, 0} {
		t.Run(fmt.Sprintf("ring of %d", entries), func(t *testing.T) {
			s := memory.New()
			t.Cleanup(func() { _ = s.Close() })
			here := openConfig(t, pool.Config{Store: s, RingEntries: entries})
			there := openConfig(t, pool.Config{Store: s, RingEntries: entries})
			const writers, each, last = 4, 60, "the last"
			var seen [6][]string
			var group sync.WaitGroup
			for i := range seen {
				f := []*fixture{here, there}[i%2]
				w := f.watch(pool.WatchOptions{})
				w.snapshot()
				group.Go(func() {
					for done := false; !done; {
						b, err := w.Next(t.Context(), nil)
						if err != nil {
							t.Errorf("watch %d: %v", i, err)
							return
						}
						seen[i] = append(seen[i], short(b.Changes)...)
						for _, c := range b.Changes {
							done = done || c.Task != nil && c.Task.Title == last
						}
					}
				})
			}
			var writing sync.WaitGroup
			for n := range writers {
				f := []*fixture{here, there}[n%2]
				writing.Go(func() {
					for i := range each {
						d := f.titled(fmt.Sprintf("%d of %d", i, n))
						if i%3 == 0 {
							f.set(d.ID, task.Done)
						}
					}
				})
			}
			writing.Wait()
			here.titled(last)
			group.Wait()
			all := strings.Join(seen[0], "\n")
			if want := writers*(each+each/3) + 1; len(seen[0]) != want {
				t.Errorf("%d changes, want %d", len(seen[0]), want)
			}
			for i := range seen {
				if strings.Join(seen[i], "\n") != all {
					t.Errorf("watch %d saw %d changes, not what the first saw", i, len(seen[i]))
				}
			}
		})
	}
}
