package stories

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

type command func(s *story, args []string, kv map[string]string) string

// commands are the words that a story is told in. WHO is an agent, or a person
// who is made a member and has one agent of the same name.
//
//	person NAME ROLE
//	agent NAME PERSON copy=w2 branch=b repo=acme/web parent=AGENT tool=codex
//	join WHO...                               sessions start; what they are told is not shown
//	start|prompt|plan|stop|end WHO "text"     hook events
//	pre|shell WHO PATH...                     hook events before a write
//	post WHO PATH base= new= hunks=40+19:hash status= old= binary symbols=F:signature:breaking contracts="http:GET /x;provides;removed;breaking" refs=a.go#F
//	declare WHO title="" paths=a,b symbols= contracts= mode= depends=INT-1 ticket=T-1 branch= repo=
//	update WHO INT-1 add=paths remove=paths add_contracts= depend= undepend= status= title=
//	close WHO INT-1 merged; handoff WHO INT-1 PERSON; adopt WHO INT-1
//	act WHO CF-1 ack note=""; feedback WHO CF-1 useful
//	override WHO CF-1 "reason" [session]      session: under the agent's session header
//	policy WHO {"json":1} repo=               replaces the rules
//	project WHO NAME acme/web,acme/api
//	advance 73h                               moves the clock and sweeps
//	conflicts [WHO] status= intent= repo= mine=; conflict CF-1; intents status=; sessions
//	call WHO METHOD PATH {json}               any request; see callers. <x*9> repeats x, <list*9> makes items
//	tool WHO NAME {json}                      any tool call
//	check|context WHO PATH... contracts=; verdicts WHO repo=; events TYPE
var commands map[string]command

func init() {
	commands = map[string]command{
		"person": (*story).addPerson, "agent": (*story).addAgent,
		"join":  (*story).join,
		"start": hookEvent(wire.HookSessionStart), "prompt": hookEvent(wire.HookPrompt), "plan": hookEvent(wire.HookPlan),
		"stop": hookEvent(wire.HookStop), "end": hookEvent(wire.HookSessionEnd),
		"pre": before(wire.HookPreEdit), "shell": before(wire.HookPreShell), "post": (*story).post,
		"declare": (*story).declare, "update": (*story).update, "close": (*story).close, "handoff": (*story).handoff, "adopt": (*story).adopt,
		"act": (*story).act, "feedback": (*story).feedback, "override": (*story).override, "policy": (*story).policy, "project": (*story).project,
		"advance": (*story).advance, "conflicts": (*story).conflicts, "conflict": (*story).conflict, "intents": (*story).intents, "intent": (*story).intent,
		"call": (*story).request, "tool": (*story).callTool, "sessions": (*story).sessions, "check": (*story).check, "context": (*story).context, "verdicts": (*story).verdicts, "events": (*story).events,
	}
}

func (s *story) person(name string, role coord.Role) *person {
	p := s.people[name]
	if p != nil {
		return p
	}
	p = &person{User: coord.User{ID: uuid.NewString(), Email: name + "@" + s.org.Slug + ".example.com", Name: strings.ToUpper(name[:1]) + name[1:]}}
	s.w.Write(s.org.ID, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.InsertUser(ctx, p.User); err != nil {
			return err
		}
		return tx.InsertMember(ctx, s.org.ID, p.ID, role)
	})
	p.token = s.w.Token(s.org, &p.User, coord.Scopes()...)
	s.people[name] = p
	return p
}

func (s *story) agent(name string) *agent {
	if s.agents[name] == nil {
		s.agents[name] = &agent{person: s.person(name, coord.Member), name: name, repo: "acme/api", copy: "copy-" + name, branch: "b-" + name, tool: "claude_code"}
	}
	return s.agents[name]
}

func (s *story) addPerson(args []string, _ map[string]string) string {
	s.person(args[0], coord.Role(args[1]))
	return ""
}

