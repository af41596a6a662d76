package pool

import (
	"context"
	"iter"

	"github.com/tidwall/btree"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// seq is ids on their way to dag.
type seq = iter.Seq[string]

// snapshot is a pool at one revision, for readers that take their time. It
// shares everything with the state it was taken of, which copies what it
// changes from then on, so taking one costs the same however large the pool is.
type snapshot struct {
	cursor   feed.Cursor
	table    *btree.Map[int64, *node]
	byStatus [int(task.Failed) + 1]*btree.Map[int64, struct{}]
}

// snapshotLocked returns the pool at its newest revision. The caller holds mu,
// at least for reading.
func (p *Pool) snapshotLocked() *snapshot {
	// Copying marks both copies as shared, so copiers must not meet.
	p.viewMu.Lock()
	defer p.viewMu.Unlock()
	if p.view == nil {
		p.view = &snapshot{cursor: cursorAt(p.state), table: p.state.table.Copy()}
		for i := range p.state.byStatus {
			p.view.byStatus[i] = p.state.byStatus[i].Copy()
		}
	}
	return p.view
}

// after yields the nodes whose number is above after and whose status is one of
// statuses (nil: any), in creation order.
func (s *snapshot) after(after int64, statuses []task.Status) iter.Seq[*node] {
	if len(statuses) == 0 || s.covers(statuses) {
		return func(yield func(*node) bool) {
			s.table.Ascend(after+1, func(_ int64, n *node) bool { return yield(n) })
		}
	}
	return func(yield func(*node) bool) {
		next := make([]btree.MapIter[int64, struct{}], 0, len(statuses))
		for _, status := range statuses {
			it := s.byStatus[status].Iter()
			if it.Seek(after + 1) {
				next = append(next, it)
			}
		}
		for len(next) > 0 {
			least := 0
			for i := range next {
				if next[i].Key() < next[least].Key() {
					least = i
				}
			}
			n, _ := s.table.Get(next[least].Key())
			if !next[least].Next() {
				next[least] = next[len(next)-1]
				next = next[:len(next)-1]
			}
			if n != nil && !yield(n) {
				return
			}
		}
	}
}

// all yields every node in creation order, or the context's error once it ended.
func (s *snapshot) all(ctx context.Context) func(yield func(*node, error) bool) {
	return func(yield func(*node, error) bool) {
		looked := 0
		for n := range s.after(0, nil) {
			if looked++; looked%lookAtMost == 0 && ctx.Err() != nil {
				break
			}
			if !yield(n, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// numbered yields the nodes of those numbers, ascending, that are above after.
func (s *snapshot) numbered(after int64, numbers []int64) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for _, number := range numbers {
			if n, ok := s.table.Get(number); ok && number > after && !yield(n) {
				return
			}
		}
	}
}

// covers says whether most tasks have one of the statuses, so that looking at
// all is cheaper than finding those.
func (s *snapshot) covers(statuses []task.Status) bool {
	return 2*s.count(statuses) > s.table.Len()
}

func (s *snapshot) count(statuses []task.Status) int {
	n := 0
	for _, status := range statuses {
		n += s.byStatus[status].Len()
	}
	return n
}
