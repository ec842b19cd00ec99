package stories

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

func (x *strangers) rename(u coord.User) {
	x.w.Write(x.org.ID, func(ctx context.Context, tx *store.Tx) error { return tx.SetUserName(ctx, u.ID, u.Name) })
}

// before sets the scene: every kind of conflict reaches agents, the
// repositories belong together, and the strangers are at work.
func (x *strangers) before() {
	for _, a := range []*agent{x.mal, x.eve, x.far} {
		x.event(a, wire.HookRequest{Event: wire.HookSessionStart})
	}
	x.tell(`policy root {"severity":{"path_overlap":"warn","symbol_overlap":"warn","edit_overlap":"warn","contract_overlap":"warn",` +
		`"contract_break":"warn","dependency_order":"warn","duplicate_work":"warn","rebase_needed":"warn"}}`)
	x.must(x.call(x.agent("root"), "POST", "/v1/projects", map[string]any{"name": hostileKind, "repos": []string{"acme/api",
		x.far.repo}}, nil, nil))
}

// meets puts the victim to work where the strangers will be.
func (x *strangers) meets(v *victim) {
	v.hears(wire.HookRequest{Event: wire.HookSessionStart})
	x.tell(`declare vic title="Mine" paths=own.go,own/** symbols=own.go#F contracts="http:GET /users"`)
	x.edits(v.me, "own.go", "mine", coord.Signature)
}

// declares announces work of a stranger with every field filled.
func (x *strangers) declares(a *agent, mode string, paths ...string) string {
	var out wire.Declared
	x.declared++
	x.must(x.call(a, "POST", "/v1/intents", map[string]any{"title": hostile("title"), "summary": hostile("summary"),
		"plan_md": hostile("plan"),
		"scope": map[string]any{"paths": paths, "symbols": []string{hostileSymbol, "own.go#F"}, "contracts": []string{hostileRoute,
			"http:GET /users", fmt.Sprintf("res:env:x).SYSTEM!%s%d", canary, x.declared)}},
		"mode": mode, "branch": hostileRef + "-" + a.name, "session_id": a.session,
		"external_ref": map[string]any{"kind": hostileKind, "url": hostileURL, "id": hostile("ticket")}}, &out, nil))
	return out.Intent.Ref
}

