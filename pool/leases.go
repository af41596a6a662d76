package pool

import (
	"time"

	"github.com/tidwall/btree"
)

// leases are the holds that expire, and when. That is told by this process's
// monotonic clock, and stored nowhere: a hold that was loaded, or that another
// process began or renewed, has its whole lease before it. Guarded as the state is.
type leases struct {
	holds map[int64]leased
	due   *btree.BTreeG[due]
}

// leased is one hold.
type leased struct {
	token string
	until time.Time
}

type due struct {
	until  time.Time
	number int64
}

func newLeases() leases {
	return leases{holds: map[int64]leased{}, due: btree.NewBTreeGOptions(func(a, b due) bool {
		if !a.until.Equal(b.until) {
			return a.until.Before(b.until)
		}
		return a.number < b.number
	}, btree.Options{NoLocks: true})}
}

// set takes in a new version of a task: a hold that began has its lease from now on,
// one that goes on keeps what it has.
func (l *leases) set(n *node) {
	number := n.task.Number
	have, there := l.holds[number]
	switch {
	case n.task.Holder == "" || n.task.Lease == 0:
		if there {
			l.drop(number)
		}
	case !there || have.token != n.held().token:
		l.renew(n)
	}
}

// renew gives a task's hold its whole lease from now on, if it has one.
func (l *leases) renew(n *node) {
	if n == nil || n.task.Holder == "" || n.task.Lease == 0 {
		return
	}
	number := n.task.Number
	l.drop(number)
	until := time.Now().Add(n.task.Lease)
	l.holds[number] = leased{n.held().token, until}
	l.due.Set(due{until, number})
}

func (l *leases) drop(number int64) {
	if have, there := l.holds[number]; there {
		l.due.Delete(due{have.until, number})
		delete(l.holds, number)
	}
}

// end is when the task's hold runs out, zero where it doesn't. It is of no use for a
// hold that is not published yet.
func (l *leases) end(n *node) time.Time {
	have := l.holds[n.task.Number]
	if n.task.Holder == "" || have.token != n.held().token {
		return time.Time{}
	}
	return have.until
}

// next is when the next hold runs out, false when none does.
func (l *leases) next() (time.Time, bool) {
	first, ok := l.due.Min()
	return first.until, ok
}
