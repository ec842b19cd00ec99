package stories

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// Nothing that an agent calls ends, narrows, moves or hands over what another
// live session holds exclusively: whoever the agent's person is, through
// whatever door, before the first refusal and after it, and not by the other's
// session id either.
func TestAnAgentsWordFreesNothing(t *testing.T) {
	if testing.Short() {
		return // make test walks through every operation
	}
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		w.Near = true
		for n, x := range everyWord() {
			t.Run(x.String(), func(t *testing.T) {
				x.slug = fmt.Sprintf("word%d", n)
				x.begin(t, w, x.slug)
				x.walk()
				if x.opened != "" {
					t.Errorf("opened by %s", x.opened)
				}
				if x.tried < 400 {
					t.Errorf("only %d calls were made", x.tried)
				}
				x.personFrees()
			})
		}
	})
}

// Without the one rule, the walk above finds the way in.
func TestTheWalkSeesThatTheRuleIsNeeded(t *testing.T) {
	if testing.Short() {
		return // make test walks through every operation
	}
	w := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	w.D.Ops.Work.Ground.Unruled, w.Near = true, true
	for n, x := range everyWord() {
		if x.refused || x.role == coord.Member && !x.same {
			continue // other rules hold there
		}
		t.Run(x.String(), func(t *testing.T) {
			x.slug = fmt.Sprintf("word%d", n)
			x.begin(t, w, x.slug)
			x.walk()
			if x.opened == "" {
				t.Error("the walk found nothing, with the rule taken out")
			}
		})
	}
}

// A word is an agent that wants in where another live session holds.
type word struct {
	*keptOut
	role    coord.Role
	same    bool // both are agents of one person
	refused bool // it was refused before
	keyed   bool // the clients send keys
	opened  string
	slug    string
	orgs    int
	seq     int64 // of the last event, when it was last looked at
}

func everyWord() (out []*word) {
	for _, role := range []coord.Role{coord.Member, coord.Admin, coord.Owner} {
		for _, same := range []bool{false, true} {
			for _, refused := range []bool{false, true} {
				out = append(out, &word{role: role, same: same, refused: refused, keyed: true})
			}
		}
	}
	return append(out, &word{role: coord.Admin}, &word{role: coord.Member, same: true})
}

func (x *word) String() string {
	name := string(x.role)
	if x.same {
		name += " of the same person"
	}
	if x.refused {
		name += " after a refusal"
	}
	if !x.keyed {
		name += " without keys"
	}
	return name
}

// begin has ana hold a.go and bob want it.
func (x *word) begin(t *testing.T, w *daemontest.World, slug string) {
	s := newStory(t, w, slug)
	s.keyed, x.seq = x.keyed, 0
	if x.same {
		s.person("ana", x.role)
		s.tell("agent bob ana tool=codex")
	} else {
		s.person("bob", x.role)
	}
	s.tell("join ana bob", "declare ana paths=a.go mode=exclusive")
	x.keptOut = &keptOut{story: s, token: s.agent("bob").token}
	if x.refused {
		r, _ := x.edits(x.agent("bob"), "a.go")
		x.ref = r.Conflicts[0].Ref
	}
}

// headers are the names under which an agent calls: none, its own, the other's,
// and the other's with its own key.
func (x *word) headers() []map[string]string {
	own, other := x.agent("bob"), x.agent("ana")
	return []map[string]string{
		{},
		{"X-Svc-Session": own.session, "X-Svc-Session-Key": own.key()},
		{"X-Svc-Session": other.session},
		{"X-Svc-Session": other.session, "X-Svc-Session-Key": own.key()},
	}
}

func (x *word) walk() {
	schemas := api.New(nil)
	for _, op := range api.Table {
		for _, part := range []func(api.Op, *api.API){x.callTools, x.callRoute} {
			x.afresh()
			tried := x.tried
			part(op, schemas)
			if x.opened == "" && x.tried > tried {
				x.holds("all calls of " + op.Tool + " " + op.Route)
			}
		}
	}
}

func (x *word) callTools(op api.Op, schemas *api.API) {
	if op.Tool == "" || op.Tool == "wait_for" { // which only waits
		return
	}
	for _, body := range x.bodies(op, "tool "+op.Tool, schemas.Inputs(op).All, schemas) {
		for _, header := range x.headers() {
			x.useTool(op.Tool, body, header)
			if body["session_id"] != nil {
				body["session_id"] = x.agent("ana").session
				x.useTool(op.Tool, body, header)
				body["session_id"] = x.agent("bob").session
			}
		}
	}
}

