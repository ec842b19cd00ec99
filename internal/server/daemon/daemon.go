// Package daemon assembles the service: configuration, store, operations,
// ways in, shutdown. A Daemon is a value, so that tests start it as it is. It
// decides nothing that a caller could notice: what is done, and who may, is the
// business of the packages it puts together.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/plan"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/billing"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/mcpserver"
	"github.com/svc-hq/svc/internal/server/notify"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/rest"
	"github.com/svc-hq/svc/internal/server/ship"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/trail"
	"github.com/svc-hq/svc/internal/server/vault"
)

const (
	drainTimeout  = 10 * time.Second
	flushEvery    = 10 * time.Second
	sealEvery     = time.Second
	sweepEvery    = time.Minute
	analyzeEvery  = 24 * time.Hour
	tidyEvery     = time.Hour
	maxHeaderSize = 16 << 10
)

// trusting is true in a build that is not for use.
var trusting bool

// A Daemon is a running service.
type Daemon struct {
	Ops  *ops.Rooms
	Live *live.Set // what it knows of live work
	URL  string    // where it listens

	MetricsURL string // where metrics are; empty if nowhere

	cfg      Config
	log      *slog.Logger
	store    *store.Store
	auth     *auth.Authenticator
	events   *eventlog.Log
	queue    *jobs.Queue
	notifier *notify.Notifier
	http     *http.Server
	rest     *rest.Server
	listener net.Listener
	metrics  *http.Server // nil where none are served
	watch    net.Listener // of metrics
	draining chan struct{}
	stopWork context.CancelFunc
	stopped  sync.Once
	work     sync.WaitGroup
	served   chan error
	trace    *sdktrace.TracerProvider // nil where there is no collector
	local    *local                   // nil unless it serves one person
	shipper  *ship.Shipper            // nil where nothing is shipped
}

// Open opens the database of a configuration, making its folder first.
func Open(ctx context.Context, cfg Config) (*store.Store, error) {
	if cfg.Embedded() {
		if err := os.MkdirAll(filepath.Dir(cfg.Database), 0o700); err != nil {
			return nil, fmt.Errorf("make the data folder: %w; name one that you can write to with --data", err)
		}
	}
	st, err := store.Open(ctx, cfg.Database)
	if err == nil && cfg.Clock != nil {
		st.SetClock(cfg.Clock)
	}
	return st, err
}

