// Package edge stands in front of a team's server on a person's machine. It
// keeps a warm connection, writes down reports and sends them later, and
// decides edits on a copy of the live work while the server's lease holds. It
// has no rights of its own: everything goes on with the token that came with
// the request, and nothing is kept of a repository once the server refuses it.
package edge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

const (
	hooksPath  = "/v1/hooks/evaluate"
	followPath = "/v1/work/follow"
	maxBody    = 32 << 20
	budget     = 350 * time.Millisecond // of a hook that says nothing of its own
	slack      = 30 * time.Millisecond  // of it, for the way back
)

// Options are what an edge may be told.
type Options struct {
	Dir    string // where reports wait
	Key    string // what whoever comes must show
	Log    *slog.Logger
	Margin time.Duration        // by which a lease ends earlier here; 0 for the usual
	Quiet  time.Duration        // after how long without a hook a lease is given back; 0 for the usual
	Wall   func() time.Time     // the clock on the wall, which may jump; nil for the real one
	Boot   func() time.Duration // counts on while the machine sleeps; nil for the real one
	Dial   Dial                 // how servers are reached; nil for the network
	Jitter func() time.Duration // by which a question is put off beyond its pause; nil for chance
	// Careless decides whatever the lease says, so that a test can show that
	// leases are needed.
	Careless bool
}

// Dial connects to an address, as net.Dialer does.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// An Edge answers for the servers that its person is logged in to.
type Edge struct {
	Options
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	open *http.Client // for who shows no token

	mu       sync.Mutex
	accounts map[string]*account
}

// New returns an edge. Close ends it.
func New(opt Options) *Edge {
	if opt.Margin == 0 {
		opt.Margin = wire.LeaseMargin
	}
	if opt.Quiet == 0 {
		opt.Quiet = quietAfter
	}
	if opt.Wall == nil {
		opt.Wall = time.Now
	}
	if opt.Boot == nil {
		opt.Boot = sinceBoot
	}
	if opt.Jitter == nil {
		opt.Jitter = func() time.Duration { return rand.N(50 * time.Millisecond) }
	}
	if opt.Dial == nil {
		opt.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	}
	e := &Edge{Options: opt, open: newClient(opt.Dial), accounts: map[string]*account{}}
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// Close ends all that the edge does. Reports that wait are sent by the next.
func (e *Edge) Close() {
	e.stop()
	e.work.Wait()
}

// transport is of one connection that is kept: HTTP_PROXY, HTTPS_PROXY, the
// person's own certificate and the system's authorities hold, and a silent line
// is noticed.
func transport(dial Dial) *http.Transport {
	return &http.Transport{
		TLSClientConfig:     &tls.Config{GetClientCertificate: ownCertificate, MinVersion: tls.VersionTLS12},
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dial,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     10 * time.Minute,
		TLSHandshakeTimeout: 10 * time.Second,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 3 * time.Second},
	}
}

// ownCertificate is shown to a server that asks for one; an empty one says that
// there is none.
func ownCertificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	file := os.Getenv(wire.ClientCert)
	if file == "" {
		return &tls.Certificate{}, nil
	}
	pair, err := tls.LoadX509KeyPair(file, cmp.Or(os.Getenv(wire.ClientKey), file))
	return &pair, err
}

