package server

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/stats"
)

// tracing is what spans need; zero when they are off.
type tracing struct {
	handler  stats.Handler
	shutdown func()
}

// tracingEnd is how long the last spans have to get away.
const tracingEnd = 3 * time.Second

// newTracing exports spans as the standard variables say: the endpoint, headers
// and certificates by OTEL_EXPORTER_OTLP_…, the sampler by OTEL_TRACES_SAMPLER,
// the service's name by OTEL_SERVICE_NAME. It sets nothing global.
func newTracing(cfg Config) (tracing, error) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "grpc" {
			return tracing{}, fmt.Errorf("%s is %q: spans are sent by OTLP over gRPC alone; set it to grpc, or turn tracing off", name, protocol)
		}
	}
	ctx := context.Background()
	exporter, err := otlptracegrpc.New(ctx)
	if err != nil {
		return tracing{}, fmt.Errorf("start tracing: %w", err)
	}
	described, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "taskpool"), attribute.String("service.version", cfg.Version)),
		resource.WithFromEnv(), // wins over the attributes
		resource.WithTelemetrySDK(),
	)
	if err != nil {
		return tracing{}, fmt.Errorf("start tracing: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))
	return tracing{
		handler: otelgrpc.NewServerHandler(
			otelgrpc.WithTracerProvider(provider),
			otelgrpc.WithMeterProvider(noop.NewMeterProvider()), // /metrics has our own
			otelgrpc.WithPropagators(propagation.TraceContext{}),
		),
		shutdown: func() {
			ctx, cancel := context.WithTimeout(context.Background(), tracingEnd)
			defer cancel()
			if err := provider.Shutdown(ctx); err != nil {
				cfg.Logger.Warn("the last spans could not be sent", "error", err)
				_ = exporter.Shutdown(ctx) // an export is still being tried
			}
		},
	}, nil
}