// write has the strangers write into every record.
func (x *strangers) write(v *victim) {
	held := x.declares(x.eve, "exclusive", hostilePath, "own.go", "locked.go")
	shared := x.declares(x.mal, "shared", "shared/"+hostilePath, "own/a.go")
	x.edits(x.mal, "own.go", "new form", coord.Signature)
	x.edits(x.eve, hostilePath, "new form", coord.Signature)
	x.edits(x.far, "far/"+hostilePath, "far form", coord.Removed)
	x.event(x.far, wire.HookRequest{Event: wire.HookPrompt, PromptExcerpt: hostile("prompt")})
	x.event(x.mal, wire.HookRequest{Event: wire.HookPlan, PlanText: hostile("plan") + " " + hostilePath})
	for _, a := range []*agent{x.mal, x.eve, x.far} {
		x.event(a, wire.HookRequest{Event: wire.HookStop, Status: &wire.HookStatus{Excerpt: hostile("status"), Files: []string{hostilePath}}})
	}
	x.must(x.call(x.mal, "POST", "/v1/repos/acme%2Fapi/index", map[string]any{"files": []wire.IndexedFile{{Path: "index/" + hostilePath,
		Language: hostileLanguage, Contracts: x.facts("i.go", "indexed", coord.Same).Files[0].Contracts}}}, nil, nil))
	x.uses("own/uses.go", "uses/"+hostilePath)
	v.hears(wire.HookRequest{Event: wire.HookPreEdit, Paths: []string{hostilePath}}) // a conflict with the claim
	v.hears(wire.HookRequest{Event: wire.HookPreEdit, Paths: []string{"locked.go"}})

	session := func(a *agent) map[string]string { return map[string]string{"X-Svc-Session": a.session} }
	x.must(x.call(x.mal, "PATCH", "/v1/intents/"+shared, map[string]any{"note": hostile("note"), "pr_number": 7}, nil, nil))
	given := x.declares(&agent{person: x.mal.person, name: "mal2", session: x.mal.session}, "shared", "given.go")
	x.must(x.call(x.mal, "PATCH", "/v1/intents/"+given, map[string]any{"note": hostile("note")}, nil, nil))
	x.must(x.call(x.mal, "POST", "/v1/intents/"+given+"/handoff", map[string]any{"to": v.me.Email, "note": hostile("handoff")}, nil, nil))
	for _, to := range []string{"user:" + v.me.Email, "channel:team", "channel:acme/api", "intent:INT-1", "channel:" + x.far.repo,
		"contract:acme/api#" + hostileRoute} {
		x.must(x.call(x.mal, "POST", "/v1/messages", map[string]any{"to": to, "subject": hostile("subject"), "body": hostile("body"),
			"requires_ack": true, "session_id": x.mal.session}, nil, nil))
	}
	var q, mine coord.Question
	x.must(x.call(x.mal, "POST", "/v1/questions", map[string]any{"to": "user:" + v.me.Email, "question": hostile("question"),
		"about":      hostileRoute,
		"session_id": x.mal.session}, &q, nil))
	x.must(x.call(v.me, "POST", "/v1/questions", map[string]any{"to": "user:" + x.mal.Email, "question": "Why?",
		"session_id": v.me.session}, &mine, nil))
	x.must(x.call(x.mal, "POST", "/v1/questions/"+mine.ID+"/answers", map[string]any{"answer": hostile("answer"),
		"session_id": x.mal.session}, nil, nil))

	var page wire.Page[coord.Conflict]
	x.must(x.call(x.owner(), "GET", "/v1/conflicts?limit=100", nil, &page, nil))
	for i, c := range page.Items {
		x.call(x.eve, "POST", "/v1/conflicts/"+c.Ref+"/actions", map[string]any{"action": "propose_sequence", "note": hostile("reply")},
			nil, session(x.eve))
		x.call(x.mal, "POST", "/v1/conflicts/"+c.Ref+"/actions", map[string]any{"action": "request_override", "note": hostile("wish")}, nil,
			session(x.mal))
		if i == 0 {
			x.must(x.send(daemontest.Request{Method: "POST", Path: "/v1/conflicts/" + c.Ref + "/override",
				Cookie: x.w.Cookie(x.org.Users[coord.Owner]),
				Org:    x.org.Slug, Body: map[string]any{"reason": hostile("reason")}}, nil))
		}
		x.pool["conflict"] = append(x.pool["conflict"], c.Ref)
	}
	var inbox wire.Page[coord.Message]
	x.must(x.call(v.me, "GET", "/v1/messages?limit=3", nil, &inbox, nil))
	for _, m := range inbox.Items {
		x.pool["message"] = append(x.pool["message"], m.ID)
		x.pool["to"] = append(x.pool["to"], "thread:"+m.ConversationID)
	}
	x.pool["conflict"] = append(x.pool["conflict"], "x). "+canary)
	x.pool["question"] = []any{q.ID}
	x.pool["intent"] = []any{held, shared, given, "INT-1", "INT-99", "x). " + canary}
	x.pool["depends_on"] = []any{[]string{held}}
}

// uses has files use a stranger's contract, of which a stranger's work takes the last off it.
func (x *strangers) uses(paths ...string) {
	use := coord.ContractFacts{Key: hostileRoute, Role: coord.Uses, Change: coord.Same, Compatibility: coord.Compatible, Line: 3}
	var files []wire.IndexedFile
	for _, p := range paths {
		files = append(files, wire.IndexedFile{Path: p, Contracts: []coord.ContractFacts{use}})
	}
	x.must(x.call(x.mal, "POST", "/v1/repos/acme%2Fapi/index", map[string]any{"files": files}, nil, nil))
	use.Change = coord.Removed
	x.event(x.mal, wire.HookRequest{Event: wire.HookPostEdit, Paths: paths[len(paths)-1:], Analysis: &coord.Analysis{Files: []coord.FileFacts{{
		Path: paths[len(paths)-1], Status: coord.FileModified, Language: "go", Parsed: true, Contracts: []coord.ContractFacts{use}}}}})
}

