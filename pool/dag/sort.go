package dag

import "iter"

// Sort orders nodes so that each comes after what it needs, or returns a cycle
// among them, in the form that [AddEdge] gives it and a shortest one through
// one of its nodes. What is needed but not among the nodes is left out of
// account, and a node named twice counts where it is named first.
//
// Of the nodes that could come next, the one given first does; so nodes given
// in an order that will do come back in it. That takes time in proportion to
// nodes and edges, and a step in a heap for each node that is given before
// something it needs.
func Sort[N comparable](nodes []N, needs func(N) iter.Seq[N]) (order, cycle []N) {
	g := list(nodes, needs)
	rest := make([]int, len(g.nodes))
	for i := range rest {
		rest[i] = len(g.needs(i))
	}
	waiters, start := g.waiters()

	order = make([]N, 0, len(g.nodes))
	// freed are those passed over that are ready since.
	freed := queue[int]{before: func(a, b int) bool { return a < b }}
	for next := 0; next < len(g.nodes) || freed.len() > 0; {
		var i int
		if freed.len() > 0 {
			i = freed.pop()
		} else {
			i = next
			next++
			if rest[i] > 0 {
				continue
			}
		}
		order = append(order, g.nodes[i])
		for _, w := range waiters[start[i]:start[i+1]] {
			if rest[w]--; rest[w] == 0 && w < next {
				freed.push(w)
			}
		}
	}
	if len(order) < len(g.nodes) {
		return nil, g.cycle(rest)
	}
	return order, nil
}

// listed is a graph by places in a list.
type listed[N comparable] struct {
	nodes []N
	// out holds what is needed, that of node i from first[i] up to first[i+1].
	out   []int
	first []int
}

func list[N comparable](nodes []N, needs func(N) iter.Seq[N]) *listed[N] {
	g := &listed[N]{nodes: make([]N, 0, len(nodes)), first: make([]int, 1, len(nodes)+1)}
	place := make(map[N]int, len(nodes))
	for _, n := range nodes {
		if _, twice := place[n]; !twice {
			place[n] = len(g.nodes)
			g.nodes = append(g.nodes, n)
		}
	}
	for _, n := range g.nodes {
		for m := range needs(n) {
			if i, ok := place[m]; ok {
				g.out = append(g.out, i)
			}
		}
		g.first = append(g.first, len(g.out))
	}
	return g
}

func (g *listed[N]) needs(i int) []int { return g.out[g.first[i]:g.first[i+1]] }

// waiters turns the edges round: those who need i are in waiters from start[i]
// up to start[i+1].
func (g *listed[N]) waiters() (waiters, start []int) {
	start = make([]int, len(g.nodes)+2)
	for _, m := range g.out {
		start[m+2]++
	}
	for i := 2; i < len(start); i++ {
		start[i] += start[i-1]
	}
	waiters = make([]int, len(g.out))
	for i := range g.nodes {
		for _, m := range g.needs(i) {
			waiters[start[m+1]] = i
			start[m+1]++
		}
	}
	return waiters, start[:len(g.nodes)+1]
}

// cycle finds one among the nodes with something left in rest, each of which
// needs another such.
func (g *listed[N]) cycle(rest []int) []N {
	at := 0
	for rest[at] == 0 {
		at++
	}
	// Any walk along needs comes round.
	met := make([]bool, len(g.nodes))
	for !met[at] {
		met[at] = true
		for _, m := range g.needs(at) {
			if rest[m] > 0 {
				at = m
				break
			}
		}
	}
	// at is on a cycle: the way back to it, breadth first.
	by := make([]int, len(g.nodes))
	for i := range by {
		by[i] = -1
	}
	for reached := []int{at}; ; reached = reached[1:] {
		i := reached[0]
		for _, m := range g.needs(i) {
			if m == at {
				return g.back(by, at, i)
			}
			if rest[m] > 0 && by[m] < 0 {
				by[m] = i
				reached = append(reached, m)
			}
		}
	}
}

// back is the cycle from at to end, each reached by the one before, and to at.
func (g *listed[N]) back(by []int, at, end int) []N {
	path := []N{g.nodes[at]}
	for i := end; i != at; i = by[i] {
		path = append(path, g.nodes[i])
	}
	path = append(path, g.nodes[at])
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}