func (s *story) addAgent(args []string, kv map[string]string) string {
	a := &agent{person: s.person(args[1], coord.Member), name: args[0], repo: "acme/api", copy: "copy-" + args[0], branch: "b-" + args[0], tool: "claude_code"}
	for k, to := range map[string]*string{"copy": &a.copy, "branch": &a.branch, "repo": &a.repo, "parent": &a.parent, "tool": &a.tool} {
		if v, ok := kv[k]; ok {
			*to = v
		}
	}
	s.agents[args[0]] = a
	return ""
}

// call sends a request and returns the answer's problem in words, or "".
func (s *story) call(a *agent, method, path string, body, to any, header map[string]string) string {
	s.t.Helper()
	res := s.w.Do(daemontest.Request{Method: method, Path: path, Token: a.token, Body: body, Header: header})
	if res.Status >= 500 {
		s.t.Fatalf("%s %s = %d\n%s", method, path, res.Status, s.w.Log)
	}
	if res.Status >= 400 {
		var p problem.Body
		res.JSON(s.t, &p)
		return problemText(p)
	}
	if to != nil {
		res.JSON(s.t, to)
	}
	return ""
}

func problemText(p problem.Body) string {
	out := fmt.Sprintf("%d %s: %s\n", p.Status, strings.TrimPrefix(p.Type, "urn:svc:problem:"), p.Detail)
	for _, f := range p.Errors {
		out += fmt.Sprintf("  %s: %s\n", f.Path, f.Message)
	}
	return out
}

func (s *story) hook(a *agent, e wire.HookRequest) (r wire.HookReply, failed string) {
	s.t.Helper()
	e.Session = wire.HookSession{ExternalID: "x-" + a.name, Tool: a.tool}
	if a.parent != "" {
		e.Session.ParentExternalID = "x-" + a.parent
	}
	e.Repo = wire.HookRepo{RemoteFingerprints: []string{"github.com/" + a.repo}, Branch: a.branch, WorktreeHash: a.copy}
	failed = s.call(a, "POST", "/v1/hooks/evaluate", e, &r, map[string]string{"X-Svc-Protocol": "1"})
	if r.SessionID != nil {
		a.session = *r.SessionID
	}
	return r, failed
}

// told shows a hook's answer: the decision where there is one, and what the
// agent is told.
func told(r wire.HookReply, decides bool) string {
	out := ""
	if decides {
		out = string(r.Decision) + "\n"
	}
	if r.Decision != wire.Allow && r.Reason != r.InjectContext {
		out += "  reason: " + r.Reason + "\n"
	}
	for line := range strings.Lines(r.InjectContext) {
		out += "  " + strings.TrimRight(line, "\n") + "\n"
	}
	return out
}

func hookEvent(event wire.HookEvent) command {
	return func(s *story, args []string, _ map[string]string) string {
		e := wire.HookRequest{Event: event}
		if len(args) > 1 {
			switch event {
			case wire.HookPrompt:
				e.PromptExcerpt = args[1]
			case wire.HookPlan:
				e.PlanText = args[1]
			case wire.HookStop:
				e.Status = &wire.HookStatus{Excerpt: args[1]}
			}
		}
		r, failed := s.hook(s.agent(args[0]), e)
		if failed != "" {
			return failed
		}
		return told(r, false)
	}
}

func (s *story) join(args []string, _ map[string]string) string {
	for _, name := range args {
		if _, failed := s.hook(s.agent(name), wire.HookRequest{Event: wire.HookSessionStart}); failed != "" {
			return failed
		}
	}
	return ""
}

func before(event wire.HookEvent) command {
	return func(s *story, args []string, _ map[string]string) string {
		r, failed := s.hook(s.agent(args[0]), wire.HookRequest{Event: event, Paths: args[1:]})
		if failed != "" {
			return failed
		}
		return told(r, true)
	}
}