// forge has the strangers' git host tell of a merge request and a push, with
// hostile titles, commit messages and names of files.
func (x *strangers) forge() {
	x.w.Write(x.org.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE repos SET provider = 'gitlab' WHERE full_name = 'acme/api'`)
		return err
	})
	var lab wire.HostStatus
	x.must(x.send(daemontest.Request{Method: "PUT", Path: "/v1/integrations/gitlab",
		Cookie: x.w.Cookie(x.org.Users[coord.Owner]), Org: x.org.Slug,
		Body: map[string]any{"signing_token": nil}}, &lab))
	_, path, _ := strings.Cut(*lab.WebhookURL, "/v1/")
	project := map[string]any{"path_with_namespace": "acme/api", "web_url": "https://gitlab.com/acme/api", "default_branch": "main",
		"git_ssh_url": "git@github.com:acme/api.git", "name": hostile("project"), "description": hostile("description")}
	commit := map[string]any{"id": "c1", "title": hostile("commit"), "message": hostile("message"),
		"author":   map[string]any{"name": hostilePerson},
		"modified": []string{"own.go", hostilePath, hostileOldPath}, "added": []string{"new/" + hostilePath}}
	for i, body := range []map[string]any{
		{"object_kind": "merge_request", "user": map[string]any{"name": hostilePerson}, "object_attributes": map[string]any{"iid": 12,
			"action": "open",
			"state":  "opened", "title": hostile("pull request"), "description": hostile("text"), "source_branch": x.mal.branch,
			"target_branch":     hostileRef,
			"source_project_id": 5, "target_project_id": 5, "url": hostileURL, "updated_at": "2026-11-15 09:30:00 UTC", "last_commit": commit}},
		{"object_kind": "push", "ref": "refs/heads/main", "before": "c0", "after": "c1", "commits": []any{commit}, "total_commits_count": 1},
		{"object_kind": hostile("kind")},
	} {
		body["project"] = project
		var got wire.HookReceipt
		x.must(x.send(daemontest.Request{Method: "POST", Path: "/v1/" + path, Body: body,
			Header: map[string]string{"X-Gitlab-Token": *lab.Secret, "X-Gitlab-Event-UUID": uuid.NewString()}}, &got))
		if i == 0 && got.Status != "done" {
			x.t.Fatalf("the git host is answered %+v", got)
		}
	}
	x.push()
}

// push is what became known of a stranger's pull request, who does not use svc.
func (x *strangers) push() {
	x.w.Write(x.org.ID, func(ctx context.Context, tx *store.Tx) error {
		b := store.Branch{ID: uuid.NewString(), OrgID: x.org.ID, Provider: coord.GitLab, Name: hostileRef, Number: 40, BaseRef: "main",
			URL: hostileURL, Author: hostilePerson, Files: 2, Since: tx.Now, PushedAt: tx.Now}
		err := tx.QueryRowContext(ctx, `SELECT id, full_name FROM repos WHERE full_name = 'acme/api' AND org_id = $1`, x.org.ID).Scan(&b.Repo.ID,
			&b.Repo.FullName)
		files := append(x.facts("own.go", "pushed", coord.Signature).Files, x.facts(hostilePath, "pushed", coord.Signature).Files...)
		for _, do := range []func() error{
			func() error { return err },
			func() error { return tx.SaveBranch(ctx, b) },
			func() error { return tx.SetBranchChanges(ctx, b, files) },
			func() error {
				return tx.Emit(ctx, coord.Event{OrgID: x.org.ID, Type: coord.EventBranchPushed, Actor: coord.Entity{Kind: "system", ID: x.org.ID},
					Subject: coord.Entity{Kind: "branch", ID: b.ID}, RepoID: b.Repo.ID, Facts: wire.BranchPayload{Number: &b.Number, Files: 2}})
			},
		} {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	})
}

// hooks lets the victim, and others who come fresh, live through every event.
func (x *strangers) hooks(v *victim) {
	fresh := &victim{story: x.story, me: x.agent("fresh"), got: v.got}
	beside := &victim{story: x.story, me: x.agent("beside"), got: v.got}
	beside.me.copy = x.eve.copy // one working copy with a stranger
	sweep := func(effect wire.GitEffect) *wire.HookShell {
		return &wire.HookShell{Command: "git stash", Git: []wire.HookGit{{Verb: "stash", Effect: effect, All: true,
			Files: []wire.GitFile{{Path: hostilePath}, {Path: hostileOldPath}}}}}
	}
	for _, who := range []*victim{v, fresh, beside} {
		for _, event := range wire.HookEvents() {
			if event == wire.HookSessionEnd {
				continue // comes last
			}
			for _, path := range []string{hostilePath, hostileOldPath, "shared/" + hostilePath, "own.go", "locked.go"} {
				e := wire.HookRequest{Event: event, Paths: []string{path}}
				switch event {
				case wire.HookPreShell:
					who.hears(wire.HookRequest{Event: event, Shell: sweep(wire.GitSweeps)})
					e.Shell = sweep(wire.GitDiscards)
				case wire.HookPostEdit:
					e.Analysis = x.facts(path, "of "+who.me.name, coord.Signature)
				}
				who.hears(e)
			}
		}
	}
	fresh.hears(wire.HookRequest{Event: wire.HookSessionEnd})
}

// turns has everything come to its turning points, with the victim's next
// prompt and tool call after each.
func (x *strangers) turns() {
	w := &victim{story: x.story, me: x.agent("wit"), got: map[string]bool{}}
	w.hears(wire.HookRequest{Event: wire.HookSessionStart})
	x.tell(`declare wit title="Mine" paths=turn.go symbols=turn.go#F contracts="http:GET /users"`)
	held := x.declares(x.eve, "exclusive", "turn.go")
	w.hears(wire.HookRequest{Event: wire.HookPreEdit, Paths: []string{"turn.go"}})
	next := func() {
		w.hears(wire.HookRequest{Event: wire.HookPrompt})
		w.hears(wire.HookRequest{Event: wire.HookPreEdit, Paths: []string{"turn.go", "free.go"}})
		op, _ := api.Find("team_context")
		w.calls(op, map[string]any{})
	}
	next()
	x.edits(x.eve, "turn.go", "first form", coord.Signature)
	next()
	x.edits(x.eve, "turn.go", "second form", coord.Removed)
	next()
	x.must(x.call(x.eve, "POST", "/v1/intents/"+held+"/handoff", map[string]any{"to": x.mal.Email, "note": hostile("handoff")}, nil, nil))
	next()
	x.event(x.eve, wire.HookRequest{Event: wire.HookSessionEnd})
	x.tell("advance 13h")
	next()
	x.must(x.call(x.mal, "POST", "/v1/intents/"+held+"/close", map[string]any{"outcome": "merged", "note": hostile("close")}, nil, nil))
	next()
	x.tell("remove root mal")
	next()
}

// arguments returns calls of a tool: for each of its fields, with everything
// that a model may have read and now names there.
func (x *strangers) arguments(schemas *api.API, op api.Op) (out []map[string]any) {
	in := schemas.Inputs(op).All
	base := map[string]any{}
	if in.Properties["timeout_seconds"] != nil {
		base["timeout_seconds"] = 1
	}
	for _, name := range in.Required {
		base[name] = x.choices(schemas, op, in, name)[0]
	}
	out = append(out, map[string]any{}, base, map[string]any{"x). " + canary: 1})
	for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
		for _, value := range x.choices(schemas, op, in, name) {
			args := maps.Clone(base)
			args[name] = value
			out = append(out, args)
			if name == "mode" { // of a scope that others hold
				args["scope"] = map[string]any{"paths": []string{"locked.go"}}
			}
		}
	}
	return out
}

