package ops_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// edit tells of an agent's edit that changed a route and a function.
func (x *team) edit(a agent, path, route, symbol string) {
	x.Helper()
	signature, before := "(id string, full bool) User", "(id string) User"
	x.hook(a, wire.HookPostEdit, map[string]any{"paths": []string{path}, "analysis": coord.Analysis{Files: []coord.FileFacts{{
		Path:     path,
		Status:   coord.FileModified,
		Language: "go",
		Parsed:   true,
		BaseBlob: ptr(strings.Repeat("a", 40)),
		NewBlob:  ptr(strings.Repeat("b", 40)),
		Hunks:    []coord.Hunk{{Start: 3, Count: 2, LinesHash: "h"}},
		Symbols: []coord.SymbolFacts{
			{
				Key:               "sym:go:" + path + "#" + symbol,
				Kind:              "function",
				Exported:          true,
				Change:            coord.Signature,
				Signature:         &signature,
				PreviousSignature: &before,
				Compatibility:     coord.Breaking,
			},
		},
		Contracts: []coord.ContractFacts{
			{
				Key:           "http:" + route,
				Role:          coord.Provides,
				Change:        coord.Signature,
				Compatibility: coord.Breaking,
				Detail:        ptr("a parameter was added"),
				Line:          3,
			},
		},
		References: []coord.Reference{},
	}}}})
}

func ptr[T any](v T) *T { return &v }

func TestAQuestionFindsWhoKnows(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		asker, worker, other := x.agent(x.ada, apiRepo), x.agent(x.bob, apiRepo), x.agent(x.bob, webRepo)
		x.must(worker.token, "intent_declare", map[string]any{
			"title":      "Users",
			"session_id": worker.session,
			"scope":      map[string]any{"paths": []string{"src/users.go"}},
		}, nil)
		x.edit(worker, "src/users.go", "GET /users/{id}", "Load")

		var q coord.Question
		x.must(asker.token, "ask", map[string]any{"to": "GET /users/:id", "question": "will the old form go on working?"}, &q)
		if q.Status != coord.QuestionOpen || q.To != "http:GET /users/{}" && q.To != "http:GET /users/{id}" || q.Immediate == nil {
			t.Fatalf("question = %+v", q)
		}
		contains(t, "the immediate answer", *q.Immediate, x.bob.Name, "src/users.go", "breaking", "a parameter was added")
		if q.AskedBy.Kind != coord.SenderSession || *q.AskedBy.SessionID != asker.session || q.Repo.FullName != apiRepo {
			t.Errorf("asked by %+v in %+v", q.AskedBy, q.Repo)
		}
		// The agent whose work it is gets it, once; the person's other one does not.
		if text := x.hook(other, wire.HookPrompt, nil).InjectContext; strings.Contains(text, q.ID) {
			t.Errorf("an agent in another repo is asked:\n%s", text)
		}
		contains(t, "the worker's briefing", x.hook(worker, wire.HookPrompt, nil).InjectContext, q.ID, "will the old form go on working?",
			x.ada.Name)
		if text := x.hook(worker, wire.HookPrompt, nil).InjectContext; strings.Contains(text, q.ID) {
			t.Errorf("it is asked again:\n%s", text)
		}
		var answered coord.Question
		x.must(worker.token, "answer", map[string]any{"question": q.ID, "answer": "yes, until June"}, &answered)
		if answered.Status != coord.QuestionAnswered || len(answered.Answers) != 1 || answered.Answers[0].By.User.ID != x.bob.ID {
			t.Errorf("answered = %+v", answered)
		}
		contains(t, "the asker's briefing", x.hook(asker, wire.HookPrompt, nil).InjectContext, "until June", x.bob.Name)
		if text := x.hook(asker, wire.HookPrompt, nil).InjectContext; strings.Contains(text, "until June") {
			t.Errorf("the answer is told twice:\n%s", text)
		}
	})
}

