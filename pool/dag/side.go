package dag

import (
	"iter"
	"math"
)

// lowest is the key that no node is given.
const lowest = math.MinInt64

// few is how many nodes are looked through one by one before they are indexed.
const few = 8

// side is the breadth-first search from one end of an edge that opposes the
// orders. It is written for going down. Going up is the same with the numbers
// flipped: a key is an order, or its complement when flipped, so that on either
// side each step leads to lower keys.
type side[N comparable] struct {
	view    View[N]
	flipped bool

	// bound is the key of the other end. Nodes at or above it are in the
	// region, and must end up below it.
	bound int64
	// floor is the highest key below bound that a seen node leads to.
	floor int64

	seen []visit[N]
	// index finds in seen; nil while few are seen.
	index map[N]int
	// seen[next:] are still to be expanded.
	next    int
	scanned int
	// array is where seen begins.
	array [few]visit[N]
}

// visit is a node reached. by is the place in seen of the node that led to it,
// -1 for the first.
type visit[N comparable] struct {
	node N
	key  int64
	by   int
}

// start begins at n, to find what must come past the order bound.
func (s *side[N]) start(v View[N], flipped bool, n N, order, bound int64) {
	s.view, s.flipped = v, flipped
	s.bound, s.floor = s.flip(bound), lowest
	s.seen = s.array[:0]
	s.add(visit[N]{node: n, key: s.flip(order), by: -1})
}

// step yields where n leads.
func (s *side[N]) step(n N) iter.Seq[N] {
	if s.flipped {
		return s.view.NeededBy(n)
	}
	return s.view.Needs(n)
}

func (s *side[N]) flip(order int64) int64 {
	if s.flipped {
		return ^order
	}
	return order
}

func (s *side[N]) key(n N) int64 { return s.flip(s.view.Order(n)) }

func (s *side[N]) open() bool { return s.next < len(s.seen) }

// cost is what was paid, and what the next expand pays at least.
func (s *side[N]) cost() int { return s.scanned + len(s.seen) - s.next }

// expand goes one step further from every node reached last. It stops at a
// node that the other side has seen too. Both sides having been whole before,
// no other meeting is nearer.
func (s *side[N]) expand(other *side[N]) (meet N, ok bool) {
	for end := len(s.seen); s.next < end; s.next++ {
		for m := range s.step(s.seen[s.next].node) {
			s.scanned++
			key := s.key(m)
			if key < s.bound {
				s.floor = max(s.floor, key)
				continue
			}
			if s.find(m) >= 0 {
				continue
			}
			s.add(visit[N]{node: m, key: key, by: s.next})
			if other.find(m) >= 0 {
				return m, true
			}
		}
	}
	return meet, false
}

// find is the place of n in seen, or -1.
func (s *side[N]) find(n N) int {
	if s.index != nil {
		if i, ok := s.index[n]; ok {
			return i
		}
		return -1
	}
	for i := range s.seen {
		if s.seen[i].node == n {
			return i
		}
	}
	return -1
}

func (s *side[N]) add(v visit[N]) {
	s.seen = append(s.seen, v)
	switch {
	case s.index != nil:
		s.index[v.node] = len(s.seen) - 1
	case len(s.seen) > few:
		s.index = make(map[N]int, 4*few)
		for i := range s.seen {
			s.index[s.seen[i].node] = i
		}
	}
}
