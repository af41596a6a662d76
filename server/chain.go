package server

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
)

// chain is the interceptors, outermost first. What is inside may fail or panic:
// observe sees the answer as the caller does, and answer makes of every error
// one of the API's.
func (s *Server) chain() []grpc.ServerOption {
	recovered := recovery.WithRecoveryHandlerContext(s.recovered)
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.unaryChain()...),
		grpc.ChainStreamInterceptor(
			s.observeStream,
			answerStream,
			recovery.StreamServerInterceptor(recovered),
			s.endOnDrain,
			decodeStream,
			identifyStream,
		),
	}
}

func (s *Server) unaryChain() []grpc.UnaryServerInterceptor {
	return []grpc.UnaryServerInterceptor{
		s.observeUnary,
		answerUnary,
		recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(s.recovered)),
		identifyUnary,
		refuseUnknown,
	}
}

// panicError is what a handler's panic is answered with: INTERNAL, as for any
// error that the table does not know.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

func (s *Server) recovered(_ context.Context, value any) error {
	s.metrics.panics.Inc()
	return &panicError{value: value, stack: debug.Stack()}
}

func answerUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	resp, err := next(ctx, req)
	if err != nil {
		return nil, failureOf(err)
	}
	return resp, nil
}

func answerStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := next(srv, stream); err != nil {
		return failureOf(err)
	}
	return nil
}