// Start opens the database, applies migrations and begins to serve.
func Start(ctx context.Context, cfg Config, log *slog.Logger) (*Daemon, error) {
	st, err := Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	l, err := cfg.Listen, error(nil)
	if l == nil {
		l, err = net.Listen("tcp", cfg.Addr)
	}
	if err != nil {
		st.Close()
		return nil, fmt.Errorf("listen on %s: %w; choose another address with --addr, such as 127.0.0.1:7781", cfg.Addr, err)
	}
	d := &Daemon{cfg: cfg, log: log, store: st, listener: l, URL: "http://" + l.Addr().String(),
		draining: make(chan struct{}), served: make(chan error, 1)}
	v, err := d.prepare(ctx)
	if err != nil {
		st.Close()
		l.Close()
		if d.watch != nil {
			d.watch.Close()
		}
		return nil, err
	}
	d.assemble(v)
	if err := d.Ops.Money.ReconcilePlans(ctx); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// prepare sees to all that must be in order before the first request.
func (d *Daemon) prepare(ctx context.Context) (v *vault.Vault, err error) {
	cfg := d.cfg
	if d.watch, err = listenForMetrics(cfg, d.log); err != nil {
		return nil, err
	}
	if cfg.OTLPEndpoint != "" {
		if d.trace, err = startTracing(cfg); err != nil {
			return nil, err
		}
	}
	if cfg.PublicURL == reachable(cfg.Addr) {
		d.cfg.PublicURL = reachable(d.listener.Addr().String()) // the port may have been 0
	}
	if v, err = openVault(ctx, cfg, d.store); err != nil {
		return nil, err
	}
	if cfg.Embedded() { // before anybody waits; PostgreSQL gathers by itself, too
		if err := d.store.Analyze(ctx); err != nil {
			return nil, err
		}
	}
	if err := d.store.Join(ctx); err != nil {
		return nil, err
	}
	return v, d.startShipping(ctx)
}

func (d *Daemon) assemble(v *vault.Vault) {
	d.events = eventlog.New(d.store, d.log)
	d.auth = auth.New(d.store, d.cfg.PublicURL)
	d.Live = live.New(d.store)
	d.Live.Trusting.Store(trusting)
	d.events.Woken = d.Live.Stale
	allow, _ := outbound.ParseAllow(d.cfg.Allow) // checked with the configuration
	out := outbound.New(outbound.Policy{Allow: allow})
	providers, _ := d.cfg.openID() // likewise
	d.queue = jobs.NewQueue(d.store, d.log)
	d.Ops = ops.New(d.store, d.events, d.Live, d.log, ops.Config{
		PublicURL: d.cfg.PublicURL,
		OIDC:      providers,
		Vault:     v,
		Outbound:  out,
		Stripe:    d.cfg.Stripe.stripe(out),
		GitHub:    githost.NewGitHub(out.Transport()),
		GitLab:    githost.NewGitLab(out.Transport()),
		GitHubURL: cmp.Or(d.cfg.GitHubURL, "https://github.com"),
		Mail:      d.cfg.SMTPAddr != "",
		SignUp:    coord.SignUp(d.cfg.SignUp),
		Ready:     map[string]func(context.Context) (string, error){"jobs": d.queue.Ready, "log": d.events.Ready},
	})
	d.Ops.Ground.Forget = d.forget
	if d.cfg.Leases != nil {
		d.Ops.Ground.Leases.Times = *d.cfg.Leases
	}
	a := api.New(d.Ops)
	files := openFiles()
	limits := api.DefaultLimits()
	if d.cfg.Limits != nil {
		limits = *d.cfg.Limits
	}
	a.Limit(leaveRoom(limits, files))
	r := rest.New(a, d.auth, d.log, d.cfg.Version)
	r.Draining, r.TrustProxy, r.KeepStreams = d.draining, d.cfg.TrustProxy, d.cfg.local != nil
	d.rest = r

	mux := http.NewServeMux()
	routes := r.Handler()
	for _, path := range []string{api.SCIM, "/healthz", "/readyz", "/openapi.json", "/docs"} {
		mux.Handle(path, routes)
	}
	mux.Handle("/mcp", mcpserver.New(a, d.auth, d.log, d.cfg.PublicURL, d.cfg.Version))
	mux.Handle("/.well-known/", r.NotFound())
	mux.Handle("/cli/", releases(d.cfg.Releases, d.cfg.Version))
	m := newMetrics(watched{a, d.store, d.Live, d.queue, d.Ops.Money.Strangers, d.shippingAge})
	d.outgoing(v, out, m)
	d.serveMetrics(m)
	mux.Handle("/metrics", r.NotFound()) // the dashboard would answer it with a page
	if d.cfg.Pages != nil {
		mux.Handle("/", d.cfg.Pages)
	}
	d.http = &http.Server{
		Handler:           d.cfg.local.around(followed(d.traced(requestID(m.observe(secured(routes, mux), d.requestLog()))))),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      time.Minute, // for whoever asks and does not read; streams and waits set their own
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    maxHeaderSize,
		ErrorLog:          slog.NewLogLogger(d.log.Handler(), slog.LevelDebug),
	}
	door := doorman{server: d.http, most: int64(half(files))}
	d.http.ConnState = door.watch
	ctx, cancel := context.WithCancel(context.Background())
	d.stopWork = cancel
	if d.trace != nil {
		ctx = trail.Traced(ctx, d.trace)
	}
	d.background(ctx, d.store.Attend)
	d.background(ctx, d.events.Run)
	d.background(ctx, d.runJobs)
	d.background(ctx, d.notifier.Run)
	d.background(ctx, func(ctx context.Context) { d.every(ctx, flushEvery, "note token uses", d.auth.Flush) })
	d.background(ctx, func(ctx context.Context) { d.every(ctx, flushEvery, "note heartbeats", d.Ops.Work.FlushBeats) })
	d.background(ctx, func(ctx context.Context) { d.every(ctx, sealEvery, "seal the audit log", d.Ops.Outgoing.Seal) })
	d.background(ctx, func(ctx context.Context) { d.every(ctx, sweepEvery, "sweep what expired", d.Ops.Work.Sweep) })
	d.background(ctx, func(ctx context.Context) { d.every(ctx, analyzeEvery, "gather statistics", d.store.Analyze) })
	d.background(ctx, func(ctx context.Context) { d.every(ctx, tidyEvery, "tidy up", d.Ops.Outgoing.Tidy) })
	if d.shipper != nil {
		d.background(ctx, func(ctx context.Context) { d.every(ctx, shipLateEvery, "shipping", d.shipper.Late) })
	}
	d.background(ctx, d.Ops.Ground.Leases.Run)
	d.background(ctx, d.watchStandings)
	d.background(ctx, d.Live.Listen)
	d.background(ctx, d.Ops.Moments.KeepWarm)
	go func() { d.served <- d.http.Serve(d.listener) }()
}

// stripe returns the configured Stripe account, or nil.
func (c StripeConfig) stripe(out *outbound.Client) *billing.Stripe {
	if c.Key == "" {
		return nil
	}
	return billing.New(billing.Config{Key: c.Key, WebhookSecret: c.WebhookSecret, URL: c.URL, Transport: out.Transport(), Tax: c.Tax,
		Prices: map[string]string{plan.Team: c.PriceTeam, plan.Business: c.PriceBusiness}})
}

func (d *Daemon) background(ctx context.Context, fn func(context.Context)) {
	d.work.Go(func() { fn(ctx) })
}

func (d *Daemon) every(ctx context.Context, period time.Duration, what string, fn func(context.Context) error) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := fn(ctx); err != nil && ctx.Err() == nil {
				d.log.Warn(what+" failed; trying again later", "err", err)
			}
		}
	}
}

