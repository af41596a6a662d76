package dag

import "iter"

// Step is the room left between orders where there is no reason for less.
const Step = 1 << 20

// View is a graph as its owner sees it now. It stays as it is during a call.
//
// Needs and NeededBy are two sides of the same edges: m is among Needs(n) as
// often as n is among NeededBy(m). A node that the view doesn't know has no
// edges.
type View[N comparable] interface {
	// Order is lower for m than for n wherever n needs m.
	Order(n N) int64
	// Needs yields what n needs.
	Needs(n N) iter.Seq[N]
	// NeededBy yields who needs n.
	NeededBy(n N) iter.Seq[N]
}

// Move gives a node a new order.
type Move[N comparable] struct {
	Node  N
	Order int64
}
