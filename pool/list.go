package pool

import (
	"context"
	"iter"
	"slices"

	"github.com/taskpool-dev/taskpool/pool/feed"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// countAtMost bounds how far a listing is counted where no index knows the
// number.
const countAtMost = 10_000

// lookAtMost bounds how many tasks are looked at between looks at the context.
const lookAtMost = 4096

// Query asks for one page of a listing, in creation order.
type Query struct {
	Filter Filter
	// After is the number of the last task of the page before; 0: from the first.
	After int64
	// Size is how many tasks at most; at least 1.
	Size int
	// Count asks for the number of all that match.
	Count bool
}

// Page is one page of a listing, all of one revision.
type Page struct {
	Tasks []*task.Task
	// More: there are matches after the last of Tasks.
	More bool
	// Total is the number of all matches, when it was asked for. It is exact
	// unless Exact is false, when there are at least that many.
	Total int64
	Exact bool
	// Cursor is the position of the revision that the page is of.
	Cursor feed.Cursor
}

// List returns a page of the tasks that match, of the newest revision. A task
// is listed once. Errors: *InvalidError for the filter, *NotFoundError and
// *AmbiguousError for names in it; the context's.
func (p *Pool) List(ctx context.Context, actor string, q Query) (Page, error) {
	snap, match, err := p.look(q.Filter, actor)
	if err != nil {
		return Page{}, err
	}
	page := Page{Cursor: snap.cursor}
	for n, err := range snap.matching(ctx, q.After, match) {
		if err != nil {
			return Page{}, err
		}
		if len(page.Tasks) == q.Size {
			page.More = true
			break
		}
		page.Tasks = append(page.Tasks, n.task)
	}
	if q.Count {
		page.Total, page.Exact, err = snap.total(ctx, match)
	}
	return page, err
}

// look takes a snapshot, and a filter as it reads in that revision.
func (p *Pool) look(f Filter, actor string) (*snapshot, *predicate, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	match, err := f.compile(p.state, actor)
	if err != nil {
		return nil, nil, err
	}
	if match.ParentID != "" {
		for _, id := range p.state.node(match.ParentID).children {
			match.children = append(match.children, p.state.node(id).task.Number)
		}
		slices.Sort(match.children)
	}
	return p.snapshotLocked(), match, nil
}

// matching yields the nodes after a number that match, in creation order.
func (s *snapshot) matching(ctx context.Context, after int64, match *predicate) iter.Seq2[*node, error] {
	return func(yield func(*node, error) bool) {
		looked := 0
		for n := range s.candidates(after, match) {
			if looked++; looked%lookAtMost == 0 && ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if match.matches(n.task) && !yield(n, nil) {
				return
			}
		}
	}
}

// candidates yields at least the nodes that match, from the narrowest index.
func (s *snapshot) candidates(after int64, match *predicate) iter.Seq[*node] {
	if match.ParentID != "" {
		return s.numbered(after, match.children)
	}
	statuses := match.statuses
	switch {
	case match.Claimable:
		statuses = narrow(statuses, task.Ready)
	case match.Available:
		statuses = narrow(statuses, task.Ready, task.InProgress)
	}
	if statuses != nil && len(statuses) == 0 {
		return func(func(*node) bool) {}
	}
	return s.after(after, statuses)
}

// narrow keeps those of only that are among statuses (nil: any).
func narrow(statuses []task.Status, only ...task.Status) []task.Status {
	kept := make([]task.Status, 0, len(only))
	for _, s := range only {
		if statuses == nil {
			kept = append(kept, s)
			continue
		}
		for _, have := range statuses {
			if have == s {
				kept = append(kept, s)
			}
		}
	}
	return kept
}

// total counts all matches: exactly where an index knows, else up to a bound.
func (s *snapshot) total(ctx context.Context, match *predicate) (total int64, exact bool, err error) {
	if match.simple() {
		if match.statuses == nil {
			return int64(s.table.Len()), true, nil
		}
		return int64(s.count(match.statuses)), true, nil
	}
	for _, err := range s.matching(ctx, 0, match) {
		if err != nil {
			return 0, false, err
		}
		if total++; total > countAtMost {
			return countAtMost, false, nil
		}
	}
	return total, true, nil
}
