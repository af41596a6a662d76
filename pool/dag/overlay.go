package dag

import "iter"

// Overlay is a [View] with edges and moves stacked on another, so that several
// edges can be checked as one change: add them all, then apply [Overlay.Moves]
// with them, or drop the overlay at the first cycle. The view below isn't
// changed, and must not change meanwhile.
type Overlay[N comparable] struct {
	base            View[N]
	order           map[N]int64
	moved           []N
	needs, neededBy map[N][]N
}

// NewOverlay returns an overlay with nothing on base yet.
func NewOverlay[N comparable](base View[N]) *Overlay[N] {
	return &Overlay[N]{
		base:     base,
		order:    make(map[N]int64),
		needs:    make(map[N][]N),
		neededBy: make(map[N][]N),
	}
}

// Put gives a node an order, which a node new to the base needs before its
// first edge. It is for nodes without edges: others are moved by Add.
func (o *Overlay[N]) Put(n N, order int64) {
	if _, ok := o.order[n]; !ok {
		o.moved = append(o.moved, n)
	}
	o.order[n] = order
}

// Add lets from → to stand in the overlay, or changes nothing and returns the
// cycle it would close, as [AddEdge] does. An edge added twice is there twice,
// with no harm.
func (o *Overlay[N]) Add(from, to N) (cycle []N) {
	moves, cycle := AddEdge(o, from, to)
	if cycle != nil {
		return cycle
	}
	for _, m := range moves {
		o.Put(m.Node, m.Order)
	}
	o.needs[from] = append(o.needs[from], to)
	o.neededBy[to] = append(o.neededBy[to], from)
	return nil
}

// Moves returns the last order of every node that was put or moved, in the
// sequence in which they first were.
func (o *Overlay[N]) Moves() []Move[N] {
	moves := make([]Move[N], 0, len(o.moved))
	for _, n := range o.moved {
		moves = append(moves, Move[N]{Node: n, Order: o.order[n]})
	}
	return moves
}

// Order implements [View].
func (o *Overlay[N]) Order(n N) int64 {
	if order, ok := o.order[n]; ok {
		return order
	}
	return o.base.Order(n)
}

// Needs implements [View]: those of the base first, then those added.
func (o *Overlay[N]) Needs(n N) iter.Seq[N] {
	return chain(o.base.Needs(n), o.needs[n])
}

// NeededBy implements [View]: those of the base first, then those added.
func (o *Overlay[N]) NeededBy(n N) iter.Seq[N] {
	return chain(o.base.NeededBy(n), o.neededBy[n])
}

func chain[N any](base iter.Seq[N], added []N) iter.Seq[N] {
	if len(added) == 0 {
		return base
	}
	return func(yield func(N) bool) {
		for n := range base {
			if !yield(n) {
				return
			}
		}
		for _, n := range added {
			if !yield(n) {
				return
			}
		}
	}
}
