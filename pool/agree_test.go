package pool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// TestOneReadiness makes 1,000 random graphs. In each, for every task and
// several members, what is listed as claimable, what explain says, and what an
// update to in_progress really does must be one and the same, and be what the
// graph, looked at by itself, says.
func TestOneReadiness(t *testing.T) {
	f := open(t)
	claims := 0
	for seed := range uint64(1000) {
		g := newGraph(f, rand.New(rand.NewPCG(seed, 1)))
		for _, actor := range g.members {
			claims += g.agree(actor)
		}
		if _, err := f.Clear(t.Context(), pool.Request{Actor: task.Operator}, pool.DefaultName); err != nil {
			t.Fatal(err)
		}
	}
	if claims < 3000 {
		t.Errorf("only %d claims were possible: the graphs are too poor to tell anything", claims)
	}
}

// graph is tasks of a pool and what was done to them.
type graph struct {
	*fixture
	rnd     *rand.Rand
	members []string
	tasks   []*vertex
}

type vertex struct {
	id           string
	dependencies []*vertex
	parent       *vertex
	depth        int
	assignee     string
	later        bool
	// status is what was set; Ready stands for open.
	status task.Status
	holder string
}

func newGraph(f *fixture, rnd *rand.Rand) *graph {
	g := &graph{fixture: f.as(task.Operator), rnd: rnd, members: []string{"agent:a", "agent:b", "ext:c"}}
	g.tasks = make([]*vertex, 3+rnd.IntN(12))
	drafts := make([]task.Draft, len(g.tasks))
	for i := range g.tasks {
		g.tasks[i] = &vertex{status: task.Ready}
	}
	// Where a task stands in the batch says nothing of what it needs: only that
	// what comes before it in order does.
	order := rnd.Perm(len(g.tasks))
	for at, i := range order {
		v, d := g.tasks[i], &drafts[i]
		d.Title, d.Ref = fmt.Sprint("task ", i), fmt.Sprint(i)
		for _, k := range order[:at] {
			if rnd.IntN(4) == 0 {
				v.dependencies = append(v.dependencies, g.tasks[k])
				d.Dependencies = append(d.Dependencies, fmt.Sprint("ref:", k))
			}
		}
		if rnd.IntN(3) == 0 {
			v.assignee = g.members[rnd.IntN(len(g.members))]
			d.Assignee = v.assignee
		}
		if rnd.IntN(6) == 0 {
			v.later, d.NotBefore = true, time.Now().Add(time.Hour)
		} else if rnd.IntN(6) == 0 {
			d.NotBefore = time.Now().Add(-time.Hour)
		}
	}
	for at := len(order) - 2; at >= 0; at-- { // parents first: they come later in order
		v, k := g.tasks[order[at]], order[at+1+rnd.IntN(len(order)-at-1)]
		if p := g.tasks[k]; rnd.IntN(3) == 0 && p.depth < 3 {
			v.parent, v.depth = p, p.depth+1
			drafts[order[at]].Parent = fmt.Sprint("ref:", k)
		}
	}
	r, err := f.CreateAll(f.t.Context(), g.request(), drafts)
	if err != nil {
		f.t.Fatal(err)
	}
	for i, d := range r.Tasks {
		g.tasks[i].id = d.ID
	}
	for range rnd.IntN(2 * len(g.tasks)) {
		g.work(g.tasks[rnd.IntN(len(g.tasks))])
	}
	return g
}

// work moves a task somewhere, if that is possible.
func (g *graph) work(v *vertex) {
	closable := !slices.ContainsFunc(g.tasks, func(c *vertex) bool { return c.parent == v && !c.status.Closed() })
	switch g.rnd.IntN(4) {
	case 0:
		if actor := g.members[g.rnd.IntN(len(g.members))]; v.claimable(actor) {
			g.as(actor).set(v.id, task.InProgress)
			v.status, v.holder = task.InProgress, actor
			if v.assignee == "" {
				v.assignee = actor
			}
		}
	case 1:
		if v.ready() && closable {
			g.set(v.id, task.Done)
			v.status = task.Done
		}
	case 2:
		if v.status == task.Ready {
			g.set(v.id, task.Blocked)
			v.status = task.Blocked
		}
	case 3:
		if !v.status.Closed() && closable && g.rnd.IntN(3) == 0 {
			g.set(v.id, task.Cancelled)
			v.status, v.holder = task.Cancelled, ""
		}
	}
}

func (v *vertex) ready() bool {
	return v.status == task.Ready && !v.later && !slices.ContainsFunc(v.dependencies, func(d *vertex) bool { return d.status != task.Done })
}

func (v *vertex) claimable(actor string) bool {
	return v.ready() && (v.assignee == "" || v.assignee == actor)
}

// agree asks in every way what the actor can claim, and claims it.
func (g *graph) agree(actor string) (claims int) {
	page, err := g.List(g.t.Context(), actor, pool.Query{Filter: pool.Filter{Claimable: true}, Size: 100})
	if err != nil {
		g.t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, t := range page.Tasks {
		listed[t.ID] = true
	}
	for _, v := range g.tasks {
		want := v.claimable(actor)
		_, checks, err := g.Explain(actor, v.id)
		if err != nil {
			g.t.Fatal(err)
		}
		explained := !slices.ContainsFunc(checks, func(c task.Check) bool { return !c.Holds })
		if listed[v.id] != want || explained != want {
			g.t.Fatalf("%s for %s: claimable %t, listed %t, explained %t: %+v", g.get(v.id).Key(), actor, want, listed[v.id], explained, checks)
		}
		if v.status.Closed() || v.holder == actor {
			continue // in_progress is a reopening, or changes nothing
		}
		_, err = g.as(actor).update(v.id, task.Patch{Status: new(task.InProgress)})
		if (err == nil) != want {
			g.t.Fatalf("%s for %s: claimable %t, but update says %v", g.get(v.id).Key(), actor, want, err)
		}
		if want {
			claims++
			g.set(v.id, task.Ready) // the operator takes it back
		}
	}
	return claims
}
