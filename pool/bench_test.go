package pool_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// These measure what the pool itself costs: its store keeps nothing. Compare a
// thousand tasks with a million: nothing but a filter that no index serves may
// depend on how many there are.

var sizes = []struct {
	name  string
	tasks int
}{{"1k", 1_000}, {"1M", 1_000_000}}

// filled is a pool of many tasks: every tenth has a parent, every other one
// depends on the one before, a third is done.
func filled(b *testing.B, tasks int) *pool.Pool {
	b.Helper()
	r, err := pool.Open(b.Context(), pool.Config{Store: &pool.Nowhere{}, Codec: taskpb.Codec{}})
	if err != nil {
		b.Fatal(err)
	}
	p, release, err := r.Acquire(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { release(); r.Close() })
	for made := 0; made < tasks; {
		drafts := make([]task.Draft, min(1000, tasks-made))
		for i := range drafts {
			d := &drafts[i]
			*d = draftOf(made + i)
			d.Ref = fmt.Sprint(i)
			if i%2 == 1 {
				d.Dependencies = []string{fmt.Sprint("ref:", i-1)}
			}
			if i%10 == 9 {
				d.Parent = fmt.Sprint("ref:", i-9)
			}
		}
		if _, err := p.CreateAll(b.Context(), pool.Request{Actor: "agent:a"}, drafts); err != nil {
			b.Fatal(err)
		}
		made += len(drafts)
	}
	return p
}

// draftOf is a task as people write them.
func draftOf(i int) task.Draft {
	return task.Draft{
		Title:              fmt.Sprint("Make the thing number ", i, " work as it should"),
		Description:        "It does not do what it says, which was reported twice.",
		AcceptanceCriteria: []string{"it does what it says", "there is a test for it"},
		Priority:           task.Medium,
		Labels:             map[string]string{"area": "things"},
	}
}

func BenchmarkCreate(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := filled(b, size.tasks)
			for i := 0; b.Loop(); i++ {
				if _, err := p.Create(b.Context(), pool.Request{Actor: "agent:a"}, draftOf(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCreate_dependent also keeps the order of the graph.
func BenchmarkCreate_dependent(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := filled(b, size.tasks)
			for i := 0; b.Loop(); i++ {
				d := draftOf(i)
				d.Dependencies = []string{task.Key(int64(1 + i%size.tasks)), task.Key(int64(1 + (i*7+3)%size.tasks))}
				if d.Dependencies[0] == d.Dependencies[1] {
					d.Dependencies = d.Dependencies[:1]
				}
				if _, err := p.Create(b.Context(), pool.Request{Actor: "agent:a"}, d); err != nil && reasonOf(err) != "DEPENDENTS_EXCEEDED" {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCreate_crowd is many at once, as the writer likes it.
func BenchmarkCreate_crowd(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := filled(b, size.tasks)
			b.SetParallelism(64)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if _, err := p.Create(context.Background(), pool.Request{Actor: "agent:a"}, draftOf(i)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkUpdate claims and puts back, each in turn.
func BenchmarkUpdate(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := filled(b, size.tasks)
			status := task.InProgress
			for i := 0; b.Loop(); i++ {
				key := task.Key(int64(1 + 2*(i/2)%size.tasks))
				status = task.InProgress + task.Ready - status
				if _, err := p.Update(b.Context(), pool.Request{Actor: "agent:a"}, pool.Update{ID: key, Patch: task.Patch{Status: &status}}); err != nil && reasonOf(err) != "THREAD_FULL" {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate_history adds to one long thread.
func BenchmarkUpdate_history(b *testing.B) {
	r, err := pool.Open(b.Context(), pool.Config{Store: &pool.Nowhere{}, Codec: taskpb.Codec{}, Getenv: func(name string) (string, bool) {
		return "16000000", name == "LLM_CHAT_TASK_MAX_HISTORY_LENGTH" || name == "TASKPOOL_MAX_EVENTS_PER_TASK"
	}})
	if err != nil {
		b.Fatal(err)
	}
	p, release, err := r.Acquire(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { release(); r.Close() })
	entry := func() {
		if _, err := p.Update(b.Context(), pool.Request{Actor: "agent:a"}, pool.Update{ID: "T-1", Patch: task.Patch{HistoryEntry: new("one more")}}); err != nil && reasonOf(err) != "HISTORY_FULL" {
			b.Fatal(err)
		}
	}
	if _, err := p.Create(b.Context(), pool.Request{Actor: "agent:a"}, draftOf(0)); err != nil {
		b.Fatal(err)
	}
	for range 20_000 {
		entry()
	}
	for b.Loop() {
		entry()
	}
}

// BenchmarkUpdate_listed is an update after each of which somebody lists, so that
// each copies what it changes.
func BenchmarkUpdate_listed(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := filled(b, size.tasks)
			for i := 0; b.Loop(); i++ {
				key := task.Key(int64(1 + (i*7919)%size.tasks))
				if _, err := p.Update(b.Context(), pool.Request{Actor: "agent:a"}, pool.Update{ID: key, Patch: task.Patch{Title: new(fmt.Sprint(i))}}); err != nil {
					b.Fatal(err)
				}
				if _, err := p.List(b.Context(), "agent:a", pool.Query{Size: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, size := range sizes {
		p := filled(b, size.tasks)
		middle := int64(size.tasks / 2)
		for name, q := range map[string]pool.Query{
			"page":      {Size: 100, After: middle},
			"counted":   {Size: 100, After: middle, Count: true},
			"claimable": {Size: 100, After: middle, Filter: pool.Filter{Claimable: true}},
			"children":  {Size: 100, Filter: pool.Filter{ParentID: "T-1"}},
		} {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.List(b.Context(), "agent:a", q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkGet(b *testing.B) {
	p := filled(b, 1_000_000)
	var at atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := p.Get(task.Key(1 + at.Add(7919)%1_000_000)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkLoad opens a pool of 100,000 tasks.
func BenchmarkLoad(b *testing.B) {
	s := memory.New()
	f := openOn(b, s)
	for made := 0; made < 100_000; {
		drafts := make([]task.Draft, 1000)
		for i := range drafts {
			drafts[i] = draftOf(made + i)
			if drafts[i].Ref = fmt.Sprint(i); i > 0 {
				drafts[i].Dependencies = []string{fmt.Sprint("ref:", i/2)}
			}
		}
		if _, err := f.CreateAll(b.Context(), f.request(), drafts); err != nil {
			b.Fatal(err)
		}
		made += len(drafts)
	}
	for b.Loop() {
		r, err := pool.Open(b.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := r.Acquire(b.Context(), ""); err != nil {
			b.Fatal(err)
		}
		r.Close()
	}
}

// BenchmarkMemory tells how many bytes a task takes.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		p := filled(b, 1_000_000)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1_000_000, "B/task")
		runtime.KeepAlive(p)
	}
}
