package pool_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

func TestAssign_whoMay(t *testing.T) {
	for name, c := range map[string]struct {
		bring func(f *fixture) string
		want  map[string]string
	}{
		"nobody's":            {func(f *fixture) string { return f.titled("it").ID }, everyone(made)},
		"the worker's":        {func(f *fixture) string { return f.bring(task.Ready, false).ID }, each("fwo", made, denied)},
		"held by the worker":  {func(f *fixture) string { return f.bring(task.InProgress, true).ID }, each("fwo", made, held)},
		"blocked":             {func(f *fixture) string { return f.bring(task.Blocked, false).ID }, each("fwo", made, denied)},
		"waiting":             {func(f *fixture) string { return f.bring(task.Pending, false).ID }, each("fwo", made, denied)},
		"done by the worker":  {func(f *fixture) string { return f.bring(task.Done, false).ID }, everyone(noMove)},
		"cancelled, nobody's": {func(f *fixture) string { return f.bring(task.Cancelled, true).ID }, everyone(noMove)},
	} {
		for _, rule := range []task.EditRule{task.EditByAnyone, task.EditByFiler} {
			for _, who := range members {
				for _, to := range []string{"agent:next", ""} {
					t.Run(fmt.Sprintf("%s/%s/to %q by %s", rule, name, to, who), func(t *testing.T) {
						f := openAs(t, nil, rule)
						id := c.bring(f)
						before := f.get(id)
						f = f.as(who)
						if c.want[who] != made && to != before.Assignee {
							f.wontUpdate(id, task.Patch{Assignee: &to}, c.want[who])
							return
						}
						got := f.mustUpdate(id, task.Patch{Assignee: &to})
						if got.Assignee != to || got.Holder != "" || got.AssignedByClaim {
							t.Errorf("assigned to %q, held by %q", got.Assignee, got.Holder)
						}
						want := before.Status
						if want == task.InProgress {
							want = task.Ready
						}
						if got.Status != want {
							t.Errorf("it is %s", got.Status)
						}
					})
				}
			}
		}
	}
}

// Whoever has the task already stays as he is: nothing changes, nothing is
// dropped, and everybody may say so.
func TestAssign_toWhoHasIt(t *testing.T) {
	f := openAs(t, nil, task.EditByAnyone)
	it := f.create(task.Draft{Title: "it", Assignee: worker})
	token := f.as(worker).claim(it.ID)
	before := f.dump()
	for _, who := range members {
		f.as(who).mustUpdate(it.ID, task.Patch{Assignee: new(worker)})
	}
	f.as(worker).mustUpdate(it.ID, task.Patch{Assignee: new("me")})
	if f.dump() != before {
		t.Error("it changed something")
	}
	if _, err := f.withToken(it.ID, token, task.Patch{Status: new(task.Done)}); err != nil {
		t.Errorf("the hold is gone: %v", err)
	}
}

func TestAssign_sendsWorkBack(t *testing.T) {
	f := open(t)
	first := f.titled("first")
	f.set(first.ID, task.Done)
	it := f.titled("it", first.ID)
	f.as(worker).claim(it.ID)
	f.set(first.ID, task.Ready)

	f.mustUpdate(it.ID, task.Patch{Assignee: new("human")})
	f.wantStatus(it.ID, task.Pending, first.ID) // open is what is derived
	heard := len(f.get(it.ID).Thread)
	f.wantTold(it.ID, heard-2, nil,
		`agent:a released "assigned to another" {Holder:agent:worker Reason:assigned to another}`,
		"agent:a assigned {From:agent:worker To:human}")

	t.Run("also with ready in the same update", func(t *testing.T) {
		f.set(first.ID, task.Done)
		f.as(operator).claim(it.ID)
		f.set(first.ID, task.Ready)
		got := f.as(operator).mustUpdate(it.ID, task.Patch{Assignee: new(worker), Status: new(task.Ready)})
		if got.Status != task.Pending || got.Assignee != worker {
			t.Errorf("%s, assigned to %s", got.Status, got.Assignee)
		}
	})
	t.Run("and a claim in the same update begins a new hold", func(t *testing.T) {
		free := f.titled("free")
		f.as(worker).claim(free.ID)
		r, err := f.Update(t.Context(), f.request(), pool.Update{ID: free.ID, Patch: task.Patch{Assignee: new("me"), Status: new(task.InProgress)}})
		if err != nil || r.Token == "" || r.Tasks[0].Holder != f.actor || r.Tasks[0].AssignedByClaim {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestAssign_withAReopening(t *testing.T) {
	for name, c := range map[string]struct {
		free bool // assigned by nobody but the claim of who closed it
		who  string
		p    task.Patch
		want string // the assignee, or the reason of the refusal
	}{
		"and nothing else":              {true, filer, task.Patch{Assignee: new(stranger)}, noMove},
		"and closed":                    {true, filer, task.Patch{Assignee: new(stranger), Status: new(task.Done)}, noMove},
		"by the filer":                  {false, filer, task.Patch{Assignee: new(stranger), Status: new(task.Ready)}, stranger},
		"by the filer, what was closed": {true, filer, task.Patch{Assignee: new(stranger), Status: new(task.Ready)}, stranger},
		"taken by a stranger":           {true, stranger, task.Patch{Assignee: new("me"), Status: new(task.InProgress)}, stranger},
		"taken from another":            {false, stranger, task.Patch{Assignee: new("me"), Status: new(task.InProgress)}, denied},
		"taken by the filer":            {false, filer, task.Patch{Assignee: new("me"), Status: new(task.InProgress)}, filer},
		"given and claimed":             {true, filer, task.Patch{Assignee: new(stranger), Status: new(task.InProgress)}, denied},
		"to who closed it":              {true, filer, task.Patch{Assignee: new(worker), Status: new(task.Ready)}, worker},
		"to nobody":                     {false, worker, task.Patch{Assignee: new(""), Status: new(task.Ready)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := openAs(t, nil, task.EditByAnyone)
			it := f.bring(task.Done, c.free)
			f = f.as(c.who)
			if c.want == noMove || c.want == denied {
				f.wontUpdate(it.ID, c.p, c.want)
				return
			}
			got := f.mustUpdate(it.ID, c.p)
			if got.Assignee != c.want || got.Status != *c.p.Status || got.AssignedByClaim {
				t.Errorf("%s, assigned to %q, by claim %v", got.Status, got.Assignee, got.AssignedByClaim)
			}
		})
	}
}

func TestAssign_names(t *testing.T) {
	f := open(t)
	it := f.titled("it")
	for name, want := range map[string]string{
		"me": f.actor, "you": operator, "human": operator, " agent:x ": "agent:x", "ext:key": "ext:key", nameless: nameless, "": "",
	} {
		if got := f.mustUpdate(it.ID, task.Patch{Assignee: &name}); got.Assignee != want {
			t.Errorf("%q is %q, want %q", name, got.Assignee, want)
		}
	}
	for name, reason := range map[string]string{
		"bob": "MEMBER_AMBIGUOUS", task.SystemPool: "MEMBER_NOT_FOUND", "agent:": "MEMBER_NOT_FOUND", "two words": "MEMBER_NOT_FOUND", "human:x": "MEMBER_NOT_FOUND",
	} {
		err := f.wontUpdate(it.ID, task.Patch{Assignee: &name}, reason)
		if e := (*pool.AmbiguousError)(nil); errors.As(err.err, &e) && !slices.Equal(e.Candidates, []string{"agent:" + name, "ext:" + name}) {
			t.Errorf("candidates %v", e.Candidates)
		}
	}
}
