package daemon

import (
	"context"
	"net/http"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.26.0"

	"github.com/svc-hq/svc/internal/server/traces"
)

// startTracing sends traces to the configured collector, and goes on with those
// that callers began.
func startTracing(cfg Config) (stop func(context.Context) error, err error) {
	exporter, err := traces.To(cfg.OTLPEndpoint, os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"))
	if err != nil {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName("svcd"), semconv.ServiceVersion(cfg.Version))))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}

func (d *Daemon) traced(next http.Handler) http.Handler {
	if d.cfg.OTLPEndpoint == "" {
		return next
	}
	return otelhttp.NewHandler(next, "http", otelhttp.WithSpanNameFormatter(spanName))
}

// spanName is the route, which begins with the method where it has one.
func spanName(_ string, r *http.Request) string {
	if strings.HasPrefix(r.Pattern, r.Method+" ") {
		return r.Pattern
	}
	return strings.TrimSpace(r.Method + " " + r.Pattern)
}
