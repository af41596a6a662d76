package pool

import (
	"context"
	"errors"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// wakeAtMost tasks become ready in one revision; the rest follow in the next.
const wakeAtMost = 1000

// wakeAgain is when a wake that the store refused is tried again.
const wakeAgain = time.Second

// wake lets tasks whose not_before has come become ready. It is a mutation like
// any other, made by the pool when its alarm rings.
func (p *Pool) wake(ctx context.Context) {
	err := p.wakeSome(ctx, wakeAtMost)
	next, waits := p.nextWake()
	if err != nil {
		next = time.Now().Add(wakeAgain)
	}
	p.alarm.set(next, waits)
}

// wakeSome wakes the earliest tasks, at most that many, and fewer where their
// text is more than one revision takes.
func (p *Pool) wakeSome(ctx context.Context, most int) error {
	for {
		_, err := p.mutate(ctx, "Wake", Request{Actor: task.SystemPool}, func(tx *tx) ([]string, string, error) {
			n := 0
			p.state.waiting.Scan(func(w waiting) bool {
				if tx.now.Before(w.until) || n == most {
					return false
				}
				n++
				if waits := tx.numbered(w.number); waits != nil {
					tx.unsettle(waits.task.ID)
				}
				return true
			})
			return nil, "", nil
		})
		var quota *QuotaError
		if most == 1 || !errors.As(err, &quota) || quota.Reason != ReasonRevisionTooLarge {
			return err
		}
		most /= 2
	}
}

func (p *Pool) nextWake() (time.Time, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	w, ok := p.state.waiting.Min()
	return w.until, ok
}