func (x *word) useTool(name string, body map[string]any, header map[string]string) {
	if x.opened == "" {
		r := toolRequest(x.token, name, body)
		for k, v := range header {
			r.Header[k] = v
		}
		x.w.Do(r)
		x.held(fmt.Sprintf("tool %s %v %v", name, body, header))
	}
}

func (x *word) callRoute(op api.Op, schemas *api.API) {
	method, path, _ := strings.Cut(op.Route, " ")
	if op.Route == "" || method == "GET" || op.Door == api.Public || strings.HasPrefix(path, "/v1/hooks") || // whose event tells of oneself
		op.Route == "PUT /v1/policies" { // AsScoped: no login has the scope for it
		return
	}
	path = strings.NewReplacer("/v1/intents/{ref}", "/v1/intents/INT-1", "/v1/conflicts/{ref}", "/v1/conflicts/"+x.ref,
		"/v1/members/{userId}", "/v1/members/"+x.agent("ana").ID, "/v1/sessions/{id}", "/v1/sessions/"+x.agent("ana").session,
		"{repo}", "acme%2Fapi").Replace(path)
	tokens := []string{x.token}
	if x.role.IsAdmin() && !x.same {
		tokens = append(tokens, x.tokenOf("bob", coord.ServiceToken), x.tokenOf("bob", coord.PersonalToken)) // made by an agent
	}
	for _, body := range x.bodies(op, op.Route, schemas.Inputs(op).Body, schemas) {
		for _, token := range tokens {
			for _, header := range x.headers() {
				if x.opened != "" || token != x.token && len(header) > 0 {
					break
				}
				x.w.Do(daemontest.Request{Method: method, Path: path, Token: token, Header: header, Body: body})
				x.held(fmt.Sprintf("%s %v %v", op.Route, body, header))
			}
		}
	}
}

// held is holds after a call that told of something: whatever a decision rests on
// changes with an event, so a call that told of nothing, as most are refused,
// opened nothing. After all calls of an operation it is asked all the same.
func (x *word) held(after string) {
	x.tried++
	if last := x.lastSeq(); last != x.seq {
		x.holds(after)
		x.seq = last // asking leaves no trace
	}
}

// holds notes what was opened, if ana no longer holds what she held.
func (x *word) holds(after string) {
	var i coord.Intent
	failed := x.send(daemontest.Request{Method: "GET", Path: "/v1/intents/INT-1", Token: x.org.Owner()}, &i)
	if failed != "" || !i.Status.Live() || i.Owner.ID != x.agent("ana").ID || i.EffectiveMode != coord.Exclusive ||
		!slices.Contains(i.Scope.Paths, "a.go") {
		x.opened = fmt.Sprintf("%s: %s %+v", after, failed, i)
		return
	}
	if x.decision() != wire.Block {
		x.opened = after
	}
}

// afresh begins anew in another org if the last calls recorded a conflict: what
// comes before the first refusal is tried without one.
func (x *word) afresh() {
	var known wire.Page[coord.Conflict]
	x.w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/conflicts?limit=1", Token: x.org.Owner()}, &known)
	if x.opened == "" && !x.refused && len(known.Items) > 0 {
		tried := x.tried
		x.orgs++
		x.begin(x.t, x.w, fmt.Sprintf("%s-%d", x.slug, x.orgs))
		x.tried = tried
	}
}

// decision is what would be said to an edit; asking leaves no trace.
func (x *word) decision() wire.Decision {
	var out wire.ScopeChecked
	bob := x.agent("bob")
	failed := x.call(bob, "POST", "/v1/scope-check", map[string]any{"paths": []string{"a.go"}}, &out,
		map[string]string{"X-Svc-Session": bob.session, "X-Svc-Session-Key": bob.key()})
	if failed != "" && !x.keyed { // such a client sends none
		failed = x.call(bob, "POST", "/v1/scope-check", map[string]any{"paths": []string{"a.go"}, "session_id": bob.session}, &out, nil)
	}
	if failed != "" {
		x.t.Fatal(failed)
	}
	return out.Decision
}

// personFrees shows that a walk would have seen it: ana's person lets go.
func (x *word) personFrees() {
	ana := x.agent("ana")
	x.w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/intents/INT-1/close", Cookie: x.w.Cookie(ana.User), Org: x.org.Slug,
		Body: map[string]any{"outcome": "abandoned"}}, nil)
	if x.decision() == wire.Block {
		x.t.Error("the claim stands though its person let go: this test sees nothing")
	}
}
