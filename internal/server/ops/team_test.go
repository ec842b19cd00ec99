package ops_test

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

// A team is an org whose people have agents.
type team struct {
	*testing.T
	w             *daemontest.World
	o             *daemontest.Org
	ada, bob, cyd person
}

type person struct {
	coord.User
	token string
}

// An agent is a session of a person in a repo, driven by its own token: which
// agent a tool call comes from is told by it.
type agent struct {
	person
	session  string
	external string
	repo     string
}

const apiRepo, webRepo = "acme/api", "acme/web"

// onTeams runs a test with a team on every database.
func onTeams(t *testing.T, test func(*testing.T, *team)) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) { test(t, newTeam(t, daemontest.Start(t, dsn), "Acme")) })
}

func newTeam(t *testing.T, w *daemontest.World, name string) *team {
	x := &team{T: t, w: w, o: w.Org(name)}
	x.ada = x.person(coord.Owner)
	x.bob = x.person(coord.Admin)
	x.cyd = x.person(coord.Member)
	for _, repo := range []string{apiRepo, webRepo} {
		w.Must(201, request{
			Method: "POST",
			Path:   "/v1/repos",
			Token:  x.ada.token,
			Body:   map[string]any{"full_name": repo, "provider": "github"},
		}, nil)
	}
	return x
}

func (x *team) person(role coord.Role) person {
	return person{x.o.Users[role], x.o.Tokens[role]}
}

// newcomer adds one more member.
func (x *team) newcomer() person {
	u := x.w.Member(x.o, coord.Member)
	return person{u, x.w.Token(x.o, &u, coord.Scopes()...)}
}

// agent starts a session with a token of its own.
func (x *team) agent(p person, repo string) agent {
	x.Helper()
	a := agent{person: person{p.User, x.w.Token(x.o, &p.User, coord.Scopes()...)}, external: uuid.NewString(), repo: repo}
	a.session = *x.hook(a, wire.HookSessionStart, nil).SessionID
	return a
}

// hook sends an event of an agent.
func (x *team) hook(a agent, event wire.HookEvent, more map[string]any) (reply wire.HookReply) {
	x.Helper()
	x.w.Must(200, hookRequest(a, event, more), &reply)
	return reply
}

func hookRequest(a agent, event wire.HookEvent, more map[string]any) request {
	body := map[string]any{"event": event, "session": map[string]any{"external_id": a.external, "tool": "claude_code"},
		"repo": map[string]any{
			"remote_fingerprints": []string{"github.com/" + a.repo},
			"branch":              "work-" + a.external[:8],
			"worktree_hash":       a.external,
		}}
	for k, v := range more {
		body[k] = v
	}
	return request{Method: "POST", Path: "/v1/hooks/evaluate", Token: a.token, Body: body}
}

// tool calls a tool and decodes its answer into to; a failure is returned.
func (x *team) tool(token, name string, args map[string]any, to any) *problem.Body {
	x.Helper()
	res := x.w.Do(toolRequest(token, name, args))
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

func toolRequest(token, name string, args map[string]any) request {
	if args == nil {
		args = map[string]any{}
	}
	return request{Method: "POST", Path: "/mcp", Token: token, Body: map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": name, "arguments": args}},
		Header: map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-06-18"}}
}

// must calls a tool that has to succeed.
func (x *team) must(token, name string, args map[string]any, to any) {
	x.Helper()
	if bad := x.tool(token, name, args, to); bad != nil {
		x.Fatalf("%s(%v) failed: %+v", name, args, bad)
	}
}

// send posts a message over REST as a person.
func (x *team) send(p person, to, body string) (m coord.Message) {
	x.Helper()
	x.w.Must(201, request{Method: "POST", Path: "/v1/messages", Token: p.token, Body: map[string]any{"to": to, "body": body}}, &m)
	return m
}

// intent declares work of a person in a repo.
func (x *team) intent(p person, repo, title string, paths ...string) coord.Intent {
	x.Helper()
	var out wire.Declared
	x.w.Must(201, request{Method: "POST", Path: "/v1/intents", Token: p.token, Body: map[string]any{"title": title, "repo": repo,
		"branch": uuid.NewString()[:8], "scope": map[string]any{"paths": paths}}}, &out)
	return out.Intent
}

// inbox reads a person's inbox over REST with their token.
func (x *team) inbox(p person, query string) (out wire.Page[coord.Message]) {
	x.Helper()
	x.w.Must(200, request{Method: "GET", Path: "/v1/messages" + query, Token: p.token}, &out)
	return out
}

func bodies(ms []coord.Message) []string {
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.Body
	}
	return out
}

// count returns how many rows a table has.
func (x *team) count(table string) (n int) {
	x.Helper()
	x.w.Write(x.o.ID, func(ctx context.Context, tx *store.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table+" WHERE org_id = $1", x.o.ID).Scan(&n)
	})
	return n
}

func contains(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}
