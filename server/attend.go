package server

import (
	"context"
	"time"
)

// patience is how many times longer than that of a watch the caller of an export
// or import may let nothing happen: people look at exports, too.
const patience = 10

// sign is what an attended call tells of its caller.
type sign bool

const (
	moved sign = true  // the caller took or gave a message
	busy  sign = false // all has come: the caller is not waited for any more, nor a drain heeded
)

// attend runs a call's work in a goroutine of its own, since a Send or Recv whose
// caller does nothing ends only when the handler returns. It returns the work's
// error; that of ctx as soon as it is done, or, once all has come, its connection's;
// or tooLong's when there was no sign of the caller for that long.
// tell says whether the call still goes on.
func (s *Server) attend(ctx context.Context, tooLong func(time.Duration) error, work func(tell func(sign) bool) error) error {
	signs, ended := make(chan sign), make(chan error, 1)
	over := make(chan struct{})
	defer close(over)
	tell := func(is sign) bool {
		select {
		case signs <- is:
			return true
		case <-over:
			return false
		}
	}
	s.work.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				ended <- s.recovered(ctx, value)
			}
		}()
		ended <- work(tell)
	})
	limit := patience * s.cfg.SendTimeout
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case is := <-signs:
			if timer.Stop(); is == moved {
				timer.Reset(limit)
			} else {
				ctx = connection(ctx)
			}
		case <-timer.C:
			return tooLong(limit)
		}
	}
}
