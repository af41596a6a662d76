package pool

import "sync/atomic"

// bell wakes all who wait for a pool's next commit, however many they are, by
// closing one channel. Who waits says so first, then looks at the state under
// Pool.mu, then waits; ring is called under Pool.mu after the state changed. So
// nobody sleeps through a commit, and a commit that nobody waits for costs a
// look at a number.
type bell struct {
	waiters atomic.Int64
	// wake is closed, and replaced, by ring. Guarded by Pool.mu; nil until
	// somebody waited.
	wake atomic.Pointer[chan struct{}]
}

// listen says that somebody is about to wait. The caller calls stop once.
func (b *bell) listen() { b.waiters.Add(1) }

func (b *bell) stop() { b.waiters.Add(-1) }

// next is closed with the next ring. The caller listens, and holds Pool.mu at
// least for reading while it looks at what it waits for.
func (b *bell) next() <-chan struct{} {
	for {
		if c := b.wake.Load(); c != nil {
			return *c
		}
		c := make(chan struct{})
		b.wake.CompareAndSwap(nil, &c)
	}
}

// ring wakes all who wait. The caller holds Pool.mu for writing.
func (b *bell) ring() {
	if b.waiters.Load() == 0 {
		return
	}
	if c := b.wake.Swap(nil); c != nil {
		close(*c)
	}
}
