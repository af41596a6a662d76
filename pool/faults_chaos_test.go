package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// TestFaults_chaos: many members ask until they are answered, while every third
// append fails in some way. A reader sees only what is stored, and everything
// happens exactly once.
func TestFaults_chaos(t *testing.T) {
	s := newAlone()
	r, p := openAlone(t, s)
	rnd := rand.New(rand.NewPCG(4, 4))
	for n := range 3000 {
		if rnd.IntN(3) == 0 {
			s.Fail(n+1, []faulty.Outcome{faulty.NotApplied, faulty.Lost, faulty.Kept, faulty.Conflict}[rnd.IntN(4)])
		}
	}
	stop := make(chan struct{})
	var watch sync.WaitGroup
	seen := map[feed.Cursor]bool{}
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			page, err := p.List(context.Background(), "agent:a", pool.Query{Filter: pool.Filter{IncludeClosed: true}, Size: 1 << 20})
			if err != nil {
				t.Error(err)
				return
			}
			head, err := s.Head(context.Background(), "pool/default")
			if err != nil || head.Revision < page.Cursor.Revision {
				t.Errorf("revision %d is shown, %d is stored (%v)", page.Cursor.Revision, head.Revision, err)
				return
			}
			seen[page.Cursor] = true
		}
	})
	var work sync.WaitGroup
	const members, each = 5, 150
	for i := range members {
		work.Go(func() {
			for k := range each {
				for {
					got, err := p.Create(context.Background(), pool.Request{Actor: "agent:a", ID: fmt.Sprint(i, "/", k)}, task.Draft{Title: fmt.Sprint(i, "/", k)})
					if err == nil {
						if got.Tasks[0].Title != fmt.Sprint(i, "/", k) {
							t.Errorf("%d/%d was answered with %q", i, k, got.Tasks[0].Title)
						}
						break
					}
					if !unavailable(err, pool.ReasonStoreUnavailable) && !unavailable(err, pool.ReasonCommitUnknown) {
						t.Errorf("answered %v", err)
						return
					}
				}
			}
		})
	}
	work.Wait()
	close(stop)
	watch.Wait()
	titles := map[string]int{}
	for _, x := range listed(t, p, "agent:a", pool.Filter{}) {
		titles[x.Title]++
	}
	if len(titles) != members*each {
		t.Errorf("%d tasks, want %d", len(titles), members*each)
	}
	for title, n := range titles {
		if n != 1 {
			t.Errorf("%s was made %d times", title, n)
		}
	}
	nonces := map[int64]uint64{}
	for c, err := range s.Commits(t.Context(), "pool/default", 1) {
		if err != nil {
			t.Fatal(err)
		}
		nonces[c.Revision] = c.Nonce
	}
	for c := range seen {
		if nonces[c.Revision] != c.Nonce {
			t.Errorf("revision %d was shown with another commit than is stored", c.Revision)
		}
	}
	if wrong := p.Unsound(); wrong != "" {
		t.Error(wrong)
	}
	replayed, err := pool.Replayed(t.Context(), s, taskpb.Codec{}, p)
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "the commits", p.State(), replayed.State())
	t.Logf("%d appends, %d revisions seen", s.Appends(), len(seen))
	r.Close()
	_ = s.Close()
}
