// Package mcpserver offers the operations of package api to agents as MCP
// tools, over stateless Streamable HTTP. It decides nothing: it checks that a
// request may come in at all, and puts answers into words for a model.
//
// The official SDK speaks the protocol. Only the most frequent request, a
// well-formed tools/call, is answered here directly: the SDK sets up and tears
// down a session for each request, which costs several times what a tool does.
// Both ways run the same tool and a test holds their answers against each
// other.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/trail"
)

// A Server answers MCP requests with operations.
type Server struct {
	api   *api.API
	auth  *auth.Authenticator
	log   *slog.Logger
	hosts []string // names we are reached under
	// By what a host asks for: all tools or the core ones, whole or lean.
	profiles map[profileKey]*profile
}

type profileKey struct{ core, lean bool }

// A profile is a set of tools and the SDK's handler for them, which is made at
// the first request that needs it: its schemas take as long as all the rest of
// a start.
type profile struct {
	tools map[string]*tool
	sdk   func() http.Handler
	info  *mcp.Implementation
	lean  bool // for a model: no structured content
}

// A tool is a Tool with what it runs.
type tool struct {
	Tool
	op     api.Op
	output *shape.Schema
}

// New returns a Server for the tools of a. publicURL is where it is reached.
func New(a *api.API, who *auth.Authenticator, log *slog.Logger, publicURL, version string) *Server {
	s := &Server{api: a, auth: who, log: log, hosts: []string{"localhost", "127.0.0.1", "::1"}}
	if u, err := url.Parse(publicURL); err == nil && u.Hostname() != "" {
		s.hosts = append(s.hosts, strings.ToLower(u.Hostname()))
	}
	s.profiles = map[profileKey]*profile{}
	for _, core := range []bool{false, true} {
		for _, lean := range []bool{false, true} {
			s.profiles[profileKey{core, lean}] = s.profile(version, core, lean)
		}
	}
	return s
}

// profile sets up all tools or the core ones.
func (s *Server) profile(version string, core, lean bool) *profile {
	p := &profile{
		tools: map[string]*tool{},
		lean:  lean,
		info:  &mcp.Implementation{Name: "svc", Title: "svc: coordination for coding agents", Version: version},
	}
	for _, t := range Tools {
		if op, ok := api.Find(t.Name); ok && (t.Core || !core) {
			p.tools[t.Name] = &tool{t, op, s.api.Schemas.Of(op.Run.Output, shape.Out)}
		}
	}
	p.sdk = sync.OnceValue(func() http.Handler { return s.sdk(p) })
	return p
}

// sdk sets up the SDK's handler of a profile.
func (s *Server) sdk(p *profile) http.Handler {
	srv := mcp.NewServer(p.info, &mcp.ServerOptions{
		Instructions: Instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	srv.AddReceivingMiddleware(onlyTools)
	slim := slimmer{said: map[string]bool{}}
	for _, listed := range Tools {
		t, ok := p.tools[listed.Name]
		if !ok {
			continue
		}
		def := s.definition(t)
		if p.lean {
			def = slim.definition(def)
		}
		srv.AddTool(def, s.handler(p, t))
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true /* checked before, by name */, PropagateRequestCancellation: true})
}

// onlyTools refuses methods that we do not declare, keeps shared caches from
// serving one token's list to another, and lists tools in our order: the one
// to begin with comes first.
func onlyTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if undeclared(method) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
		}
		res, err := next(ctx, method, req)
		if list, ok := res.(*mcp.ListToolsResult); ok && err == nil {
			list.CacheScope, list.TTLMs = "private", int(listFor/time.Millisecond)
			slices.SortFunc(list.Tools, func(a, b *mcp.Tool) int { return rank[a.Name] - rank[b.Name] })
		}
		return res, err
	}
}

// listFor is how long a client may keep the list of tools: it changes with a
// release only.
const listFor = 5 * time.Minute

