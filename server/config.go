package server

import (
	"log/slog"
	"time"
)

// MaxMessageBytes is how large a message can be, either way.
const MaxMessageBytes = 16 << 20

// Config is how a server is to run. The zero Config is a good one.
type Config struct {
	// Logger hears of faults and slow calls, and at debug level of some of the
	// others; nil: nobody.
	Logger *slog.Logger
	// SlowCall is how long a unary call takes to be logged; 0: 1 s.
	SlowCall time.Duration
	// LogSample is that one in so many unremarkable calls is logged at debug
	// level; 0: 1 in 100.
	LogSample int
	// DrainTimeout is how long calls under way may go on when the server stops;
	// 0: 10 s, below: not at all.
	DrainTimeout time.Duration
	// MaxConcurrentStreams of one connection; 0: 1,000.
	MaxConcurrentStreams uint32
	// MaxConnectionAge ends connections gracefully, so that clients behind a
	// balancer spread again; 0: never. MaxConnectionAgeGrace is how long their
	// calls may go on then; 0: for ever.
	MaxConnectionAge      time.Duration
	MaxConnectionAgeGrace time.Duration
	// WatchProgress is how long a watch is silent before it is told that nothing
	// happened, a fifth more or less; 0 and below: 15 s.
	WatchProgress time.Duration
	// SendTimeout is how long the caller of a watch may take no message while one
	// waits; then the watch ends. That of an export may ten times as long. 0 and
	// below: 30 s.
	SendTimeout time.Duration
	// Tracing sends OpenTelemetry spans by OTLP over gRPC, to where the standard
	// OTEL_EXPORTER_OTLP_* variables say. Off, nothing of it runs.
	Tracing bool
	// Profiling serves Go's profiles at /debug/pprof/ of the HTTP listener. They
	// tell much of the process and cost time: off by default.
	Profiling bool
	// Version is told by metrics and the page at "/".
	Version string
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.SlowCall = orDefault(c.SlowCall, time.Second)
	c.LogSample = orDefault(c.LogSample, 100)
	c.DrainTimeout = orDefault(c.DrainTimeout, 10*time.Second)
	c.MaxConcurrentStreams = orDefault(c.MaxConcurrentStreams, 1000)
	c.WatchProgress = orDefault(max(c.WatchProgress, 0), 15*time.Second)
	c.SendTimeout = orDefault(max(c.SendTimeout, 0), 30*time.Second)
	c.Version = orDefault(c.Version, "devel")
	return c
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// streamWorkers is how many goroutines are kept to run calls, which spares each
// call the growing of a new stack. A change keeps its worker while it waits for the
// disk, and a stream for as long as it lasts, so there are many; a call that finds
// none gets a goroutine of its own.
func streamWorkers() uint32 { return 512 }
