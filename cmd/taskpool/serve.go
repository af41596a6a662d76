package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// defaultData is where a server keeps what it is told, in the directory it is
// started in.
const defaultData = "./taskpool-data"

// inMemory as the data directory keeps nothing.
const inMemory = "memory"

// serveFlags are the flags of a server.
type serveFlags struct {
	data               string
	grpcAddr, httpAddr string
	auth               string
	drainTimeout       time.Duration
	logLevel           slog.Level
	logFormat          string
	tracing, profiling bool
	openToNetwork      bool
}

func (a *app) serveCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start a server",
		Long: `Start a server. When it listens, it says so on standard error:

  taskpool: listening grpc=127.0.0.1:7420 http=127.0.0.1:7421 data=./taskpool-data

It ends on SIGTERM or an interrupt, after calls under way were answered; a
second signal ends it at once. What was acknowledged is on disk either way.

Without authentication everybody who reaches it may read and change everything,
in anybody's name. So it listens on this machine only.`,
		Args: noArgs,
	}
	cmd.RunE = a.action(func(ctx context.Context, _ *cobra.Command, _ []string) error {
		if err := flags.check(); err != nil {
			return err
		}
		return a.serve(ctx, &flags)
	})
	flags.register(cmd.Flags())
	offer(cmd, "auth", fixed("none"))
	offer(cmd, "log-level", fixed("debug", "info", "warn", "error"))
	offer(cmd, "log-format", fixed("text", "json"))
	return cmd
}

func (s *serveFlags) register(f *pflag.FlagSet) {
	dataFlag(f, &s.data, "`directory` for the data; it is made where it is missing; memory: keep nothing")
	f.StringVar(&s.grpcAddr, "grpc-addr", "127.0.0.1:7420", "`address` for gRPC; port 0 takes a free one")
	f.StringVar(&s.httpAddr, "http-addr", "127.0.0.1:7421", "`address` for metrics and health; port 0 takes a free one, \"\": none")
	f.StringVar(&s.auth, "auth", "none", "how callers prove who they are: none, they are believed")
	f.DurationVar(&s.drainTimeout, "drain-timeout", 10*time.Second, "how long calls may take to end when the server is stopped")
	f.TextVar(&s.logLevel, "log-level", slog.LevelInfo, "what to log: debug, info, warn or error")
	f.StringVar(&s.logFormat, "log-format", "text", "how to log: text or json")
	f.BoolVar(&s.tracing, "tracing", false, "send OpenTelemetry traces to where OTEL_EXPORTER_OTLP_ENDPOINT says")
	f.BoolVar(&s.profiling, "pprof", false, "serve Go profiles at /debug/pprof/ of the HTTP address, to whoever reaches it")
	f.BoolVar(&s.openToNetwork, "allow-unauthenticated-network", false, "listen beyond this machine although everybody who reaches it may read and change everything")
}

// dataFlag adds the flag that names the data directory.
func dataFlag(f *pflag.FlagSet, data *string, help string) {
	f.StringVar(data, "data", defaultData, help)
}

// check refuses values that the flags themselves take.
func (s *serveFlags) check() error {
	switch s.auth {
	case "none":
	case "token", "mtls":
		return usagef("--auth %s is not available in this version; only none is", s.auth)
	default:
		return usagef("--auth %q: there are none, token and mtls, and only none is available in this version", s.auth)
	}
	if s.data == "" {
		return usagef("--data needs a directory, or the word memory")
	}
	if s.drainTimeout < 0 {
		return usagef("--drain-timeout %s: a time to wait is not negative", s.drainTimeout)
	}
	if s.logFormat != "text" && s.logFormat != "json" {
		return usagef("--log-format %q is none of text, json", s.logFormat)
	}
	for _, addr := range []struct{ flag, value string }{{"grpc-addr", s.grpcAddr}, {"http-addr", s.httpAddr}} {
		if err := s.checkAddr(addr.flag, addr.value); err != nil {
			return err
		}
	}
	return nil
}

func (s *serveFlags) checkAddr(flag, value string) error {
	if value == "" && flag == "http-addr" {
		return nil
	}
	host, _, err := net.SplitHostPort(value)
	if err != nil {
		return usagef("--%s %q is no address; write HOST:PORT, such as 127.0.0.1:7420", flag, value)
	}
	if s.openToNetwork || isLoopback(host) {
		return nil
	}
	return usagef("--%s %s can be reached from other machines, and everybody who reaches it may read and change everything, in anybody's name; listen on 127.0.0.1, or, behind something that keeps others out, add --allow-unauthenticated-network", flag, value)
}

// isLoopback tells whether only this machine reaches the host. An empty one
// means all addresses.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// listening is the line that says so.
func listening(grpcAddr, httpAddr, data string) string {
	if httpAddr == "" {
		httpAddr = "off"
	}
	return fmt.Sprintf("taskpool: listening grpc=%s http=%s data=%s", grpcAddr, httpAddr, data)
}