func (s *story) post(args []string, kv map[string]string) string {
	f := coord.FileFacts{Path: args[1], Status: coord.FileModified, Language: "go", Binary: slices.Contains(args, "binary"), Parsed: kv["symbols"] != ""}
	if kv["status"] != "" {
		f.Status = coord.FileStatus(kv["status"])
	}
	for k, to := range map[string]**string{"base": &f.BaseBlob, "new": &f.NewBlob, "old": &f.OldPath} {
		if v, ok := kv[k]; ok {
			*to = &v
		}
	}
	for _, h := range list(kv["hunks"]) {
		lines, hash, _ := strings.Cut(h, ":")
		start, count, _ := strings.Cut(lines, "+")
		f.Hunks = append(f.Hunks, coord.Hunk{Start: s.number(start), Count: s.number(count), LinesHash: hash})
	}
	for _, x := range list(kv["symbols"]) {
		p := append(strings.Split(x, ":"), "", "")
		sym := coord.SymbolFacts{Key: "sym:go:" + args[1] + "#" + p[0], Kind: "func", Exported: true, Change: coord.Modified, Compatibility: coord.Compatible}
		if p[1] != "" {
			sym.Change, sym.Compatibility = coord.Change(p[1]), coord.Compatibility(p[2])
		}
		f.Symbols = append(f.Symbols, sym)
	}
	for _, x := range list(kv["contracts"]) {
		p := strings.Split(x, ";")
		f.Contracts = append(f.Contracts, coord.ContractFacts{Key: p[0], Role: coord.ContractRole(p[1]), Change: coord.Change(p[2]), Compatibility: coord.Compatibility(p[3]), Line: 7})
	}
	for _, x := range list(kv["refs"]) {
		f.References = append(f.References, coord.Reference{Key: x, Line: 12})
	}
	r, failed := s.hook(s.agent(args[0]), wire.HookRequest{Event: wire.HookPostEdit, Paths: []string{args[1]}, Analysis: &coord.Analysis{Files: []coord.FileFacts{f}}})
	if failed != "" {
		return failed
	}
	return told(r, false)
}

func (s *story) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func scopeOf(kv map[string]string, prefix string) map[string]any {
	out := map[string]any{}
	for key, name := range map[string]string{"paths": "paths", "symbols": "symbols", "contracts": "contracts"} {
		if v, ok := kv[prefix+key]; ok {
			out[name] = list(v)
		}
	}
	return out
}

func (s *story) declare(args []string, kv map[string]string) string {
	a := s.agent(args[0])
	body := map[string]any{"title": "Work of " + a.name, "scope": scopeOf(kv, "")}
	for k, v := range kv {
		switch k {
		case "title", "mode", "branch", "repo":
			body[k] = v
		case "depends":
			body["depends_on"] = list(v)
		case "ticket":
			body["external_ref"] = map[string]any{"kind": "jira", "url": "https://tickets.example.com/" + v, "id": v}
		}
	}
	if a.session != "" {
		body["session_id"] = a.session
	} else if body["repo"] == nil {
		body["repo"] = a.repo
	}
	var out wire.Declared
	if failed := s.call(a, "POST", "/v1/intents", body, &out, nil); failed != "" {
		return failed
	}
	return declaredText(out)
}

func declaredText(d wire.Declared) string { return intentText(d.Intent) + conflictLines(d.Conflicts) }

func (s *story) update(args []string, kv map[string]string) string {
	body := map[string]any{}
	add, remove := scopeOf(kv, "add_"), scopeOf(kv, "remove_")
	for k, v := range kv {
		switch k {
		case "add":
			add["paths"] = list(v)
		case "remove":
			remove["paths"] = list(v)
		case "depend":
			body["depends_on_add"] = list(v)
		case "undepend":
			body["depends_on_remove"] = list(v)
		case "status", "title", "note", "branch":
			body[k] = v
		}
	}
	if len(add) > 0 {
		body["scope_add"] = add
	}
	if len(remove) > 0 {
		body["scope_remove"] = remove
	}
	var out wire.Declared
	if failed := s.call(s.agent(args[0]), "PATCH", "/v1/intents/"+args[1], body, &out, nil); failed != "" {
		return failed
	}
	return declaredText(out)
}

