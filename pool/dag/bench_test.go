package dag_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

func perSize(b *testing.B, run func(b *testing.B, n int)) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) { run(b, n) })
	}
}

// An edge that agrees with the orders, in a random graph of two needs each and in
// a chain.
func BenchmarkAgree(b *testing.B) {
	b.Run("random", func(b *testing.B) { perSize(b, func(b *testing.B, n int) { agree(b, randomGraph(n, n), n) }) })
	b.Run("chain", func(b *testing.B) {
		perSize(b, func(b *testing.B, n int) {
			g := newGraph(n, dag.Step)
			for i := 1; i < n; i++ {
				g.link(i, i-1)
			}
			agree(b, g, n)
		})
	})
}

func agree(b *testing.B, g *graph, n int) {
	b.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	pairs := make([][2]int, 1<<12)
	for i := range pairs {
		to := rng.IntN(n - 1)
		pairs[i] = [2]int{to + 1 + rng.IntN(n-1-to), to}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		p := pairs[i%len(pairs)]
		if moves, cycle := dag.AddEdge(g, p[0], p[1]); moves != nil || cycle != nil {
			b.Fatal("it doesn't agree")
		}
	}
}

// A random pair, which agrees, moves nodes or closes a cycle.
func BenchmarkAnyPair(b *testing.B) {
	for _, deep := range []bool{false, true} {
		b.Run(fmt.Sprintf("deep=%v", deep), func(b *testing.B) {
			perSize(b, func(b *testing.B, n int) {
				back := n
				if deep {
					back = 50
				}
				g := randomGraph(n, back)
				rng := rand.New(rand.NewPCG(3, 4))
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					dag.AddEdge(g, rng.IntN(n), rng.IntN(n))
				}
			})
		})
	}
}

// A task at the bottom of a chain is found to need one that was made last.
func BenchmarkDiscovered(b *testing.B) {
	perSize(b, func(b *testing.B, n int) {
		g := newGraph(n+1, dag.Step)
		for i := 1; i < n; i++ {
			g.link(i, i-1)
		}
		b.ReportAllocs()
		for b.Loop() {
			dag.AddEdge(g, 0, n)
		}
	})
}

// A chain or random graph from nothing, every edge against the first orders.
func BenchmarkBuild(b *testing.B) {
	edges := func(n int) [][2]int {
		var edges [][2]int
		for i := range n - 1 {
			edges = append(edges, [2]int{i, i + 1})
		}
		return edges
	}
	shapes := []struct {
		name  string
		edges func(n int) [][2]int
	}{
		{"chain", edges},
		{"chain-backward", func(n int) [][2]int { e := edges(n); slices.Reverse(e); return e }},
		{"chain-random", func(n int) [][2]int { return shuffled(edges(n)) }},
		{"random", func(n int) [][2]int { return shuffled(opposing(randomGraph(n, n))) }},
		{"deep", func(n int) [][2]int { return shuffled(opposing(randomGraph(n, 50))) }},
	}
	for _, shape := range shapes {
		b.Run(shape.name, func(b *testing.B) {
			perSize(b, func(b *testing.B, n int) {
				edges := shape.edges(n)
				moved := 0
				for b.Loop() {
					b.StopTimer()
					g := newGraph(n, dag.Step)
					b.StartTimer()
					for _, e := range edges {
						moves, _ := dag.AddEdge(g, e[0], e[1])
						moved += len(moves)
						g.apply(moves)
						g.link(e[0], e[1])
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(edges)), "ns/edge")
				b.ReportMetric(float64(moved)/float64(b.N*len(edges)), "moves/edge")
			})
		})
	}
}

func BenchmarkSort(b *testing.B) {
	perSize(b, func(b *testing.B, n int) {
		g := randomGraph(n, n)
		nodes := rand.New(rand.NewPCG(3, 4)).Perm(n)
		for b.Loop() {
			dag.Sort(nodes, g.Needs)
		}
	})
}

// A chain in creation order, one more dependent at its end each time.
func BenchmarkHeights(b *testing.B) {
	perSize(b, func(b *testing.B, n int) {
		g := newGraph(n, 1)
		for i := 1; i < n; i++ {
			g.link(i, i-1)
		}
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			g.update(100, i%(n-1))
			i++
		}
	})
}

// randomGraph has nodes that need two of the back nodes before them.
func randomGraph(n, back int) *graph {
	rng := rand.New(rand.NewPCG(1, 2))
	g := newGraph(n, dag.Step)
	for i := 1; i < n; i++ {
		for range 2 {
			g.link(i, i-1-rng.IntN(min(i, back)))
		}
	}
	return g
}

// opposing are the edges of g turned against its orders.
func opposing(g *graph) [][2]int {
	var edges [][2]int
	for n, needs := range g.out {
		for _, m := range needs {
			edges = append(edges, [2]int{m, n})
		}
	}
	return edges
}

func shuffled(edges [][2]int) [][2]int {
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return edges
}
