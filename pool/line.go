package pool

import (
	lists "container/list"
	"sync"
	"time"
)

// maxWaiting is how many claims of a pool may wait.
const maxWaiting = 20_000

// line is the claims that wait for a task, in the order they came. A task that can be
// claimed is offered to the first whom it fits, and kept for that one until it has
// looked: so nobody overtakes, and a task wakes one claim and not all. While nothing
// happens, those who wait cost nothing. Safe for concurrent use; its lock is taken
// within Pool.mu or alone.
type line struct {
	mu sync.Mutex
	// waiting holds *waiter, the longest waiting first; offered is who each offered
	// task is kept for, by number. Guarded by mu.
	waiting *lists.List
	offered map[int64]*waiter
}

// waiter is a claim that waits.
type waiter struct {
	match *predicate
	// woken has one element once something was offered. offer is its number, 0 for
	// none. Guarded by line.mu.
	woken chan struct{}
	offer int64
	place *lists.Element
}

func newLine() *line { return &line{waiting: lists.New(), offered: map[int64]*waiter{}} }

// join puts a claim at the end; nil when there are too many.
func (l *line) join(match *predicate) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() >= maxWaiting {
		return nil
	}
	w := &waiter{match: match, woken: make(chan struct{}, 1)}
	w.place = l.waiting.PushBack(w)
	return w
}

// offer keeps a task for the first whom it fits, and wakes that one.
func (l *line) offer(n *node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() == 0 {
		return
	}
	number := n.task.Number
	if l.offered[number] != nil {
		return
	}
	for e := l.waiting.Front(); e != nil; e = e.Next() {
		if w := e.Value.(*waiter); w.offer == 0 && w.match.claims(n.task) {
			w.offer, l.offered[number] = number, w
			w.woken <- struct{}{} // it has room: there was no offer
			return
		}
	}
}

// keptFrom says whether a task is kept for another than w, which may be nil.
func (l *line) keptFrom(w *waiter, number int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	by := l.offered[number]
	return by != nil && by != w
}

// looked ends the offer that a waiter had, and gives its number, 0 for none. With
// leave the waiter leaves the line, too.
func (l *line) looked(w *waiter, leave bool) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := w.offer
	if w.offer = 0; number != 0 {
		delete(l.offered, number)
		select {
		case <-w.woken: // it was offered after it woke for another reason
		default:
		}
	}
	if leave {
		l.waiting.Remove(w.place)
	}
	return number
}

// len is how many wait.
func (l *line) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting.Len()
}

// offerAgain offers a task that is kept for nobody any more to the next in line.
func (p *Pool) offerAgain(number int64) {
	if number == 0 {
		return
	}
	p.mu.RLock()
	n := p.state.numbered(number)
	p.mu.RUnlock()
	if n == nil {
		return
	}
	if _, _, ok := rankOf(n); ok {
		p.line.offer(n)
	}
}

// full refuses one more claim that would wait.
func (l *line) full() error {
	return &QuotaError{
		Reason: ReasonQueueFull, RetryAfter: time.Second,
		Message: "wait: as many claims wait in this pool as may; ask again without wait, or a little later",
	}
}
