package talk_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

func (x *team) search(token, q, more string) []coord.Memory {
	x.Helper()
	var out wire.Page[coord.Memory]
	x.W.Must(200, request{Method: "GET", Path: "/v1/search?q=" + url.QueryEscape(q) + more, Token: token}, &out)
	if out.NextCursor != nil {
		x.Errorf("search has a cursor")
	}
	return out.Items
}

func kinds(ms []coord.Memory) []string {
	var out []string
	for _, m := range ms {
		out = append(out, string(m.Kind))
	}
	slices.Sort(out)
	return out
}

// Everything that the team did is found, by those who may see it.
func TestTheTeamsMemory(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		worker := x.Agent(x.Bob, apiRepo)
		x.Must(worker.Token, "intent_declare", map[string]any{
			"title":      "Rework zebra tokens",
			"session_id": worker.Session,
			"scope":      map[string]any{"paths": []string{"src/zebra.go"}},
		}, nil)
		x.edit(worker, "src/zebra.go", "GET /zebras/{id}", "Zebra")
		x.Hook(worker, wire.HookStop, map[string]any{"status": map[string]any{"excerpt": "I moved the zebra cache into its own file."}})
		x.Send(x.Ada, "channel:team", "zebra freeze at noon")
		x.Send(x.Ada, "user:"+x.Bob.Email, "the zebra secret is safe with us")
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/questions",
			Token:  x.Cyd.Token,
			Body:   map[string]any{"to": "GET /zebras/{id}", "question": "does the zebra bite?", "repo": apiRepo},
		}, nil)
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/questions",
			Token:  x.Ada.Token,
			Body:   map[string]any{"to": "user:" + x.Bob.Email, "question": "between us: which zebra?"},
		}, nil)
		drafting := x.Agent(x.Cyd, webRepo)
		x.Hook(drafting, wire.HookPrompt, map[string]any{"prompt_excerpt": "Draft of the zebra page"})
		clash := x.Agent(x.Ada, apiRepo)
		x.Must(clash.Token, "intent_declare", map[string]any{
			"title":      "Striped animals",
			"session_id": clash.Session,
			"scope":      map[string]any{"paths": []string{"src/zebra.go"}},
		}, nil)

		for _, tt := range []struct {
			name, token, more string
			want              []string
		}{
			{
				"a party to all",
				x.Bob.Token,
				"",
				[]string{"conflicts", "contracts", "intents", "intents", "messages", "messages", "questions", "questions", "statuses"},
			},
			{
				"the draft's owner, outside the threads",
				x.Cyd.Token,
				"",
				[]string{"conflicts", "contracts", "intents", "intents", "intents", "messages", "questions", "statuses"},
			},
			{
				"a viewer",
				x.O.Tokens[coord.Viewer],
				"",
				[]string{"conflicts", "contracts", "intents", "intents", "messages", "questions", "statuses"},
			},
			{"some kinds", x.Bob.Token, "&kinds=messages,questions", []string{"messages", "messages", "questions", "questions"}},
			{"one repo", x.Cyd.Token, "&repo=" + webRepo, []string{"intents"}},
			{
				"a token for messages alone",
				x.W.Token(x.O, &x.Bob.User, coord.ScopeMessagesRead),
				"",
				[]string{"messages", "messages", "questions", "questions"},
			},
			{"a kind that the token cannot read", x.W.Token(x.O, &x.Bob.User, coord.ScopeMessagesRead), "&kinds=intents", nil},
			{"two of them", x.Bob.Token, "&limit=2", nil},
		} {
			got := x.search(tt.token, "zebra", tt.more)
			if strings.Contains(tt.more, "limit") {
				if len(got) != 2 {
					t.Errorf("%s: %d found", tt.name, len(got))
				}
				continue
			}
			if !slices.Equal(kinds(got), tt.want) {
				t.Errorf("%s: found %v, want %v\n%+v", tt.name, kinds(got), tt.want, got)
			}
			for _, m := range got {
				if m.ID == "" || m.Ref == "" || m.Title == "" || m.Snippet == "" || m.At == 0 || m.URL == "" {
					t.Errorf("%s: incomplete: %+v", tt.name, m)
				}
			}
		}
		// Every turn's last words are kept, until the org wants metadata only.
		x.Hook(worker, wire.HookStop, map[string]any{"status": map[string]any{"excerpt": "The zebra cache has tests now."}})
		if got := x.search(x.Bob.Token, "zebra cache", "&kinds=statuses"); len(got) != 2 || got[0].ID == got[1].ID ||
			got[0].Ref != worker.Session {
			t.Errorf("statuses = %+v", got)
		}
		// What only the contract index knows is found too, also by an index that was built before.
		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/repos/" + url.PathEscape(webRepo) + "/index",
			Token:  x.Bob.Token,
			Body: map[string]any{"files": []any{
				map[string]any{
					"path": "src/okapi.ts",
					"contracts": []any{map[string]any{
						"key":           "http:GET /okapis",
						"role":          "provides",
						"change":        "unchanged",
						"compatibility": "unknown",
						"line":          7,
					}},
				}}},
		}, nil)
		if got := x.search(x.Bob.Token, "okapis", ""); len(got) != 1 || got[0].Kind != coord.MemoryContracts ||
			!strings.Contains(got[0].Snippet, "src/okapi.ts") {
			t.Errorf("the index gives %+v", got)
		}
		x.W.Must(200, request{Method: "PATCH", Path: "/v1/org", Token: x.O.Owner(), Body: map[string]any{"data_mode": "metadata_only"}}, nil)
		if got := x.search(x.Bob.Token, "zebra cache", "&kinds=statuses"); len(got) != 0 {
			t.Errorf("in metadata_only: %+v", got)
		}
		// Nor is kept what an agent says whose token was read before the change.
		stale := coord.Caller{
			OrgID:    x.O.ID,
			UserID:   x.Bob.ID,
			Email:    x.Bob.Email,
			Name:     x.Bob.Name,
			Role:     coord.Admin,
			DataMode: coord.DataFull,
			Scopes:   coord.Scopes(),
			Via:      coord.ViaToken,
		}
		if _, err := x.W.D.Ops.Moments.EvaluateHook(t.Context(), &stale, &wire.EvaluateHook{HookRequest: wire.HookRequest{
			Event:   wire.HookStop,
			Status:  &wire.HookStatus{Excerpt: "The zebra cache leaks."},
			Session: wire.HookSession{ExternalID: worker.External, Tool: "claude_code"},
			Repo:    wire.HookRepo{RemoteFingerprints: []string{"github.com/" + apiRepo}},
		}}); err != nil {
			t.Fatal(err)
		}
		if got := x.search(x.Bob.Token, "zebra cache", "&kinds=statuses"); len(got) != 0 {
			t.Errorf("in metadata_only, from a caller known from before: %+v", got)
		}
		stranger := newTeam(t, x.W, "Strangers")
		if got := stranger.search(stranger.Ada.Token, "zebra", ""); len(got) != 0 {
			t.Errorf("another org finds %+v", got)
		}
		x.W.Must(403, request{Method: "GET", Path: "/v1/search?q=zebra", Token: x.O.Service}, nil)
		x.W.Must(403, request{Method: "GET", Path: "/v1/search?q=zebra", Token: x.W.Token(x.O, &x.Bob.User, coord.ScopeReposRead)}, nil)
		x.W.Must(404, request{Method: "GET", Path: "/v1/search?q=zebra&repo=acme/none", Token: x.Bob.Token}, nil)
		x.W.Must(400, request{Method: "GET", Path: "/v1/search?q=%20x%20", Token: x.Bob.Token}, nil)

		var found wire.Page[coord.Memory]
		x.Must(worker.Token, "history_search", map[string]any{"q": "zebra tokens", "kinds": []string{"intents"}}, &found)
		if len(found.Items) != 1 || !strings.Contains(found.Items[0].Title, "⟦peer:") ||
			!strings.Contains(found.Items[0].Title, "Rework zebra tokens") {
			t.Errorf("history_search = %+v", found.Items)
		}
		// What is new is found at once; what is old is forgotten.
		x.Send(x.Ada, "channel:team", "a quagga appeared")
		if got := x.search(x.Cyd.Token, "quagga", ""); len(got) != 1 {
			t.Errorf("what was just said is not found: %+v", got)
		}
		x.W.Advance(91 * 24 * time.Hour)
		if got := x.search(x.Bob.Token, "zebra quagga", ""); len(got) != 0 {
			t.Errorf("after 91 days %+v is remembered", got)
		}
	})
}
