package pool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// many makes n tasks in one revision.
func (f *fixture) many(n int, d task.Draft) {
	f.t.Helper()
	f.createAll(slices.Repeat([]task.Draft{d}, n)...)
}

func (f *fixture) page(q pool.Query) pool.Page {
	f.t.Helper()
	page, err := f.List(f.t.Context(), f.actor, q)
	if err != nil {
		f.t.Fatalf("list %+v: %v", q, err)
	}
	return page
}

// beads#5362: a page is taken for all there is.
func TestList_saysThatThereIsMore(t *testing.T) {
	for _, n := range []int{0, 1, 49, 50, 51, 1001} {
		f := open(t)
		if n > 0 {
			f.many(n, task.Draft{Title: "it"})
		}
		seen, last := 0, int64(0)
		for more := true; more; {
			page := f.page(pool.Query{After: last, Size: 50, Count: true})
			if page.Total != int64(n) || !page.Exact || page.Cursor != f.Cursor() {
				t.Fatalf("%d: total %d, exact %v", n, page.Total, page.Exact)
			}
			seen += len(page.Tasks)
			if more = page.More; more != (seen < n) {
				t.Fatalf("%d: after %d: more %v", n, seen, more)
			}
			for _, it := range page.Tasks {
				if it.Number <= last {
					t.Fatalf("%d after %d", it.Number, last)
				}
				last = it.Number
			}
		}
		if seen != n {
			t.Errorf("%d of %d", seen, n)
		}
	}
}

// beads PR#5376: the order is that of a map.
func TestList_isTheSameEveryTime(t *testing.T) {
	f := board(t)
	for _, filter := range []pool.Filter{
		{},
		{IncludeClosed: true},
		{Statuses: []task.Status{task.Pending, task.Blocked, task.Done}},
		{Claimable: true},
		{ParentID: "T-8", IncludeClosed: true},
		{Labels: map[string]string{"team": "a"}},
		{Text: "e"},
	} {
		want := fmt.Sprintf("%+v", f.page(pool.Query{Filter: filter, Size: 100, Count: true}))
		for range 100 {
			if got := fmt.Sprintf("%+v", f.page(pool.Query{Filter: filter, Size: 100, Count: true})); got != want {
				t.Fatalf("%+v: %s, then %s", filter, want, got)
			}
		}
		if list := f.list(filter); !slices.IsSortedFunc(list, func(a, b *task.Task) int { return int(a.Number - b.Number) }) {
			t.Errorf("%+v is not in the order of creation", filter)
		}
	}
}

// Pages read while tasks come and change hold each task once, and every task that
// fitted all the time.
func TestList_pagesWhileTasksCome(t *testing.T) {
	f := open(t)
	f.many(500, task.Draft{Title: "old"})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			ctx := context.Background()
			_, err := f.Create(ctx, f.request(), task.Draft{Title: "new"})
			if err == nil {
				_, err = f.Update(ctx, f.request(), pool.Update{ID: task.Key(int64(1 + i*37%500)), Patch: task.Patch{HistoryEntry: new("x")}})
			}
			if err == nil {
				_, err = f.Update(ctx, f.request(), pool.Update{ID: task.Key(int64(1 + i*41%500)), Patch: task.Patch{Priority: new(task.High)}})
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 20 {
		seen := map[string]bool{}
		last, old := int64(0), 0
		for more := true; more; {
			page := f.page(pool.Query{After: last, Size: 33})
			for _, it := range page.Tasks {
				if seen[it.ID] || it.Number <= last {
					t.Fatalf("%s again, or after %d", it.Key(), last)
				}
				seen[it.ID], last = true, it.Number
				if it.Title == "old" {
					old++
				}
			}
			more = page.More && len(seen) < 2000
		}
		if old != 500 {
			t.Fatalf("%d of 500", old)
		}
	}
	close(stop)
	<-stopped
}

func TestList_total(t *testing.T) {
	f := open(t)
	f.many(10_000, task.Draft{Title: "it"})
	for name, c := range map[string]struct {
		filter pool.Filter
		total  int64
		exact  bool
	}{
		"all":              {pool.Filter{}, 10_000, true},
		"counted to bound": {pool.Filter{Text: "it"}, 10_000, true},
	} {
		if p := f.page(pool.Query{Filter: c.filter, Size: 1, Count: true}); p.Total != c.total || p.Exact != c.exact {
			t.Errorf("%s: %d, exact %v", name, p.Total, p.Exact)
		}
	}
	f.titled("it")
	f.set("T-1", task.Done)
	f.many(20, task.Draft{Title: "it"})
	for name, c := range map[string]struct {
		filter pool.Filter
		total  int64
		exact  bool
	}{
		"open, from the index":   {pool.Filter{}, 10_020, true},
		"all, from the index":    {pool.Filter{IncludeClosed: true}, 10_021, true},
		"done, from the index":   {pool.Filter{Statuses: []task.Status{task.Done}}, 1, true},
		"two, from the index":    {pool.Filter{Statuses: []task.Status{task.Done, task.Ready}}, 10_021, true},
		"beyond the bound":       {pool.Filter{Text: "it"}, 10_000, false},
		"beyond, by an assignee": {pool.Filter{Unassigned: true}, 10_000, false},
		"few of many":            {pool.Filter{Text: "t-1002"}, 3, true},
	} {
		if p := f.page(pool.Query{Filter: c.filter, Size: 1, Count: true}); p.Total != c.total || p.Exact != c.exact {
			t.Errorf("%s: %d, exact %v; want %d, %v", name, p.Total, p.Exact, c.total, c.exact)
		}
	}
	if p := f.page(pool.Query{Size: 1}); p.Total != 0 {
		t.Errorf("counted unasked: %d", p.Total)
	}
}

// llm-chat-task: 5,000 tasks are 812,002 characters of answer, and a query can
// block the process for seconds.
func TestList_isBoundedAndEnds(t *testing.T) {
	f := open(t)
	f.many(5000, task.Draft{Title: strings.Repeat("a", 29) + "!"})
	if p := f.page(pool.Query{Size: 50}); len(p.Tasks) != 50 || !p.More {
		t.Errorf("%d tasks, more %v", len(p.Tasks), p.More)
	}
	if got := f.list(pool.Filter{Text: "(a+)+$"}); len(got) != 0 {
		t.Errorf("%d tasks match an expression", len(got))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.many(5000, task.Draft{Title: "more"})
	if _, err := f.List(ctx, f.actor, pool.Query{Filter: pool.Filter{Text: "nothing"}, Size: 10}); err == nil {
		t.Error("a listing whose caller has gone goes on")
	}
}
