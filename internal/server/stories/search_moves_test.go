package stories

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// A move is one call of an agent.
type move struct {
	who, name string
	op        string // of the table; empty for a hook
	near      bool   // made from the first states only: another door to an operation, or nothing that a claim can have to do with
	make      func(x *word) (status int)

	lively bool     // something came of it, or it was refused for what may be otherwise in another state
	known  [32]byte // what came of it from each state that is less than three moves away
	alike  bool     // nothing but came of another move of that operation
}

// worth reports whether to make a move from a state so many moves away. To its
// third move a sequence has whatever does anything; to its fourth not twice what
// was the same from each of some hundred states before.
func (m *move) worth(away int) bool {
	return away < 2 || m.lively && !m.near && (away < 3 || !m.alike)
}

// markAlike finds the moves that did the same as another, wherever they were
// made, and returns how many are left.
func markAlike(moves []move) (left int) {
	seen := map[string]bool{}
	for i := range moves {
		m := &moves[i]
		if key := fmt.Sprintf("%s %s %x", m.who, m.op, m.known); m.op != "" && !m.near {
			m.alike, seen[key] = seen[key], true
		}
		if m.worth(3) {
			left++
		}
	}
	return left
}

// aboutClaims reports whether an operation tells of what a decision can rest on.
func aboutClaims(op api.Op) bool {
	return op.Agent != api.PersonOnly && slices.ContainsFunc(op.Events, func(e coord.EventType) bool {
		switch e.Part() {
		case coord.PartNone:
			return strings.HasPrefix(string(e), "conflict.")
		case coord.PartTexts, coord.PartLinks, coord.PartUses:
			return false
		}
		return true
	})
}

// movers are the agents that want in.
var movers = []string{"bob", "bob2", "ana2"}

