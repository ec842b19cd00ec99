// Package rest serves the operations of package api over HTTP: decoding with
// limits, problems, Server-Sent Events, the API document. It decides nothing.
package rest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/bulletin"
)

// A Server answers HTTP requests with operations.
type Server struct {
	api     *api.API
	auth    *auth.Authenticator
	log     *slog.Logger
	version string
	doc     func() any // the API document, made once
	// Draining is closed when the server shuts down, so that streams can say
	// goodbye.
	Draining <-chan struct{}
	// KeepStreams leaves streams to the HTTP server, which counts them as
	// requests; otherwise they have their connection to themselves.
	KeepStreams bool
	taken       sync.WaitGroup // streams that have
	// TrustProxy makes the client's address the last one in X-Forwarded-For.
	TrustProxy bool
}

// New returns a Server for the operations of a.
func New(a *api.API, who *auth.Authenticator, log *slog.Logger, version string) *Server {
	return &Server{api: a, auth: who, log: log, version: version, Draining: make(chan struct{}),
		doc: sync.OnceValue(func() any { return a.Document(version, "/") })}
}

// Handler returns a handler for every operation with a route.
func (s *Server) Handler() http.Handler {
	mux, plain := http.NewServeMux(), map[address]place{}
	for _, op := range api.Table {
		if op.Route == "" {
			continue
		}
		h := s.handler(&op)
		mux.Handle(op.Route, h)
		if method, path, _ := strings.Cut(op.Route, " "); !strings.Contains(path, "{") {
			plain[address{method, path}] = place{op.Route, h}
		}
	}
	mux.HandleFunc("GET /openapi.json", s.openAPI)
	mux.HandleFunc("GET /docs", s.docs)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.noRoute(mux, w, r) })
	return s.guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := plain[address{r.Method, r.URL.Path}]; ok && r.URL.RawPath == "" {
			r.Pattern = at.pattern
			at.handler.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// An address without parameters leads to its place without the multiplexer.
type (
	address struct{ method, path string }
	place   struct {
		pattern string
		handler http.Handler
	}
)

// guarded answers a panic of next.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recovered(w, r)
		next.ServeHTTP(w, r)
	})
}

func (s *Server) handler(op *api.Op) http.HandlerFunc {
	if op.Route == "GET /v1/stream" {
		return s.stream(op)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		in := &incoming{server: s, w: w, r: r, op: op}
		if err := s.caller(op, r, &in.who); err != nil {
			s.fail(w, r, op, err)
			return
		}
		out, err := s.api.Call(r.Context(), op, &in.who, in)
		if in.given.Load() { // if its body was there all the same: net/http cancels whatever comes next on this connection
			w.Header().Set("Connection", "close")
		}
		if err != nil {
			s.fail(w, r, op, err)
			return
		}
		s.reply(w, r, op, out)
	}
}

// incoming is a request as an operation's input.
type incoming struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	op     *api.Op
	who    coord.Caller
	given  atomic.Bool // it was given up
}

func (i *incoming) Decode(in any) error {
	err := i.server.decode(i.w, i.r, i.op, in)
	if err != nil || !i.who.Believed || i.op.ClassOf(in) == api.Deciding {
		return err
	}
	_, err = i.server.auth.Caller(i.r, false) // it is about no edit after all
	return err
}

func (i *incoming) GiveUp() {
	i.given.Store(true)
	http.NewResponseController(i.w).SetReadDeadline(time.Unix(1, 0))
}

// caller tells who sent r. Nobody is asked at a public door.
func (s *Server) caller(op *api.Op, r *http.Request, who *coord.Caller) (err error) {
	if op.Door != api.Public {
		if *who, err = s.auth.Caller(r, op.MayDecide()); err != nil {
			return err
		}
	}
	// Naming a session makes the call an agent's; whose it is, the operation
	// checks.
	who.SessionID, who.SessionKey = r.Header.Get("X-Svc-Session"), r.Header.Get("X-Svc-Session-Key")
	who.Address = s.clientAddress(r)
	who.UserAgent = strings.ToValidUTF8(r.UserAgent(), "\uFFFD") // it is stored
	return nil
}

// clientAddress returns where the request came from, without the port.
func (s *Server) clientAddress(r *http.Request) string {
	if s.TrustProxy {
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if last := strings.TrimSpace(hops[len(hops)-1]); net.ParseIP(last) != nil {
			return last
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// NotFound answers paths that clients probe and that we do not have.
func (s *Server) NotFound() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.writeProblem(w, r, problem.Newf(problem.NotFound, "there is nothing here"))
	})
}

// A cookieSetter is an answer that signs somebody in or out.
type cookieSetter interface {
	NewCookie() (secret string, set bool)
}

// A tagged answer names its version, so that a change can be made of that one
// alone.
type tagged interface{ Tag() string }

// A pager is an answer that may be a page for people.
type pager interface {
	Page() (html string, show bool)
}

// SecurePage sets the headers with which no other site may frame a page, nor learns
// its address.
func SecurePage(h http.Header) {
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}

// writePage writes a page that runs nothing and loads nothing.
func writePage(w http.ResponseWriter, status int, html string) {
	h := w.Header()
	SecurePage(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, html)
}

