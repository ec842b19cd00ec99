package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
)

const (
	maxBody   = 1 << 20     // how much a request may send
	answerFor = time.Minute // how long a call that does not wait may take, and its answer to be read
)

// An entry is a request that was let in.
type entry struct {
	who     coord.Caller
	profile *profile
	body    []byte
	call    // of a tool, if it is a plain one
	plain   bool
}

// ServeHTTP answers a plain call of a tool here, and everything else with the
// SDK. A tool may wait long: the checks before have returned by then, and what
// they need of the stack is free again.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := s.enter(w, r)
	switch {
	case e == nil: // refused
	case e.plain:
		a := s.run(r.Context(), e.tool, &e.who, e.args)
		e.profile.answer(w, &e.call, &a)
	default:
		e.bySDK(w, r)
	}
}

// bySDK has the SDK answer a request.
func (e *entry) bySDK(w http.ResponseWriter, r *http.Request) {
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, calling{&e.who, r.Context()}))
	r.Body = io.NopCloser(bytes.NewReader(e.body))
	e.profile.sdk().ServeHTTP(w, r)
}

// enter checks a request before anything of it is looked at: host and origin,
// token, method, size, form. It answers those that are refused.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) *entry {
	e, err := s.check(w, r)
	if err != nil {
		s.refuse(w, err)
		return nil
	}
	m, bad := parse(e.body)
	if bad == nil {
		bad = m.check(r.Header)
	}
	if bad != nil {
		bad.write(w)
		return nil
	}
	// A wait may take longer than reading a request ever should.
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Time{})
	_ = connection.SetWriteDeadline(time.Now().Add(wire.MaxWaitSeconds*time.Second + answerFor))
	query := r.URL.Query()
	e.profile = s.profiles[profileKey{core: query.Get("profile") == "core", lean: query.Get("for") == Lean}]
	e.who.ForModel = e.profile.lean
	e.call, e.plain = e.profile.direct(r.Header, m)
	return e
}

// check reads a request of somebody who may send it, or says what is wrong.
func (s *Server) check(w http.ResponseWriter, r *http.Request) (_ *entry, err error) {
	if !s.ourHost(r.Host) || !s.ourOrigin(r) {
		return nil, problem.Newf(problem.Forbidden, "this request came under another name or from another site")
	}
	e := new(entry)
	if e.who, err = s.caller(r); err != nil {
		if text := challenge[problem.KindOf(err)]; text != "" {
			w.Header().Set("WWW-Authenticate", text)
		}
		return nil, err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, problem.Newf(problem.MethodNotAllowed, "this endpoint takes POST; there are no sessions to open or close")
	}
	if !isJSON(r.Header) {
		return nil, problem.Newf(problem.UnsupportedMedia, "send the message as Content-Type: application/json")
	}
	e.body, err = readAll(w, r)
	return e, err
}

// challenge is what WWW-Authenticate says to those who may not enter.
var challenge = map[problem.Kind]string{
	problem.Unauthorized: `Bearer realm="svc"`,
	problem.Forbidden:    `Bearer realm="svc", error="insufficient_scope", scope="mcp:tools"`,
}

// caller tells whose agent calls: a bearer token with mcp:tools.
func (s *Server) caller(r *http.Request) (coord.Caller, error) {
	if r.Header.Get("Authorization") == "" {
		return coord.Caller{}, problem.Newf(problem.Unauthorized, "a token is needed: run svc login, or send Authorization: Bearer svc_...")
	}
	who, err := s.auth.Caller(r, false)
	if err != nil {
		return who, err
	}
	// Who brings the call may know which agent's it is; a call that names
	// another session in its arguments means that one.
	who.SessionID, who.SessionKey = r.Header.Get("X-Svc-Session"), r.Header.Get("X-Svc-Session-Key")
	return who, api.Check(&api.Op{Door: api.BearerOnly, Scopes: []coord.Scope{coord.ScopeTools}, Personal: true}, &who)
}

func (s *Server) refuse(w http.ResponseWriter, err error) {
	body := problem.BodyOf(err)
	if after := problem.RetryAfter(err); after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	if body.Status >= http.StatusInternalServerError {
		s.log.Error("tool request failed", "err", err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(body.Status)
	_ = json.NewEncoder(w).Encode(body)
}

// ourHost refuses names that a rebound DNS entry may have sent here.
func (s *Server) ourHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	return slices.Contains(s.hosts, strings.ToLower(strings.Trim(host, "[]")))
}

// ourOrigin refuses browsers' requests from other sites.
func (s *Server) ourOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !s.ourHost(u.Host) {
			return false
		}
	}
	return true
}

// readAll reads the body within its limits, and drops the headers of sessions
// and streams that we do not have.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	r.Header.Del("Mcp-Session-Id")
	r.Header.Del("Last-Event-ID")
	if name, ok := unpacked(r.Header.Get(headerName)); ok {
		r.Header.Set(headerName, name)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, problem.Newf(problem.TooLarge, "a request may have at most %d bytes", maxBody)
	case err != nil:
		return nil, problem.Newf(problem.BadRequest, "the request broke off")
	}
	return body, api.CheckDepth(body)
}

// unpacked reads a header value that was packed because it is not plain ASCII.
func unpacked(v string) (string, bool) {
	v, ok := strings.CutPrefix(v, "=?base64?")
	v, end := strings.CutSuffix(v, "?=")
	if !ok || !end {
		return "", false
	}
	text, err := base64.StdEncoding.DecodeString(v)
	return string(text), err == nil
}
