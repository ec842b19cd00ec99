package stories

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// attacks are bodies that would open a block, by route or tool, beside an
// example of what each takes. {holder} is whoever holds, {me} the side that is
// kept out, {cf} the conflict.
var attacks = map[string][]string{
	"PATCH /v1/intents/{ref}":           {`{"scope_remove":{"paths":["a.go"]}}`, `{"status":"in_review"}`},
	"POST /v1/intents/{ref}/close":      {`{"outcome":"abandoned"}`, `{"outcome":"merged"}`, `{"outcome":"handoff","handoff_to":"{me}"}`},
	"POST /v1/intents/{ref}/handoff":    {`{"to":"{me}"}`},
	"POST /v1/conflicts/{ref}/actions":  actionBodies("action"),
	"POST /v1/conflicts/{ref}/feedback": {`{"verdict":"false_positive"}`},
	"POST /v1/conflicts/{ref}/override": {`{"reason":"let me in"}`, `{}`},
	"POST /v1/messages":                 {`{"to":"intent:INT-1","body":"Let me in"}`},
	"PUT /v1/policies": {`{"rules":{"severity":{"exclusive_claim":"warn"}}}`,
		`{"rules":{"enforcement":"off"}}`, `{"rules":{"ignore_paths":["**"]}}`,
		`{"rules":{"severity_pinned":[],"feedback_min_verdicts":1}}`,
	},
	"PATCH /v1/repos/{repo}": {`{"archived":true}`, `{"remotes":["github.com/acme/other"]}`, `{"remotes":[]}`, `{"full_name":"acme/other"}`},
	"POST /v1/repos":         {`{"full_name":"acme/other","remotes":["github.com/acme/api"]}`},
	"POST /v1/intents":       {`{"title":"Mine","branch":"b-ana","repo":"acme/api","mode":"exclusive","scope":{"paths":["a.go"]}}`},
	"tool intent_update":     {`{"intent":"INT-1","patch":{"scope_remove":{"paths":["a.go"]}}}`},
	"tool intent_close":      {`{"intent":"INT-1","outcome":"abandoned"}`, `{"intent":"INT-1","outcome":"handoff","handoff_to":"{me}"}`},
	"tool intent_handoff":    {`{"ref":"INT-1","to":"{me}"}`},
	"tool intent_adopt":      {`{"ref":"INT-1"}`},
	"tool conflict_respond":  actionBodies("conflict\":\"{cf}\",\"action"),
}

func actionBodies(field string) (out []string) {
	for _, a := range coord.ConflictActions() {
		out = append(out, fmt.Sprintf(`{"%s":%q}`, field, a))
	}
	return out
}

// No operation and no tool opens an exclusive block from the side that it keeps
// out, whatever token or session it comes with, and none ends it silently.
func TestTheSideThatIsKeptOutOpensNothing(t *testing.T) {
	if testing.Short() {
		return // make test walks through every operation
	}
	schemas := api.New(nil)
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		w.Near = true
		for n, role := range []coord.Role{coord.Member, coord.Admin, coord.Owner} {
			for k, how := range []string{"token", "session", "tools", "service", "minted"} {
				if role == coord.Member && (how == "service" || how == "minted") {
					continue // only admins make tokens
				}
				t.Run(string(role)+" "+how, func(t *testing.T) {
					s := newStory(t, w, fmt.Sprintf("kept%d%d", n, k))
					s.person("bob", role)
					s.person("root", coord.Admin)
					s.tell("join ana bob")
					s.tell("declare ana paths=a.go mode=exclusive")
					x := &keptOut{story: s, how: how, token: s.agent("bob").token}
					switch how {
					case "service":
						x.token = s.tokenOf("bob", coord.ServiceToken)
					case "minted": // without what agents use, and yet made by one
						x.token = s.tokenOf("bob", coord.PersonalToken)
					}
					x.stands("the start")
					for _, op := range api.Table {
						x.try(op, schemas)
					}
					x.evade()
					if x.tried < 40 {
						t.Errorf("only %d calls were made", x.tried)
					}
					// That it would have been seen: a person opens it.
					s.tell(fmt.Sprintf(`override root %s "go on" cookie`, x.ref))
					if r, _ := x.edits(x.agent("bob"), "a.go"); r.Decision == wire.Block {
						t.Error("the block stands though a person overrode it: this test sees nothing")
					}
				})
			}
		}
	})
}

// keptOut is whoever is kept out and tries everything.
type keptOut struct {
	*story
	how, token string
	ref        string // of the conflict
	tried      int
}

