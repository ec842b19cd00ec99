package talk_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// edit tells of an agent's edit that changed a route and a function.
func (x *team) edit(a agent, path, route, symbol string) {
	x.Helper()
	signature, before := "(id string, full bool) User", "(id string) User"
	x.Hook(a, wire.HookPostEdit, map[string]any{"paths": []string{path}, "analysis": coord.Analysis{Files: []coord.FileFacts{{
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
		asker, worker, other := x.Agent(x.Ada, apiRepo), x.Agent(x.Bob, apiRepo), x.Agent(x.Bob, webRepo)
		x.Must(worker.Token, "intent_declare", map[string]any{
			"title":      "Users",
			"session_id": worker.Session,
			"scope":      map[string]any{"paths": []string{"src/users.go"}},
		}, nil)
		x.edit(worker, "src/users.go", "GET /users/{id}", "Load")

		var q coord.Question
		x.Must(asker.Token, "ask", map[string]any{"to": "GET /users/:id", "question": "will the old form go on working?"}, &q)
		if q.Status != coord.QuestionOpen || q.To != "http:GET /users/{}" && q.To != "http:GET /users/{id}" || q.Immediate == nil {
			t.Fatalf("question = %+v", q)
		}
		teamtest.Contains(t, "the immediate answer", *q.Immediate, x.Bob.Name, "src/users.go", "breaking", "a parameter was added")
		if q.AskedBy.Kind != coord.SenderSession || *q.AskedBy.SessionID != asker.Session || q.Repo.FullName != apiRepo {
			t.Errorf("asked by %+v in %+v", q.AskedBy, q.Repo)
		}
		// The agent whose work it is gets it, once; the person's other one does not.
		if text := x.Hook(other, wire.HookPrompt, nil).InjectContext; strings.Contains(text, q.ID) {
			t.Errorf("an agent in another repo is asked:\n%s", text)
		}
		teamtest.Contains(t, "the worker's briefing", x.Hook(worker, wire.HookPrompt, nil).InjectContext, q.ID,
			"will the old form go on working?",
			x.Ada.Name)
		if text := x.Hook(worker, wire.HookPrompt, nil).InjectContext; strings.Contains(text, q.ID) {
			t.Errorf("it is asked again:\n%s", text)
		}
		var answered coord.Question
		x.Must(worker.Token, "answer", map[string]any{"question": q.ID, "answer": "yes, until June"}, &answered)
		if answered.Status != coord.QuestionAnswered || len(answered.Answers) != 1 || answered.Answers[0].By.User.ID != x.Bob.ID {
			t.Errorf("answered = %+v", answered)
		}
		teamtest.Contains(t, "the asker's briefing", x.Hook(asker, wire.HookPrompt, nil).InjectContext, "until June", x.Bob.Name)
		if text := x.Hook(asker, wire.HookPrompt, nil).InjectContext; strings.Contains(text, "until June") {
			t.Errorf("the answer is told twice:\n%s", text)
		}
	})
}

func TestWhomAQuestionReaches(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		worker := x.Agent(x.Bob, apiRepo)
		x.Must(worker.Token, "intent_declare", map[string]any{
			"title":      "Users",
			"session_id": worker.Session,
			"scope":      map[string]any{"paths": []string{"src/users.go"}, "contracts": []string{"db:public.claimed"}},
		}, nil)
		x.edit(worker, "src/users.go", "GET /users/{id}", "Load")
		done := x.Agent(x.Cyd, apiRepo)
		var made wire.Declared
		x.Must(done.Token, "intent_declare", map[string]any{
			"title":      "Orders",
			"session_id": done.Session,
			"scope":      map[string]any{"paths": []string{"src/orders.go"}},
		}, &made)
		x.edit(done, "src/orders.go", "GET /orders", "Orders")
		x.Must(done.Token, "intent_close", map[string]any{"intent": made.Intent.Ref, "outcome": "merged"}, nil)
		live := x.Intent(x.Bob, apiRepo, "Live", "a.go")
		closed := x.Intent(x.Bob, apiRepo, "Closed", "b.go")
		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/intents/" + closed.Ref + "/close",
			Token:  x.Bob.Token,
			Body:   map[string]any{"outcome": "abandoned"},
		}, nil)

		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/repos/" + url.PathEscape(apiRepo) + "/index",
			Token:  x.Bob.Token,
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
			{"a person", "user:" + x.Cyd.Email, "", "", 201, &x.Cyd, ""},
			{"a person, about a contract", "user:" + x.Cyd.Email, "GET /users/{id}", apiRepo, 201, &x.Cyd, "src/users.go"},
			{"an intent", "intent:" + live.Ref, "", "", 201, &x.Bob, ""},
			{"a route in a change", "/users/{id}", "", apiRepo, 201, &x.Bob, "src/users.go"},
			{"a route in a change, in no repo", "GET /users/{id}", "", "", 201, &x.Bob, "src/users.go"},
			{"a symbol in a change", "src/users.go#Load", "", apiRepo, 201, &x.Bob, "now ⟦(id string, full bool) User⟧"},
			{"a claimed table", "db:claimed", "", apiRepo, 201, &x.Bob, "claims db:public.claimed"},
			{"what somebody merged", "GET /orders", "", apiRepo, 201, &x.Cyd, "merged work"},
			{
				"what the index knows",
				"GET /invoices/{n}",
				"",
				apiRepo,
				201,
				nil,
				"nobody is changing or claiming it now.\\n- acme/api provides it in src/invoice.go:7: ⟦(id) Invoice⟧\\n- acme/api uses it in " +
					"src/pay.go:3",
			},
			{"what nobody knows", "db:nothing", "", apiRepo, 201, nil, "Nobody is changing"},
			{"what nobody knows, in no repo", "db:nothing", "", "", 400, nil, "repo"},
			{"an unknown person", "user:x@example.com", "", "", 404, nil, "who_is_online"},
			{"an unknown intent", "intent:INT-999", "", "", 404, nil, "INT-999"},
			{"a closed intent", "intent:" + closed.Ref, "", "", 409, nil, "user:" + x.Bob.Email},
			{"a channel", "channel:team", "", "", 400, nil, "intent:INT-n"},
			{"nonsense", "hello there", "", apiRepo, 400, nil, "intent:INT-n"},
			{"about where to is a contract", "GET /orders", "GET /users", apiRepo, 400, nil, "about"},
			{"about that is no key", "user:" + x.Cyd.Email, "hello", "", 400, nil, "about"},
			{"an unknown repo", "GET /orders", "", "acme/none", 404, nil, "acme/none"},
		} {
			x.W.Advance(time.Hour)
			body := map[string]any{"to": tt.to, "question": "what about " + tt.name + "?"}
			if tt.about != "" {
				body["about"] = tt.about
			}
			if tt.repo != "" {
				body["repo"] = tt.repo
			}
			before := x.Count("questions") + x.Count("messages")
			res := x.W.Do(request{Method: "POST", Path: "/v1/questions", Token: x.Ada.Token, Body: body})
			if res.Status != tt.status {
				t.Errorf("%s: %d, want %d\n%s", tt.name, res.Status, tt.status, res.Body)
				continue
			}
			teamtest.Contains(t, tt.name, string(res.Body), tt.says)
			if tt.status != 201 {
				if n := x.Count("questions") + x.Count("messages"); n != before {
					t.Errorf("%s: something was stored", tt.name)
				}
				continue
			}
			var c wire.Page[coord.Conversation]
			x.W.Must(200, request{Method: "GET", Path: "/v1/conversations?limit=1", Token: x.Ada.Token}, &c)
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
			x.W.Must(201, request{
				Method: "POST",
				Path:   "/v1/questions",
				Token:  x.Ada.Token,
				Body:   map[string]any{"to": to, "question": "why?", "repo": apiRepo},
			}, &q)
			return q
		}
		answer := func(p person, id string) int {
			return x.W.Do(request{
				Method: "POST",
				Path:   "/v1/questions/" + id + "/answers",
				Token:  p.Token,
				Body:   map[string]any{"answer": "because"},
			}).Status
		}
		private, open := ask("user:"+x.Bob.Email), ask("db:nothing")
		stranger := newTeam(t, x.W, "Strangers")
		for _, tt := range []struct {
			name string
			who  person
			id   string
			want int
		}{
			{"somebody else's question", x.Cyd, private.ID, 404},
			{"another org's", stranger.Ada, open.ID, 404},
			{"one's own", x.Ada, private.ID, 403},
			{"an unknown one", x.Bob, uuid.NewString(), 404},
			{"no id", x.Bob, "x", 404},
			{"one's to answer", x.Bob, private.ID, 201},
			{"again, with more", x.Bob, private.ID, 201},
			{"one to the channel", x.Cyd, open.ID, 201},
		} {
			if got := answer(tt.who, tt.id); got != tt.want {
				t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
			}
		}
		x.W.Must(400, request{
			Method: "POST",
			Path:   "/v1/questions/" + private.ID + "/answers",
			Token:  x.Bob.Token,
			Body:   map[string]any{"answer": "  "},
		}, nil)
		late := ask("user:" + x.Bob.Email)
		x.W.Advance(73 * time.Hour)
		if got := answer(x.Bob, late.ID); got != 409 {
			t.Errorf("an expired question can be answered: %d", got)
		}
		agent := x.Agent(x.Bob, apiRepo)
		if text := x.Hook(agent, wire.HookPrompt, nil).InjectContext; strings.Contains(text, late.ID) {
			t.Errorf("an expired question is asked:\n%s", text)
		}
	})
}
