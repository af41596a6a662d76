//go:build soak

package pool_test

import (
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store/memory"
)

// TestSoak_watch lets an audience write and watch for long, in three registries
// over one store. Whatever a window's traffic was, it is forgotten with it.
func TestSoak_watch(t *testing.T) { newAudience(t, memory.New(), 3).soak(soak(t)) }

func TestSoak_watchOnDisk(t *testing.T) { audienceOnDisk(t).soak(soak(t)) }

func (c *audience) soak(long time.Duration) {
	n := uint64(0)
	for end := time.Now().Add(long); time.Now().Before(end) && !c.t.Failed(); n++ {
		c.window(n, 400)
	}
	c.t.Logf("%d windows, %d revisions", n, c.ref.Last)
}
