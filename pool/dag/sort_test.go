package dag_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

func TestSort(t *testing.T) {
	for _, c := range []struct {
		name         string
		nodes        []int
		edges        [][2]int
		order, cycle []int
	}{
		{"nothing", nil, nil, []int{}, nil},
		{"no edges", []int{3, 1, 2}, nil, []int{3, 1, 2}, nil},
		{"will do as given", []int{0, 4, 1, 3, 2}, [][2]int{{1, 0}, {2, 1}, {3, 4}}, []int{0, 4, 1, 3, 2}, nil},
		{"ties as given", []int{0, 1, 2, 3}, [][2]int{{0, 2}}, []int{1, 2, 0, 3}, nil},
		{"diamond", []int{0, 1, 2, 3}, [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, []int{3, 1, 2, 0}, nil},
		{"named twice", []int{0, 1, 0, 1}, [][2]int{{0, 1}, {0, 1}}, []int{1, 0}, nil},
		{"needs others", []int{0, 1}, [][2]int{{0, 7}, {0, 1}, {7, 0}}, []int{1, 0}, nil},
		{"self", []int{0, 1}, [][2]int{{1, 1}}, nil, []int{1, 1}},
		{"two", []int{0, 1, 2}, [][2]int{{1, 2}, {2, 1}, {0, 1}}, nil, []int{1, 2, 1}},
		{"the short way round", []int{0, 1, 2, 3}, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 3}}, nil, []int{0, 3, 0}},
	} {
		g := newGraph(8, 1)
		for _, e := range c.edges {
			g.link(e[0], e[1])
		}
		order, cycle := dag.Sort(c.nodes, g.Needs)
		if !slices.Equal(order, c.order) || (order == nil) != (c.order == nil) || !slices.Equal(cycle, c.cycle) {
			t.Errorf("%s: got %v, %v, want %v, %v", c.name, order, cycle, c.order, c.cycle)
		}
	}
}

func TestSortLongChain(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	// Of n nodes i needs i+1, the last one needs end.
	needs := func(n, end int) func(int) iter.Seq[int] {
		return func(i int) iter.Seq[int] {
			return func(yield func(int) bool) {
				if i < n-1 {
					yield(i + 1)
				} else if end >= 0 {
					yield(end)
				}
			}
		}
	}
	for name, nodes := range map[string][]int{
		"forward": slices.Collect(upTo(n)), "random": rand.New(rand.NewPCG(1, 2)).Perm(n / 10),
	} {
		n := len(nodes)
		backward := slices.Collect(upTo(n))
		slices.Reverse(backward)
		if order, cycle := dag.Sort(nodes, needs(n, -1)); cycle != nil || !slices.Equal(order, backward) {
			t.Errorf("%s: not sorted", name)
		}
		if order, cycle := dag.Sort(nodes, needs(n, 0)); order != nil || len(cycle) != n+1 || cycle[0] != cycle[n] {
			t.Errorf("%s: a cycle of %d, not %d", name, len(cycle), n+1)
		}
	}
}

func TestPropertySort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 20
		g := newGraph(n, 1)
		node := rapid.IntRange(0, n-1)
		for range rapid.IntRange(0, 30).Draw(t, "edges") {
			g.link(node.Draw(t, "from"), node.Draw(t, "to"))
		}
		nodes := rapid.SliceOfDistinct(node, rapid.ID[int]).Draw(t, "nodes")
		order, cycle := dag.Sort(nodes, g.Needs)

		// Take, again and again, the first node that lacks nothing.
		var want []int
		for left := slices.Clone(nodes); ; {
			i := slices.IndexFunc(left, func(n int) bool {
				return !slices.ContainsFunc(g.out[n], func(m int) bool { return slices.Contains(left, m) })
			})
			if i < 0 {
				if len(left) == 0 != (cycle == nil) {
					t.Fatalf("%v are left, cycle %v", left, cycle)
				}
				break
			}
			want = append(want, left[i])
			left = slices.Delete(left, i, i+1)
		}
		if cycle == nil {
			if !slices.Equal(order, want) {
				t.Fatalf("got %v, want %v", order, want)
			}
			return
		}
		if order != nil || len(cycle) < 2 || cycle[0] != cycle[len(cycle)-1] {
			t.Fatalf("order %v, cycle %v", order, cycle)
		}
		for i := range cycle[1:] {
			if !slices.Contains(nodes, cycle[i]) || !slices.Contains(g.out[cycle[i]], cycle[i+1]) {
				t.Fatalf("%v is no cycle", cycle)
			}
		}
		if back := g.distance(cycle[1], cycle[0]); back > len(cycle)-2 {
			t.Fatalf("%v is no way, the shortest is %d", cycle, back)
		}
	})
}
