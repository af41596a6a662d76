package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/taskpool-dev/taskpool/pool"
)

// Serve serves gRPC on one listener and HTTP on the other (nil: none) until ctx
// ends, Drain is called or a listener fails; then it drains, for DrainTimeout at
// most. It closes the listeners, and returns nil when all calls came to an end.
func (s *Server) Serve(ctx context.Context, grpcListener, httpListener net.Listener) error {
	if err := s.start(); err != nil {
		_ = grpcListener.Close()
		if httpListener != nil {
			_ = httpListener.Close()
		}
		return err
	}
	ended := make(chan error, 2)
	serving := 1
	go func() { ended <- s.grpc.Serve(grpcListener) }()
	if httpListener != nil {
		serving++
		go func() { ended <- s.http.Serve(httpListener) }()
	}
	var failed error
	select {
	case <-ctx.Done():
	case <-s.draining.Done():
	case failed = <-ended:
		serving--
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.DrainTimeout)
	defer cancel()
	all := []error{unlessClosed(failed), s.Drain(drain)}
	if errors.Is(all[1], errStuck) {
		return errors.Join(all...) // the listeners' goroutines wait for the stuck calls
	}
	for range serving {
		all = append(all, unlessClosed(<-ended))
	}
	return errors.Join(all...)
}

func unlessClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// start begins to watch the store's health, once.
func (s *Server) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drained {
		return &pool.UnavailableError{Reason: pool.ReasonDraining}
	}
	if !s.started {
		s.started = true
		s.work.Go(s.watchHealth)
	}
	return nil
}

// Local returns a connection to the server within the process, without a
// network but through the same interceptors and limits. The caller closes it.
// It works until the server drains, with or without Serve.
func (s *Server) Local(options ...grpc.DialOption) (*grpc.ClientConn, error) {
	if err := s.start(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.local == nil {
		s.local = bufconn.Listen(1 << 20)
		listener := s.local
		s.work.Go(func() { _ = s.grpc.Serve(listener) }) // ends with the drain
	}
	listener := s.local
	s.mu.Unlock()
	conn, err := grpc.NewClient("passthrough:///local", append([]grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessageBytes), grpc.MaxCallSendMsgSize(MaxMessageBytes)),
	}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("connect within the process: %w", err)
	}
	return conn, nil
}
