package pool

import (
	"sync"
	"time"
)

// alarmAtMost bounds how long an alarm sleeps, since it tells wall-clock times
// and the wall clock may be set.
const alarmAtMost = 30 * time.Second

// alarm calls a function when the earliest of the times it is set to has come.
// The function runs in a goroutine of its own, one at a time, and stop waits
// for it.
type alarm struct {
	ring func()

	mu      sync.Mutex
	timer   *time.Timer
	until   time.Time
	stopped bool
	running sync.WaitGroup
}

// set replaces what the alarm waits for; without on, nothing.
func (a *alarm) set(until time.Time, on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped || (on && a.timer != nil && until.Equal(a.until)) {
		return
	}
	if a.timer != nil && a.timer.Stop() {
		a.running.Done()
	}
	a.timer = nil
	if !on {
		return
	}
	a.until = until
	a.running.Add(1)
	a.timer = time.AfterFunc(min(time.Until(until), alarmAtMost), a.fire)
}

func (a *alarm) fire() {
	defer a.running.Done()
	a.mu.Lock()
	if a.stopped {
		a.mu.Unlock()
		return
	}
	a.timer = nil
	a.mu.Unlock()
	a.ring()
}

// waiting says whether the alarm is set.
func (a *alarm) waiting() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.timer != nil
}

// stop ends the alarm for good and waits for a call under way.
func (a *alarm) stop() {
	a.mu.Lock()
	a.stopped = true
	if a.timer != nil && a.timer.Stop() {
		a.running.Done()
	}
	a.timer = nil
	a.mu.Unlock()
	a.running.Wait()
}
