package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	version, _ := build()
	s, err := server.New(registry, server.Config{
		Logger: logger, DrainTimeout: max(f.drainTimeout, time.Nanosecond), Tracing: f.tracing, Version: version,
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
	logger.Info("opened", "data", f.data, "limits", raisedOrLowered(task.ResolveLimits(nil, a.env)))
	if _, err := fmt.Fprintln(a.err, listening(grpcListener.Addr().String(), httpAddr, f.data)); err != nil {
		logger.Warn("the line that says so could not be written", "error", err)
	}
	return s.Serve(ctx, grpcListener, httpListener)
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
func (f *serveFlags) listen(ctx context.Context) (grpcListener, httpListener net.Listener, err error) {
	var config net.ListenConfig
	if grpcListener, err = config.Listen(ctx, "tcp", f.grpcAddr); err != nil {
		return nil, nil, fmt.Errorf("%w; choose another address with --grpc-addr (port 0 takes a free one)", err)
	}
	if f.httpAddr == "" {
		return grpcListener, nil, nil
	}
	if httpListener, err = config.Listen(ctx, "tcp", f.httpAddr); err != nil {
		_ = grpcListener.Close()
		return nil, nil, fmt.Errorf("%w; choose another address with --http-addr (port 0 takes a free one, \"\" turns it off)", err)
	}
	return grpcListener, httpListener, nil
}

// logger writes to standard error.
func (f *serveFlags) logger(a *app) *slog.Logger {
	options := &slog.HandlerOptions{Level: f.logLevel}
	if f.logFormat == "json" {
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
