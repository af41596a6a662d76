package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	"github.com/taskpool-dev/taskpool/pool"
)

// stuckAfter is how long handlers may take to notice that their connections
// are gone.
const stuckAfter = 5 * time.Second

var errStuck = errors.New("calls were still running after their connections had been closed")

// Drain stops the server: it says so to health checks, takes no new calls, ends
// streams, lets unary calls finish until ctx ends, and then cuts off what still
// runs. It returns when nothing runs any more; an error says that something
// still does. Calling it again waits for the first call's end.
func (s *Server) Drain(ctx context.Context) error {
	s.mu.Lock()
	again := s.drained
	s.drained = true
	s.mu.Unlock()
	if again {
		select {
		case <-s.stopped:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.health.Shutdown()
	s.startDraining()
	err := s.stopGRPC(ctx)
	s.stopHTTP(context.WithoutCancel(ctx))
	if s.trace.shutdown != nil {
		s.trace.shutdown()
	}
	if err != nil {
		return err // and what serves gRPC waits for what is stuck
	}
	s.work.Wait()
	close(s.stopped)
	return nil
}

// stopHTTP ends the HTTP listener last, so that it tells of the drain until the
// end. A scrape under way may take a second.
func (s *Server) stopHTTP(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
}

// stopGRPC waits for the calls under way until ctx ends, then closes their
// connections, which ends their contexts.
func (s *Server) stopGRPC(ctx context.Context) error {
	ended := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	go s.grpc.Stop() // waits for handlers, too
	patience := time.NewTimer(stuckAfter)
	defer patience.Stop()
	select {
	case <-ended:
		return nil
	case <-patience.C:
		return errStuck
	}
}

func (s *Server) isDraining() bool { return s.draining.Err() != nil }

// endOnDrain ends a stream when the server drains: a graceful stop would wait
// for it for ever. Its caller gets UNAVAILABLE and connects again.
func (s *Server) endOnDrain(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(context.WithValue(stream.Context(), connectionKey{}, stream.Context()))
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	err := next(srv, &interruptible{&streamWithContext{stream, ctx}})
	if errors.Is(err, context.Canceled) && s.isDraining() && stream.Context().Err() == nil {
		return &pool.UnavailableError{Reason: pool.ReasonDraining, Cause: err}
	}
	return err
}

// connectionKey is where a stream's context keeps that of its connection.
type connectionKey struct{}

// connection is the context that a stream's is made of: it does not end when the
// server begins to drain, but when the drain's time is over, or the caller has gone.
// It is for work that must not be cut off once it has begun.
func connection(ctx context.Context) context.Context {
	if c, ok := ctx.Value(connectionKey{}).(context.Context); ok {
		return c
	}
	return ctx
}

// interruptible is a stream whose RecvMsg ends with the stream's context; that
// of gRPC ends with the connection alone, and a caller may open a stream and
// never send what it wants.
type interruptible struct{ grpc.ServerStream }

// RecvMsg implements [grpc.ServerStream]. When the context ended first, m may
// still be written to until the handler has returned.
func (i *interruptible) RecvMsg(m any) error {
	received := make(chan error, 1)
	go func() { received <- i.ServerStream.RecvMsg(m) }()
	select {
	case err := <-received:
		return err
	case <-i.Context().Done():
		return i.Context().Err()
	}
}
