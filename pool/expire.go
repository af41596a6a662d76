package pool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// expireAtMost holds end in one revision; the rest follow in the next.
const expireAtMost = 1000

// expire ends the holds whose leases have run out. It is a mutation like any other,
// made by the pool when its alarm rings: whatever a holder asked for before it had
// its turn wins, so work that was handed in is never sent back.
func (p *Pool) expire(ctx context.Context) {
	_, err := p.mutate(ctx, "Expire", Request{Actor: task.SystemPool}, func(tx *tx) ([]string, string, error) {
		now, n := time.Now(), 0
		batch := tx.under.(*layer).signs // of those who came before in this batch
		p.state.leases.due.Scan(func(d due) bool {
			if now.Before(d.until) || n == expireAtMost {
				return false
			}
			if !slices.Contains(batch, d.number) {
				n++
				tx.expire(d.number, p.state.leases.holds[d.number].token)
			}
			return true
		})
		return nil, "", nil
	})
	if err != nil {
		p.alarm.set(time.Now().Add(wakeAgain), true)
	}
}

// expire ends a task's hold, if it still is the one with that token. The work goes
// back, or, where too many holds in a row ran out, waits for somebody to look at it.
func (tx *tx) expire(number int64, token string) {
	n := tx.numbered(number)
	if n == nil || n.held().token != token {
		return
	}
	t, inARow, to := n.task, n.held().expired+1, task.Ready
	if inARow >= task.MaxExpired {
		to = task.Failed
	}
	if _, ok := task.FindMove(t, to, task.ViaExpiry); !ok {
		return
	}
	told := task.HoldExpiredDetail{Holder: t.Holder, HeldAt: t.HeldAt, Lease: t.Lease, RunID: n.held().runID, InARow: inARow}
	id, from := t.ID, t.Status
	t = tx.edit(id)
	t.Holder, t.HeldAt, t.Lease = "", zeroTime, 0
	tx.setHold(id, hold{expired: inARow})
	if t.AssignedByClaim {
		t.Assignee = ""
		tx.setByClaim(id, false)
	}
	tx.emit(id, task.SystemPool, task.EventHoldExpired, "", told)
	if to == task.Ready {
		tx.setStatus(id, tx.openStatus(t))
		return
	}
	tx.setStatus(id, to)
	tx.emit(id, task.SystemPool, task.EventStatus, "", task.StatusDetail{
		From: from, To: to, Reason: fmt.Sprintf("%d holds in a row ran out; find out why, then set it to ready", inARow),
	})
}
