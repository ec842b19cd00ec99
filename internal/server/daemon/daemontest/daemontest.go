// Package daemontest starts the real service for tests and fills it with
// people: orgs with a member of every role, tokens, dashboard sign-ins. It
// replaces no part of the service, and only tests import it.
package daemontest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// SecretKey seals secrets in every test's service, so that replicas in other
// processes can be given it too.
const SecretKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func init() { auth.HashCheaply() }

// A World is a running service with a way past its front door.
type World struct {
	URL   string
	Store *store.Store // a second opening of the same database
	Log   *Log         // what the service logged
	D     *daemon.Daemon
	Near  bool // requests are answered without a network between, and nothing is kept of what is logged of them

	t     testing.TB
	cfg   daemon.Config
	n     atomic.Int32
	later atomic.Int64 // how far the service's clock is ahead

	frozen atomic.Int64 // when the service's clock stopped, if it did
}

// Advance moves the service's clock ahead.
func (w *World) Advance(d time.Duration) { w.later.Add(int64(d)) }

// Freeze stops the service's clock, so that what is counted per minute does not
// depend on how fast the machine is.
func (w *World) Freeze() { w.frozen.Store(time.Now().UnixNano()) }

func (w *World) now() time.Time {
	now := time.Now()
	if at := w.frozen.Load(); at != 0 {
		now = time.Unix(0, at)
	}
	return now.Add(time.Duration(w.later.Load()))
}

// Start runs a service on the database at dsn until the test ends.
func Start(t testing.TB, dsn string) *World {
	return StartWith(t, daemon.Config{Database: dsn})
}

// StartWith is Start with further settings.
func StartWith(t testing.TB, cfg daemon.Config) *World {
	t.Helper()
	cfg.Addr, cfg.MetricsAddr, cfg.Version = "127.0.0.1:0", cmp.Or(cfg.MetricsAddr, "127.0.0.1:0"), "1.2.3"
	if cfg.PublicURL == "" {
		cfg.PublicURL = "http://" + cfg.Addr
	}
	cfg.Data = t.TempDir()
	if cfg.SecretKey == "" {
		cfg.SecretKey = SecretKey
	}
	storetest.Prepare(t, cfg.Database)
	w := &World{t: t, cfg: cfg, Log: &Log{}}
	w.cfg.Clock = w.now
	w.start()
	w.Store = storetest.OpenDSN(t, cfg.Database)
	w.Store.SetClock(w.now)
	t.Cleanup(w.holdEvents)
	t.Cleanup(w.Stop)
	return w
}

func (w *World) start() {
	w.t.Helper()
	level := slog.LevelDebug
	if _, ok := w.t.(*testing.B); ok {
		level = slog.LevelInfo // as svcd logs unless told otherwise
	}
	d, err := daemon.Start(context.Background(), w.cfg, slog.New(slog.NewTextHandler(w.Log, &slog.HandlerOptions{Level: level})))
	if err != nil {
		w.t.Fatal(err)
	}
	d.Ops.Moments.Doubt = patience
	w.D, w.URL = d, d.URL
}

// patience is how long an edit may wait to be checked: on a machine that runs
// many tests at once, a check that comes late is still the one that is tested.
const patience = time.Minute

// Replica starts another service on the same database.
func (w *World) Replica() *World { return w.ReplicaWith(func(*daemon.Config) {}) }

// ReplicaWith is Replica with other settings.
func (w *World) ReplicaWith(change func(*daemon.Config)) *World {
	w.t.Helper()
	r := &World{t: w.t, cfg: w.cfg, Log: &Log{}, Store: w.Store}
	change(&r.cfg)
	r.start()
	w.t.Cleanup(r.Stop)
	return r
}

// At returns a World whose requests go to another address.
func (w *World) At(url string) *World {
	return &World{URL: url, Store: w.Store, Log: w.Log, t: w.t, cfg: w.cfg}
}

