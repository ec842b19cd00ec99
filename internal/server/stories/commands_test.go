package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

type command func(s *story, args []string, kv map[string]string) string

// commands are the words that a story is told in. WHO is an agent, or a person
// who is made a member and has one agent of the same name.
//
//	person NAME ROLE
//	agent NAME PERSON copy=w2 branch=b repo=acme/web parent=AGENT tool=codex deaf=yes
//	join WHO...                               sessions start; what they are told is not shown
//	start|prompt|plan|stop|end WHO "text"     hook events
//	pre|shell WHO PATH...                     hook events before a write
//	git WHO VERB PATH... effect=sweeps|moves  a shell call with a git command that would hit these files
//	post WHO PATH base= new= map=b1>b2@10+0>10+3 hunks=40+19:hash status= old= binary symbols=F:signature:breaking
//	     contracts="http:GET /x;provides;removed;breaking" refs=a.go#F,name:go:F sole=F
//	declare WHO title="" paths=a,b symbols= contracts= mode= depends=INT-1 ticket=T-1 branch= repo=
//	update WHO INT-1 add=paths remove=paths add_contracts= depend= undepend= status= title=
//	close WHO INT-1 merged; handoff WHO INT-1 PERSON; adopt WHO INT-1
//	act WHO CF-1 ack note=""; feedback WHO CF-1 useful
//	override WHO CF-1 "reason" [cookie|agent|session]   by the person; with the agent's token; under its session
//	remove ADMIN PERSON [agent]               takes a member out; attention WHO
//	policy WHO {"json":1} repo=               replaces the rules
//	project WHO NAME acme/web,acme/api
//	prefix WHO acme/api acme/web /api/v1      what stands before routes between the two, in the first project
//	index WHO acme/web src/c.ts:12 "http:GET /x" by=PERSON   what code uses, and who wrote that line
//	index WHO acme/web src/c.ts:12 text GET x/*/y            what looks like a path there, ANY where no method is written
//	advance 73h                               moves the clock and sweeps
//	conflicts [WHO] status= intent= repo= mine=; conflict CF-1; intents status=; sessions; saved
//	call WHO METHOD PATH {json}               any request; see callers. <x*9> repeats x, <list*9> makes items
//	tool WHO NAME {json}                      any tool call; uses: with what it tells the model
//	check|context WHO PATH... contracts=; verdicts WHO repo=; events TYPE; feed TYPE
var commands map[string]command

func init() {
	commands = map[string]command{
		"person":    (*story).addPerson,
		"agent":     (*story).addAgent,
		"join":      (*story).join,
		"start":     hookEvent(wire.HookSessionStart),
		"prompt":    hookEvent(wire.HookPrompt),
		"plan":      hookEvent(wire.HookPlan),
		"stop":      hookEvent(wire.HookStop),
		"end":       hookEvent(wire.HookSessionEnd),
		"pre":       before(wire.HookPreEdit),
		"shell":     before(wire.HookPreShell),
		"git":       (*story).git,
		"post":      (*story).post,
		"declare":   (*story).declare,
		"update":    (*story).update,
		"close":     (*story).close,
		"handoff":   (*story).handoff,
		"adopt":     (*story).adopt,
		"act":       (*story).act,
		"feedback":  (*story).feedback,
		"override":  (*story).override,
		"policy":    (*story).policy,
		"project":   (*story).project,
		"prefix":    (*story).prefix,
		"index":     (*story).index,
		"advance":   (*story).advance,
		"conflicts": (*story).conflicts,
		"conflict":  (*story).conflict,
		"intents":   (*story).intents,
		"intent":    (*story).intent,
		"call":      (*story).request,
		"tool":      (*story).callTool,
		"uses":      (*story).uses,
		"sessions":  (*story).sessions,
		"saved":     (*story).saved,
		"check":     (*story).check,
		"context":   (*story).context,
		"verdicts":  (*story).verdicts,
		"events":    (*story).events,
		"feed":      (*story).feed,
		"remove":    (*story).remove,
		"effective": (*story).effective,
		"attention": (*story).attention,
	}
}