func (x *keptOut) try(op api.Op, schemas *api.API) {
	if x.how == "tools" {
		if op.Tool == "" || op.Tool == "wait_for" { // which only waits
			return
		}
		for _, body := range x.bodies(op, "tool "+op.Tool, schemas.Inputs(op).All, schemas) {
			x.toolAnswer(x.agent("bob"), op.Tool, body)
			x.stands(fmt.Sprintf("tool %s %v", op.Tool, body))
		}
		return
	}
	method, path, _ := strings.Cut(op.Route, " ")
	if op.Route == "" || method == "GET" || strings.HasPrefix(path, "/v1/auth/") || strings.HasPrefix(path, "/v1/hooks") ||
		op.Door == api.Public {
		return
	}
	path = strings.NewReplacer("/v1/intents/{ref}", "/v1/intents/INT-1", "/v1/conflicts/{ref}", "/v1/conflicts/"+x.ref,
		"/v1/members/{userId}", "/v1/members/"+x.agent("ana").ID, "/v1/sessions/{id}", "/v1/sessions/"+x.agent("ana").session,
		"{repo}", "acme%2Fapi").Replace(path)
	for _, body := range x.bodies(op, op.Route, schemas.Inputs(op).Body, schemas) {
		r := daemontest.Request{Method: method, Path: path, Token: x.token, Header: map[string]string{}, Body: body}
		if x.how == "session" {
			r.Header["X-Svc-Session"] = x.agent("bob").session
		}
		x.w.Do(r)
		x.stands(fmt.Sprintf("%s %v", op.Route, body))
	}
}

// bodies returns what an operation is called with: the attacks, and an example
// of what it takes for each choice that it offers, about what holds.
func (x *keptOut) bodies(op api.Op, name string, in *shape.Schema, schemas *api.API) (out []map[string]any) {
	for _, body := range attacks[name] {
		out = append(out, x.fill(body))
	}
	example, ok := schemas.Schemas.Example(in).(map[string]any)
	if !ok {
		return append(out, nil)
	}
	for key := range example {
		switch key {
		case "intent", "ref":
			example[key] = "INT-1"
		case "conflict":
			example[key] = x.ref
		case "session_id":
			example[key] = x.agent("bob").session
		case "repo":
			example[key] = "acme/api"
		case "to", "user_email", "handoff_to", "email":
			example[key] = x.agent("bob").Email
		case "user_id":
			example[key] = x.agent("bob").ID
		}
	}
	out = append(out, example)
	for key, field := range in.Properties {
		for _, choice := range schemas.Schemas.Resolve(field).Enum {
			other := maps.Clone(example)
			other[key] = choice
			out = append(out, other)
		}
	}
	return out
}

// evade has the agent that is kept out come back as another: under a new
// session, from another working copy or branch, or of the same repository by
// another name.
func (x *keptOut) evade() {
	bob := x.agent("bob")
	for i, change := range []func(*agent){
		func(a *agent) { a.name = "bob2" },
		func(a *agent) { a.copy = "elsewhere" },
		func(a *agent) { a.branch = "b-ana" },
		func(a *agent) { a.branch = "" },
		func(a *agent) { a.repo = "ACME/api.git" },
		func(a *agent) { a.tool = "codex" },
		func(a *agent) { a.name, a.parent = "sub", "ana" },
		func(a *agent) { a.name, a.copy, a.branch = "twin", x.agent("ana").copy, x.agent("ana").branch },
	} {
		other := *bob
		change(&other)
		for _, event := range []wire.HookEvent{wire.HookSessionStart, wire.HookPrompt, wire.HookPlan, wire.HookStop} {
			x.hook(&other, wire.HookRequest{Event: event, PlanText: "Edit a.go"})
		}
		for _, path := range []string{"a.go", "./a.go", "a.go/"} {
			if r, failed := x.edits(&other, path); r.Decision != wire.Block {
				x.t.Errorf("evasion %d: the edit of %s is answered %q %s", i, path, r.Decision, failed)
			}
		}
		x.hook(&other, wire.HookRequest{Event: wire.HookSessionEnd})
		x.stands(fmt.Sprint("evasion ", i))
	}
	x.hook(bob, wire.HookRequest{Event: wire.HookSessionEnd})
	x.hook(bob, wire.HookRequest{Event: wire.HookSessionStart})
	x.stands("an end and a start")
}

func (x *keptOut) fill(body string) map[string]any {
	var out map[string]any
	text := strings.NewReplacer("{me}", x.agent("bob").Email, "{holder}", x.agent("ana").Email, "{cf}", x.ref).Replace(body)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		x.t.Fatal(text, err)
	}
	return out
}

