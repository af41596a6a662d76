package pool

import (
	"sync"
	"time"
)

// alarmAtMost bounds how long an alarm sleeps, since it tells wall-clock times
// and the wall clock may be set.
const alarmAtMost = 30 * time.Second

// alarm calls a function when the time it is set to has come, or alarmAtMost
// after it was set; the function sets it again. The function runs in a
// goroutine of its own, one at a time, and stop waits for it.
type alarm struct {
	ring func()

	mu sync.Mutex
	// on and until are what it is set to, timer is armed for that. While it
	// rings it is only set; the timer follows when the call is over.
	on      bool
	until   time.Time
	timer   *time.Timer
	armed   int // counts the timers, to know one that was replaced as it fired
	ringing bool
	stopped bool
	// running counts the timers and the call.
	running sync.WaitGroup
}

// set replaces what the alarm waits for; without on, nothing.
func (a *alarm) set(until time.Time, on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped || on == a.on && (!on || until.Equal(a.until)) {
		return
	}
	a.on, a.until = on, until
	if !a.ringing {
		a.armLocked()
	}
}

func (a *alarm) armLocked() {
	a.disarmLocked()
	if !a.on {
		return
	}
	a.armed++
	n := a.armed
	a.running.Add(1)
	a.timer = time.AfterFunc(min(time.Until(a.until), alarmAtMost), func() { a.fire(n) })
}

func (a *alarm) disarmLocked() {
	if a.timer != nil && a.timer.Stop() {
		a.running.Done()
	}
	a.timer = nil
}

func (a *alarm) fire(n int) {
	defer a.running.Done()
	a.mu.Lock()
	if a.stopped || a.ringing || n != a.armed {
		a.mu.Unlock()
		return
	}
	a.on, a.timer, a.ringing = false, nil, true
	a.mu.Unlock()

	a.ring()

	a.mu.Lock()
	defer a.mu.Unlock()
	a.ringing = false
	if !a.stopped {
		a.armLocked()
	}
}

// waiting says whether the alarm is set or rings.
func (a *alarm) waiting() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.on || a.ringing
}

// stop ends the alarm for good and waits for a call under way.
func (a *alarm) stop() {
	a.mu.Lock()
	a.stopped = true
	a.disarmLocked()
	a.mu.Unlock()
	a.running.Wait()
}