func newClient(dial Dial) *http.Client {
	return &http.Client{
		Transport:     transport(dial),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ServeHTTP answers whoever has the key: hooks here, all else by the server.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(wire.EdgeKey)), []byte(e.Key)) != 1 || e.Key == "" {
		http.Error(w, "this needs the local service's token", http.StatusUnauthorized)
		return
	}
	if r.URL.Path == wire.EdgeStatus {
		writeJSON(w, e.Report())
		return
	}
	a, err := e.account(r.Header.Get(wire.EdgeServer), r.Header.Get("Authorization"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if a.token != "" && r.Method == http.MethodPost && r.URL.Path == wire.EdgePath+hooksPath {
		a.hook(w, r)
		return
	}
	a.pass(w, r)
}

// pass hands a request on over the warm connection, as it is.
func (a *account) pass(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	proxy := httputil.ReverseProxy{
		Transport:     a.client().Transport,
		FlushInterval: -1, // streams
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = a.server.Scheme, a.server.Host, a.server.Host
			p.Out.URL.Path = a.server.Path + strings.TrimPrefix(p.In.URL.Path, wire.EdgePath)
			p.Out.URL.RawPath = ""
			for _, h := range []string{wire.EdgeKey, wire.EdgeServer, wire.EdgeBudget} {
				p.Out.Header.Del(h)
			}
		},
		ModifyResponse: func(res *http.Response) error {
			if r.Method != http.MethodGet {
				a.heard(time.Since(began))
			}
			res.Header.Set(wire.EdgeAnswer, string(wire.EdgeAsked))
			res.Header.Set(wire.EdgeTrip, a.tripMS())
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			status := http.StatusBadGateway // nothing was sent
			if !unsent(err) && r.Method != http.MethodGet {
				status = http.StatusGatewayTimeout
			}
			a.lost(err)
			w.Header().Set(wire.EdgeAnswer, string(wire.EdgeUnchecked))
			http.Error(w, "the server did not answer: "+err.Error(), status)
		},
	}
	proxy.ServeHTTP(w, r)
}

// unsent reports whether a request never left this machine.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// call sends a request, which asks if it has no body, and decodes a success
// into out.
func (a *account) call(ctx context.Context, path string, body []byte, out any) (status int, err error) {
	began, method := time.Now(), http.MethodPost
	if body == nil {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(ctx, method, a.server.String()+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Svc-Protocol", wire.HookProtocol)
	res, err := a.client().Do(req)
	if err != nil {
		a.lost(err)
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		a.lost(err)
		return 0, err
	}
	if !strings.Contains(res.Header.Get("Content-Type"), "json") { // a captive portal or a proxy
		err = errors.New("something other than the server answered: " + res.Status)
		a.lost(err)
		return 0, err
	}
	if path != followPath {
		a.heard(time.Since(began))
	}
	if res.StatusCode == http.StatusOK {
		err = json.Unmarshal(text, out)
	}
	return res.StatusCode, err
}

func (a *account) client() *http.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.http
}

// heard notes a round trip.
func (a *account) heard(trip time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trip, a.reached, a.problem, a.failed = trip, coord.TimeOf(a.edge.Wall()), "", 0
}

// lost notes that the server did not answer. A line that was silent thrice
// is given up: the network may be another one.
func (a *account) lost(err error) {
	if errors.Is(err, context.Canceled) { // it was us who hung up
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.problem = err.Error()
	if a.failed++; a.failed >= 3 {
		a.failed = 0
		old := a.http.Transport.(*http.Transport)
		a.http = newClient(a.edge.Dial)
		old.CloseIdleConnections()
	}
}

func (a *account) tripMS() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strconv.FormatInt(a.trip.Milliseconds(), 10)
}

// Report tells how the edge fares.
func (e *Edge) Report() wire.EdgeReport {
	e.mu.Lock()
	all := make([]*account, 0, len(e.accounts))
	for _, a := range e.accounts {
		all = append(all, a)
	}
	e.mu.Unlock()
	out := wire.EdgeReport{Servers: []wire.EdgeServerReport{}}
	for _, a := range all {
		out.Servers = append(out.Servers, a.describe())
	}
	slices.SortFunc(out.Servers, func(x, y wire.EdgeServerReport) int { return strings.Compare(x.Server, y.Server) })
	return out
}

func (a *account) describe() wire.EdgeServerReport {
	waiting, refused := a.spool.count()
	a.mu.Lock()
	defer a.mu.Unlock()
	out := wire.EdgeServerReport{
		Server:    a.server.String(),
		TripMS:    a.trip.Milliseconds(),
		Problem:   a.problem,
		Spooled:   waiting,
		Refused:   refused,
		Decided:   a.decided.Load(),
		Asked:     a.asked.Load(),
		Unchecked: a.unchecked.Load(),
		Repos:     []wire.EdgeFollowReport{},
	}
	if a.reached > 0 {
		out.Reached = a.reached.Ptr()
	}
	for _, f := range a.follows {
		out.Repos = append(out.Repos, f.describe())
	}
	return out
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // who does not read is gone
}
