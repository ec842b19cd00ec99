package stories

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// attacks are bodies that would open a block, by route or tool. All other
// operations are called with an example of what they take. {holder} is whoever
// holds, {me} the side that is kept out.
var attacks = map[string][]string{
	"PATCH /v1/intents/{ref}":           {`{"scope_remove":{"paths":["a.go"]}}`, `{"status":"in_review"}`},
	"POST /v1/intents/{ref}/close":      {`{"outcome":"abandoned"}`, `{"outcome":"merged"}`, `{"outcome":"handoff","handoff_to":"{me}"}`},
	"POST /v1/intents/{ref}/handoff":    {`{"to":"{me}"}`},
	"POST /v1/conflicts/{ref}/actions":  actionBodies("action"),
	"POST /v1/conflicts/{ref}/feedback": {`{"verdict":"false_positive"}`},
	"POST /v1/conflicts/{ref}/override": {`{"reason":"let me in"}`, `{}`},
	"PUT /v1/policies": {`{"rules":{"severity":{"exclusive_claim":"warn"}}}`,
		`{"rules":{"enforcement":"off"}}`, `{"rules":{"ignore_paths":["**"]}}`,
		`{"rules":{"severity_pinned":[],"feedback_min_verdicts":1}}`,
	},
	"POST /v1/intents":      {`{"title":"Mine","branch":"b-ana","repo":"acme/api","mode":"exclusive","scope":{"paths":["a.go"]}}`},
	"tool intent_update":    {`{"intent":"INT-1","patch":{"scope_remove":{"paths":["a.go"]}}}`},
	"tool intent_close":     {`{"intent":"INT-1","outcome":"abandoned"}`, `{"intent":"INT-1","outcome":"handoff","handoff_to":"{me}"}`},
	"tool intent_handoff":   {`{"ref":"INT-1","to":"{me}"}`},
	"tool intent_adopt":     {`{"ref":"INT-1"}`},
	"tool conflict_respond": actionBodies("conflict\":\"CF-1\",\"action"),
}

func actionBodies(field string) (out []string) {
	for _, a := range coord.ConflictActions() {
		out = append(out, fmt.Sprintf(`{"%s":%q}`, field, a))
	}
	return out
}

// No operation opens an exclusive block from the side that it keeps out,
// whatever token or session it comes with.
func TestTheSideThatIsKeptOutOpensNothing(t *testing.T) {
	schemas := api.New(nil)
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		for n, role := range []coord.Role{coord.Member, coord.Admin, coord.Owner} {
			for k, how := range []string{"token", "session", "service"} {
				if role == coord.Member && how == "service" {
					continue // only admins make service tokens
				}
				t.Run(string(role)+" "+how, func(t *testing.T) {
					s := newStory(t, w, fmt.Sprintf("kept%d%d", n, k))
					s.person("bob", role)
					s.tell("join ana bob")
					s.tell("declare ana paths=a.go mode=exclusive")
					s.tell("pre bob a.go")
					x := &keptOut{story: s, how: how, token: s.agent("bob").token}
					if how == "service" {
						x.token = s.serviceOf("bob")
					}
					for _, op := range api.Table {
						x.try(op, schemas)
					}
					if x.tried < 40 {
						t.Errorf("only %d operations were tried", x.tried)
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
	tried      int
}

func (x *keptOut) try(op api.Op, schemas *api.API) {
	method, path, _ := strings.Cut(op.Route, " ")
	if op.Tool != "" && op.Route == "" {
		for _, body := range attacks["tool "+op.Tool] {
			x.toolAnswer(x.agent("bob"), op.Tool, x.fill(body))
			x.stands("tool " + op.Tool + " " + body)
		}
		return
	}
	if method == "GET" || strings.HasPrefix(path, "/v1/auth/") || strings.HasPrefix(path, "/v1/hooks") || op.Door == api.Public {
		return
	}
	bodies := attacks[op.Route]
	if bodies == nil {
		example, err := json.Marshal(schemas.Schemas.Example(schemas.Inputs(op).Body))
		if err != nil {
			x.t.Fatal(err)
		}
		bodies = []string{string(example)}
	}
	path = strings.NewReplacer("/v1/intents/{ref}", "/v1/intents/INT-1", "/v1/conflicts/{ref}", "/v1/conflicts/CF-1",
		"/v1/members/{userId}", "/v1/members/"+x.agent("ana").ID, "{repo}", "acme%2Fapi").Replace(path)
	for _, body := range bodies {
		r := daemontest.Request{Method: method, Path: path, Token: x.token, Header: map[string]string{}}
		if r.Body = x.fill(body); x.how == "session" {
			r.Header["X-Svc-Session"] = x.agent("bob").session
		}
		x.w.Do(r)
		x.stands(op.Route + " " + body)
	}
}

func (x *keptOut) fill(body string) map[string]any {
	var out map[string]any
	text := strings.NewReplacer("{me}", x.agent("bob").Email, "{holder}", x.agent("ana").Email).Replace(body)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		x.t.Fatal(text, err)
	}
	return out
}

// stands proves that the block is there, and refuses the edit again.
func (x *keptOut) stands(after string) {
	x.t.Helper()
	x.tried++
	r, failed := x.hook(x.agent("bob"), wire.HookRequest{Event: wire.HookPreEdit, Paths: []string{"a.go"}})
	if failed != "" || r.Decision != wire.Block {
		x.t.Fatalf("%s %s: the edit is answered %q %s", x.how, after, r.Decision, failed)
	}
}
