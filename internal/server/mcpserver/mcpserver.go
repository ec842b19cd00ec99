// Package mcpserver offers the operations of package api to agents as MCP
// tools, over stateless Streamable HTTP. It decides nothing: it checks that a
// request may come in at all, and puts answers into words for a model.
package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/auth"
)

// maxBody is how much a request may send.
const maxBody = 1 << 20

// A Server answers MCP requests with operations.
type Server struct {
	api   *api.API
	auth  *auth.Authenticator
	log   *slog.Logger
	hosts []string // names we are reached under
	full  http.Handler
	core  http.Handler
}

// New returns a Server for the tools of a. publicURL is where it is reached.
func New(a *api.API, who *auth.Authenticator, log *slog.Logger, publicURL, version string) *Server {
	s := &Server{api: a, auth: who, log: log, hosts: []string{"localhost", "127.0.0.1", "::1"}}
	if u, err := url.Parse(publicURL); err == nil && u.Hostname() != "" {
		s.hosts = append(s.hosts, strings.ToLower(u.Hostname()))
	}
	s.full = s.handler(version, func(Tool) bool { return true })
	s.core = s.handler(version, func(t Tool) bool { return t.Core })
	return s
}

// handler returns the SDK's handler for the tools that want keeps.
func (s *Server) handler(version string, want func(Tool) bool) http.Handler {
	srv := mcp.NewServer(&mcp.Implementation{Name: "svc", Title: "svc: coordination for coding agents", Version: version},
		&mcp.ServerOptions{Instructions: Instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	srv.AddReceivingMiddleware(onlyTools)
	for _, t := range Tools {
		op, ok := api.Find(t.Name)
		if !ok || !want(t) {
			continue
		}
		srv.AddTool(s.definition(t, op), s.call(t, op))
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true /* checked before, by name */})
}

// onlyTools refuses methods that we do not declare, and keeps shared caches
// from serving one token's list to another.
func onlyTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch noun, _, _ := strings.Cut(method, "/"); noun {
		case "prompts", "resources", "completion", "logging":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
			list.CacheScope = "private"
		}
		return res, err
	}
}

func (s *Server) definition(t Tool, op api.Op) *mcp.Tool {
	hint := t.ReadOnly
	no := false
	out := s.api.Schemas.Inline(s.api.Schemas.Of(op.Run.Output, shape.Out), false)
	return &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema:  s.api.Schemas.Inline(s.api.Inputs(op).All, true),
		OutputSchema: object(out),
		Annotations:  &mcp.ToolAnnotations{Title: t.Title, ReadOnlyHint: hint, OpenWorldHint: &no, DestructiveHint: &no, IdempotentHint: hint}}
}

// object opens an output schema for the problem that a failure carries.
func object(s *shape.Schema) *shape.Schema {
	out := *s
	out.Required = nil // a failed call has error instead
	out.Properties = map[string]*shape.Schema{}
	for k, v := range s.Properties {
		out.Properties[k] = v
	}
	out.Properties["error"] = &shape.Schema{Type: "object", Description: "The problem, when the call failed"}
	return &out
}

type (
	callerKey  struct{}
	requestKey struct{} // the request's own context, which the SDK detaches from
)

// whileAsked ends ctx when the client goes away: nobody waits for the answer.
func whileAsked(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	request, ok := ctx.Value(requestKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(request, cancel)
	return ctx, func() { stop(); cancel() }
}

// call returns the handler of one tool: a failure is a result that the model
// can read, never a protocol error.
func (s *Server) call(t Tool, op api.Op) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		who, ok := ctx.Value(callerKey{}).(coord.Caller)
		if !ok {
			return nil, errors.New("no caller")
		}
		ctx, cancel := whileAsked(ctx)
		defer cancel()
		out, err := s.api.CallTool(ctx, op, who, func(in any) error { return s.api.DecodeTool(op, req.Params.Arguments, in) })
		if err != nil {
			return s.failure(ctx, t, err), nil
		}
		out = protect(out)
		structured, err := encode(out)
		if err != nil {
			return s.failure(ctx, t, err), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t.text(out, structured)}}, StructuredContent: structured}, nil
	}
}

func (s *Server) failure(ctx context.Context, t Tool, err error) *mcp.CallToolResult {
	body := problem.BodyOf(err)
	if body.Status >= 500 && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "tool failed", "tool", t.Name, "err", err)
	}
	text := t.Name + " failed: " + body.Detail
	for _, f := range body.Errors {
		text += "\n- " + f.Path + ": " + f.Message
	}
	for _, c := range body.Candidates {
		text += "\n- " + c
	}
	structured, _ := json.Marshal(map[string]any{"error": body})
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(structured)}
}

// ServeHTTP checks a request before anything of it is looked at: host and
// origin, method, token, size; then hands it to the SDK.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.ourHost(r.Host) || !s.ourOrigin(r) {
		s.refuse(w, problem.Newf(problem.Forbidden, "this request came under another name or from another site"))
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, problem.Newf(problem.MethodNotAllowed, "this endpoint takes POST; there are no sessions to open or close"))
		return
	}
	who, err := s.caller(r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	body, err := readAll(w, r)
	if err != nil {
		s.refuse(w, err)
		return
	}
	// A wait may take longer than reading a request ever should.
	http.NewResponseController(w).SetReadDeadline(time.Time{})
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Del("Mcp-Session-Id") // there are none; ignored, never echoed
	r.Header.Del("Last-Event-ID")
	if r.URL.Query().Get("profile") == "core" {
		s.core.ServeHTTP(w, r)
		return
	}
	s.full.ServeHTTP(w, r)
}

// caller tells whose agent calls: a bearer token with mcp:tools.
func (s *Server) caller(r *http.Request) (coord.Caller, error) {
	if r.Header.Get("Authorization") == "" {
		return coord.Caller{}, problem.Newf(problem.Unauthorized, "a token is needed: run svc login, or send Authorization: Bearer svc_...")
	}
	who, err := s.auth.Caller(r)
	if err != nil {
		return who, err
	}
	return who, api.Check(api.Op{Door: api.BearerOnly, Scopes: []coord.Scope{coord.ScopeTools}, Personal: true}, who)
}

func (s *Server) refuse(w http.ResponseWriter, err error) {
	body := problem.BodyOf(err)
	switch problem.KindOf(err) {
	case problem.Unauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="svc", error="invalid_token"`)
	case problem.Forbidden:
		w.Header().Set("WWW-Authenticate", `Bearer realm="svc", error="insufficient_scope", scope="mcp:tools"`)
	case problem.Internal:
		s.log.Error("tool request failed", "err", err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(body.Status)
	json.NewEncoder(w).Encode(body)
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
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && s.ourHost(u.Host)
}

// readAll reads the body within its limit and refuses batches, which no
// current revision of the protocol has.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, problem.Newf(problem.TooLarge, "a request may have at most %d bytes", maxBody)
	case err != nil:
		return nil, problem.Newf(problem.BadRequest, "the request broke off")
	case bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")):
		return nil, problem.Newf(problem.BadRequest, "batches are not supported; send one message per request")
	}
	return body, api.CheckDepth(body)
}
