package pool_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
)

// What history keeps of a task's earlier version is enough for every filter.
func TestPast_decidesAsTheTask(t *testing.T) {
	f := open(t)
	parent := f.titled("parent").ID
	members := []string{"", filer, worker}
	rapid.Check(t, func(t *rapid.T) {
		member := rapid.SampledFrom(members)
		instant := rapid.SampledFrom([]time.Time{{}, time.Unix(1_000_000, 0), time.Unix(2_000_000, 0)})
		d := &task.Task{
			ID: parent, Number: 9, Title: "t", Brief: (&task.Brief{Body: "long"}).Pack(), Result: "long", BlockedReason: "long", Version: 3,
			Status:   rapid.SampledFrom(task.Statuses()).Draw(t, "status"),
			Priority: rapid.SampledFrom([]task.Priority{0, 1, 2, 3}).Draw(t, "priority"),
			Type:     rapid.SampledFrom([]task.Type{0, 1, 2}).Draw(t, "type"),
			Assignee: member.Draw(t, "assignee"), Holder: member.Draw(t, "holder"),
			Reviewer: member.Draw(t, "reviewer"), CreatedBy: member.Draw(t, "created by"),
			ClosedAt: instant.Draw(t, "closed"), NotBefore: instant.Draw(t, "not before"),
			ParentID:   rapid.SampledFrom([]string{"", parent}).Draw(t, "parent"),
			Unfinished: rapid.SampledFrom([][]string{nil, {parent}}).Draw(t, "unfinished"),
			Labels:     rapid.SampledFrom([]map[string]string{nil, {"a": "1"}, {"a": "2", "b": ""}}).Draw(t, "labels"),
		}
		filter := pool.Filter{
			Statuses:      rapid.SliceOfN(rapid.SampledFrom(task.Statuses()), 0, 2).Draw(t, "statuses"),
			IncludeClosed: rapid.Bool().Draw(t, "include closed"), ClosedSince: instant.Draw(t, "since"),
			Available: rapid.Bool().Draw(t, "available"), Claimable: rapid.Bool().Draw(t, "claimable"),
			Priorities: rapid.SliceOfN(rapid.SampledFrom([]task.Priority{0, 1, 2}), 0, 1).Draw(t, "priorities"),
			Types:      rapid.SliceOfN(rapid.SampledFrom([]task.Type{0, 1}), 0, 1).Draw(t, "types"),
			Assignee:   member.Draw(t, "f assignee"), Unassigned: rapid.Bool().Draw(t, "unassigned"),
			Holder: member.Draw(t, "f holder"), Reviewer: member.Draw(t, "f reviewer"), CreatedBy: member.Draw(t, "f created by"),
			Labels: rapid.SampledFrom([]map[string]string{nil, {"a": "1"}}).Draw(t, "f labels"),
		}
		switch rapid.IntRange(0, 2).Draw(t, "where") {
		case 1:
			filter.ParentID = parent
		case 2:
			filter.TopLevel = true
		}
		whole, kept, err := f.MatchesPast(filter, worker, d, taskpb.Codec{})
		if err != nil {
			t.Fatal(err)
		}
		if whole != kept {
			t.Fatalf("%+v: the task %v, what is kept of it %v", filter, whole, kept)
		}
	})
}

// What is told beside a commit is what the commit tells later.
func TestTold_readsAsItWasWritten(t *testing.T) {
	s := memory.New()
	defer func() { _ = s.Close() }()
	f := openOn(t, s).as(filer)
	f.titled("a")
	f.titled("b", "T-1")
	f.create(task.Draft{Title: "child", Parent: "T-1", Labels: map[string]string{"x": "y"}})
	f.as(worker).set("T-3", task.InProgress)
	f.as(worker).set("T-3", task.Done)
	f.set("T-1", task.Done)
	f.set("T-2", task.Blocked)
	f.as(operator).drop("T-3")
	read := 0
	for c, err := range s.Commits(t.Context(), "pool/default", 2) {
		if err != nil {
			t.Fatal(err)
		}
		beside, later, err := f.Told(c, taskpb.Codec{})
		if err != nil {
			t.Fatal(err)
		}
		if beside != later {
			t.Errorf("revision %d:\n%s\nis read as\n%s", c.Revision, beside, later)
		}
		read++
	}
	if read != 8 {
		t.Errorf("%d commits, want 8", read)
	}
}

// History that is older than is promised goes, wherever the pool rests.
func TestRegistry_retainFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		defer func() { _ = s.Close() }()
		r, err := pool.Open(t.Context(), pool.Config{Store: s, Codec: taskpb.Codec{}, RetainFor: 24 * time.Hour, RingEntries: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p, release, err := r.Acquire(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		f := &fixture{Pool: p, t: t, actor: filer}
		for i := range 48 { // one an hour
			f.titled(fmt.Sprint(i))
			time.Sleep(time.Hour)
		}
		synctest.Wait()
		at := f.Cursor()
		var kept []int64
		for c, err := range s.Commits(t.Context(), "pool/default", at.Revision-23) {
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, c.Revision)
		}
		if len(kept) != 24 {
			t.Errorf("kept are %v, want the last 24", kept)
		}
		at.Revision -= 24
		_, err = p.Watch(t.Context(), filer, pool.WatchOptions{Start: pool.FromCursor, After: at})
		expired(t, "a day and an hour ago", f, err)
		time.Sleep(30 * 24 * time.Hour) // nothing happens for a month
		synctest.Wait()
		w := f.watch(pool.WatchOptions{Start: pool.FromCursor, After: f.Cursor()})
		f.titled("again")
		if got := w.drain(); len(got) != 1 {
			t.Errorf("%d changes after a month, want 1", len(got))
		}
		w.Close()
	})
}

// A change that was found is not held back while the rest of a long history is
// looked through, in which nothing more is in view.
func TestWatch_handsOutBeforeItReadsOn(t *testing.T) {
	s := memory.New()
	defer func() { _ = s.Close() }()
	f := openConfig(t, pool.Config{Store: s, RingEntries: 1}).as(filer)
	from := f.Cursor()
	f.create(task.Draft{Title: "mine", Assignee: worker})
	for i := range 1000 {
		f.titled(fmt.Sprint(i))
	}
	w := f.watch(pool.WatchOptions{Start: pool.FromCursor, After: from, Filter: &pool.Filter{Assignee: worker}})
	defer w.Close()
	first, err := w.Next(t.Context(), nil)
	if err != nil || len(first.Changes) != 1 || first.Cursor.Revision > from.Revision+256 {
		t.Errorf("%d changes up to revision %d after %d, error %v", len(first.Changes), first.Cursor.Revision, from.Revision, err)
	}
	quiet := make(chan time.Time, 1)
	quiet <- time.Now()
	next, err := w.Next(t.Context(), quiet)
	if err != nil || len(next.Changes) != 0 || next.Cursor.Revision <= first.Cursor.Revision {
		t.Errorf("then %d changes up to revision %d after %d, error %v", len(next.Changes), next.Cursor.Revision, first.Cursor.Revision, err)
	}
}