// allMoves are all that the movers can call: each event of a hook, each
// operation and each tool, with small arguments that their schemas offer. The
// holder works on beside them.
func (s *search) allMoves() (out []move) {
	x, schemas := s.x, api.New(nil)
	for _, event := range []wire.HookEvent{wire.HookPrompt, wire.HookPostEdit, wire.HookStop} {
		out = append(out, hookMove("ana", event))
	}
	for _, who := range movers {
		for _, event := range []wire.HookEvent{
			wire.HookPreEdit, wire.HookPostEdit, wire.HookPlan, wire.HookPrompt, wire.HookStop, wire.HookSessionEnd, wire.HookSessionStart,
		} {
			out = append(out, hookMove(who, event))
		}
		for _, op := range api.Table {
			if op.Tool != "" && op.Tool != "wait_for" { // which only waits
				for _, body := range few(x.bodies(op, "tool "+op.Tool, schemas.Inputs(op).All, schemas)) {
					for _, intent := range aboutIntents(`"INT-1"`, body) {
						out = append(out, toolMove(who, op.Tool, intent, body))
					}
				}
			}
			method, path, _ := strings.Cut(op.Route, " ")
			if op.Route == "" || method == "GET" || op.Door == api.Public || op.Agent == api.AsScoped || // no login has the scope for it
				strings.HasPrefix(path, "/v1/hooks") || strings.HasPrefix(path, "/v1/auth") || strings.HasPrefix(path, "/v1/work") {
				continue
			}
			for _, body := range few(x.bodies(op, op.Route, schemas.Inputs(op).Body, schemas)) {
				for _, intent := range aboutIntents("/intents/{ref}", path) {
					m := callMove(who, method, path, intent, body)
					m.op, m.near = op.Route, !aboutClaims(op)
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// aboutIntents are the intents that a call is about, if it is about one: what is
// held, and what was begun last.
func aboutIntents(mark, text string) []string {
	if strings.Contains(text, mark) {
		return []string{"INT-1", "the last"}
	}
	return []string{"INT-1"}
}

func hookMove(who string, event wire.HookEvent) move {
	return move{who: who, name: who + " tells " + string(event), make: func(x *word) int {
		e := wire.HookRequest{Event: event}
		switch event {
		case wire.HookPreEdit:
			e.Paths = []string{"a.go"}
		case wire.HookPostEdit:
			e.Paths = []string{"a.go"}
			changed := coord.FileFacts{Path: "a.go", Status: coord.FileModified, Hunks: []coord.Hunk{{Start: 1, Count: 1}}}
			e.Analysis = &coord.Analysis{Files: []coord.FileFacts{changed}}
		case wire.HookPlan:
			e.PlanText = "Edit a.go"
		}
		if _, failed := x.hook(x.agent(who), e); failed != "" {
			return 400
		}
		return 200
	}}
}

// few returns bodies that differ, as texts. What is said of another repository's
// host is the same to a claim. Who can give something to a person gives it to
// either.
func few(bodies []map[string]any) (out []string) {
	add := func(body map[string]any) {
		if text, err := json.Marshal(body); err == nil && !slices.Contains(out, string(text)) {
			out = append(out, string(text))
		}
	}
	for _, b := range bodies {
		if b["provider"] != nil {
			b["provider"] = "github"
		}
		for _, key := range toPeople {
			if to, ok := b[key].(string); ok && strings.Contains(to, "@") {
				b[key] = "them@"
				add(b)
				b[key] = "me@"
			}
		}
		add(b)
	}
	return out
}

// toPeople are the fields in which a person is named.
var toPeople = []string{"to", "user_email", "handoff_to", "email"}

// own are the headers of an agent that calls under its own name.
func own(a *agent) map[string]string {
	return map[string]string{"X-Svc-Session": a.session, "X-Svc-Session-Key": a.key()}
}

// said is a body as an agent sends it in this org: what it says of people,
// sessions and intents is said anew.
func (x *word) said(who, intent, body string) (about map[string]any) {
	if err := json.Unmarshal([]byte(strings.ReplaceAll(body, `"INT-1"`, `"`+intent+`"`)), &about); err != nil {
		x.t.Fatal(err)
	}
	me, them := x.agent(who), x.agent("bob")
	if me.person == them.person {
		them = x.agent("ana")
	}
	for _, key := range toPeople {
		switch about[key] {
		case "me@":
			about[key] = me.Email
		case "them@":
			about[key] = them.Email
		}
	}
	if about["session_id"] != nil {
		about["session_id"] = me.session
	}
	return about
}

func callMove(who, method, path, intent, body string) move {
	return move{who: who, name: fmt.Sprintf("%s %s %s (%s) %s", who, method, path, intent, body), make: func(x *word) int {
		ref, ok := x.meant(intent)
		if !ok {
			return 404
		}
		me, ana := x.agent(who), x.agent("ana")
		to := strings.NewReplacer("/conflicts/{ref}", "/conflicts/"+x.ref, "{ref}", ref, "{userId}", ana.ID, "{id}", ana.session,
			"{repo}", "acme%2Fapi").Replace(path)
		return x.w.Do(daemontest.Request{Method: method, Path: to, Token: me.token, Body: x.said(who, ref, body), Header: own(me)}).Status
	}}
}

// meant is the ref of an intent; the last is the one that was declared last,
// beside the claim.
func (x *word) meant(intent string) (string, bool) {
	if intent != "the last" {
		return intent, true
	}
	var page wire.Page[coord.Intent]
	x.w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents?limit=1", Token: x.org.Owner()}, &page)
	return page.Items[0].Ref, page.Items[0].Number > 1
}

func toolMove(who, tool, intent, body string) move {
	return move{who: who, name: fmt.Sprintf("%s uses %s (%s) %s", who, tool, intent, body), near: true, make: func(x *word) int {
		ref, ok := x.meant(intent)
		if !ok {
			return 404
		}
		me := x.agent(who)
		r := toolRequest(me.token, tool, x.said(who, ref, body))
		for k, v := range own(me) {
			r.Header[k] = v
		}
		res := x.w.Do(r)
		if res.Status >= 400 || strings.Contains(string(res.Body), `"isError":true`) {
			return 400
		}
		return 200
	}}
}
