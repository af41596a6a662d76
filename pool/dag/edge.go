package dag

// AddEdge returns the moves that let from → to stand, or the cycle it would
// close: from, to, and on along needs back to from, so that the first node is
// also the last. The cycle is one of the shortest. No moves and no cycle means
// that the edge may stand as things are.
//
// Where the order of to is the lower one already, that is a comparison and
// nothing else. Otherwise it searches the affected region, the nodes whose
// order lies between the two, from both ends in turn: down from to along
// needs, and up from from along who needs it. As soon as one end has nowhere to
// go there is no cycle, and the nodes seen from that end, the fewer ones, are
// moved past the other end. So a task that is found to need a new task costs
// the new task's own needs, however many others wait for the old one.
//
// The two ends take turns by the edges they have looked at, a whole distance
// at a time, so the search looks at about twice the edges of the cheaper end.
// Nodes outside the region are moved only when they leave no room for those
// that must go between them; then enough are that the next ones find room.
//
// Moves come by ascending order. They are to be applied together with the
// edge, all or none. AddEdge panics when the view's orders leave no number
// above or below, which orders within ±2^62 never do.
func AddEdge[N comparable](v View[N], from, to N) (moves []Move[N], cycle []N) {
	if from == to {
		return nil, []N{from, from}
	}
	low, high := v.Order(from), v.Order(to)
	if high < low {
		return nil, nil
	}
	return reorder(v, from, to, low, high)
}

// reorder is AddEdge where the order of from, low, is not above that of to.
func reorder[N comparable](v View[N], from, to N, low, high int64) (moves []Move[N], cycle []N) {
	var sides [2]side[N]
	down, up := &sides[0], &sides[1]
	down.start(v, false, to, high, low)
	up.start(v, true, from, low, high)

	for down.open() && up.open() {
		near, far := down, up
		if up.cost() < down.cost() {
			near, far = up, down
		}
		if meet, ok := near.expand(far); ok {
			return nil, join(down, up, meet)
		}
	}

	near, far := down, up
	if down.open() {
		near, far = up, down
	}
	if moves, ok := near.past(); ok {
		return moves, nil
	}
	// At the end of all numbers the other side has to give way.
	for far.open() {
		far.expand(near)
	}
	if moves, ok := far.past(); ok {
		return moves, nil
	}
	panic("dag: no number is left above or below")
}

// join is the cycle through meet, which both sides have seen.
func join[N comparable](down, up *side[N], meet N) []N {
	var path []N
	for i := down.find(meet); i >= 0; i = down.seen[i].by {
		path = append(path, down.seen[i].node)
	}
	path = append(path, up.seen[0].node)
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	for i := up.seen[up.find(meet)].by; i >= 0; i = up.seen[i].by {
		path = append(path, up.seen[i].node)
	}
	return path
}
