package pool

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ringer is an alarm that counts its calls, and how many were made at once.
type ringer struct {
	*alarm
	calls, now, most atomic.Int64
}

func newRinger(do func(*ringer)) *ringer {
	r := &ringer{}
	r.alarm = &alarm{ring: func() {
		r.calls.Add(1)
		r.most.Store(max(r.most.Load(), r.now.Add(1)))
		if do != nil {
			do(r)
		}
		r.now.Add(-1)
	}}
	return r
}

func TestAlarm(t *testing.T) {
	t.Run("rings once, at its time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start, rang := time.Now(), time.Duration(0)
			r := newRinger(func(*ringer) { rang = time.Since(start) })
			r.set(start.Add(7*time.Second), true)
			r.set(start.Add(5*time.Second), true)
			if !r.waiting() {
				t.Error("it does not wait")
			}
			time.Sleep(time.Hour)
			if r.waiting() {
				t.Error("it waits still")
			}
			r.stop()
			if r.calls.Load() != 1 || rang != 5*time.Second {
				t.Errorf("rang %d times, at %s", r.calls.Load(), rang)
			}
		})
	})
	t.Run("looks at the clock every 30 s, which may have been set", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			until := time.Now().Add(10 * time.Minute)
			r := newRinger(func(r *ringer) { r.set(until, time.Now().Before(until)) })
			r.set(until, true)
			time.Sleep(time.Hour)
			if got := r.calls.Load(); got != 20 {
				t.Errorf("looked %d times in 10 minutes, want 20", got)
			}
			r.stop()
		})
	})
	t.Run("rings one at a time, however often it is set", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRinger(func(*ringer) { time.Sleep(time.Second) })
			for range 100 {
				r.set(time.Now().Add(-time.Second), true)
				time.Sleep(30 * time.Millisecond)
				if !r.waiting() {
					t.Error("it rings, and is told not to be waiting")
				}
			}
			time.Sleep(time.Minute)
			if r.most.Load() != 1 || r.calls.Load() > 5 {
				t.Errorf("%d calls in 3 seconds, %d at once", r.calls.Load(), r.most.Load())
			}
			r.stop()
		})
	})
	t.Run("is set while it rings", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRinger(func(r *ringer) {
				if r.calls.Load() == 1 {
					r.set(time.Now().Add(time.Second), true)
					time.Sleep(5 * time.Second)
				}
			})
			r.set(time.Now(), true)
			time.Sleep(time.Minute)
			if r.calls.Load() != 2 {
				t.Errorf("rang %d times, want 2", r.calls.Load())
			}
			r.stop()
		})
	})
	t.Run("is taken back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRinger(nil)
			r.set(time.Now().Add(time.Second), true)
			r.set(time.Time{}, false)
			time.Sleep(time.Minute)
			if r.calls.Load() != 0 || r.waiting() {
				t.Error("it rang, or waits still")
			}
			r.stop()
		})
	})
	t.Run("stops, and waits for its call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRinger(func(*ringer) { time.Sleep(time.Second) })
			r.set(time.Now(), true)
			time.Sleep(time.Millisecond)
			r.stop()
			if r.now.Load() != 0 {
				t.Error("its call goes on")
			}
			r.set(time.Now(), true)
			time.Sleep(time.Minute)
			if r.calls.Load() != 1 || r.waiting() {
				t.Error("it rang after it was stopped")
			}
		})
	})
}
