package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// TestIsolation lists while many change the pool. Every listing is of one
// revision: what tasks say of each other in it is true in it, pages of one
// listing never go back, and the listing of a filter is the part of the whole
// that it says.
func TestIsolation(t *testing.T) {
	f := open(t)
	var drafts []task.Draft
	for i := range 20 {
		drafts = append(drafts, task.Draft{Title: "parent", Ref: fmt.Sprint("p", i)})
		for k := range 5 {
			drafts = append(drafts, task.Draft{Title: "child", Parent: fmt.Sprint("ref:p", i), Ref: fmt.Sprint("c", i, "-", k)})
		}
	}
	for i := range 60 {
		drafts = append(drafts, task.Draft{Title: "dependent", Dependencies: []string{
			fmt.Sprint("ref:c", i%20, "-", i%5), fmt.Sprint("ref:c", (i+7)%20, "-", (i+1)%5),
		}})
	}
	made, err := f.CreateAll(t.Context(), f.request(), drafts)
	if err != nil {
		t.Fatal(err)
	}
	frozen := f.all()
	var details []*pool.Detail
	for _, x := range frozen {
		details = append(details, f.get(x.ID))
	}
	before := written(frozen, details)
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			last := int64(0)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				last = isolated(t, f.Pool, last)
			}
		})
	}
	for i := range 6 {
		writers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 9))
			me := pool.Request{Actor: "human"}
			for range 80 {
				d := made.Tasks[rnd.IntN(len(made.Tasks))]
				p := task.Patch{Status: new([]task.Status{task.Done, task.Ready, task.InProgress, task.Cancelled}[rnd.IntN(4)]), Force: true}
				if rnd.IntN(4) == 0 {
					p = task.Patch{Parent: new(made.Tasks[6*rnd.IntN(20)].ID)}
				}
				_, _ = f.Update(context.Background(), me, pool.Update{ID: d.ID, Patch: p}) // refusals are fine
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if wrong := f.Unsound(); wrong != "" {
		t.Error(wrong)
	}
	if written(frozen, details) != before {
		t.Error("what was read before is not what it was")
	}
}

// written is all that was read, as text.
func written(tasks []*task.Task, details []*pool.Detail) string {
	var b strings.Builder
	for i, x := range tasks {
		fmt.Fprintf(&b, "%+v %+v\n%+v %v\n", *x, *x.Brief.Unpack(), *details[i].Task, details[i].Dependents)
		for _, e := range details[i].Thread {
			fmt.Fprintf(&b, "%+v\n", *e)
		}
	}
	return b.String()
}

// isolated lists everything and checks that it agrees with itself.
func isolated(t *testing.T, p *pool.Pool, last int64) int64 {
	page, err := p.List(context.Background(), "human", pool.Query{Filter: pool.Filter{IncludeClosed: true}, Size: 1000, Count: true})
	if err != nil {
		t.Error(err)
		return last
	}
	if page.Cursor.Revision < last || page.Total != int64(len(page.Tasks)) || page.More {
		t.Errorf("revision %d after %d, %d of %d tasks", page.Cursor.Revision, last, len(page.Tasks), page.Total)
	}
	byID := map[string]*task.Task{}
	total, done := map[string]int{}, map[string]int{}
	for _, x := range page.Tasks {
		byID[x.ID] = x
		if x.Revision > page.Cursor.Revision {
			t.Errorf("%s is of revision %d, the listing of %d", x.Key(), x.Revision, page.Cursor.Revision)
		}
		total[x.ParentID]++
		if x.Closed() {
			done[x.ParentID]++
		}
	}
	for _, x := range page.Tasks {
		var unfinished []string
		for _, dep := range x.Dependencies {
			if byID[dep].Status != task.Done {
				unfinished = append(unfinished, dep)
			}
		}
		if x.ChildrenTotal != total[x.ID] || x.ChildrenDone != done[x.ID] || !slices.Equal(x.Unfinished, unfinished) || (x.Status == task.Ready && len(unfinished) > 0) {
			t.Errorf("revision %d: %s counts %d of %d children, has %d of %d; waits for %v, %v are not done", page.Cursor.Revision,
				x.Key(), x.ChildrenDone, x.ChildrenTotal, done[x.ID], total[x.ID], x.Unfinished, unfinished)
		}
	}
	d, relatives, err := p.Relatives(page.Tasks[0].ID)
	if err != nil || d.ChildrenTotal != len(relatives.Children) {
		t.Errorf("%s counts %d children, is shown with %d (%v)", d.Key(), d.ChildrenTotal, len(relatives.Children), err)
	}
	under, err := p.List(context.Background(), "human", pool.Query{Filter: pool.Filter{ParentID: d.ID, IncludeClosed: true}, Size: 1000})
	if err != nil {
		t.Error(err)
	}
	for _, x := range under.Tasks {
		if x.ParentID != d.ID {
			t.Errorf("%s is listed under %s, and lies under %q", x.Key(), d.Key(), x.ParentID)
		}
	}
	return page.Cursor.Revision
}
