package pool_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/faulty"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Between the time of not_before and the revision that makes the task ready,
// which a failing store can put off, reads say pending. A claim goes by the same
// and is refused; it is not readier to a writer than to a reader.
func TestNotBefore_claimGoesByWhatIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := memory.New()
		defer func() { _ = kept.Close() }()
		s := faulty.Wrap(kept)
		f := openOn(t, s)
		d := delayed(t, f.Pool, time.Hour)
		s.Fail(1, faulty.NotApplied) // the wake's
		time.Sleep(time.Hour)
		synctest.Wait()

		_, checks, err := f.Explain("agent:a", d.ID)
		if err != nil {
			t.Fatal(err)
		}
		claimable := true
		for _, c := range checks {
			claimable = claimable && c.Holds
		}
		page, err := f.List(t.Context(), "agent:a", pool.Query{Filter: pool.Filter{Claimable: true}, Size: 10})
		if err != nil {
			t.Fatal(err)
		}
		if claimable || len(page.Tasks) != 0 {
			t.Fatal("the wake was not put off, so this tries nothing")
		}
		status := task.InProgress
		if _, err := f.update(d.ID, task.Patch{Status: &status}); err == nil {
			t.Error("a claim was taken that explain and the listing denied")
		}

		time.Sleep(time.Second)
		synctest.Wait()
		if got := f.get(d.ID).Status; got != task.Ready {
			t.Fatalf("it is %s a second later", got)
		}
		f.set(d.ID, task.InProgress)
	})
}
