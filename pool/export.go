package pool

import (
	"iter"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// Export is a pool as of one revision, on its way out. It shares everything with
// the pool and copies nothing, and what the pool does meanwhile does not show.
type Export struct {
	view    *snapshot
	outline task.Outline
}

// Export takes hold of the pool as it is now. It costs the same however many
// tasks there are.
func (p *Pool) Export() *Export {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return &Export{view: p.snapshotLocked(), outline: task.Outline{
		Name: p.name, Limits: p.limits, Rules: p.rules,
		Extent: &task.Extent{LastNumber: p.state.number, LastEvent: p.state.event},
	}}
}

// Cursor is the position that the export is of.
func (e *Export) Cursor() feed.Cursor { return e.view.cursor }

// Records yields the outline, then each task in creation order, followed by its
// thread, oldest first. They are shared and must not be changed. No hold token
// and no request record is among them. They may be had more than once.
func (e *Export) Records() iter.Seq[task.Record] {
	return func(yield func(task.Record) bool) {
		outline := e.outline
		extent := *outline.Extent
		for n := range e.view.after(0, nil) {
			extent.Tasks++
			extent.Events += int64(len(n.thread))
		}
		outline.Extent = &extent
		if !yield(task.Record{Outline: &outline}) {
			return
		}
		for n := range e.view.after(0, nil) {
			if !yield(task.Record{Task: n.task, History: detailOf(n).History()}) {
				return
			}
			for _, event := range n.thread {
				if !yield(task.Record{Event: event}) {
					return
				}
			}
		}
	}
}
