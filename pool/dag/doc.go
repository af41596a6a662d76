// Package dag keeps a graph of needs free of cycles while edges come and go.
// An edge n → m says that n needs m first.
//
// # Promises
//
//  1. An edge is refused exactly when it would close a cycle, and the refusal
//     shows a shortest one.
//  2. Every node has a number, its order, and whatever it needs has a lower
//     one. An edge that agrees with the orders costs one comparison. Another
//     costs a search, bounded as told at [AddEdge], never a walk over the whole
//     graph.
//  3. Nothing is changed. The graph is the caller's, seen through a [View];
//     what should change is returned, so a refused change leaves nothing to
//     undo. There is no lock, clock or I/O here, and no state between calls.
//  4. The same input gives the same output, provided that the view yields
//     neighbours in the same order.
//  5. Nothing recurses: a chain of a million nodes takes no more stack than one
//     of two.
//
// # Orders
//
// Orders need not be unique and may have gaps. Two nodes with the same order
// merely have no edge between them. The wider the gaps, the fewer nodes move:
// a node that nothing needs yet fits at [Step] above the highest order there
// is, one that needs nothing at Step below the lowest. A caller who keeps the
// two ends widens them by the orders of every [Move] it applies. Orders given
// by the caller stay within ±2^62.
//
// Taking an edge away never spoils an order, and needs no call.
//
// # What is here
//
// [AddEdge] checks one edge. [Sort] orders a graph from scratch, and [Knots]
// tells all that keeps it from being ordered. [Heights] keeps, for every node,
// the length of the longest chain of nodes that wait for it.
package dag