// forget drops what is remembered of an org's tokens, here at once and on
// other replicas in a moment. One that does not hear of it notices when what
// it remembers is a second old.
func (d *Daemon) forget(org string) {
	d.auth.Forget(org)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := d.store.Notify(ctx, store.NewStandings, org); err != nil {
		d.log.Warn("other replicas were not told of a changed standing", "err", err)
	}
}

// watchStandings drops remembered tokens when another replica revoked them.
func (d *Daemon) watchStandings(ctx context.Context) {
	d.store.Listen(ctx, store.NewStandings, func(text string) {
		for _, org := range store.Orgs(text) {
			d.auth.Forget(org)
		}
	}, func(error) {})
}

// Wait serves until ctx ends, then drains: streams are told to reconnect,
// requests under way are finished, noted uses are written.
func (d *Daemon) Wait(ctx context.Context) error {
	select {
	case err := <-d.served:
		d.close(context.Background())
		return err
	case <-ctx.Done():
	}
	return d.Stop()
}

// Stop drains and closes the service. Stopping twice is stopping once.
func (d *Daemon) Stop() (err error) {
	d.stopped.Do(func() { err = d.stop() })
	return err
}

func (d *Daemon) stop() error {
	d.log.Info("shutting down", "drain", drainTimeout.String())
	close(d.draining)
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	err := d.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		d.log.Warn("some requests did not finish in time")
		d.http.Close()
		err = nil
	}
	d.rest.Wait(ctx) // for streams to say goodbye
	return errors.Join(err, d.close(ctx))
}

func (d *Daemon) close(ctx context.Context) error {
	d.stopWork()
	if d.metrics != nil {
		d.metrics.Close()
	}
	d.work.Wait()
	flushed, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := d.Ops.Outgoing.Seal(flushed); err != nil { // the next start goes on with it
		d.log.Debug("some events are not sealed yet", "err", err)
	}
	err := errors.Join(d.auth.Flush(flushed), d.Ops.Work.FlushBeats(flushed), d.endTracing(flushed))
	d.stopShipping(flushed)
	return errors.Join(err, d.store.Close())
}

// Handler returns what answers the requests, for tests that listen themselves.
func (d *Daemon) Handler() http.Handler { return d.http.Handler }

// Now returns the service's time, for tests.
func (d *Daemon) Now() coord.Time { return d.store.Now() }
