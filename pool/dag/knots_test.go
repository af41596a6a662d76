package dag_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

func TestKnots(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []int
		edges [][2]int
		want  [][]int
	}{
		{"nothing", nil, nil, nil},
		{"none", []int{0, 1, 2}, [][2]int{{0, 1}, {1, 2}, {0, 2}}, nil},
		{"self", []int{0, 1}, [][2]int{{1, 1}}, [][]int{{1}}},
		{"two, and one between", []int{5, 4, 3, 2, 1, 0}, [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 4}, {4, 3}}, [][]int{{4, 3}, {1, 0}}},
		{"two cycles through one node", []int{0, 1, 2}, [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}}, [][]int{{0, 1, 2}}},
		{"through one left out", []int{0, 1}, [][2]int{{0, 1}, {1, 7}, {7, 0}}, nil},
	} {
		g := newGraph(8, 1)
		for _, e := range c.edges {
			g.link(e[0], e[1])
		}
		if got := dag.Knots(c.nodes, g.Needs); !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Two nodes are in one knot exactly when each can be reached from the other.
func TestPropertyKnots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 12
		g := newGraph(n, 1)
		node := rapid.IntRange(0, n-1)
		for range rapid.IntRange(0, 25).Draw(t, "edges") {
			from, to := node.Draw(t, "from"), node.Draw(t, "to")
			if !slices.Contains(slices.Collect(g.Needs(from)), to) {
				g.link(from, to)
			}
		}
		var reaches [n][n]bool
		for i := range n {
			for m := range g.Needs(i) {
				reaches[i][m] = true
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
				}
			}
		}
		in := map[int]int{}
		nodes := rapid.Permutation(slices.Collect(upTo(n))).Draw(t, "nodes")
		for k, knot := range dag.Knots(nodes, g.Needs) {
			for _, i := range knot {
				if _, twice := in[i]; twice {
					t.Fatalf("%d is in two knots", i)
				}
				in[i] = k + 1
			}
		}
		for i := range n {
			for j := range n {
				if together := in[i] != 0 && in[i] == in[j]; together != (reaches[i][j] && reaches[j][i]) {
					t.Fatalf("%d and %d: together %t, in knots %v", i, j, together, in)
				}
			}
		}
		order, cycle := dag.Sort(nodes, g.Needs)
		if (order == nil) != (len(in) > 0) || (cycle == nil) != (len(in) == 0) {
			t.Fatalf("knots %v, sorted %v, %v", in, order, cycle)
		}
	})
}

func TestKnotsLongChain(t *testing.T) {
	const n = 20_000
	g := newGraph(n, 1)
	for i := range n - 1 {
		g.link(i, i+1)
	}
	if got := dag.Knots(slices.Collect(upTo(n)), g.Needs); len(got) != 0 {
		t.Errorf("a chain has %d knots", len(got))
	}
	g.link(n-1, 0)
	if got := dag.Knots(slices.Collect(upTo(n)), g.Needs); len(got) != 1 || len(got[0]) != n {
		t.Errorf("a ring has %d knots", len(got))
	}
}
