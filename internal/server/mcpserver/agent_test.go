package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

const (
	accept       = "application/json, text/event-stream"
	modern       = "2026-07-28"
	metaVersion  = "io.modelcontextprotocol/protocolVersion"
	metaCaps     = "io.modelcontextprotocol/clientCapabilities"
	metaClient   = "io.modelcontextprotocol/clientInfo"
	metaServer   = "io.modelcontextprotocol/serverInfo"
	headVersion  = "MCP-Protocol-Version"
	headMethod   = "Mcp-Method"
	headName     = "Mcp-Name"
	publicURL    = "https://svc.example.com"
	plainRequest = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
)

// A team is a running service with an org whose tools' schemas are known.
type team struct {
	*daemontest.World
	t   testing.TB
	org *daemontest.Org
	out map[string]*jsonschema.Schema
}

// each runs test on each database.
func each(t *testing.T, test func(*testing.T, *team)) {
	t.Helper()
	storetest.EachDSN(t, func(t *testing.T, dsn string) { test(t, start(t, dsn)) })
}

// start runs the service on a database, under a public name.
func start(t testing.TB, dsn string) *team {
	t.Helper()
	w := daemontest.StartWith(t, daemon.Config{Database: dsn, PublicURL: publicURL})
	s := &team{World: w, t: t, org: w.Org("Acme"), out: map[string]*jsonschema.Schema{}}
	for _, tool := range s.list(s.org.Owner(), "") {
		s.out[tool.Name] = compile(t, tool.OutputSchema)
	}
	return s
}

type listed struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               map[string]any
}

// list returns the tools of a profile, "" for all.
func (s *team) list(token, profile string) []listed {
	s.t.Helper()
	path := "/mcp"
	if profile != "" {
		path += "?profile=" + profile
	}
	var out struct{ Result struct{ Tools []listed } }
	s.Must(200, daemontest.Request{
		Method: "POST",
		Path:   path,
		Token:  token,
		Body:   []byte(plainRequest),
		Header: map[string]string{"Accept": accept},
	}, &out)
	return out.Result.Tools
}

var compiled sync.Map // from a schema's text to itself: every test has the same ones

