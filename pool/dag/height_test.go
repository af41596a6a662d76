package dag_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

// update applies what Heights returns, and returns it.
func (g *graph) update(limit int, nodes ...int) []dag.Height[int] {
	changes := dag.Heights(g, limit, g.relevant, nodes...)
	for _, c := range changes {
		g.height[c.Node] = c.Height
	}
	return changes
}

func TestHeights(t *testing.T) {
	g := newGraph(5, -1)
	// 0 and 1 need 2, which needs 3, which needs 4.
	for _, e := range [][2]int{{3, 4}, {2, 3}, {0, 2}, {1, 2}} {
		must(t, g.add(e[0], e[1]))
		g.update(0, e[1])
	}
	expect := func(why string, want ...int) {
		t.Helper()
		if !slices.Equal(g.height, want) {
			t.Errorf("%s: got %v, want %v", why, g.height, want)
		}
	}
	expect("built", 0, 0, 1, 2, 3)

	g.irrelevant[0] = true
	if changes := g.update(0, 2); changes != nil {
		t.Errorf("one of two done: %v", changes)
	}
	g.irrelevant[1] = true
	g.update(0, 2)
	expect("both done", 0, 0, 0, 1, 2)
	g.irrelevant[2] = true
	g.update(0, 3)
	expect("the next done", 0, 0, 0, 0, 1)

	g.irrelevant[0] = false
	if changes := g.update(0, 2); len(changes) != 1 {
		t.Errorf("below one that is done: %v", changes)
	}
	expect("reopened", 0, 0, 1, 0, 1)
}

// A chain that grows where it is waited for longest stops at the limit.
func TestHeightsLimit(t *testing.T) {
	const n, limit = 10_000, 50
	g := newGraph(n, dag.Step)
	for i := 1; i < n; i++ {
		g.link(i, i-1)
		g.asked = 0
		if changes := g.update(limit, i-1); len(changes) > limit || g.asked > 2*limit+2 {
			t.Fatalf("%d changes, %d questions", len(changes), g.asked)
		}
	}
	for i, height := range g.height {
		if want := min(n-1-i, limit); height != want {
			t.Fatalf("node %d: %d, want %d", i, height, want)
		}
	}
}

func TestHeightsLongChain(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	g := newGraph(n, -1)
	for i := range n - 1 {
		g.link(i, i+1)
	}
	if changes := g.update(0, 1); len(changes) != n-1 || g.height[n-1] != n-1 {
		t.Errorf("%d changes, height %d", len(changes), g.height[n-1])
	}
}

func TestPropertyHeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(t, "nodes")
		limit := rapid.SampledFrom([]int{0, 0, 1, 2, 4}).Draw(t, "limit")
		g := newGraph(n, 1)
		node := rapid.IntRange(0, n-1)
		for range rapid.IntRange(1, 80).Draw(t, "changes") {
			from, to := node.Draw(t, "from"), node.Draw(t, "to")
			var given []int
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				g.unlink(from, to)
				given = []int{to}
			case 1:
				g.irrelevant[from] = !g.irrelevant[from]
				given = slices.Clone(g.out[from])
			default:
				g.add(from, to)
				given = []int{to}
			}
			before := slices.Clone(g.height)
			for _, c := range g.update(limit, given...) {
				if before[c.Node] == c.Height {
					t.Fatalf("change in vain: %v", c)
				}
			}
			for i := range n {
				if want := g.naiveHeight(i, limit); g.height[i] != want {
					t.Fatalf("node %d: %d, want %d", i, g.height[i], want)
				}
			}
		}
	})
}

func (g *graph) naiveHeight(n, limit int) int {
	height := 0
	for _, d := range g.in[n] {
		if g.relevant(d) {
			height = max(height, 1+g.naiveHeight(d, 0))
		}
	}
	if limit > 0 {
		return min(height, limit)
	}
	return height
}
