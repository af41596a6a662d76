package sqlite

import (
	"context"

	"github.com/taskpool-dev/taskpool/pool/store"
)

// turn is a lock that can be waited for with a context, and goes to those who
// wait in the order they came: senders on a channel queue. So folding, which
// asks anew for each piece, lets everyone who waits go first.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn of s; whoever has it calls the returned function.
func (s *Store) take(ctx context.Context) (release func(), err error) {
	if s.isClosed() {
		return nil, store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.isClosed() {
		<-s.turn
		return nil, store.ErrClosed
	}
	return func() { <-s.turn }, nil
}