func TestWhomAQuestionReaches(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		worker := x.agent(x.bob, apiRepo)
		x.must(worker.token, "intent_declare", map[string]any{
			"title":      "Users",
			"session_id": worker.session,
			"scope":      map[string]any{"paths": []string{"src/users.go"}, "contracts": []string{"db:public.claimed"}},
		}, nil)
		x.edit(worker, "src/users.go", "GET /users/{id}", "Load")
		done := x.agent(x.cyd, apiRepo)
		var made wire.Declared
		x.must(done.token, "intent_declare", map[string]any{
			"title":      "Orders",
			"session_id": done.session,
			"scope":      map[string]any{"paths": []string{"src/orders.go"}},
		}, &made)
		x.edit(done, "src/orders.go", "GET /orders", "Orders")
		x.must(done.token, "intent_close", map[string]any{"intent": made.Intent.Ref, "outcome": "merged"}, nil)
		live := x.intent(x.bob, apiRepo, "Live", "a.go")
		closed := x.intent(x.bob, apiRepo, "Closed", "b.go")
		x.w.Must(200, request{
			Method: "POST",
			Path:   "/v1/intents/" + closed.Ref + "/close",
			Token:  x.bob.token,
			Body:   map[string]any{"outcome": "abandoned"},
		}, nil)

		x.w.Must(200, request{
			Method: "POST",
			Path:   "/v1/repos/" + url.PathEscape(apiRepo) + "/index",
			Token:  x.bob.token,
			Body: map[string]any{"files": []any{
				map[string]any{"path": "src/invoice.go", "contracts": []any{
					map[string]any{
						"key":           "http:GET /invoices/{id}",
						"role":          "provides",
						"change":        "unchanged",
						"compatibility": "unknown",
						"signature":     "(id) Invoice",
						"line":          7,
					}}},
				map[string]any{"path": "src/pay.go", "contracts": []any{
					map[string]any{"key": "http:GET /invoices/:no", "role": "uses", "change": "unchanged", "compatibility": "unknown", "line": 3}}},
			}},
		}, nil)

		for _, tt := range []struct {
			name, to, about, repo string
			status                int
			reaches               *person // nil for the repo's channel
			says                  string
		}{
			{"a person", "user:" + x.cyd.Email, "", "", 201, &x.cyd, ""},
			{"a person, about a contract", "user:" + x.cyd.Email, "GET /users/{id}", apiRepo, 201, &x.cyd, "src/users.go"},
			{"an intent", "intent:" + live.Ref, "", "", 201, &x.bob, ""},
			{"a route in a change", "/users/{id}", "", apiRepo, 201, &x.bob, "src/users.go"},
			{"a route in a change, in no repo", "GET /users/{id}", "", "", 201, &x.bob, "src/users.go"},
			{"a symbol in a change", "src/users.go#Load", "", apiRepo, 201, &x.bob, "now (id string, full bool) User"},
			{"a claimed table", "db:claimed", "", apiRepo, 201, &x.bob, "claims db:public.claimed"},
			{"what somebody merged", "GET /orders", "", apiRepo, 201, &x.cyd, "merged work"},
			{
				"what the index knows",
				"GET /invoices/{n}",
				"",
				apiRepo,
				201,
				nil,
				"nobody is changing or claiming it now.\\n- acme/api provides it in src/invoice.go:7: (id) Invoice\\n- acme/api uses it in " +
					"src/pay.go:3",
			},
			{"what nobody knows", "db:nothing", "", apiRepo, 201, nil, "Nobody is changing"},
			{"what nobody knows, in no repo", "db:nothing", "", "", 400, nil, "repo"},
			{"an unknown person", "user:x@example.com", "", "", 404, nil, "who_is_online"},
			{"an unknown intent", "intent:INT-999", "", "", 404, nil, "INT-999"},
			{"a closed intent", "intent:" + closed.Ref, "", "", 409, nil, "user:" + x.bob.Email},
			{"a channel", "channel:team", "", "", 400, nil, "intent:INT-n"},
			{"nonsense", "hello there", "", apiRepo, 400, nil, "intent:INT-n"},
			{"about where to is a contract", "GET /orders", "GET /users", apiRepo, 400, nil, "about"},
			{"about that is no key", "user:" + x.cyd.Email, "hello", "", 400, nil, "about"},
			{"an unknown repo", "GET /orders", "", "acme/none", 404, nil, "acme/none"},
		} {
			x.w.Advance(time.Hour)
			body := map[string]any{"to": tt.to, "question": "what about " + tt.name + "?"}
			if tt.about != "" {
				body["about"] = tt.about
			}
			if tt.repo != "" {
				body["repo"] = tt.repo
			}
			before := x.count("questions") + x.count("messages")
			res := x.w.Do(request{Method: "POST", Path: "/v1/questions", Token: x.ada.token, Body: body})
			if res.Status != tt.status {
				t.Errorf("%s: %d, want %d\n%s", tt.name, res.Status, tt.status, res.Body)
				continue
			}
			contains(t, tt.name, string(res.Body), tt.says)
			if tt.status != 201 {
				if n := x.count("questions") + x.count("messages"); n != before {
					t.Errorf("%s: something was stored", tt.name)
				}
				continue
			}
			var c wire.Page[coord.Conversation]
			x.w.Must(200, request{Method: "GET", Path: "/v1/conversations?limit=1", Token: x.ada.token}, &c)
			got := c.Items[0]
			switch {
			case tt.reaches == nil && got.To != "channel:"+apiRepo:
				t.Errorf("%s: went to %s", tt.name, got.To)
			case tt.reaches != nil && (got.Kind != coord.Direct || got.Name != tt.reaches.Name || got.About.Kind != "question"):
				t.Errorf("%s: went to %s %s about %+v, want %s", tt.name, got.Kind, got.Name, got.About, tt.reaches.Name)
			}
		}
	})
}

