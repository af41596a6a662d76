package pool

import (
	"slices"

	"github.com/taskpool-dev/taskpool/pool/dag"
)

// maxHeight is how long a chain of waiting tasks counts at most. Without an end, each
// task at the end of a long chain would change the height of all of it.
const maxHeight = 64

// heighted shows a layer to dag, with heights.
type heighted struct{ view }

func (h heighted) Height(id string) int { return h.l.node(id).height }

// waits says whether somebody still wants a task done, so that what it waits for
// matters.
func (l *layer) waits(id string) bool {
	n := l.node(id)
	return n != nil && !n.task.Closed()
}

// raise gives the nodes whose height changes with what the layer holds their new
// heights. It lies on the published state, whose heights are right; but where a new
// epoch begins after damage, they may all be wrong.
func (l *layer) raise(s *state) {
	var dirty []string
	if l.epoch != "" {
		s.table.Scan(func(_ int64, n *node) bool {
			dirty = append(dirty, n.task.ID)
			return true
		})
	}
	for id, n := range l.nodes {
		old := l.under.node(id)
		switch was, is := old != nil && !old.task.Closed(), n != nil && !n.task.Closed(); {
		case was != is:
			if old != nil {
				dirty = slices.AppendSeq(dirty, old.needs())
			}
			if n != nil {
				dirty = slices.AppendSeq(dirty, n.needs())
			}
		case is:
			dirty = append(dirty, differing(old.task.Dependencies, n.task.Dependencies)...)
			dirty = append(dirty, differing(old.children, n.children)...)
		}
	}
	if len(dirty) == 0 {
		return
	}
	dirty = slices.DeleteFunc(dirty, func(id string) bool { return l.node(id) == nil })
	for _, h := range dag.Heights(heighted{view{l}}, maxHeight, l.waits, dirty...) {
		l.own(h.Node).height = h.Height
	}
}

// differing are the ids that only one of two lists has.
func differing(a, b []string) (ids []string) {
	if slices.Equal(a, b) {
		return nil
	}
	for _, pair := range [][2][]string{{a, b}, {b, a}} {
		for _, id := range pair[0] {
			if !slices.Contains(pair[1], id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
