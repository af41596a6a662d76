package pool

import (
	"fmt"
	"sync"
	"time"
)

// How many watches may be open at once.
const (
	DefaultMaxWatchers          = 10_000
	DefaultMaxWatchersPerMember = 2_000
)

// watchAgain is when a watch that there was no room for is worth trying again.
const watchAgain = 5 * time.Second

// watchers counts the open watches of a registry, so that members can't take
// more than their share of the server. Safe for concurrent use.
type watchers struct {
	most, perMember int

	mu       sync.Mutex
	open     int            // guarded by mu
	byMember map[string]int // guarded by mu
}

func newWatchers(most, perMember int) *watchers {
	return &watchers{most: most, perMember: perMember, byMember: map[string]int{}}
}

// take makes room for a watch of a member. The caller calls free once.
func (w *watchers) take(member string) (free func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open >= w.most {
		return nil, &QuotaError{Reason: ReasonWatchersExceeded, RetryAfter: watchAgain, Message: fmt.Sprintf(
			"%d watches are open, as many as this server serves; try again in %s, or read the list instead", w.open, watchAgain)}
	}
	if w.byMember[member] >= w.perMember {
		return nil, &QuotaError{Reason: ReasonWatchersExceeded, RetryAfter: watchAgain, Message: fmt.Sprintf(
			"%s has %d watches open, as many as a member may; end one of them, or try again in %s", member, w.byMember[member], watchAgain)}
	}
	w.open++
	w.byMember[member]++
	return sync.OnceFunc(func() { w.free(member) }), nil
}

func (w *watchers) free(member string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open--
	if w.byMember[member]--; w.byMember[member] == 0 {
		delete(w.byMember, member)
	}
}

// Watchers is how many watches are open now.
func (r *Registry) Watchers() int {
	r.watchers.mu.Lock()
	defer r.watchers.mu.Unlock()
	return r.watchers.open
}
