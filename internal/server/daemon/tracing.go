package daemon

import (
	"context"
	"net/http"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.26.0"

	"github.com/svc-hq/svc/internal/server/traces"
	"github.com/svc-hq/svc/internal/server/trail"
)

// startTracing sends traces to the configured collector.
func startTracing(cfg Config) (*sdktrace.TracerProvider, error) {
	exporter, err := traces.To(cfg.OTLPEndpoint, os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	if err != nil {
		return nil, err
	}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName("svcd"), semconv.ServiceVersion(cfg.Version)))), nil
}

// traced has each request be a span, which goes on with the trace that a caller
// began.
func (d *Daemon) traced(next http.Handler) http.Handler {
	if d.trace == nil {
		return next
	}
	return otelhttp.NewHandler(next, "http", otelhttp.WithSpanNameFormatter(spanName), otelhttp.WithTracerProvider(d.trace),
		otelhttp.WithPropagators(propagation.TraceContext{}))
}

// endTracing sends what is left.
func (d *Daemon) endTracing(ctx context.Context) error {
	if d.trace == nil {
		return nil
	}
	return d.trace.Shutdown(ctx)
}

// spanName is the operation: a tool, or the route, which begins with the method
// where it has one.
func spanName(_ string, r *http.Request) string {
	if name := trail.Of(r.Context()).Noted().Operation; name != "" {
		return name
	}
	if strings.HasPrefix(r.Pattern, r.Method+" ") {
		return r.Pattern
	}
	return strings.TrimSpace(r.Method + " " + r.Pattern)
}
