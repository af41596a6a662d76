package dag_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

func TestAddEdge(t *testing.T) {
	for _, c := range []struct {
		name  string
		edges [][2]int // the last one is judged
		cycle []int
	}{
		{"self", [][2]int{{1, 1}}, []int{1, 1}},
		{"agreeing", [][2]int{{1, 0}}, nil},
		{"opposing", [][2]int{{0, 1}}, nil},
		{"twice", [][2]int{{0, 1}, {0, 1}}, nil},
		{"two", [][2]int{{0, 1}, {1, 0}}, []int{1, 0, 1}},
		{"two, agreeing first", [][2]int{{1, 0}, {0, 1}}, []int{0, 1, 0}},
		{"three", [][2]int{{0, 1}, {1, 2}, {2, 0}}, []int{2, 0, 1, 2}},
		{"three, agreeing first", [][2]int{{2, 1}, {1, 0}, {0, 2}}, []int{0, 2, 1, 0}},
		{"three, any order", [][2]int{{1, 2}, {2, 0}, {0, 1}}, []int{0, 1, 2, 0}},
		{"diamond", [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, nil},
		{"diamond closed", [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 0}}, []int{3, 0, 1, 3}},
		{"the short way round", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 5}, {5, 4}, {4, 0}}, []int{4, 0, 5, 4}},
		{"joined chains", [][2]int{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {2, 3}}, nil},
		{"joined chains closed", [][2]int{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {2, 3}, {5, 0}}, []int{5, 0, 1, 2, 3, 4, 5}},
	} {
		for _, step := range []int64{1, -1, 0, dag.Step, -dag.Step} {
			g := newGraph(6, step)
			for i, e := range c.edges {
				cycle := g.add(e[0], e[1])
				if i < len(c.edges)-1 {
					must(t, cycle)
				} else if !slices.Equal(cycle, c.cycle) {
					t.Errorf("%s, step %d: got %v, want %v", c.name, step, cycle, c.cycle)
				}
				g.checkOrders(t)
			}
		}
	}
}

// A discovered prerequisite moves alone, however many wait for its dependent.
func TestAddEdgeMovesTheFewer(t *testing.T) {
	const n = 10_000
	g := newGraph(n+1, dag.Step)
	for i := 1; i < n; i++ {
		must(t, g.add(i, i-1))
	}
	g.asked = 0
	moves, cycle := dag.AddEdge(g, 0, n)
	must(t, cycle)
	if want := []dag.Move[int]{{Node: n, Order: -dag.Step}}; !reflect.DeepEqual(moves, want) {
		t.Fatalf("got %v, want %v", moves, want)
	}
	if g.asked > 4 {
		t.Fatalf("asked for %d nodes' neighbours", g.asked)
	}
}

// While there is room, only nodes of the affected region move or are asked.
func TestAddEdgeStaysInTheRegion(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := newGraph(2000, dag.Step)
	for range 6000 {
		a, b := rng.IntN(2000), rng.IntN(2000)
		low, high := g.order[a], g.order[b]
		g.asked = 0
		moves, cycle := dag.AddEdge(g, a, b)
		if cycle != nil {
			continue
		}
		region := 0
		for _, order := range g.order {
			if low <= order && order <= high {
				region++
			}
		}
		if g.asked > region+1 {
			t.Fatalf("asked %d times in a region of %d", g.asked, region)
		}
		for _, m := range moves {
			if g.order[m.Node] < low || g.order[m.Node] > high {
				t.Fatalf("moved %d, outside %d … %d", g.order[m.Node], low, high)
			}
		}
		g.apply(moves)
		g.link(a, b)
	}
	g.checkOrders(t)
}

// Chains of a million, an edge at a time in the worst sequences, neither blow
// the stack nor take more than a few steps an edge.
func TestAddEdgeLongChain(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	backward := slices.Collect(upTo(n/10 - 1))
	slices.Reverse(backward)
	for name, sequence := range map[string][]int{
		"forward":  slices.Collect(upTo(n - 1)),
		"backward": backward,
		"random":   rand.New(rand.NewPCG(1, 2)).Perm(n/10 - 1),
	} {
		n := len(sequence) + 1
		g := newGraph(n, dag.Step)
		for _, i := range sequence {
			must(t, g.add(i, i+1))
		}
		g.checkOrders(t)
		if most := 4 * n * bits.Len(uint(n)); g.asked > most {
			t.Errorf("%s: asked %d times, more than %d", name, g.asked, most)
		}
		cycle := g.add(n-1, 0)
		if len(cycle) != n+1 || cycle[0] != n-1 || cycle[1] != 0 || cycle[n] != n-1 {
			t.Errorf("%s: the cycle has %d nodes, not %d", name, len(cycle), n+1)
		}
	}
}

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// Nodes put in at one place over and over find room without moving all others.
func TestAddEdgeCrowded(t *testing.T) {
	const n = 20_000
	for _, below := range []bool{true, false} {
		g := newGraph(n, dag.Step)
		must(t, g.add(1, 0))
		moved, first, last := 0, int64(0), g.order[n-1]
		for i := 2; i < n; i++ {
			// Node i goes between 1 and the node put in before it, or 0 and that.
			edges := [][2]int{{i, i - 1}, {1, i}}
			if i == 2 {
				edges[0][1] = 0
			}
			if !below {
				edges = [][2]int{{i - 1, i}, {i, 0}}
			}
			for _, e := range edges {
				moves, cycle := dag.AddEdge(g, e[0], e[1])
				must(t, cycle)
				moved += len(moves)
				g.apply(moves)
				g.link(e[0], e[1])
				for _, m := range moves {
					first, last = min(first, m.Order), max(last, m.Order)
				}
			}
		}
		g.checkOrders(t)
		if moved > 30*n {
			t.Errorf("%d nodes moved %d times", n, moved)
		}
		if first < -n*dag.Step || last > 2*n*dag.Step {
			t.Errorf("orders run away: %d … %d", first, last)
		}
	}
}

// At an end of all numbers the other side gives way; at both, nothing can.
func TestAddEdgeAtTheEnds(t *testing.T) {
	g := newGraph(2, 1)
	g.order = []int64{math.MinInt64, 0}
	must(t, g.add(0, 1))
	g.checkOrders(t)

	g = newGraph(2, 1)
	g.order = []int64{0, math.MaxInt64}
	must(t, g.add(0, 1))
	g.checkOrders(t)

	g = newGraph(3, 1)
	g.order = []int64{math.MinInt64, 0, math.MaxInt64}
	g.link(2, 1)
	must(t, g.add(0, 1))
	g.checkOrders(t)

	// Little room below: 1, 2 and 3 go closer together, but 3 not above 4.
	g = newGraph(5, 1)
	for i, above := range []int64{7, 8, 6, 3, 4} {
		g.order[i] = math.MinInt64 + above
	}
	for _, e := range [][2]int{{1, 2}, {2, 3}, {4, 3}} {
		g.link(e[0], e[1])
	}
	must(t, g.add(0, 1))
	g.checkOrders(t)

	defer func() {
		if recover() == nil {
			t.Error("no panic without numbers")
		}
	}()
	g = newGraph(2, 1)
	g.order = []int64{math.MinInt64, math.MaxInt64}
	g.add(0, 1)
}

func TestAddEdgeAgreeingAllocatesNothing(t *testing.T) {
	g := newGraph(1000, 1)
	if n := testing.AllocsPerRun(100, func() { dag.AddEdge(g, 999, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
