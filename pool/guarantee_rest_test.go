package pool_test

import (
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// A window of an audience may end while a receiver has some parts of a large
// revision and not the others. It goes on all the same, and nothing is missing
// that it did not miss.
func TestAudience_restsWithinARevision(t *testing.T) {
	c := newAudience(t, memory.New(), 1)
	c.judge()
	quiet := make(chan time.Time)
	close(quiet)
	for _, r := range c.receivers {
		for r.watch == nil || !r.shown {
			if err := c.step(r, quiet); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := c.pools[0].CreateAll(t.Context(), pool.Request{Actor: modelMembers[2]}, make300()); err != nil {
		t.Fatal(err)
	}
	within := 0
	for _, r := range c.receivers {
		for r.watch == nil || r.tr.Cursor().Revision < c.pools[0].Cursor().Revision-1 {
			if err := c.step(r, quiet); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.next(t.Context(), quiet); err != nil {
			t.Fatal(err)
		}
		streams := r.tr.Streams
		messages := streams[len(streams)-1].Messages
		if messages[len(messages)-1].More {
			within++
		}
	}
	if within == 0 {
		t.Fatal("nobody is within the revision")
	}
	c.judge()
	for _, r := range c.receivers {
		for r.watch == nil || !r.shown || r.tr.Cursor().Revision < c.pools[0].Cursor().Revision {
			if err := c.step(r, quiet); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.judge()
}

func make300() []task.Draft {
	drafts := make([]task.Draft, 300)
	for i := range drafts {
		drafts[i].Title = "one of many"
	}
	return drafts
}