func TestWhoMayAnswerAndUntilWhen(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		ask := func(to string) (q coord.Question) {
			x.w.Must(201, request{
				Method: "POST",
				Path:   "/v1/questions",
				Token:  x.ada.token,
				Body:   map[string]any{"to": to, "question": "why?", "repo": apiRepo},
			}, &q)
			return q
		}
		answer := func(p person, id string) int {
			return x.w.Do(request{
				Method: "POST",
				Path:   "/v1/questions/" + id + "/answers",
				Token:  p.token,
				Body:   map[string]any{"answer": "because"},
			}).Status
		}
		private, open := ask("user:"+x.bob.Email), ask("db:nothing")
		stranger := newTeam(t, x.w, "Strangers")
		for _, tt := range []struct {
			name string
			who  person
			id   string
			want int
		}{
			{"somebody else's question", x.cyd, private.ID, 404},
			{"another org's", stranger.ada, open.ID, 404},
			{"one's own", x.ada, private.ID, 403},
			{"an unknown one", x.bob, uuid.NewString(), 404},
			{"no id", x.bob, "x", 404},
			{"one's to answer", x.bob, private.ID, 201},
			{"again, with more", x.bob, private.ID, 201},
			{"one to the channel", x.cyd, open.ID, 201},
		} {
			if got := answer(tt.who, tt.id); got != tt.want {
				t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
			}
		}
		x.w.Must(400, request{
			Method: "POST",
			Path:   "/v1/questions/" + private.ID + "/answers",
			Token:  x.bob.token,
			Body:   map[string]any{"answer": "  "},
		}, nil)
		late := ask("user:" + x.bob.Email)
		x.w.Advance(73 * time.Hour)
		if got := answer(x.bob, late.ID); got != 409 {
			t.Errorf("an expired question can be answered: %d", got)
		}
		agent := x.agent(x.bob, apiRepo)
		if text := x.hook(agent, wire.HookPrompt, nil).InjectContext; strings.Contains(text, late.ID) {
			t.Errorf("an expired question is asked:\n%s", text)
		}
	})
}
