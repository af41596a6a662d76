package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/store/memory"
	"github.com/taskpool-dev/taskpool/pool/store/sqlite"
	"github.com/taskpool-dev/taskpool/pool/task"
	"github.com/taskpool-dev/taskpool/pool/taskpb"
	"github.com/taskpool-dev/taskpool/server"
)

// serve runs a server until ctx ends. What it opens it closes in reverse: the
// server first, which lets calls end, then the pools, then the store.
func (a *app) serve(ctx context.Context, f *serveFlags) (err error) {
	logger := f.logger(a)
	defer func() {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // it was asked to end before it could begin
		}
	}()
	kept, closeStore, err := openStore(ctx, f.data, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	registry, err := pool.Open(ctx, pool.Config{Store: kept, Codec: taskpb.Codec{}, Getenv: a.env, Logger: logger})
	if err != nil {
		return err
	}
	defer registry.Close()
	name, _ := build()
	s, err := server.New(registry, server.Config{ //nolint:contextcheck // what it starts outlives the call; Drain ends it
		Logger: logger, DrainTimeout: max(f.drainTimeout, time.Nanosecond), Tracing: f.tracing, Profiling: f.profiling, Version: name,
	})
	if err != nil {
		return err
	}
	grpcListener, httpListener, err := f.listen(ctx)
	if err != nil {
		return errors.Join(err, s.Drain(ctx))
	}
	httpAddr := ""
	if httpListener != nil {
		httpAddr = httpListener.Addr().String()
	}
	logger.Info("opened", "data", f.where(), "limits", raisedOrLowered(task.ResolveLimits(nil, a.env)))
	if _, err := fmt.Fprintln(a.err, listening(grpcListener.Addr().String(), httpAddr, f.data)); err != nil {
		logger.Warn("the line that says so could not be written", "error", err)
	}
	return s.Serve(ctx, grpcListener, httpListener)
}

// where is the data directory, whatever the working directory is.
func (s *serveFlags) where() string {
	if path, err := filepath.Abs(s.data); err == nil && s.data != inMemory {
		return path
	}
	return s.data
}

// openStore opens what keeps the data, and gives what closes it.
func openStore(ctx context.Context, data string, logger *slog.Logger) (store.Store, func() error, error) {
	if data == inMemory {
		return memory.New(), func() error { return nil }, nil
	}
	s, err := sqlite.Open(ctx, data, sqlite.WithLogger(logger))
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// listen takes the addresses; the second listener is nil where HTTP is off.
func (s *serveFlags) listen(ctx context.Context) (grpcListener, httpListener net.Listener, err error) {
	var config net.ListenConfig
	if grpcListener, err = config.Listen(ctx, "tcp", s.grpcAddr); err != nil {
		return nil, nil, fmt.Errorf("%w; choose another address with --grpc-addr (port 0 takes a free one)", err)
	}
	if s.httpAddr == "" {
		return grpcListener, nil, nil
	}
	if httpListener, err = config.Listen(ctx, "tcp", s.httpAddr); err != nil {
		_ = grpcListener.Close()
		return nil, nil, fmt.Errorf("%w; choose another address with --http-addr (port 0 takes a free one, \"\" turns it off)", err)
	}
	return grpcListener, httpListener, nil
}

// logger writes to standard error.
func (s *serveFlags) logger(a *app) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.logLevel}
	if s.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(a.err, options))
	}
	return slog.New(slog.NewTextHandler(a.err, options))
}

// raisedOrLowered are the limits that differ from the defaults, as the
// environment has them.
func raisedOrLowered(limits task.Limits) string {
	usual := map[string]int{}
	for name, value := range task.DefaultLimits().All() {
		usual[name] = value
	}
	text := "default"
	for name, value := range limits.All() {
		if value == usual[name] {
			continue
		}
		text += fmt.Sprintf(", but %s=%d", name, value)
	}
	return text
}
