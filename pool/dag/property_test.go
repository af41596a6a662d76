package dag_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

// judge adds an edge, checking all that AddEdge promises against the naive
// answer, and says whether it stands.
func judge(t failer, g *graph, from, to int) bool {
	t.Helper()
	closes := g.distance(to, from) >= 0
	before := slices.Clone(g.order)
	moves, cycle := dag.AddEdge(g, from, to)
	again, cycleAgain := dag.AddEdge(g, from, to)
	if !slices.Equal(moves, again) || !slices.Equal(cycle, cycleAgain) || !slices.Equal(before, g.order) {
		t.Fatalf("edge %d → %d: not the same answer twice", from, to)
	}
	if closes != (cycle != nil) {
		t.Fatalf("edge %d → %d: closes a cycle: %v, answer: %v", from, to, closes, cycle)
	}
	if closes {
		if moves != nil {
			t.Fatalf("edge %d → %d: refused, yet moves", from, to)
		}
		g.checkCycle(t, from, to, cycle)
		return false
	}
	g.checkMoves(t, moves)
	g.apply(moves)
	g.link(from, to)
	g.checkOrders(t)
	return true
}

func TestPropertyAddEdge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "nodes")
		step := rapid.SampledFrom([]int64{0, 1, -1, 2, -3, dag.Step, -dag.Step}).Draw(t, "step")
		g := newGraph(n, step)
		g.shift(rapid.SampledFrom([]int64{0, 0, math.MinInt64, math.MaxInt64}).Draw(t, "end"))
		node := rapid.IntRange(0, n-1)
		for range rapid.IntRange(1, 150).Draw(t, "edges") {
			from, to := node.Draw(t, "from"), node.Draw(t, "to")
			if rapid.IntRange(0, 5).Draw(t, "op") == 0 {
				g.unlink(from, to)
				continue
			}
			judge(t, g, from, to)
		}
	})
}

// FuzzAddEdge builds a random graph of each input.
func FuzzAddEdge(f *testing.F) {
	for step := range int8(4) {
		f.Add(uint64(step), uint8(10*step), uint8(60*step), 3*step-4, false)
		f.Add(uint64(step), uint8(10*step), uint8(60*step), step, true)
	}
	f.Fuzz(func(t *testing.T, seed uint64, nodes, edges uint8, step int8, end bool) {
		n := 2 + int(nodes)%60
		g := newGraph(n, int64(step))
		if end {
			g.shift(math.MinInt64)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		for range edges {
			from, to := rng.IntN(n), rng.IntN(n)
			if rng.IntN(8) == 0 {
				g.unlink(from, to)
				continue
			}
			judge(t, g, from, to)
		}
	})
}