func (s *story) close(args []string, kv map[string]string) string {
	var out wire.HandedOff
	if failed := s.call(s.agent(args[0]), "POST", "/v1/intents/"+args[1]+"/close", map[string]any{"outcome": args[2]}, &out, nil); failed != "" {
		return failed
	}
	return intentText(out.Intent)
}

func (s *story) handoff(args []string, kv map[string]string) string {
	var out wire.HandedOff
	to := s.agent(args[2])
	if failed := s.call(s.agent(args[0]), "POST", "/v1/intents/"+args[1]+"/handoff", map[string]any{"to": to.Email, "note": kv["note"]}, &out, nil); failed != "" {
		return failed
	}
	h := out.Handoff
	return intentText(out.Intent) + fmt.Sprintf("  from %s to %s, adopted: %v\n", h.From.Name, h.To.Name, h.AdoptedAt != nil)
}

func (s *story) adopt(args []string, _ map[string]string) string {
	a := s.agent(args[0])
	var out wire.Declared
	if failed := s.tool(a, "intent_adopt", map[string]any{"ref": args[1], "session_id": a.session}, &out); failed != "" {
		return failed
	}
	return declaredText(out)
}

// tool calls an MCP tool and returns its problem in words, or "".
func (s *story) tool(a *agent, name string, args map[string]any, to any) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	if err != nil {
		s.t.Fatal(err)
	}
	res := s.w.Must(200, daemontest.Request{Method: "POST", Path: "/mcp", Token: a.token, Body: body,
		Header: map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-06-18"}}, nil)
	var answer struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
		}
	}
	res.JSON(s.t, &answer)
	if answer.Result.IsError {
		var p struct{ Error problem.Body }
		if err := json.Unmarshal(answer.Result.StructuredContent, &p); err != nil {
			s.t.Fatal(err)
		}
		return problemText(p.Error)
	}
	if err := json.NewDecoder(bytes.NewReader(answer.Result.StructuredContent)).Decode(to); err != nil {
		s.t.Fatalf("%v in %s", err, res.Body)
	}
	return ""
}

func sessionHeader(a *agent, args []string) map[string]string {
	if slices.Contains(args, "session") {
		return map[string]string{"X-Svc-Session": a.session}
	}
	return nil
}

func (s *story) act(args []string, kv map[string]string) string {
	a := s.agent(args[0])
	body := map[string]any{"action": args[2]}
	if n, ok := kv["note"]; ok {
		body["note"] = n
	}
	var c coord.Conflict
	if failed := s.call(a, "POST", "/v1/conflicts/"+args[1]+"/actions", body, &c, sessionHeader(a, args)); failed != "" {
		return failed
	}
	return conflictLine(c)
}

func (s *story) feedback(args []string, _ map[string]string) string {
	return s.call(s.agent(args[0]), "POST", "/v1/conflicts/"+args[1]+"/feedback", map[string]any{"verdict": args[2]}, nil, nil)
}

func (s *story) override(args []string, _ map[string]string) string {
	a := s.agent(args[0])
	body := map[string]any{}
	if len(args) > 2 {
		body["reason"] = args[2]
	}
	var c coord.Conflict
	if failed := s.call(a, "POST", "/v1/conflicts/"+args[1]+"/override", body, &c, sessionHeader(a, args)); failed != "" {
		return failed
	}
	return conflictLine(c)
}

func (s *story) policy(args []string, kv map[string]string) string {
	path := "/v1/policies"
	if kv["repo"] != "" {
		path += "?repo=" + url.QueryEscape(kv["repo"])
	}
	return s.call(s.agent(args[0]), "PUT", path, []byte(`{"rules":`+args[1]+`}`), nil, nil)
}

func (s *story) project(args []string, _ map[string]string) string {
	return s.call(s.agent(args[0]), "POST", "/v1/projects", map[string]any{"name": args[1], "repos": list(args[2])}, nil, nil)
}