// Stop shuts the service down; stopping twice is harmless.
func (w *World) Stop() {
	if w.D == nil {
		return
	}
	if err := w.D.Stop(); err != nil {
		w.t.Errorf("stop: %v", err)
	}
	w.D = nil
}

// Metrics returns what the service tells Prometheus.
func (w *World) Metrics() string {
	w.t.Helper()
	res, err := http.Get(w.D.MetricsURL)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("metrics: %d %v\n%s", res.StatusCode, err, text)
	}
	return string(text)
}

// Restart stops the service and starts it again at the same address.
func (w *World) Restart() {
	w.t.Helper()
	w.cfg.Addr = strings.TrimPrefix(w.URL, "http://")
	w.cfg.PublicURL = w.URL
	w.Stop()
	direct.CloseIdleConnections() // or the next request may go to what was stopped
	w.start()
}

// Write runs fn in a transaction of the database.
func (w *World) Write(org string, fn func(context.Context, *store.Tx) error) {
	w.t.Helper()
	ctx := context.Background()
	if err := w.Store.Write(ctx, org, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// An Org is a team with a member of every role, each with a token that holds
// every scope.
type Org struct {
	coord.Org
	Users   map[coord.Role]coord.User
	Tokens  map[coord.Role]string
	Service string // a service token with every scope it may hold
}

// Owner is the token of the org's owner.
func (o *Org) Owner() string { return o.Tokens[coord.Owner] }

// Org makes a team.
func (w *World) Org(name string) *Org {
	w.t.Helper()
	o := &Org{Org: coord.Org{ID: uuid.NewString(), Slug: strings.ToLower(name), Name: name, DataMode: coord.DataFull, Plan: "self_hosted"},
		Users: map[coord.Role]coord.User{}, Tokens: map[coord.Role]string{}}
	w.Write("setup", func(ctx context.Context, tx *store.Tx) error {
		o.CreatedAt = tx.Now
		return tx.InsertOrg(ctx, o.Org)
	})
	for _, role := range coord.Roles() {
		o.Users[role] = w.Member(o, role)
		u := o.Users[role]
		o.Tokens[role] = w.Token(o, &u, coord.Scopes()...)
	}
	o.Service = w.Token(o, nil, coord.ServiceScopes()...)
	return o
}

// Member adds a new person to an org.
func (w *World) Member(o *Org, role coord.Role) coord.User {
	w.t.Helper()
	name := string(role) + "-" + o.Slug
	if _, taken := o.Users[role]; taken {
		name += "-" + uuid.NewString()[:8]
	}
	u := coord.User{ID: uuid.NewString(), Email: name + "@example.com", Name: name}
	w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.InsertUser(ctx, u); err != nil {
			return err
		}
		return tx.InsertMember(ctx, o.ID, u.ID, role)
	})
	return u
}

// Token makes a token: a personal one of a user, or a service token.
func (w *World) Token(o *Org, u *coord.User, scopes ...coord.Scope) string {
	w.t.Helper()
	secret := auth.NewToken()
	t := coord.Token{ID: uuid.NewString(), OrgID: o.ID, Name: "test", Kind: coord.ServiceToken, Prefix: secret.Prefix, Scopes: scopes}
	if scopes == nil {
		t.Scopes = []coord.Scope{}
	}
	if u != nil {
		t.Kind, t.UserID = coord.PersonalToken, &u.ID
	}
	w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
		t.CreatedAt = tx.Now
		return tx.InsertToken(ctx, t, secret.Hash)
	})
	return secret.Text
}

// Cookie signs a person in and returns the cookie's value.
func (w *World) Cookie(u coord.User) string {
	w.t.Helper()
	secret := auth.NewSecret()
	w.Write("signin", func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertWebSession(ctx, store.WebSession{ID: uuid.NewString(), UserID: u.ID, Address: "127.0.0.1", CreatedAt: tx.Now,
			LastSeenAt: tx.Now, ExpiresAt: tx.Now.Add(auth.SessionLifetime), ProvedAt: tx.Now}, secret.Hash)
	})
	return secret.Text
}

