package pool

import (
	"context"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// wakeAtMost tasks become ready in one revision, fewer where their text is more
// than wakeBytes; the rest follow in the next.
const (
	wakeAtMost = 1000
	wakeBytes  = 8 << 20
)

// wakeAgain is when a wake that the store refused is tried again.
const wakeAgain = time.Second

// wake lets tasks whose not_before has come become ready. It is a mutation like
// any other, made by the pool when its alarm rings.
func (p *Pool) wake(ctx context.Context) {
	_, err := p.mutate(ctx, "Wake", Request{Actor: task.SystemPool}, func(tx *tx) ([]string, string, error) {
		n, size := 0, 0
		p.state.waiting.Scan(func(w waiting) bool {
			if tx.now.Before(w.until) || n == wakeAtMost || size > wakeBytes {
				return false
			}
			n++
			if waits := tx.numbered(w.number); waits != nil {
				size += len(waits.task.Brief)
				tx.unsettle(waits.task.ID)
			}
			return true
		})
		return nil, "", nil
	})
	if err != nil {
		p.alarm.set(time.Now().Add(wakeAgain), true)
		return
	}
	p.arm()
}

// arm sets the alarm to the next not_before, or the next end of a lease.
func (p *Pool) arm() {
	p.mu.RLock()
	defer p.mu.RUnlock()
	p.armLocked()
}

// armLocked is arm for one who holds mu, if only for reading: so that an alarm is
// never set to what an older state says.
func (p *Pool) armLocked() {
	until, rings := p.state.leases.next()
	if next, waits := p.state.waiting.Min(); waits && (!rings || next.until.Before(until)) {
		until, rings = next.until, true
	}
	p.alarm.set(until, rings)
}
