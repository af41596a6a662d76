package pool

import "sync"

// stripBytes is how long a piece of a strip is.
const stripBytes = 64 << 10

// strip is where encoded changes are laid end to end: what follows each other in
// the feed then mostly does in memory, too, and is sent as one piece. What was
// laid down is never written again. Safe for concurrent use.
type strip struct {
	mu   sync.Mutex
	rest []byte // what is left of the piece; guarded by mu
}

// lay has write append at most so many bytes to an empty slice, and returns them.
// Their capacity goes on over what is laid down next: nobody may append to them.
func (s *strip) lay(most int, write func(dst []byte) []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(s.rest) < most {
		s.rest = make([]byte, 0, max(most, stripBytes))
	}
	laid := write(s.rest[:0])
	if len(laid) > cap(s.rest) { // it was more than it said, and lies elsewhere
		return laid
	}
	s.rest = s.rest[len(laid):len(laid):cap(s.rest)]
	return laid
}
