package dag

import (
	"iter"
	"slices"
)

// Knots returns every largest set of nodes that all need each other, by whatever
// ways: those that are on some cycle, each once. A node that needs itself is one
// alone. Nothing else keeps nodes from being sorted. What is needed but not among
// the nodes is left out of account.
//
// Knots come in the order of their first nodes, and nodes in the order given. It
// takes time in proportion to nodes and edges.
func Knots[N comparable](nodes []N, needs func(N) iter.Seq[N]) [][]N {
	g := list(nodes, needs)
	var knots [][]N
	for _, members := range g.components() {
		if len(members) == 1 && !slices.Contains(g.needs(members[0]), members[0]) {
			continue
		}
		slices.Sort(members)
		knot := make([]N, len(members))
		for i, member := range members {
			knot[i] = g.nodes[member]
		}
		knots = append(knots, knot)
	}
	place := make(map[N]int, len(knots))
	for i, n := range g.nodes {
		place[n] = i
	}
	slices.SortFunc(knots, func(a, b []N) int { return place[a[0]] - place[b[0]] })
	return knots
}

// components are the strongly connected components (Tarjan's algorithm, without
// recursion).
func (g *listed[N]) components() (all [][]int) {
	const unmet = -1
	var (
		met   = make([]int, len(g.nodes)) // when the node was first met
		low   = make([]int, len(g.nodes)) // the earliest met that it leads back to
		on    = make([]bool, len(g.nodes))
		stack []int
		path  []int // from the node where the walk began to the one it is at
		next  = make([]int, len(g.nodes))
		clock int
	)
	for i := range met {
		met[i] = unmet
	}
	for start := range g.nodes {
		if met[start] != unmet {
			continue
		}
		for path = append(path, start); len(path) > 0; {
			i := path[len(path)-1]
			if met[i] == unmet {
				met[i], low[i], on[i] = clock, clock, true
				clock++
				stack = append(stack, i)
			}
			if needs := g.needs(i); next[i] < len(needs) {
				m := needs[next[i]]
				if met[m] == unmet {
					path = append(path, m) // and look at it again on the way back
					continue
				}
				next[i]++
				if on[m] {
					low[i] = min(low[i], low[m])
				}
				continue
			}
			path = path[:len(path)-1]
			if low[i] < met[i] {
				continue
			}
			from := len(stack)
			for on[i] { // from the end, where the component is
				from--
				on[stack[from]] = false
			}
			all = append(all, slices.Clone(stack[from:]))
			stack = stack[:from]
		}
	}
	return all
}