// undeclared reports whether a method belongs to a capability that we do not
// declare.
func undeclared(method string) bool {
	noun, _, _ := strings.Cut(method, "/")
	return slices.Contains([]string{"prompts", "resources", "completion", "logging"}, noun)
}

// rank is each tool's place in the list.
var rank = func() map[string]int {
	out := map[string]int{}
	for i, t := range Tools {
		out[t.Name] = i
	}
	return out
}()

func (s *Server) definition(t *tool) *mcp.Tool {
	no := false
	out := s.api.Schemas.Inline(t.output, false)
	return &mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description,
		InputSchema:  s.api.Schemas.Inline(s.api.Inputs(t.op).All, true),
		OutputSchema: object(out),
		Annotations: &mcp.ToolAnnotations{
			Title:           t.Title,
			ReadOnlyHint:    t.ReadOnly,
			OpenWorldHint:   &no,
			DestructiveHint: &no,
			IdempotentHint:  t.ReadOnly,
		}}
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

type callerKey struct{}

// A calling is who calls, and how long they are there: the SDK goes on with a
// call whose client has gone.
type calling struct {
	who   *coord.Caller
	there context.Context
}

// handler is how the SDK calls a tool.
func (s *Server) handler(p *profile, t *tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		from, ok := ctx.Value(callerKey{}).(calling)
		if !ok {
			return nil, errors.New("no caller")
		}
		ctx, leave := context.WithCancel(ctx)
		defer leave()
		defer context.AfterFunc(from.there, leave)()
		a := s.run(ctx, t, from.who, req.Params.Arguments)
		out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.text}}, IsError: a.failed}
		if !p.lean {
			out.StructuredContent = json.RawMessage(a.structured)
		}
		return out, nil
	}
}

// An answer is what a tool says: to the model in words, and as data.
type answer struct {
	text       string
	structured []byte // JSON
	failed     bool
}

// run calls a tool. A failure is an answer that the model can read, never an
// error of the protocol. What is left to do after a tool that may have waited
// has a function of its own.
func (s *Server) run(ctx context.Context, t *tool, who *coord.Caller, args []byte) answer {
	trail.Of(ctx).Name("tool " + t.Name)
	out, news, err := s.api.CallTool(ctx, &t.op, who, api.Given(func(in any) error { return s.api.DecodeTool(&t.op, args, in) }))
	if err != nil {
		return s.failure(ctx, t, err)
	}
	return s.told(ctx, t, out, news)
}

// told puts what a tool returned into an answer, and the news for its agent.
func (s *Server) told(ctx context.Context, t *tool, out any, news api.News) answer {
	out = protect(out)
	structured, err := encode(out)
	if err != nil {
		return s.failure(ctx, t, err)
	}
	a := answer{text: t.Tool.text(out, structured, s.api.Now()), structured: structured}
	// Messages reach an agent at its next tool call, in the one block of text:
	// some hosts show no other. That they cannot be had now does not spoil the
	// answer.
	told, err := news()
	if err != nil {
		s.log.WarnContext(ctx, "looking for an agent's messages failed", "err", err)
	} else if told != "" {
		a.text += "\n\n" + told
	}
	a.text = marker.Text(a.text)
	return a
}

func (s *Server) failure(ctx context.Context, t *tool, err error) answer {
	body := protectProblem(problem.BodyOf(err))
	if body.Status >= http.StatusInternalServerError && ctx.Err() == nil && !errors.Is(err, api.ErrBusy) {
		s.log.ErrorContext(ctx, "tool failed", "tool", t.Name, "err", err)
	}
	var text sheet
	text.line("%s failed: %s", t.Name, body.Detail)
	for _, f := range body.Errors {
		text.line("- %s: %s", f.Path, f.Message)
	}
	for _, c := range body.Candidates {
		text.line("- %s", c)
	}
	structured, _ := json.Marshal(map[string]any{"error": body})
	return answer{text: marker.Text(cut(text.done(), maxText)), structured: structured, failed: true}
}