// Password gives a person a password.
func (w *World) Password(u coord.User, password string) {
	w.t.Helper()
	hash, err := auth.HashPassword(context.Background(), password)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Write("signin", func(ctx context.Context, tx *store.Tx) error { return tx.SetPassword(ctx, u.ID, hash) })
}

// Emit writes n events into an org's log.
func (w *World) Emit(o *Org, n int) {
	w.t.Helper()
	for range n {
		w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
			return tx.Emit(ctx, coord.Event{OrgID: o.ID, Type: coord.EventOrgUpdated, Actor: coord.Entity{Kind: "system", ID: "svc"},
				Subject: coord.Entity{Kind: "org", ID: o.ID}, Facts: wire.OrgPayload{DataMode: coord.DataFull, PreviousDataMode: coord.DataFull,
					ClearedSignatures: int(w.n.Add(1))}})
		})
	}
}

// A Request is one call over HTTP.
type Request struct {
	Method, Path string
	Token        string // bearer token, if any
	Cookie       string // dashboard cookie, if any; the headers it needs are sent along
	Org          string // X-Svc-Org
	Body         any    // nil for none, []byte as it is, else as JSON
	Header       map[string]string
}

// A Response is the answer to a Request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON decodes the body.
func (r Response) JSON(t testing.TB, to any) {
	t.Helper()
	if err := json.Unmarshal(r.Body, to); err != nil {
		t.Fatalf("answer %d is not JSON: %v\n%s", r.Status, err, r.Body)
	}
}

// Do sends a request.
func (w *World) Do(r Request) Response {
	w.t.Helper()
	if w.Near {
		res := httptest.NewRecorder()
		w.D.Handler().ServeHTTP(res, w.Build(r))
		if res.Code < http.StatusInternalServerError { // whose cause is asked for
			w.Log.Clear()
		}
		return Response{res.Code, res.Header(), res.Body.Bytes()}
	}
	res, err := direct.Do(w.Build(r))
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return Response{res.StatusCode, res.Header, text}
}

// Open sends a request whose answer goes on, and returns it once it has begun.
func (w *World) Open(r Request) io.ReadCloser {
	w.t.Helper()
	open := *direct
	open.Timeout = 0 // it lasts as long as its test does
	res, err := open.Do(w.Build(r))
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	w.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		w.t.Fatalf("%s %s = %s", r.Method, r.Path, res.Status)
	}
	return res.Body
}

// Build returns a request as Do would send it.
func (w *World) Build(r Request) *http.Request {
	w.t.Helper()
	var body io.Reader
	switch b := r.Body.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		body = bytes.NewReader(j)
	}
	req, err := http.NewRequest(r.Method, w.URL+r.Path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	if r.Cookie != "" {
		name := "svc_session"
		if strings.HasPrefix(w.cfg.PublicURL, "https:") {
			name = "__Host-svc_session"
		}
		req.AddCookie(&http.Cookie{Name: name, Value: r.Cookie})
		req.Header.Set("X-Svc-CSRF", "1")
	}
	if r.Org != "" {
		req.Header.Set("X-Svc-Org", r.Org)
	}
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	return req
}

// direct follows no redirects: a test wants to see them.
var direct = &http.Client{
	Timeout:       await.Patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Must is Do for a call that has to give the status; it decodes the answer
// into to, if that is not nil.
func (w *World) Must(status int, r Request, to any) Response {
	w.t.Helper()
	res := w.Do(r)
	if res.Status != status {
		w.t.Fatalf("%s %s = %d, want %d\n%s", r.Method, r.Path, res.Status, status, res.Body)
	}
	if to != nil {
		res.JSON(w.t, to)
	}
	return res
}

// A Log is what a service logged.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// Clear forgets what was logged so far.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Reset()
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