func (s *story) person(name string, role coord.Role) *person {
	p := s.people[name]
	if p != nil {
		return p
	}
	p = &person{
		User: coord.User{ID: uuid.NewString(), Email: name + "@" + s.org.Slug + ".example.com", Name: strings.ToUpper(name[:1]) + name[1:]},
	}
	s.w.Write(s.org.ID, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.InsertUser(ctx, p.User); err != nil {
			return err
		}
		return tx.InsertMember(ctx, s.org.ID, p.ID, role)
	})
	p.token = s.w.Token(s.org, &p.User, coord.Scopes()...)
	p.own = s.w.Token(s.org, &p.User, coord.ServiceScopes()...) // no agent works with it
	s.people[name] = p
	return p
}

func (s *story) agent(name string) *agent {
	if s.agents[name] == nil {
		s.agents[name] = &agent{
			person: s.person(name, coord.Member),
			name:   name,
			repo:   "acme/api",
			copy:   "copy-" + name,
			branch: "b-" + name,
			tool:   "claude_code",
		}
	}
	return s.agents[name]
}

func (s *story) addPerson(args []string, _ map[string]string) string {
	s.person(args[0], coord.Role(args[1]))
	return ""
}

func (s *story) addAgent(args []string, kv map[string]string) string {
	a := &agent{
		person: s.person(args[1], coord.Member),
		name:   args[0],
		repo:   "acme/api",
		copy:   "copy-" + args[0],
		branch: "b-" + args[0],
		tool:   "claude_code",
	}
	for k, to := range map[string]*string{
		"copy":       &a.copy,
		"branch":     &a.branch,
		"repo":       &a.repo,
		"parent":     &a.parent,
		"tool":       &a.tool,
		"deaf":       &a.deaf,
		"ignorecase": &a.ignoreCase,
	} {
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
	if header == nil && s.keyed && a.session != "" {
		header = map[string]string{"X-Svc-Session": a.session, "X-Svc-Session-Key": a.key()}
	}
	return s.send(daemontest.Request{Method: method, Path: path, Token: a.token, Body: body, Header: header}, to)
}

func (s *story) send(r daemontest.Request, to any) string {
	s.t.Helper()
	res := s.w.Do(r)
	if res.Status >= 500 {
		s.t.Fatalf("%s %s = %d\n%s", r.Method, r.Path, res.Status, s.w.Log)
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
	e.Session = wire.HookSession{ExternalID: "x-" + a.name, Tool: a.tool, Deaf: a.deaf != ""}
	if a.parent != "" {
		e.Session.ParentExternalID = "x-" + a.parent
	}
	if s.keyed {
		e.Session.Key = a.key()
	}
	e.Repo = wire.HookRepo{RemoteFingerprints: []string{"github.com/" + a.repo}, Branch: a.branch, WorktreeHash: a.copy,
		IgnoreCase: a.ignoreCase != ""}
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
	return func(s *story, args []string, kv map[string]string) string {
		e := wire.HookRequest{Event: event, FailOpens: s.counted(kv, "missed"), StaleWrites: s.counted(kv, "stale")}
		if len(args) > 1 {
			switch event {
			case wire.HookPrompt:
				e.PromptExcerpt = args[1]
			case wire.HookPlan:
				e.PlanText = args[1]
			case wire.HookStop:
				e.Status = &wire.HookStatus{Excerpt: args[1], Asks: wire.HookAsk(kv["asks"])}
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
	return func(s *story, args []string, kv map[string]string) string {
		e := wire.HookRequest{Event: event, Paths: args[1:], FailOpens: s.counted(kv, "missed"), StaleWrites: s.counted(kv, "stale")}
		if kv["under"] != "" {
			e.Folders = strings.Split(kv["under"], ",")
		}
		if kv["hunks"] != "" {
			e.Pending = []wire.HookPending{{Path: args[1], BaseBlob: kv["base"], NewBlob: "pending", Hunks: s.hunks(kv["hunks"])}}
		}
		r, failed := s.hook(s.agent(args[0]), e)
		if failed != "" {
			return failed
		}
		if len(r.WantLines) > 0 {
			return told(r, true) + "  which lines of " + strings.Join(r.WantLines, ", ") + "?\n"
		}
		return told(r, true)
	}
}

// missed reads how many events before this one were not answered.
func (s *story) counted(kv map[string]string, name string) int {
	if kv[name] == "" {
		return 0
	}
	return s.number(kv[name])
}

// hunks reads 40+19:hash,...
func (s *story) hunks(text string) (out []coord.Hunk) {
	for _, h := range list(text) {
		lines, hash, _ := strings.Cut(h, ":")
		start, count, _ := strings.Cut(lines, "+")
		out = append(out, coord.Hunk{Start: s.number(start), Count: s.number(count), LinesHash: hash})
	}
	return out
}

func (s *story) git(args []string, kv map[string]string) string {
	g := wire.HookGit{Verb: args[1], Effect: wire.GitDiscards}
	if kv["effect"] != "" {
		g.Effect = wire.GitEffect(kv["effect"])
	}
	for _, path := range args[2:] {
		g.Files = append(g.Files, wire.GitFile{Path: path})
	}
	shell := &wire.HookShell{Command: "git " + args[1], Git: []wire.HookGit{g}}
	r, failed := s.hook(s.agent(args[0]), wire.HookRequest{Event: wire.HookPreShell, Shell: shell})
	if failed != "" {
		return failed
	}
	return told(r, true)
}

func (s *story) post(args []string, kv map[string]string) string {
	f := coord.FileFacts{
		Path:     args[1],
		Status:   coord.FileModified,
		Language: "go",
		Binary:   slices.Contains(args, "binary"),
		Parsed:   kv["symbols"] != "",
	}
	if kv["status"] != "" {
		f.Status = coord.FileStatus(kv["status"])
	}
	for k, to := range map[string]**string{"base": &f.BaseBlob, "new": &f.NewBlob, "old": &f.OldPath} {
		if v, ok := kv[k]; ok {
			*to = &v
		}
	}
	f.Hunks = s.hunks(kv["hunks"])
	for _, x := range list(kv["symbols"]) {
		p := append(strings.Split(x, ":"), "", "")
		sym := coord.SymbolFacts{
			Key:           "sym:go:" + args[1] + "#" + p[0],
			Kind:          "func",
			Exported:      true,
			Change:        coord.Modified,
			Compatibility: coord.Compatible,
			Sole:          slices.Contains(list(kv["sole"]), p[0]),
		}
		if p[1] != "" {
			sym.Change, sym.Compatibility = coord.Change(p[1]), coord.Compatibility(p[2])
		}
		f.Symbols = append(f.Symbols, sym)
	}
	for _, x := range list(kv["contracts"]) {
		p := append(strings.Split(x, ";"), "")
		f.Contracts = append(f.Contracts, coord.ContractFacts{
			Detail:        optional(p[4]),
			Key:           p[0],
			Role:          coord.ContractRole(p[1]),
			Change:        coord.Change(p[2]),
			Compatibility: coord.Compatibility(p[3]),
			Line:          7,
		})
	}
	for _, x := range list(kv["refs"]) {
		f.References = append(f.References, coord.Reference{Key: x, Line: 12})
	}
	r, failed := s.hook(s.agent(args[0]), wire.HookRequest{
		Event:    wire.HookPostEdit,
		Paths:    []string{args[1]},
		Analysis: &coord.Analysis{Files: []coord.FileFacts{f}},
		LineMaps: s.lineMaps(kv["map"]),
	})
	if failed != "" {
		return failed
	}
	out := told(r, false)
	for _, w := range r.Wants {
		out += fmt.Sprintf("  wants %s %s %s\n", w.Path, w.Ours, w.Theirs)
	}
	for _, w := range r.Watch {
		out += fmt.Sprintf("  watch %s %s in %s\n", w.Key(), w.Form, strings.Join(w.Files, " "))
	}
	for _, c := range r.MergeChecks {
		out += strings.TrimRight(fmt.Sprintf("  merge check with %s %s", c.Who, c.Branch), " ") + "\n"
	}
	return out
}

// lineMaps reads b1>b2@10+0>10+3.
func (s *story) lineMaps(text string) []coord.LineMap {
	if text == "" {
		return nil
	}
	versions, shift, _ := strings.Cut(text, "@")
	from, to, _ := strings.Cut(versions, ">")
	a, b, _ := strings.Cut(shift, ">")
	fromStart, fromCount, _ := strings.Cut(a, "+")
	toStart, toCount, _ := strings.Cut(b, "+")
	return []coord.LineMap{{From: from, To: to, Shifts: []coord.LineShift{{FromStart: s.number(fromStart), FromCount: s.number(fromCount),
		ToStart: s.number(toStart), ToCount: s.number(toCount)}}}}
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
	for _, c := range out.Conflicts { // the parties as they are, not as they were when it was found
		for _, p := range c.Parties {
			var now coord.Intent
			if p.Intent == nil || p.Intent.Title == nil || s.call(a, "GET", "/v1/intents/"+p.Intent.Ref, nil, &now, nil) != "" {
				continue
			}
			if now.Status != p.Intent.Status {
				s.t.Errorf("%s says that %s is %s, which is %s", c.Ref, now.Ref, p.Intent.Status, now.Status)
			}
		}
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
	if failed := s.call(s.agent(args[0]), "POST", "/v1/intents/"+args[1]+"/close", map[string]any{"outcome": args[2]}, &out,
		nil); failed != "" {
		return failed
	}
	return intentText(out.Intent)
}

func (s *story) handoff(args []string, kv map[string]string) string {
	var out wire.HandedOff
	to := s.agent(args[2])
	if failed := s.call(s.agent(args[0]), "POST", "/v1/intents/"+args[1]+"/handoff", map[string]any{"to": to.Email, "note": kv["note"]},
		&out, nil); failed != "" {
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

// A toolAnswer is what a tool gives a model.
type toolAnswer struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent json.RawMessage
}

// tool calls an MCP tool and returns its problem in words, or "".
func (s *story) tool(a *agent, name string, args map[string]any, to any) string {
	s.t.Helper()
	answer := s.toolAnswer(a, name, args)
	if answer.IsError {
		var p struct{ Error problem.Body }
		if err := json.Unmarshal(answer.StructuredContent, &p); err != nil {
			s.t.Fatal(err)
		}
		return problemText(p.Error)
	}
	if err := json.NewDecoder(bytes.NewReader(answer.StructuredContent)).Decode(to); err != nil {
		s.t.Fatalf("%v in %s", err, answer.StructuredContent)
	}
	return ""
}

func (s *story) toolAnswer(a *agent, name string, args map[string]any) toolAnswer {
	s.t.Helper()
	res := s.w.Must(200, toolRequest(a.token, name, args), nil)
	var answer struct{ Result toolAnswer }
	res.JSON(s.t, &answer)
	return answer.Result
}

func toolRequest(token, name string, args map[string]any) daemontest.Request {
	return daemontest.Request{Method: "POST", Path: "/mcp", Token: token,
		Header: map[string]string{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2025-06-18"},
		Body: map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
			"params": map[string]any{"name": name, "arguments": args}}}
}

// uses shows what a tool's answer tells a model, with the news beside it.
func (s *story) uses(args []string, _ map[string]string) (out string) {
	in := map[string]any{}
	if len(args) > 2 {
		text := strings.ReplaceAll(args[2], "@example.com", "@"+s.org.Slug+".example.com")
		if err := json.Unmarshal([]byte(text), &in); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, part := range s.toolAnswer(s.agent(args[0]), args[1], in).Content {
		for line := range strings.Lines(part.Text) {
			if strings.TrimSpace(line) != "" {
				out += "  " + strings.TrimRight(line, "\n") + "\n"
			}
		}
	}
	return out
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

func (s *story) override(args []string, kv map[string]string) string {
	a := s.agent(args[0])
	body := map[string]any{}
	if kv["share"] != "" {
		body["share"] = true
	}
	if len(args) > 2 {
		body["reason"] = args[2]
	}
	r := daemontest.Request{Method: "POST", Path: "/v1/conflicts/" + args[1] + "/override", Token: a.own, Body: body}
	switch how := args[len(args)-1]; how {
	case "agent", "session":
		r.Token, r.Header = a.token, sessionHeader(a, args)
	case "cookie":
		r.Token, r.Cookie, r.Org = "", s.w.Cookie(a.User), s.org.Slug
	}
	var c coord.Conflict
	if failed := s.send(r, &c); failed != "" {
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

func (s *story) prefix(args []string, _ map[string]string) string {
	var all wire.Page[coord.Project]
	if failed := s.call(s.agent(args[0]), "GET", "/v1/projects", nil, &all, nil); failed != "" {
		return failed
	}
	said := []wire.ProjectPrefix{}
	for _, path := range args[3:] {
		said = append(said, wire.ProjectPrefix{Repo: args[1], Other: args[2], Prefix: path})
	}
	return s.send(daemontest.Request{Method: "PUT", Path: "/v1/projects/" + all.Items[0].ID + "/prefixes", Token: s.agent(args[0]).own,
		Body: map[string]any{"prefixes": said}}, nil)
}

func (s *story) index(args []string, kv map[string]string) string {
	path, line, _ := strings.Cut(args[2], ":")
	n, _ := strconv.Atoi(line)
	f := wire.IndexedFile{Path: path, Contracts: []coord.ContractFacts{{Key: args[3], Role: coord.Uses, Change: coord.Same,
		Compatibility: coord.Compatible, Line: n}}}
	if args[3] == "text" { // index bob acme/web src/c.ts:12 text GET orders/*/parcels
		form := scope.PathForm(strings.Split(strings.ReplaceAll(args[5], "*", ""), "/")).String()
		f.Contracts = []coord.ContractFacts{}
		f.Candidates = []coord.Candidate{{Line: n, Form: form, Method: strings.TrimPrefix(args[4], "ANY")}}
	} else if kv["role"] != "" {
		f.Contracts[0].Role = coord.ContractRole(kv["role"])
	}
	if by := kv["by"]; by != "" {
		email := by
		if p := s.people[by]; p != nil {
			email = strings.ToUpper(p.Email) // git knows no case of addresses
		}
		f.Authors = []wire.LineAuthor{{Line: n, Author: coord.AuthorHash(email)}}
	}
	return s.call(s.agent(args[0]), "POST", "/v1/repos/"+url.PathEscape(args[1])+"/index",
		map[string]any{"files": []wire.IndexedFile{f}, "removed": []string{}, "complete": true}, nil, nil)
}

func (s *story) advance(args []string, _ map[string]string) string {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		s.t.Fatal(err)
	}
	s.w.Advance(d)
	if err := s.w.D.Ops.Work.FlushBeats(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := s.w.D.Ops.Work.Sweep(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return ""
}

func (s *story) remove(args []string, _ map[string]string) string {
	r := daemontest.Request{Method: "DELETE", Path: "/v1/members/" + s.agent(args[1]).ID, Token: s.agent(args[0]).own}
	if len(args) > 2 { // by their agent
		r.Token = s.agent(args[0]).token
	}
	return s.send(r, nil)
}

func (s *story) attention(args []string, _ map[string]string) (out string) {
	var all wire.Attention
	if failed := s.call(s.agent(args[0]), "GET", "/v1/attention", nil, &all, nil); failed != "" {
		return failed
	}
	for _, i := range all.Items {
		out += fmt.Sprintf("%s: %s\n", i.Kind, i.Title)
	}
	if out == "" {
		return "nothing\n"
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
