// Package teamtest gives tests an org whose people have agents, on the running
// service of daemontest: three people, two repos, and short ways to send the
// events of hooks and to call tools. It knows no room: what only one room's
// tests ask of a team stands beside them, and only tests import it.
package teamtest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A Team is an org whose people have agents.
type Team struct {
	*testing.T
	W             *daemontest.World
	O             *daemontest.Org
	Ada, Bob, Cyd Person
}

// A Person is a member with a token of every scope.
type Person struct {
	coord.User
	Token string
}

// An Agent is a session of a person in a repo, driven by its own token: which
// agent a tool call comes from is told by it.
type Agent struct {
	Person
	Session  string
	External string
	Repo     string
}

// The repos of a team.
const APIRepo, WebRepo = "acme/api", "acme/web"

// Each runs a test with a team on every database.
func Each(t *testing.T, test func(*testing.T, *Team)) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) { test(t, New(t, daemontest.Start(t, dsn), "Acme")) })
}

// New makes a team in an org of its own: an owner, an admin and a member.
func New(t *testing.T, w *daemontest.World, name string) *Team {
	x := &Team{T: t, W: w, O: w.Org(name)}
	x.Ada = x.Person(coord.Owner)
	x.Bob = x.Person(coord.Admin)
	x.Cyd = x.Person(coord.Member)
	for _, repo := range []string{APIRepo, WebRepo} {
		w.Must(201, daemontest.Request{
			Method: "POST",
			Path:   "/v1/repos",
			Token:  x.Ada.Token,
			Body:   map[string]any{"full_name": repo, "provider": "github"},
		}, nil)
	}
	return x
}

// Person returns the one of that role.
func (x *Team) Person(role coord.Role) Person {
	return Person{x.O.Users[role], x.O.Tokens[role]}
}

// Own returns a token for a person's own use, which no agent works with.
func (x *Team) Own(p Person) string {
	x.Helper()
	return x.W.Token(x.O, &p.User, coord.ServiceScopes()...)
}

// Newcomer adds one more member.
func (x *Team) Newcomer() Person {
	u := x.W.Member(x.O, coord.Member)
	return Person{u, x.W.Token(x.O, &u, coord.Scopes()...)}
}

// Agent starts a session with a token of its own.
func (x *Team) Agent(p Person, repo string) Agent {
	x.Helper()
	a := Agent{Person: Person{p.User, x.W.Token(x.O, &p.User, coord.Scopes()...)}, External: uuid.NewString(), Repo: repo}
	a.Session = *x.Hook(a, wire.HookSessionStart, nil).SessionID
	return a
}

// Hook sends an event of an agent.
func (x *Team) Hook(a Agent, event wire.HookEvent, more map[string]any) (reply wire.HookReply) {
	x.Helper()
	x.W.Must(200, HookRequest(a, event, more), &reply)
	return reply
}

// HookRequest is an event of an agent, as its host sends it.
func HookRequest(a Agent, event wire.HookEvent, more map[string]any) daemontest.Request {
	body := map[string]any{"event": event, "session": map[string]any{"external_id": a.External, "tool": "claude_code"},
		"repo": map[string]any{
			"remote_fingerprints": []string{"github.com/" + a.Repo},
			"branch":              "work-" + a.External[:8],
			"worktree_hash":       a.External,
		}}
	for k, v := range more {
		body[k] = v
	}
	return daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: a.Token, Body: body}
}

// Tool calls a tool and decodes its answer into to; a failure is returned.
func (x *Team) Tool(token, name string, args map[string]any, to any) *problem.Body {
	x.Helper()
	res := x.W.Do(ToolRequest(token, name, args))
	var out struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
		Error *struct{ Message string }
	}
	res.JSON(x, &out)
	if out.Error != nil || res.Status != http.StatusOK {
		x.Fatalf("tool %s = %d %s", name, res.Status, res.Body)
	}
	if out.Result.IsError {
		var failed struct{ Error problem.Body }
		if err := json.Unmarshal(out.Result.StructuredContent, &failed); err != nil {
			x.Fatal(err)
		}
		return &failed.Error
	}
	if to != nil {
		if err := json.Unmarshal(out.Result.StructuredContent, to); err != nil {
			x.Fatalf("%s: %v\n%s", name, err, out.Result.StructuredContent)
		}
	}
	return nil
}

// ToolRequest is a call of a tool.
func ToolRequest(token, name string, args map[string]any) daemontest.Request {
	if args == nil {
		args = map[string]any{}
	}
	return daemontest.Request{
		Method: "POST",
		Path:   "/mcp",
		Token:  token,
		Header: map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-06-18"},
		Body: map[string]any{
			"jsonrpc": "2.0",
			"id":      1,
			"method":  "tools/call",
			"params":  map[string]any{"name": name, "arguments": args},
		},
	}
}

// Must calls a tool that has to succeed.
func (x *Team) Must(token, name string, args map[string]any, to any) {
	x.Helper()
	if bad := x.Tool(token, name, args, to); bad != nil {
		x.Fatalf("%s(%v) failed: %+v", name, args, bad)
	}
}

// Send posts a message over REST as a person.
func (x *Team) Send(p Person, to, body string) (m coord.Message) {
	x.Helper()
	x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/messages", Token: p.Token, Body: map[string]any{"to": to, "body": body}}, &m)
	return m
}

// Intent declares work of a person in a repo.
func (x *Team) Intent(p Person, repo, title string, paths ...string) coord.Intent {
	x.Helper()
	var out wire.Declared
	x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: p.Token, Body: map[string]any{"title": title, "repo": repo,
		"branch": uuid.NewString()[:8], "scope": map[string]any{"paths": paths}}}, &out)
	return out.Intent
}

// Inbox reads a person's inbox over REST with their token.
func (x *Team) Inbox(p Person, query string) (out wire.Page[coord.Message]) {
	x.Helper()
	x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/messages" + query, Token: p.Token}, &out)
	return out
}

// Bodies returns what messages say.
func Bodies(ms []coord.Message) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.Body
	}
	return out
}

// Count returns how many rows a table has.
func (x *Team) Count(table string) (n int) {
	x.Helper()
	x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table+" WHERE org_id = $1", x.O.ID).Scan(&n)
	})
	return n
}

// Contains fails where a text lacks one of some parts.
func Contains(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

// WantPage checks that a browser is shown a page where a program gets a
// problem, with the same status.
func WantPage(t *testing.T, w *daemontest.World, r daemontest.Request, parts ...string) {
	t.Helper()
	plain := w.Do(r)
	if ct := plain.Header.Get("Content-Type"); plain.Status < 400 || ct != "application/problem+json" {
		t.Errorf("%s for a program = %d %s", r.Path, plain.Status, ct)
	}
	r.Header = map[string]string{"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
	page := w.Do(r)
	if ct := page.Header.Get("Content-Type"); page.Status != plain.Status || !strings.HasPrefix(ct, "text/html") ||
		!strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%s for a browser = %d %s, want %d", r.Path, page.Status, ct, plain.Status)
	}
	Contains(t, "the page", string(page.Body), parts...)
}

// Answer answers as another service does that a test stands in for.
func Answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
