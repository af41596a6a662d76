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

// drafts are where changes are encoded before they are laid down.
var drafts = sync.Pool{New: func() any { return new([]byte) }}

// lay lays down what write appends to an empty slice, and returns it. Nobody waits
// for another's write. What is long gets a piece of its own.
func (s *strip) lay(write func(dst []byte) []byte) []byte {
	draft := drafts.Get().(*[]byte)
	b := write((*draft)[:0])
	if len(b) > stripBytes/4 {
		return b // the draft's memory is kept with it
	}
	laid := s.take(len(b))
	copy(laid, b)
	*draft = b
	drafts.Put(draft)
	return laid
}

// take cuts a stretch off the piece.
func (s *strip) take(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) < n {
		s.rest = make([]byte, stripBytes)
	}
	// The capacity goes on over what is laid down next, so that it shows what
	// lies end to end; nobody may append.
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}
