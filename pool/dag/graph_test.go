package dag_test

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

// graph is a view of nodes 0 … n-1 that counts how often it is asked.
type graph struct {
	order      []int64
	out, in    [][]int
	height     []int
	asked      int
	irrelevant []bool
}

// newGraph has n nodes whose orders are step apart, the first the highest when
// step is negative.
func newGraph(n int, step int64) *graph {
	g := &graph{
		order: make([]int64, n), out: make([][]int, n), in: make([][]int, n),
		height: make([]int, n), irrelevant: make([]bool, n),
	}
	for i := range g.order {
		g.order[i] = int64(i) * step
	}
	return g
}

func (g *graph) Order(n int) int64 { return g.order[n] }
func (g *graph) Height(n int) int  { return g.height[n] }

func (g *graph) Needs(n int) iter.Seq[int] {
	g.asked++
	return slices.Values(g.out[n])
}

func (g *graph) NeededBy(n int) iter.Seq[int] {
	g.asked++
	return slices.Values(g.in[n])
}

func (g *graph) relevant(n int) bool { return !g.irrelevant[n] }

// link adds an edge without a question.
func (g *graph) link(from, to int) {
	g.out[from] = append(g.out[from], to)
	g.in[to] = append(g.in[to], from)
}

func (g *graph) unlink(from, to int) {
	g.out[from] = slices.DeleteFunc(g.out[from], func(n int) bool { return n == to })
	g.in[to] = slices.DeleteFunc(g.in[to], func(n int) bool { return n == from })
}

// shift moves all orders, keeping their differences, to an end of the numbers.
func (g *graph) shift(end int64) {
	low, high := slices.Min(g.order), slices.Max(g.order)
	for i := range g.order {
		switch end {
		case math.MinInt64:
			g.order[i] += end - low
		case math.MaxInt64:
			g.order[i] += end - high
		}
	}
}

func (g *graph) apply(moves []dag.Move[int]) {
	for _, m := range moves {
		g.order[m.Node] = m.Order
	}
}

// add adds an edge if it may stand, and returns the cycle otherwise.
func (g *graph) add(from, to int) []int {
	moves, cycle := dag.AddEdge(g, from, to)
	if cycle != nil {
		return cycle
	}
	g.apply(moves)
	g.link(from, to)
	return nil
}

// distance is the number of edges from a to b, -1 when there is no way.
func (g *graph) distance(a, b int) int {
	far := map[int]int{a: 0}
	for reached := []int{a}; len(reached) > 0; reached = reached[1:] {
		if reached[0] == b {
			return far[b]
		}
		for _, m := range g.out[reached[0]] {
			if _, ok := far[m]; !ok {
				far[m] = far[reached[0]] + 1
				reached = append(reached, m)
			}
		}
	}
	return -1
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// checkOrders fails unless every node comes after what it needs.
func (g *graph) checkOrders(t failer) {
	t.Helper()
	for n, needs := range g.out {
		for _, m := range needs {
			if g.order[m] >= g.order[n] {
				t.Fatalf("%d needs %d, orders %d and %d", n, m, g.order[n], g.order[m])
			}
		}
	}
}

// checkCycle fails unless cycle is one of the shortest that from → to closes.
func (g *graph) checkCycle(t failer, from, to int, cycle []int) {
	t.Helper()
	if len(cycle) < 2 || cycle[0] != from || cycle[1] != to || cycle[len(cycle)-1] != from {
		t.Fatalf("edge %d → %d: no cycle of it: %v", from, to, cycle)
	}
	for i := 1; i+1 < len(cycle); i++ {
		if !slices.Contains(g.out[cycle[i]], cycle[i+1]) {
			t.Fatalf("edge %d → %d: no edge %d → %d in %v", from, to, cycle[i], cycle[i+1], cycle)
		}
	}
	if want := g.distance(to, from) + 2; len(cycle) != want {
		t.Fatalf("edge %d → %d: %v is not the shortest, which has %d", from, to, cycle, want)
	}
}

// checkMoves fails unless moves come ascending, each once, and none in vain.
func (g *graph) checkMoves(t failer, moves []dag.Move[int]) {
	t.Helper()
	if !slices.IsSortedFunc(moves, func(a, b dag.Move[int]) int { return cmp.Compare(a.Order, b.Order) }) {
		t.Fatalf("moves do not ascend: %v", moves)
	}
	met := map[int]bool{}
	for _, m := range moves {
		if met[m.Node] || g.order[m.Node] == m.Order {
			t.Fatalf("move in vain: %v in %v", m, moves)
		}
		met[m.Node] = true
	}
}

func must(t testing.TB, cycle []int) {
	t.Helper()
	if cycle != nil {
		t.Fatalf("refused: %v", cycle[:min(len(cycle), 20)])
	}
}