func (s *story) advance(args []string, _ map[string]string) string {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		s.t.Fatal(err)
	}
	s.w.Advance(d)
	if err := s.w.D.Ops.FlushBeats(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := s.w.D.Ops.Sweep(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return ""
}

// owner is whoever looks on.
func (s *story) owner() *agent {
	return &agent{person: &person{User: s.org.Users[coord.Owner], token: s.org.Owner()}, name: "owner"}
}

func (s *story) asker(args []string) *agent {
	if len(args) > 0 {
		return s.agent(args[0])
	}
	return s.owner()
}

func query(kv map[string]string) string {
	q := url.Values{}
	for k, v := range kv {
		q.Set(k, v)
	}
	return "?" + q.Encode()
}

func (s *story) conflicts(args []string, kv map[string]string) string {
	if kv["status"] == "" && len(kv) == 0 {
		kv["status"] = "live"
	}
	var page wire.Page[coord.Conflict]
	if failed := s.call(s.asker(args), "GET", "/v1/conflicts"+query(kv), nil, &page, nil); failed != "" {
		return failed
	}
	if len(page.Items) == 0 {
		return "none\n"
	}
	slices.Reverse(page.Items)
	return conflictLines(page.Items)
}

func (s *story) conflict(args []string, _ map[string]string) string {
	var c coord.Conflict
	if failed := s.call(s.owner(), "GET", "/v1/conflicts/"+args[0], nil, &c, nil); failed != "" {
		return failed
	}
	out := conflictLine(c) + "  " + c.Explanation + "\n  " + c.Suggestion.Action + ": " + c.Suggestion.Text + "\n"
	if c.Override != nil {
		out += "  overridden by " + c.Override.By.Name + "\n"
	}
	if c.OverrideRequested != nil {
		out += "  override requested by " + c.OverrideRequested.By.Name + "\n"
	}
	for _, x := range c.Actions {
		out += "  " + string(x.Action) + " by " + x.By.Name + "\n"
	}
	return out
}

func conflictLines(cs []coord.Conflict) (out string) {
	for _, c := range cs {
		out += conflictLine(c)
	}
	return out
}

func conflictLine(c coord.Conflict) string {
	out := fmt.Sprintf("%s %s %s %s: %s < %s", c.Ref, c.Kind, c.Severity, c.Status, partyText(c, coord.Holder), partyText(c, coord.Challenger))
	if c.Resolution != nil {
		out += " as " + string(*c.Resolution)
	}
	if c.Previous != nil {
		out += " after " + *c.Previous
	}
	if c.CrossRepo {
		out += " across " + c.Repo.FullName + " and " + c.DependentRepo.FullName
	}
	return out + "\n"
}

func partyText(c coord.Conflict, role coord.PartyRole) string {
	for _, p := range c.Parties {
		if p.Role != role {
			continue
		}
		switch {
		case p.Intent != nil:
			return p.Intent.Ref + " (" + p.User.Name + ")"
		case p.User != nil:
			return p.User.Name
		}
		return p.Repo.FullName
	}
	return "?"
}

func intentText(i coord.Intent) string {
	out := fmt.Sprintf("%s %s of %s, %s", i.Ref, i.Status, i.Owner.Name, i.EffectiveMode)
	if i.ModeNote != nil {
		out += "\n  " + *i.ModeNote
	}
	if len(i.BlockedBy) > 0 {
		out += "\n  blocked by"
		for _, b := range i.BlockedBy {
			out += " " + b.Kind + " " + b.Ref
		}
	}
	return out + "\n"
}

func (s *story) intents(args []string, kv map[string]string) (out string) {
	if len(kv) == 0 {
		kv["status"] = "live"
	}
	var page wire.Page[coord.Intent]
	if failed := s.call(s.asker(args), "GET", "/v1/intents"+query(kv), nil, &page, nil); failed != "" {
		return failed
	}
	slices.Reverse(page.Items)
	for _, i := range page.Items {
		out += intentText(i)
	}
	if out == "" {
		return "none\n"
	}
	return out
}

func (s *story) intent(args []string, _ map[string]string) string {
	var i coord.Intent
	if failed := s.call(s.owner(), "GET", "/v1/intents/"+args[0], nil, &i, nil); failed != "" {
		return failed
	}
	out := intentText(i)
	for _, c := range i.Claims {
		out += fmt.Sprintf("  %s %s %s %s\n", c.Kind, c.Selector, c.Mode, c.Source)
	}
	return out
}

func (s *story) sessions(args []string, kv map[string]string) (out string) {
	var page wire.Page[coord.Session]
	if failed := s.call(s.owner(), "GET", "/v1/sessions"+query(kv), nil, &page, nil); failed != "" {
		return failed
	}
	var lines []string
	for _, x := range page.Items {
		line := fmt.Sprintf("%s %s %s", x.User.Name, x.Tool, x.Status)
		if x.Intent != nil {
			line += " " + x.Intent.Ref
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (s *story) here(a *agent, body map[string]any) map[string]any {
	if a.session != "" {
		body["session_id"] = a.session
	} else {
		body["repo"] = a.repo
	}
	return body
}

func (s *story) check(args []string, kv map[string]string) string {
	a := s.agent(args[0])
	body := scopeOf(kv, "")
	if len(args) > 1 {
		body["paths"] = args[1:]
	}
	var out wire.ScopeChecked
	if failed := s.call(a, "POST", "/v1/scope-check", s.here(a, body), &out, nil); failed != "" {
		return failed
	}
	text := string(out.Decision) + ": " + out.Reason + "\n"
	for _, f := range out.Findings {
		text += fmt.Sprintf("  %s %s blocking=%v %s\n", f.Kind, f.Severity, f.Blocking, f.Explanation)
	}
	return text
}

func (s *story) context(args []string, kv map[string]string) string {
	a := s.agent(args[0])
	body := map[string]any{}
	if len(args) > 1 {
		body["paths"] = args[1:]
	}
	var out wire.TeamPicture
	if failed := s.call(a, "POST", "/v1/team-context", s.here(a, body), &out, nil); failed != "" {
		return failed
	}
	text := conflictLines(out.Conflicts)
	if out.Intent != nil {
		text = "intent " + out.Intent.Ref + "\n" + text
	}
	for _, n := range out.Nearby {
		name := n.User.Name
		if n.Intent != nil {
			name = n.Intent.Ref + " (" + name + ")"
		}
		text += fmt.Sprintf("near %s %s overlaps=%v\n", name, strings.Join(n.Paths, ","), n.Overlaps)
	}
	for _, c := range out.CrossRepoChanges {
		text += fmt.Sprintf("change of %s in %s: %s, %s\n", c.Contract, c.Repo.FullName, c.Change, c.Compatibility)
	}
	return text
}

func (s *story) verdicts(args []string, kv map[string]string) (out string) {
	var p wire.Policies
	if failed := s.call(s.agent(args[0]), "GET", "/v1/policies"+query(kv), nil, &p, nil); failed != "" {
		return failed
	}
	for _, f := range p.Feedback {
		out += fmt.Sprintf("%s useful=%d false_positive=%d too_late=%d demoted=%v\n", f.Kind, f.Useful, f.FalsePositive, f.TooLate, f.Demoted)
	}
	return out
}

func (s *story) events(args []string, _ map[string]string) (out string) {
	var page wire.Page[coord.Event]
	if failed := s.call(s.owner(), "GET", "/v1/events?type="+args[0], nil, &page, nil); failed != "" {
		return failed
	}
	slices.Reverse(page.Items)
	for _, e := range page.Items {
		out += fmt.Sprintf("%s %v\n", e.Type, e.Payload["ref"])
	}
	return out
}

var (
	aRepeat = regexp.MustCompile(`<(\w)\*(\d+)>`)
	aList   = regexp.MustCompile(`<list\*(\d+)>`)
)

// request sends any request. Besides agents and people it can come from:
// owner, service (a token of the service), made (a service token that root
// made), nobody, noscope; @bob is bob under his session's header, ana@bob is
// ana under bob's.
// What is refused must leave nothing behind.
func (s *story) request(args []string, _ map[string]string) string {
	r := daemontest.Request{Method: args[1], Path: args[2], Header: map[string]string{}}
	switch who := args[0]; {
	case who == "owner":
		r.Token = s.org.Owner()
	case who == "service":
		r.Token = s.org.Service
	case who == "made":
		r.Token = s.serviceOf("root")
	case who == "noscope":
		u := s.person("noscope", coord.Admin).User
		r.Token = s.w.Token(s.org, &u)
	case strings.Contains(who, "@"):
		person, session, _ := strings.Cut(who, "@")
		r.Header["X-Svc-Session"] = session
		if a := s.agents[session]; a != nil {
			r.Header["X-Svc-Session"] = a.session
			person = cmp.Or(person, session)
		}
		r.Token = s.agent(person).token
	case who != "nobody":
		r.Token = s.agent(who).token
	}
	if len(args) > 3 {
		body := aRepeat.ReplaceAllStringFunc(args[3], func(m string) string {
			p := aRepeat.FindStringSubmatch(m)
			return strings.Repeat(p[1], s.number(p[2]))
		})
		body = aList.ReplaceAllStringFunc(body, func(m string) string {
			var items []string
			for i := range s.number(aList.FindStringSubmatch(m)[1]) {
				items = append(items, fmt.Sprintf(`"f%d"`, i))
			}
			return strings.Join(items, ",")
		})
		for name, a := range s.agents {
			body = strings.ReplaceAll(body, "$"+name, a.session)
		}
		r.Body = []byte(strings.ReplaceAll(body, "@example.com", "@"+s.org.Slug+".example.com"))
	}
	before := s.lastSeq()
	res := s.w.Do(r)
	if res.Status >= 500 {
		s.t.Fatalf("%s %s = %d\n%s", r.Method, r.Path, res.Status, s.w.Log)
	}
	if res.Status < 400 {
		return fmt.Sprintf("%d\n", res.Status) + summary(res)
	}
	if after := s.lastSeq(); after != before {
		s.t.Errorf("%v was refused and left %d events", args, after-before)
	}
	var p problem.Body
	res.JSON(s.t, &p)
	return problemText(p)
}

func (s *story) callTool(args []string, _ map[string]string) string {
	var in map[string]any
	if err := json.Unmarshal([]byte(args[2]), &in); err != nil {
		s.t.Fatal(err)
	}
	var out any
	if failed := s.tool(s.agent(args[0]), args[1], in, &out); failed != "" {
		return failed
	}
	return "done\n"
}

// summary shows the refs of a list, or nothing.
func summary(res daemontest.Response) string {
	var page struct {
		Items      []struct{ Ref string }
		NextCursor *string `json:"next_cursor"`
	}
	if json.Unmarshal(res.Body, &page) != nil || page.Items == nil {
		return ""
	}
	var refs []string
	for _, i := range page.Items {
		refs = append(refs, i.Ref)
	}
	if page.NextCursor != nil {
		refs = append(refs, "and more")
	}
	return strings.Join(refs, " ") + "\n"
}

func (s *story) lastSeq() (n int64) {
	s.w.Write(s.org.ID, func(ctx context.Context, tx *store.Tx) (err error) {
		n, err = tx.LastSeq(ctx, s.org.ID)
		return err
	})
	return n
}

// serviceOf returns a service token that a person made.
func (s *story) serviceOf(name string) string {
	var out wire.CreatedToken
	if failed := s.call(s.agent(name), "POST", "/v1/tokens", map[string]any{"name": "ci", "kind": "service", "scopes": coord.ServiceScopes()}, &out, nil); failed != "" {
		s.t.Fatal(failed)
	}
	return out.Plaintext
}