func (s *Server) reply(w http.ResponseWriter, r *http.Request, op *api.Op, out any) {
	if c, ok := out.(cookieSetter); ok {
		if secret, set := c.NewCookie(); set {
			http.SetCookie(w, s.auth.Cookie(secret))
		}
	}
	if to, ok := out.(wire.Redirect); ok {
		if to.Flow != nil {
			http.SetCookie(w, s.auth.FlowCookie(*to.Flow))
		}
		SecurePage(w.Header())
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, to.Location, op.Success)
		return
	}
	if p, ok := out.(pager); ok {
		if html, show := p.Page(); show {
			writePage(w, op.Success, html)
			return
		}
	}
	if t, ok := out.(tagged); ok {
		w.Header().Set("ETag", t.Tag())
	}
	status := op.Success
	if ready, ok := out.(wire.Ready); ok && ready.Status != "ready" {
		status = problem.Unavailable.Status()
	}
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	media := plainJSON
	if forDirectory(r) {
		media = scimJSON
	}
	s.writeJSON(w, r, media, status, out)
}

// forDirectory reports whether a company's directory asks, which speaks SCIM.
func forDirectory(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, api.SCIM) }

// fail answers a failure: with a problem, or with a page where a person sits in
// front of it.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, op *api.Op, err error) {
	if op.Browser == nil || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.writeProblem(w, r, err)
		return
	}
	b := s.problem(w, r, err)
	f := bulletin.Failure{Title: op.Browser.Failed, What: sentence(cmp.Or(b.Detail, b.Title)), To: op.Browser.To, Link: op.Browser.Link}
	if b.Status >= 500 {
		f.Request = w.Header().Get("X-Request-Id")
	}
	writePage(w, b.Status, bulletin.FailurePage(f))
}

// sentence makes a sentence of a problem's detail.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return strings.TrimSuffix(string(unicode.ToUpper(first))+text[size:], ".") + "."
}

func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	b := s.problem(w, r, err)
	if forDirectory(r) {
		s.writeJSON(w, r, scimJSON, b.Status, api.SCIMError(b, r.Method))
		return
	}
	s.writeJSON(w, r, problemJSON, b.Status, b)
}

// problem returns what to say of an error, logs what is ours to mend, and sets
// the headers that go with it.
func (s *Server) problem(w http.ResponseWriter, r *http.Request, err error) problem.Body {
	b := problem.BodyOf(err)
	if b.Status >= 500 && r.Context().Err() == nil && !errors.Is(err, api.ErrBusy) { // those are counted
		s.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "request_id", w.Header().Get("X-Request-Id"),
			"err", err)
	}
	if b.Status == http.StatusUnauthorized && problem.KindOf(err) == problem.Unauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="svc"`)
	}
	if after := problem.RetryAfter(err); after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	return b
}

// The headers that nearly every answer has are made once.
var (
	noStore, plainJSON    = []string{"no-store"}, []string{"application/json"}
	problemJSON, scimJSON = []string{"application/problem+json"}, []string{"application/scim+json"}
)

// An answer may quote what the caller sent, which may be anything.
var asAnswer = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true))

// wholeAnswer is less than what net/http keeps until a handler returns: it tells
// the length of such answers itself, for less.
const wholeAnswer = 2 << 10

// writeJSON encodes first, so that a failure can still become a 500.
func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, mediaType []string, status int, v any) {
	b, err := json.Marshal(v, asAnswer)
	if err != nil {
		s.log.ErrorContext(r.Context(), "encoding an answer failed", "path", r.URL.Path, "err", err)
		b, _ = json.Marshal(problem.BodyOf(err))
		mediaType, status = problemJSON, http.StatusInternalServerError
	}
	h := w.Header()
	h["Content-Type"] = mediaType
	b = squeezed(h, r, append(b, '\n'))
	if len(b) >= wholeAnswer || r.Method == http.MethodHead {
		h["Content-Length"] = []string{strconv.Itoa(len(b))}
	}
	if len(h["Cache-Control"]) == 0 {
		h["Cache-Control"] = noStore
	}
	w.WriteHeader(status)
	w.Write(b)
}

// noRoute answers where the mux has no route, or not for this method, with a
// problem.
func (s *Server) noRoute(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	allowed := allowedMethods(mux, r)
	if len(allowed) == 0 {
		s.writeProblem(w, r,
			problem.Newf(problem.NotFound, "no such route: %s %s; the API is described at /docs", r.Method, printable(r.URL.Path)))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.writeProblem(w, r, problem.Newf(problem.MethodNotAllowed, "%s takes %s here", printable(r.URL.Path), strings.Join(allowed, " or ")))
}

// recovered turns a panic into a 500 that says no more than others do.
func (s *Server) recovered(w http.ResponseWriter, r *http.Request) {
	switch p := recover(); p {
	case nil:
	case http.ErrAbortHandler:
		panic(p)
	default:
		s.writeProblem(w, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

func printable(path string) string { return (&url.URL{Path: path}).EscapedPath() }

func allowedMethods(mux *http.ServeMux, r *http.Request) (allowed []string) {
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(probe); strings.HasPrefix(pattern, m+" ") {
			allowed = append(allowed, m)
		}
	}
	return allowed
}
