package pooltest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrReference: a reference contradicts itself, or does not reach as far as the
// traffic that is held against it.
var ErrReference = errors.New("the reference can't judge")

// Reference is what really happened to a pool, as its store or a watch of all of
// it tells: the truth that traffic is held against. Nothing else happened from
// From to Last, and nothing after Last. The revisions of one Reference are of one
// numbering: a pool that was restored has another.
type Reference struct {
	// From is the revision before the first that is known, Base the whole pool
	// at it.
	From int64
	Base []State
	// Last is the pool's head.
	Last int64
	// Revisions are those that changed a task, and those that reset the pool, in
	// order.
	Revisions []Revision
	// Listings are whole pools as somebody listed them, by revision.
	Listings map[int64][]State
}

// Revision is what happened in one revision.
type Revision struct {
	Number int64
	// Reset: all tasks were gone before the Happened of this revision, and no
	// watch goes on from before it to behind it.
	Reset    bool
	Happened []Happened
}

// Happened is what happened to one task in one revision.
type Happened struct {
	Task string
	// Before is nil for a new task, After for one that is gone.
	Before, After *State
	// Events were added to its thread.
	Events []Event
	// By is who changed this very task; "" where the change follows from
	// another one.
	By string
}

// Listing is the pool after a revision, by id, as the changes up to there give it.
func (r *Reference) Listing(revision int64) map[string]State {
	tasks := byID(r.Base)
	for _, rev := range r.Revisions {
		if rev.Number > revision {
			break
		}
		rev.apply(tasks)
	}
	return tasks
}

func (rev *Revision) apply(tasks map[string]State) {
	if rev.Reset {
		clear(tasks)
	}
	for _, h := range rev.Happened {
		if h.After == nil {
			delete(tasks, h.Task)
		} else {
			tasks[h.Task] = *h.After
		}
	}
}

// Check says where the reference contradicts itself: revisions out of order, a
// task that was not before what it had become, a task twice in a revision. That
// wraps [ErrReference]. Where a listing is not what the revisions up to it give,
// it wraps [ErrStateDiffers].
func (r *Reference) Check() error {
	tasks, last := byID(r.Base), r.From
	for _, rev := range r.Revisions {
		if rev.Number <= last || rev.Number > r.Last {
			return fmt.Errorf("%w: revision %d does not lie between %d and the head %d", ErrReference, rev.Number, last, r.Last)
		}
		last = rev.Number
		if rev.Reset {
			clear(tasks)
		}
		seen := map[string]bool{}
		for _, h := range rev.Happened {
			was, there := tasks[h.Task]
			switch {
			case seen[h.Task]:
				return fmt.Errorf("%w: revision %d, task %s: is there twice", ErrReference, rev.Number, h.Task)
			case h.Before == nil && h.After == nil, there != (h.Before != nil), there && h.Before.Content != was.Content:
				return fmt.Errorf("%w: revision %d, task %s: was not before what the revisions made of it", ErrReference, rev.Number, h.Task)
			case h.After != nil && (h.After.ID != h.Task || h.After.Revision != rev.Number && !rev.Reset): // what is restored keeps its own
				return fmt.Errorf("%w: revision %d, task %s: became %s of revision %d", ErrReference, rev.Number, h.Task, h.After.ID, h.After.Revision)
			}
			seen[h.Task] = true
		}
		rev.apply(tasks)
	}
	return r.checkListings()
}

func (r *Reference) checkListings() error {
	tasks, next := byID(r.Base), r.Revisions
	for _, at := range slices.Sorted(maps.Keys(r.Listings)) {
		for ; len(next) > 0 && next[0].Number <= at; next = next[1:] {
			next[0].apply(tasks)
		}
		listed := byID(r.Listings[at])
		for id := range union(listed, tasks) {
			if why := unlike(tasks, listed, id); why != "" && at >= r.From {
				return fmt.Errorf("%w: revision %d, task %s: the feed from its beginning, held against a listing: %s", ErrStateDiffers, at, id, why)
			}
		}
	}
	return nil
}

// Forget makes the reference begin after a revision, so that a long test keeps
// little. It does nothing for one that it begins after already.
func (r *Reference) Forget(revision int64) {
	if revision <= r.From {
		return
	}
	r.Base = slices.Collect(maps.Values(r.Listing(revision)))
	r.From = revision
	r.Revisions = slices.DeleteFunc(r.Revisions, func(rev Revision) bool { return rev.Number <= revision })
	maps.DeleteFunc(r.Listings, func(at int64, _ []State) bool { return at <= revision })
}

func byID(tasks []State) map[string]State {
	m := make(map[string]State, len(tasks))
	for _, t := range tasks {
		m[t.ID] = t
	}
	return m
}