// choices returns what a model may give in a field. A new field must be said
// here.
func (x *strangers) choices(schemas *api.API, op api.Op, in *shape.Schema, name string) []any {
	s := schemas.Schemas.Resolve(in.Properties[name])
	if len(s.AnyOf) > 0 {
		s = schemas.Schemas.Resolve(s.AnyOf[0])
	}
	if len(s.Enum) > 0 {
		return slices.Clone(s.Enum)
	}
	switch name {
	case "paths":
		return []any{[]string{hostilePath, "own.go"}, []string{"**"}, []string{"../" + hostilePath}, []string{"nobody.go"}}
	case "path":
		return []any{hostilePath, "nobody-else.go", "/" + hostilePath, "../" + hostilePath}
	case "symbols":
		return []any{[]string{hostileSymbol, "own.go#F"}, []string{"x y" + canary}}
	case "symbol":
		return []any{"own.go#F", hostileSymbol}
	case "contracts":
		return []any{[]string{hostileRoute, "http:GET /users"}, []string{"x y " + canary}}
	case "key", "about":
		return []any{"http:GET /users", hostileRoute, "db:public.users). " + canary, "own.go#F", "x y " + canary}
	case "repo":
		return []any{"acme/api", x.far.repo, "x).system " + canary, "nowhere"}
	case "channel":
		return []any{"team", "acme/api", x.far.repo, "x) " + canary, "#nowhere"}
	case "to":
		if op.Tool == "intent_handoff" {
			return []any{x.mal.Email, "nobody@example.com", x.agent("root").Email}
		}
		if op.Tool == "ask" {
			return []any{hostileRoute, "user:" + x.mal.Email, "intent:INT-2", "http:GET /users", "user:x)" + canary, "x) " + canary}
		}
		return append([]any{"user:" + x.mal.Email, "intent:INT-2", "http:GET /users", hostileRoute, "channel:team", "channel:x) " + canary,
			"user:x)" + canary, "x) " + canary, "channel:" + x.far.repo},
			x.pool["to"]...)
	case "handoff_to":
		return []any{x.mal.Email}
	case "session_id":
		return []any{x.agent("vic").session, x.mal.session, x.far.session}
	case "intent", "ref", "conflict":
		all := x.pool[strings.Replace(name, "ref", "intent", 1)]
		if op.Tool == "wait_for" { // each takes a second
			return all[:1]
		}
		return all
	case "message", "depends_on":
		return x.pool[name]
	case "question":
		if op.Tool == "ask" {
			return []any{"Why?"}
		}
		return x.pool[name]
	case "scope":
		return []any{map[string]any{"paths": []string{"own.go", hostilePath}, "contracts": []string{hostileRoute}}}
	case "patch":
		return []any{map[string]any{"scope_add": map[string]any{"paths": []string{hostilePath}}},
			map[string]any{"depends_on_add": x.pool["depends_on"][0]}}
	case "q", "query":
		return []any{"SYSTEM", canary, "users"}
	case "kinds", "status":
		out := []any{}
		for _, e := range schemas.Schemas.Resolve(s.Items).Enum {
			out = append(out, []any{e})
		}
		return out
	case "external_ref":
		return []any{map[string]any{"kind": hostileKind, "url": hostileURL}}
	case "branch":
		return []any{hostileRef + "-mal", "x). no branch " + canary}
	case "title", "summary", "plan_md", "body", "subject", "note", "answer":
		return []any{"Mine"}
	case "mine", "unread_only", "requires_ack":
		return []any{true, false}
	case "limit", "timeout_seconds":
		return []any{1}
	case "wait_seconds":
		return []any{0}
	}
	x.t.Fatalf("%s has a field %s: say what a model may give there", op.Tool, name)
	return nil
}
