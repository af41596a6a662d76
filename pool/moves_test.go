package pool_test

import (
	"fmt"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// outcomes of one move: made, nothing to do, or the reason of the refusal.
const (
	made    = "made"
	nothing = "nothing"
	held    = "HELD"
	denied  = "NOT_PERMITTED"
	noMove  = "MOVE_NOT_ALLOWED"
	waits   = "DEPENDENCIES_UNFINISHED"
	derived = "STATUS_DERIVED"
	later   = "NOT_AVAILABLE_YET"
)

var members = []string{filer, worker, operator, stranger, nameless}

// each gives one outcome to some members and another to the rest.
func each(some string, outcome, rest string) map[string]string {
	m := map[string]string{}
	for _, who := range members {
		m[who] = rest
	}
	for _, r := range some {
		m[map[rune]string{'f': filer, 'w': worker, 'o': operator, 's': stranger, 'n': nameless}[r]] = outcome
	}
	return m
}

func everyone(outcome string) map[string]string { return each("", "", outcome) }

// wantMoves is the table of moves as the design tells it, for a task filed by
// the filer: assigned to the worker, who also is the holder of one in progress,
// or, with open, assigned to nobody but by the claim that the worker made.
func wantMoves(from, to task.Status, open bool, rule task.EditRule) map[string]string {
	if to == task.Pending || to == task.Failed {
		return everyone(derived)
	}
	insiders := "fwo" // may block and unblock: holder, assignee, filer, operator
	if open && from != task.InProgress {
		insiders = "fo"
	}
	switch from {
	case task.Pending:
		switch to {
		case task.Ready, task.InProgress, task.Done:
			return everyone(waits)
		case task.Blocked:
			return each(insiders, made, denied)
		case task.Cancelled:
			return each("fo", made, denied)
		}
	case task.Ready:
		switch to {
		case task.Ready:
			return everyone(nothing)
		case task.InProgress:
			if open {
				return everyone(made)
			}
			return each("w", made, denied)
		case task.Done:
			if open {
				return everyone(made)
			}
			return each("fwo", made, denied)
		case task.Blocked:
			return each(insiders, made, denied)
		case task.Cancelled:
			return each("fo", made, denied)
		}
	case task.InProgress:
		switch to {
		case task.Ready, task.Done:
			return each("wo", made, held)
		case task.InProgress:
			return each("w", nothing, held)
		case task.Review:
			return everyone(later)
		case task.Blocked:
			return each("fwo", made, held)
		case task.Cancelled:
			return each("fo", made, denied)
		}
	case task.Blocked:
		switch to {
		case task.Ready:
			return each(insiders, made, denied)
		case task.Blocked:
			return everyone(nothing)
		case task.Cancelled:
			return each("fo", made, denied)
		}
	case task.Done, task.Cancelled:
		switch {
		case to == from:
			return everyone(nothing)
		case to == task.Ready && rule == task.EditByAnyone:
			return everyone(made)
		case to == task.Ready:
			return each("fo", made, denied)
		case to == task.InProgress && open && rule == task.EditByAnyone:
			return everyone(made)
		case to == task.InProgress && open:
			return each("fo", made, denied)
		case to == task.InProgress && rule == task.EditByAnyone:
			return each("w", made, denied)
		case to == task.InProgress:
			return everyone(denied)
		}
	}
	return everyone(noMove)
}

// bring makes a task and brings it to a status.
func (f *fixture) bring(from task.Status, open bool) *pool.Detail {
	f.t.Helper()
	d := task.Draft{Title: "it"}
	if !open {
		d.Assignee = worker
	}
	if from == task.Pending {
		d.Dependencies = []string{f.titled("first").ID}
	}
	it := f.create(d)
	switch from {
	case task.InProgress:
		f.as(worker).claim(it.ID)
	case task.Blocked, task.Cancelled:
		f.set(it.ID, from)
	case task.Done:
		f.as(worker).claim(it.ID)
		f.as(worker).set(it.ID, task.Done)
	}
	it = f.get(it.ID)
	if it.Status != from {
		f.t.Fatalf("it is %s, want %s", it.Status, from)
	}
	return it
}

func TestMove_everyRow(t *testing.T) {
	for _, rule := range []task.EditRule{task.EditByAnyone, task.EditByFiler} {
		for _, open := range []bool{false, true} {
			for _, from := range []task.Status{task.Pending, task.Ready, task.InProgress, task.Blocked, task.Done, task.Cancelled} {
				f := openAs(t, nil, rule)
				for _, to := range task.Statuses() {
					want := wantMoves(from, to, open, rule)
					for _, who := range members {
						name := fmt.Sprintf("%s/unassigned=%v/%s to %s by %s", rule, open, from, to, who)
						t.Run(name, func(t *testing.T) { tryMove(t, f, from, to, open, who, want[who]) })
					}
				}
			}
		}
	}
}

func tryMove(t *testing.T, f *fixture, from, to task.Status, open bool, who, want string) {
	f = &fixture{Pool: f.Pool, t: t, actor: filer}
	it := f.bring(from, open)
	cursor, before := f.Cursor(), fmt.Sprintf("%+v", *it.Task)
	got, err := f.as(who).update(it.ID, task.Patch{Status: &to, Reason: "because"})
	if want == made {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		wantMoved(t, it, got, to, who)
		return
	}
	if reason := reasonOf(err); want == nothing && err != nil || want != nothing && reason != want {
		t.Fatalf("refused for %q (%v), want %q", reason, err, want)
	}
	if after := fmt.Sprintf("%+v", *f.get(it.ID).Task); f.Cursor() != cursor || after != before {
		t.Fatalf("it changed from\n%s\nto\n%s", before, after)
	}
	switch want {
	case held:
		if e := as[*pool.HeldError](t, err); e.Holder != worker || e.Since.IsZero() || e.Key != it.Key() {
			t.Errorf("it does not say who holds what: %+v", e)
		}
	case noMove:
		for _, s := range as[*pool.RuleError](t, err).Allowed {
			if o := wantMoves(from, s, open, f.Rules().EditRule)[who]; o != made && o != nothing {
				t.Errorf("it names %s as allowed, which is %s", s, o)
			}
		}
	case denied:
		if e := as[*pool.DeniedError](t, err); len(e.May) == 0 || e.Action == "" {
			t.Errorf("it does not say who may: %+v", e)
		}
	}
}

// wantMoved checks what has to follow from any move.
func wantMoved(t *testing.T, before, after *pool.Detail, to task.Status, who string) {
	t.Helper()
	if after.Status != to {
		t.Errorf("it is %s, want %s", after.Status, to)
	}
	if after.Version != before.Version+1 || after.Revision <= before.Revision {
		t.Errorf("version %d → %d, revision %d → %d", before.Version, after.Version, before.Revision, after.Revision)
	}
	if holds := after.Holder != ""; holds != (to == task.InProgress) || holds == after.HeldAt.IsZero() {
		t.Errorf("%s and held by %q since %v", to, after.Holder, after.HeldAt)
	}
	if to == task.InProgress && after.Holder != who {
		t.Errorf("held by %s", after.Holder)
	}
	if after.Closed() == after.ClosedAt.IsZero() {
		t.Errorf("%s, closed at %v", to, after.ClosedAt)
	}
	if (to == task.Blocked) != (after.BlockedReason == "because") {
		t.Errorf("%s because of %q", to, after.BlockedReason)
	}
	last := after.Thread[len(after.Thread)-1]
	if last.Actor != who || len(after.Thread) == len(before.Thread) {
		t.Errorf("the thread ends with %s %s", last.Actor, last.Kind)
	}
}

func TestMove_needsAReason(t *testing.T) {
	f := openAs(t, nil, task.EditByAnyone)
	it := f.titled("it")
	for _, reason := range []string{"", " \t"} {
		want := "REASON_REQUIRED"
		if reason != "" {
			want = "INVALID_FIELD"
		}
		f.wontUpdate(it.ID, task.Patch{Status: new(task.Blocked), Reason: reason}, want)
	}
	got := f.mustUpdate(it.ID, task.Patch{Status: new(task.Blocked), Reason: "no key"})
	if got.BlockedReason != "no key" {
		t.Errorf("blocked because of %q", got.BlockedReason)
	}

	t.Run("and may get another one", func(t *testing.T) {
		got := f.mustUpdate(it.ID, task.Patch{Status: new(task.Blocked), Reason: "no money"})
		if got.BlockedReason != "no money" || got.Version != 3 {
			t.Errorf("blocked because of %q, version %d", got.BlockedReason, got.Version)
		}
		f.as(stranger).wontUpdate(it.ID, task.Patch{Status: new(task.Blocked), Reason: "no will"}, denied)
	})
}

func TestMove_unknownStatus(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	for _, s := range []task.Status{task.StatusUnspecified, 99} {
		f.wontUpdate(it.ID, task.Patch{Status: new(s)}, "INVALID_FIELD")
	}
	// Pending and failed are told apart from other nonsense, when they are all
	// that is wrong.
	f.wontUpdate(it.ID, task.Patch{Status: new(task.Pending)}, "STATUS_DERIVED")
	f.wontUpdate(it.ID, task.Patch{Status: new(task.Failed)}, "STATUS_DERIVED")
	f.wontUpdate(it.ID, task.Patch{Status: new(task.Pending), Title: new("")}, "INVALID_FIELD")
}

// A move in the same update as a hand-over ends as asked: who may is asked of
// the task as it was.
func TestMove_withHandOver(t *testing.T) {
	const next = "agent:next"
	for _, c := range []struct {
		name     string
		claimed  bool
		assignee string
		patch    task.Patch
		who      string
		want     string
		status   task.Status
	}{
		{"blocked by the holder", true, "", task.Patch{Status: new(task.Blocked), Reason: "no key"}, worker, made, task.Blocked},
		{"put back by the holder", true, "", task.Patch{Status: new(task.Ready)}, worker, made, task.Ready},
		{"closed by the holder", true, "", task.Patch{Status: new(task.Done)}, worker, made, task.Done},
		{"blocked by the assignee", false, worker, task.Patch{Status: new(task.Blocked), Reason: "no key"}, worker, made, task.Blocked},
		{"claimed by who gives it away", true, "", task.Patch{Status: new(task.InProgress)}, worker, denied, 0},
		{"cancelled by the holder", true, "", task.Patch{Status: new(task.Cancelled)}, worker, denied, 0},
		{"cancelled by the filer", true, "", task.Patch{Status: new(task.Cancelled)}, filer, made, task.Cancelled},
		{"by a stranger", true, "", task.Patch{Status: new(task.Ready)}, stranger, held, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			it := f.create(task.Draft{Title: "it", Assignee: c.assignee})
			if c.claimed {
				f.as(worker).claim(it.ID)
			}
			c.patch.Assignee = new(next)
			if c.want != made {
				f.as(c.who).wontUpdate(it.ID, c.patch, c.want)
				return
			}
			got := f.as(c.who).mustUpdate(it.ID, c.patch)
			if got.Status != c.status || got.Assignee != next || got.Holder != "" {
				t.Errorf("it is %s, assigned to %q, held by %q", got.Status, got.Assignee, got.Holder)
			}
		})
	}
}
