package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

// observeUnary counts and times a call, and logs it where it is remarkable.
// Nothing is formatted for a call that is not logged.
func (s *Server) observeUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	start := time.Now()
	resp, err := next(ctx, req)
	took := time.Since(start)
	code := codeOf(err)
	s.metrics.answered(info.FullMethod, code, took)
	s.log(ctx, info.FullMethod, code, took, took >= s.cfg.SlowCall && !waits(req), err)
	return resp, err
}

// waits says whether a request asks to wait, so that it is not slow for that.
func waits(req any) bool {
	claim, ok := req.(*taskpoolv1.ClaimTaskRequest)
	return ok && claim.GetWait() != nil
}

// observeStream does the same for a stream, which is never slow: it lasts as
// long as its caller likes.
func (s *Server) observeStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	start := time.Now()
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	err := next(srv, stream)
	took := time.Since(start)
	code := codeOf(err)
	s.metrics.answered(info.FullMethod, code, took)
	s.log(stream.Context(), info.FullMethod, code, took, false, err)
	return err
}

func codeOf(err error) codes.Code {
	if err == nil {
		return codes.OK
	}
	var f *failure
	if errors.As(err, &f) {
		return f.status.Code()
	}
	return status.Code(err)
}

// log tells of a call: always when the server is at fault, also when it was
// slow, else one in LogSample at debug level.
func (s *Server) log(ctx context.Context, method string, code codes.Code, took time.Duration, slow bool, err error) {
	level, text := slog.LevelDebug, "call"
	switch {
	case code == codes.Internal || code == codes.Unknown || code == codes.DataLoss:
		level, text = slog.LevelError, "call failed"
	case code == codes.Unavailable && !drained(err):
		level, text = slog.LevelWarn, "call not served"
	case slow:
		level, text = slog.LevelWarn, "slow call"
	case s.metrics.calls.Add(1)%uint64(s.cfg.LogSample) != 0:
		return
	}
	logger := s.cfg.Logger
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 6)
	attrs = append(attrs, slog.String("method", method), slog.String("code", code.String()), slog.Duration("took", took))
	attrs = append(attrs, s.faultAttrs(err)...)
	logger.LogAttrs(ctx, level, text, attrs...)
}

// drained says whether a call ended because the server does, which is meant to
// be and happens to every stream.
func drained(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.reason == pool.ReasonDraining
}

// faultAttrs tell what went wrong, the cause too, which callers never see.
func (s *Server) faultAttrs(err error) []slog.Attr {
	if err == nil {
		return nil
	}
	var f *failure
	if !errors.As(err, &f) {
		return []slog.Attr{slog.String("error", err.Error())}
	}
	attrs := []slog.Attr{slog.String("reason", string(f.reason))}
	var p *panicError
	if errors.As(f.cause, &p) {
		return append(attrs, slog.Any("panic", p.value), slog.String("stack", string(p.stack)))
	}
	attrs = append(attrs, slog.String("error", cut(f.cause.Error(), maxTextBytes)))
	if cause := errors.Unwrap(f.cause); cause != nil {
		attrs = append(attrs, slog.String("cause", cause.Error()))
	}
	return attrs
}