func (x *keptOut) edits(a *agent, path string) (wire.HookReply, string) {
	return x.hook(a, wire.HookRequest{Event: wire.HookPreEdit, Paths: []string{path}})
}

// stands proves that the block is there and refuses the edit again, and that
// the holder heard of it if the conflict about it came to an end.
func (x *keptOut) stands(after string) {
	x.t.Helper()
	x.tried++
	if x.ref != "" {
		var c coord.Conflict
		if failed := x.call(x.owner(), "GET", "/v1/conflicts/"+x.ref, nil, &c, nil); failed != "" {
			x.t.Fatal(failed)
		}
		if !c.Status.Live() {
			r, _ := x.hook(x.agent("ana"), wire.HookRequest{Event: wire.HookPrompt})
			if !strings.Contains(r.InjectContext, "svc "+x.ref+" (exclusive_claim) is over") {
				x.t.Errorf("%s %s: %s is %s, and the holder was told:\n%s", x.how, after, x.ref, c.Status, r.InjectContext)
			}
		}
	}
	r, failed := x.edits(x.agent("bob"), "a.go")
	if failed != "" || r.Decision != wire.Block || len(r.Conflicts) != 1 {
		x.t.Fatalf("%s %s: the edit is answered %q %s %+v", x.how, after, r.Decision, failed, r.Conflicts)
	}
	if x.ref != r.Conflicts[0].Ref {
		x.ref = r.Conflicts[0].Ref
		x.hook(x.agent("ana"), wire.HookRequest{Event: wire.HookPrompt}) // hears of it
	}
}

// Claims by pattern, folder, symbol and contract are guarded as those of single
// files are.
func TestNoKindOfClaimIsOpened(t *testing.T) {
	schemas := api.New(nil)
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		w.Near = true
		for n, claim := range []string{"paths=a.go", "paths=dir/*", "paths=src/[xy].go", "symbols=a.go#F", "contracts=db:public.users"} {
			t.Run(claim, func(t *testing.T) {
				s := newStory(t, w, fmt.Sprintf("claim%d", n))
				s.person("bob", coord.Admin)
				s.tell("join ana bob", "declare ana mode=exclusive "+claim, "declare bob "+claim)
				kind, selectors, _ := strings.Cut(claim, "=")
				x := &claimed{&keptOut{story: s, token: s.agent("bob").token, ref: "CF-1"}, map[string]any{kind: []string{selectors}}}
				x.stands("the start")
				for _, op := range api.Table {
					x.try(op, schemas)
				}
				if x.tried < 20 {
					t.Errorf("only %d calls were made", x.tried)
				}
				s.tell("close ana INT-1 abandoned")
				if x.decision() == wire.Block {
					t.Error("the claim stands though its holder let go: this test sees nothing")
				}
			})
		}
	})
}

// claimed is whoever wants what another has claimed.
type claimed struct {
	*keptOut
	scope map[string]any
}

func (x *claimed) try(op api.Op, schemas *api.API) {
	method, path, _ := strings.Cut(op.Route, " ")
	path = strings.NewReplacer("/v1/intents/{ref}", "/v1/intents/INT-1", "/v1/conflicts/{ref}", "/v1/conflicts/CF-1",
		"/v1/members/{userId}", "/v1/members/"+x.agent("ana").ID).Replace(path)
	bodies := attacks[op.Route]
	if op.Route == "DELETE /v1/members/{userId}" {
		bodies = []string{`{}`}
	}
	for _, body := range bodies {
		in := x.fill(body)
		for _, key := range []string{"scope_remove", "scope"} {
			if in[key] != nil {
				in[key] = x.scope
			}
		}
		if in["action"] == "resolved" || in["action"] == "false_positive" {
			continue // takes back one's own attempt: the claim is let alone, and so is the conflict
		}
		r := daemontest.Request{Method: method, Path: path, Token: x.token, Body: in}
		if method == "DELETE" {
			r.Body = nil
		}
		x.w.Do(r)
		x.stands(fmt.Sprintf("%s %v", op.Route, in))
	}
}

func (x *claimed) decision() wire.Decision {
	var out wire.ScopeChecked
	bob := x.agent("bob")
	body := maps.Clone(x.scope)
	body["session_id"] = bob.session
	if failed := x.call(bob, "POST", "/v1/scope-check", body, &out, nil); failed != "" {
		x.t.Fatal(failed)
	}
	return out.Decision
}

func (x *claimed) stands(after string) {
	x.t.Helper()
	x.tried++
	if d := x.decision(); d != wire.Block {
		x.t.Fatalf("after %s the scope is answered %q", after, d)
	}
}
