package daemon

import (
	"cmp"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/rest"
	"github.com/svc-hq/svc/internal/server/trail"
)

// Each request takes an id, and each record: random bytes are fetched for sixteen
// of them at once. They are no secrets.
func init() { uuid.EnableRandPool() }

// requestID gives every request an id that logs and answers share. A proxy's
// id is taken over where it looks like one.
func requestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if len(id) == 0 || len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			id = uuid.NewString()
		}
		w.Header()["X-Request-Id"] = []string{id}
		next.ServeHTTP(w, r)
	})
}

// secured sets the headers that make browsers careful. What nearly every request
// asks for, under /v1, is served by routes, which has a multiplexer of its own and
// answers with data, and with pages that it secures itself.
func secured(routes, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Content-Type-Options"] = nosniff
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			routes.ServeHTTP(w, r)
			return
		}
		rest.SecurePage(w.Header())
		others.ServeHTTP(w, r)
	})
}

var nosniff = []string{"nosniff"} // made once for all

// Metrics carry no org, user or path: they tell how the service fares, not
// what anybody does.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge
	jobs     *prometheus.HistogramVec
	sent     *prometheus.CounterVec
	routes   known[answer, tally]
}

// known remembers what counts something: to look it up by its labels takes longer
// than to count.
type known[K comparable, V any] struct {
	mu  sync.RWMutex
	all map[K]V
}

func (k *known[K, V]) of(key K, lookUp func(K) V) V {
	k.mu.RLock()
	v, ok := k.all[key]
	k.mu.RUnlock()
	if ok {
		return v
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil {
		k.all = map[K]V{}
	}
	k.all[key] = lookUp(key)
	return k.all[key]
}

// An answer is what requests are counted by.
type answer struct {
	route  string
	status int
}

// A tally counts the requests of an answer and their time.
type tally struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

func (m *metrics) tally(of answer) tally {
	return tally{m.requests.WithLabelValues(of.route, strconv.Itoa(of.status)), m.duration.WithLabelValues(of.route)}
}

func newMetrics(of watched) *metrics {
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
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "svc_deliveries_total",
			Help: "Tries to deliver to webhooks, chat and mail, by outcome."}, []string{"to", "outcome"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "svc_http_requests_in_flight",
			Help: "Requests being answered; streams are among svc_calls_at_work.",
		}),
	}
	m.registry.MustRegister(&loadCollector{of.api}, m.requests, m.duration, m.inFlight, m.jobs, m.sent, &productCollector{of},
		&jobGauge{of.queue, of.store.Now}, &strangerGauge{of.strangers}, shipGauge{of.shipping}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	decided, shared := newDecisions(m.registry), newCommits(m.registry)
	of.api.Decided, of.store.Batched, of.queue.Observe = decided.count, shared.count, m.job
	return m
}

// A loadCollector tells how much there is to do.
type loadCollector struct{ api *api.API }

var (
	atWork  = prometheus.NewDesc("svc_calls_at_work", "Calls that work, by class; waiting are streams and waits.", []string{"class"}, nil)
	queued  = prometheus.NewDesc("svc_calls_queued", "Calls that wait for room, by class.", []string{"class"}, nil)
	refused = prometheus.NewDesc("svc_calls_refused_total", "Calls refused with 503 because there was no room, by class.",
		[]string{"class"}, nil)
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

func (m *metrics) delivery(to string, ok bool) {
	outcome := "delivered"
	if !ok {
		outcome = "failed"
	}
	m.sent.WithLabelValues(to, outcome).Inc()
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// followed begins the trail of each request.
func followed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, _ := trail.Begin(r.Context(), time.Now())
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// observe counts each request and has one line written of it.
func (m *metrics) observe(next http.Handler, line func(*http.Request, string, int, time.Duration, string)) http.Handler {
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
		took := time.Since(start)
		counts := m.routes.of(answer{route, rec.status}, m.tally)
		counts.requests.Inc()
		counts.duration.Observe(took.Seconds())
		line(r, route, rec.status, took, w.Header().Get("X-Request-Id"))
	})
}

// requestLog writes one line about each request: what was asked, by whom, what
// came of it and how long it took. It has the operation, not the address, and
// ids, not names: those may hold what must not be logged, or be erased. Probes
// come by the second and are told at debug; so is everything on one person's own
// machine, where nobody reads it.
func (d *Daemon) requestLog() func(*http.Request, string, int, time.Duration, string) {
	return func(r *http.Request, route string, status int, took time.Duration, id string) {
		level := slog.LevelInfo
		if d.cfg.local != nil || route == "GET /healthz" || route == "GET /readyz" {
			level = slog.LevelDebug
		}
		if !d.log.Enabled(r.Context(), level) {
			return
		}
		seen := trail.Of(r.Context()).Noted()
		attrs := append(make([]slog.Attr, 0, 7), slog.String("operation", cmp.Or(seen.Operation, route)), slog.Int("status", status),
			slog.Float64("ms", float64(took.Microseconds())/1000), slog.String("request_id", id))
		for _, who := range [...]struct{ key, id string }{{"org", seen.Org}, {"user", seen.User}, {"token", seen.Token}} {
			if who.id != "" {
				attrs = append(attrs, slog.String(who.key, who.id))
			}
		}
		line := slog.NewRecord(time.Now(), level, "request", 0) // LogAttrs would look up where it is called
		line.AddAttrs(attrs...)
		d.log.Handler().Handle(r.Context(), line)
	}
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