func compile(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	if schema, ok := compiled.Load(string(text)); ok {
		return schema.(*jsonschema.Schema)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("schema.json", tree); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	compiled.Store(string(text), schema)
	return schema
}

// An agent calls tools with a token, and sends hook events as one session.
type agent struct {
	s       *team
	t       testing.TB
	user    coord.User
	token   string
	repo    string // owner/name
	branch  string
	session string            // uuid, once it has begun
	bridge  string            // the session that who brings its calls says it is, if any
	at      *daemontest.World // the replica it speaks to
}

var agents atomic.Int32

// agent makes a member with an agent that works in a repo, on a branch of its
// own.
func (s *team) agent(name, repo string) *agent {
	s.t.Helper()
	u := coord.User{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", agents.Add(1)), Name: name, Email: strings.ToLower(name) + "@example.com"}
	s.Write(s.org.ID, func(ctx ctx, tx *tx) error {
		if err := tx.InsertUser(ctx, u); err != nil {
			return err
		}
		return tx.InsertMember(ctx, s.org.ID, u.ID, coord.Member)
	})
	a := &agent{s: s, t: s.t, at: s.World, user: u, token: s.Token(s.org, &u, coord.Scopes()...), repo: repo, branch: strings.ToLower(name)}
	a.begin()
	return a
}

// begin starts a session of the agent.
func (a *agent) begin() {
	a.t.Helper()
	r := a.hook(wire.HookRequest{Event: wire.HookSessionStart})
	if r.SessionID == nil {
		a.t.Fatal("the session has no id")
	}
	a.session = *r.SessionID
}

// hook sends an event as the agent's host would.
func (a *agent) hook(e wire.HookRequest) (out wire.HookReply) {
	a.t.Helper()
	e.Session = wire.HookSession{ExternalID: a.user.Name + a.branch + a.repo, Tool: "claude_code"}
	e.Repo.RemoteFingerprints = []string{"github.com/" + a.repo}
	e.Repo.Branch, e.Repo.WorktreeHash = a.branch, a.user.Name+a.branch+a.repo
	a.s.Must(200, daemontest.Request{
		Method: "POST",
		Path:   "/v1/hooks/evaluate",
		Token:  a.token,
		Body:   e,
		Header: map[string]string{"X-Svc-Protocol": "1"},
	}, &out)
	return out
}

// A said is what a tool answered.
type said struct {
	Text    string
	Data    json.RawMessage
	IsError bool
}

type args = map[string]any

var calls atomic.Int64

// call calls a tool, in the old and the new protocol by turns, and checks what
// holds for every answer.
func (a *agent) call(tool string, in any) said {
	a.t.Helper()
	if in == nil {
		in = args{}
	}
	params := args{"name": tool, "arguments": in}
	header := map[string]string{"Accept": accept}
	if a.bridge != "" {
		header["X-Svc-Session"] = a.bridge
	}
	isModern := calls.Add(1)%2 == 0
	if isModern {
		params["_meta"] = args{metaVersion: modern, metaCaps: args{}, metaClient: args{"name": "test", "version": "1"}}
		header[headVersion], header[headMethod], header[headName] = modern, "tools/call", tool
	}
	var out struct {
		ID     int
		Error  json.RawMessage
		Result struct {
			Meta              map[string]any `json:"_meta"`
			ResultType        string
			Content           []struct{ Type, Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	res := a.at.Must(200, daemontest.Request{Method: "POST", Path: "/mcp", Token: a.token, Header: header,
		Body: args{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}}, &out)
	r := out.Result
	if out.Error != nil || out.ID != 7 || len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text == "" {
		a.t.Fatalf("%s answered %s", tool, res.Body)
	}
	if isModern != (r.ResultType == "complete" && r.Meta[metaServer] != nil) {
		a.t.Errorf("%s: resultType %q, _meta %v", tool, r.ResultType, r.Meta)
	}
	if res.Header.Get("Mcp-Session-Id") != "" {
		a.t.Errorf("%s opened a session", tool)
	}
	s := said{r.Content[0].Text, r.StructuredContent, r.IsError}
	a.check(tool, s)
	return s
}

// check holds an answer against what every answer must be.
func (a *agent) check(tool string, s said) {
	a.t.Helper()
	if n := utf8.RuneCountInString(s.Text); n > 2000 {
		a.t.Errorf("%s: the text has %d characters", tool, n)
	}
	data, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.Data))
	if err != nil {
		a.t.Fatalf("%s: %v in %s", tool, err, s.Data)
	}
	if err := a.s.out[tool].Validate(data); err != nil {
		a.t.Errorf("%s: its structured content is not as its schema says: %v\n%s", tool, err, s.Data)
	}
	_, failed := data.(map[string]any)["error"]
	if failed != s.IsError {
		a.t.Errorf("%s: isError is %v, structured content %s", tool, s.IsError, s.Data)
	}
}

// do is call for a call that has to succeed; it returns the answer's data.
func do[T any](a *agent, tool string, in any) (out T) {
	a.t.Helper()
	s := a.call(tool, in)
	if s.IsError {
		a.t.Fatalf("%s %v failed: %s", tool, in, s.Text)
	}
	if err := json.Unmarshal(s.Data, &out); err != nil {
		a.t.Fatalf("%s: %v in %s", tool, err, s.Data)
	}
	return out
}

// fails is call for a call that has to fail as kind; it returns the problem.
func (a *agent) fails(tool string, in any, kind problem.Kind) (out problem.Body) {
	a.t.Helper()
	s := a.call(tool, in)
	var data struct{ Error problem.Body }
	if err := json.Unmarshal(s.Data, &data); err != nil {
		a.t.Fatal(err)
	}
	if out = data.Error; !s.IsError || out.Type != kind.Type() || out.Status != kind.Status() {
		a.t.Errorf("%s %v gave %s, want the problem %s", tool, short(in), s.Data, kind)
	}
	if !strings.Contains(s.Text, out.Detail) {
		a.t.Errorf("%s: the text %q does not say %q", tool, s.Text, out.Detail)
	}
	if strings.Contains(s.Text, "/v1/") {
		a.t.Errorf("%s: %q sends an agent to a route that it cannot call", tool, s.Text)
	}
	return out
}

func short(v any) string {
	s := fmt.Sprint(v)
	return s[:min(len(s), 200)]
}
