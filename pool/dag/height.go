package dag

// Heighted is a [View] whose owner keeps a height for each node.
type Heighted[N comparable] interface {
	View[N]
	// Height is what the last call of [Heights] gave for n, 0 before any.
	Height(n N) int
}

// Height gives a node a new height.
type Height[N comparable] struct {
	Node   N
	Height int
}

// Heights returns the heights that change, when those of the given nodes may
// have and all others were right. The height of a node is the length of the
// longest chain of relevant nodes that wait for it: 0 when no relevant node
// needs it, else one more than the greatest height of those.
//
// The nodes to give are those for which the set of relevant nodes that need
// them has changed: m when an edge n → m came or went, and everything that n
// needs when n became relevant or ceased to be. The view has the change in it,
// and orders that agree.
//
// Heights end at limit where limit is above 0: greater ones count as limit.
// Without one, a chain that grows at its end changes the height of every node
// of it each time.
//
// Each node is looked at once at most, with all who need it, and only when it
// is given or the height of one who needs it changed in a way that can matter.
// Changes come by descending order of the nodes.
func Heights[N comparable](v Heighted[N], limit int, relevant func(N) bool, nodes ...N) []Height[N] {
	h := heights[N]{
		view:     v,
		limit:    limit,
		relevant: relevant,
		queued:   make(map[N]struct{}, len(nodes)),
		todo:     queue[Move[N]]{before: func(a, b Move[N]) bool { return a.Order > b.Order }},
		now:      make(map[N]int),
	}
	for _, n := range nodes {
		h.queue(n)
	}
	var changes []Height[N]
	for h.todo.len() > 0 {
		n := h.todo.pop().Node
		was, is := v.Height(n), h.measure(n)
		if is == was {
			continue
		}
		h.now[n] = is
		changes = append(changes, Height[N]{Node: n, Height: is})
		if relevant(n) {
			h.pass(n, was, is)
		}
	}
	return changes
}

// heights is the work of one call. Since who needs a node has a higher order,
// the nodes to do are done from the highest down, each when all above it are
// final.
type heights[N comparable] struct {
	view     Heighted[N]
	limit    int
	relevant func(N) bool
	queued   map[N]struct{}
	todo     queue[Move[N]]
	now      map[N]int
}

func (h *heights[N]) queue(n N) {
	if _, ok := h.queued[n]; !ok {
		h.queued[n] = struct{}{}
		h.todo.push(Move[N]{Node: n, Order: h.view.Order(n)})
	}
}

// measure is the height of n by those who need it.
func (h *heights[N]) measure(n N) int {
	height := 0
	for d := range h.view.NeededBy(n) {
		if !h.relevant(d) {
			continue
		}
		above, ok := h.now[d]
		if !ok {
			above = h.view.Height(d)
		}
		if height = max(height, h.over(above)); height == h.limit && h.limit > 0 {
			break
		}
	}
	return height
}

// over is the height that one at the given height lends.
func (h *heights[N]) over(height int) int {
	if h.limit > 0 && height >= h.limit {
		return h.limit
	}
	return height + 1
}

// pass queues what n needs where the new height of n lends more than there is,
// or the old one may have been what held it up.
func (h *heights[N]) pass(n N, was, is int) {
	for m := range h.view.Needs(n) {
		height := h.view.Height(m)
		if h.over(is) > height || is < was && h.over(was) >= height {
			h.queue(m)
		}
	}
}
