package dag

import (
	"cmp"
	"slices"
)

// past moves all that this side has seen below its bound, and says false when
// there are no numbers. The side is closed and hasn't met the other.
//
// New keys are spread between floor and bound in the sequence of the old ones.
// A node never gets a higher key than it had, so whoever leads to it stays
// above it; what it leads to is either among the nodes spread, and earlier in
// the sequence, or not above floor.
func (s *side[N]) past() ([]Move[N], bool) {
	if s.room() < uint64(len(s.seen)) {
		s.widen()
		if s.room() < uint64(len(s.seen)) {
			return nil, false
		}
	}
	nodes := s.seen
	slices.SortStableFunc(nodes, func(a, b visit[N]) int { return cmp.Compare(a.key, b.key) })

	gap := min(Step, (s.room()+1)/uint64(len(nodes)+1))
	moves := make([]Move[N], 0, len(nodes))
	for i, v := range nodes {
		key := s.bound - int64(gap)*int64(len(nodes)-i)
		if key < v.key {
			moves = append(moves, Move[N]{Node: v.node, Order: s.flip(key)})
		}
	}
	if s.flipped {
		slices.Reverse(moves)
	}
	return moves, true
}

// room counts the numbers between floor and bound.
func (s *side[N]) room() uint64 {
	if s.bound == lowest {
		return 0
	}
	return uint64(s.bound) - uint64(s.floor) - 1
}

// widen makes room by taking in the nodes below bound that crowd it, highest
// first, with whatever they lead to: until k nodes have k² numbers to share, so
// that a place where many nodes are put in is spread again ever more rarely
// (Dietz and Sleator's rule), or until nothing lies below.
func (s *side[N]) widen() {
	near := queue[visit[N]]{before: func(a, b visit[N]) bool { return a.key > b.key }}
	offer := func(n N) {
		for m := range s.step(n) {
			if s.find(m) < 0 {
				near.push(visit[N]{node: m, key: s.key(m), by: -1})
			}
		}
	}
	for _, v := range s.seen {
		offer(v.node)
	}
	for {
		for near.len() > 0 && s.find(near.first().node) >= 0 {
			near.pop()
		}
		s.floor = lowest
		if near.len() > 0 {
			s.floor = near.first().key
		}
		k := uint64(len(s.seen))
		if near.len() == 0 || s.room() >= k*k {
			return
		}
		v := near.pop()
		s.add(v)
		offer(v.node)
	}
}
