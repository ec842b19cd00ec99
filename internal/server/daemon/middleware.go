package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.26.0"

	"github.com/svc-hq/svc/internal/server/api"
)

// requestID gives every request an id that logs and answers share. A proxy's
// id is taken over where it looks like one.
func requestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if len(id) == 0 || len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			id = uuid.NewString()
		}
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r)
	})
}

// secured sets the headers that make browsers careful.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}

// Metrics carry no org, user or path: they tell how the service fares, not
// what anybody does.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	jobs     *prometheus.HistogramVec
}

func newMetrics(a *api.API) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_http_requests_total",
			Help: "Requests by route and status.",
		}, []string{"route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "svc_http_request_seconds", Help: "Time to answer by route.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60}}, []string{"route"}),
		jobs: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "svc_job_seconds", Help: "Time of background jobs by kind and result.",
			Buckets: []float64{.005, .025, .1, .5, 2.5, 15, 60}}, []string{"kind", "result"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "svc_http_requests_in_flight",
			Help: "Requests being answered; streams are among svc_calls_at_work.",
		}),
	}
	m.registry.MustRegister(&loadCollector{a}, m.requests, m.duration, m.inFlight, m.jobs, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// A loadCollector tells how much there is to do.
type loadCollector struct{ api *api.API }

var (
	atWork  = prometheus.NewDesc("svc_calls_at_work", "Calls that work, by class; waiting are streams and waits.", []string{"class"}, nil)
	queued  = prometheus.NewDesc("svc_calls_queued", "Calls that wait for room, by class.", []string{"class"}, nil)
	refused = prometheus.NewDesc("svc_calls_refused_total", "Calls refused with 503 for want of room, by class.", []string{"class"}, nil)
)

func (c *loadCollector) Describe(to chan<- *prometheus.Desc) {
	to <- atWork
	to <- queued
	to <- refused
}

func (c *loadCollector) Collect(to chan<- prometheus.Metric) {
	for class, load := range c.api.Load() {
		to <- prometheus.MustNewConstMetric(atWork, prometheus.GaugeValue, float64(load.Work), class.String())
		to <- prometheus.MustNewConstMetric(queued, prometheus.GaugeValue, float64(load.Queue), class.String())
		to <- prometheus.MustNewConstMetric(refused, prometheus.CounterValue, float64(load.Refused), class.String())
	}
}

func (m *metrics) job(kind, result string, took time.Duration) {
	m.jobs.WithLabelValues(kind, result).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) observe(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		rec := &recorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		route := r.Pattern
		if route == "" {
			route = "other"
		}
		m.requests.WithLabelValues(route, strconv.Itoa(rec.status)).Inc()
		took := time.Since(start)
		m.duration.WithLabelValues(route).Observe(took.Seconds())
		// The route, not the address: that may hold what must not be logged.
		if !log.Enabled(r.Context(), slog.LevelDebug) {
			return
		}
		log.DebugContext(r.Context(), "answered", "route", route, "status", rec.status, "ms", took.Milliseconds(), "request_id",
			w.Header().Get("X-Request-Id"))
	})
}

// A recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// startTracing sends traces to the configured collector.
func startTracing(ctx context.Context, cfg Config) (stop func(context.Context) error, err error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.OTLPEndpoint))
	if err != nil {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName("svcd"), semconv.ServiceVersion(cfg.Version))))
	otel.SetTracerProvider(provider)
	return provider.Shutdown, nil
}

func (d *Daemon) traced(next http.Handler) http.Handler {
	if d.cfg.OTLPEndpoint == "" {
		return next
	}
	return otelhttp.NewHandler(next, "http", otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
		return r.Method + " " + r.Pattern
	}))
}
