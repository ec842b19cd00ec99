package ops_test

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
	x.w.Must(200, request{Method: "GET", Path: "/v1/search?q=" + url.QueryEscape(q) + more, Token: token}, &out)
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
		worker := x.agent(x.bob, apiRepo)
		x.must(worker.token, "intent_declare", map[string]any{
			"title":      "Rework zebra tokens",
			"session_id": worker.session,
			"scope":      map[string]any{"paths": []string{"src/zebra.go"}},
		}, nil)
		x.edit(worker, "src/zebra.go", "GET /zebras/{id}", "Zebra")
		x.hook(worker, wire.HookStop, map[string]any{"status": map[string]any{"excerpt": "I moved the zebra cache into its own file."}})
		x.send(x.ada, "channel:team", "zebra freeze at noon")
		x.send(x.ada, "user:"+x.bob.Email, "the zebra secret is safe with us")
		x.w.Must(201, request{
			Method: "POST",
			Path:   "/v1/questions",
			Token:  x.cyd.token,
			Body:   map[string]any{"to": "GET /zebras/{id}", "question": "does the zebra bite?", "repo": apiRepo},
		}, nil)
		x.w.Must(201, request{
			Method: "POST",
			Path:   "/v1/questions",
			Token:  x.ada.token,
			Body:   map[string]any{"to": "user:" + x.bob.Email, "question": "between us: which zebra?"},
		}, nil)
		drafting := x.agent(x.cyd, webRepo)
		x.hook(drafting, wire.HookPrompt, map[string]any{"prompt_excerpt": "Draft of the zebra page"})
		clash := x.agent(x.ada, apiRepo)
		x.must(clash.token, "intent_declare", map[string]any{
			"title":      "Striped animals",
			"session_id": clash.session,
			"scope":      map[string]any{"paths": []string{"src/zebra.go"}},
		}, nil)

		for _, tt := range []struct {
			name, token, more string
			want              []string
		}{
			{
				"a party to all",
				x.bob.token,
				"",
				[]string{"conflicts", "contracts", "intents", "intents", "messages", "messages", "questions", "questions", "statuses"},
			},
			{
				"the draft's owner, outside the threads",
				x.cyd.token,
				"",
				[]string{"conflicts", "contracts", "intents", "intents", "intents", "messages", "questions", "statuses"},
			},
			{
				"a viewer",
				x.o.Tokens[coord.Viewer],
				"",
				[]string{"conflicts", "contracts", "intents", "intents", "messages", "questions", "statuses"},
			},
			{"some kinds", x.bob.token, "&kinds=messages,questions", []string{"messages", "messages", "questions", "questions"}},
			{"one repo", x.cyd.token, "&repo=" + webRepo, []string{"intents"}},
			{
				"a token for messages alone",
				x.w.Token(x.o, &x.bob.User, coord.ScopeMessagesRead),
				"",
				[]string{"messages", "messages", "questions", "questions"},
			},
			{"a kind that the token cannot read", x.w.Token(x.o, &x.bob.User, coord.ScopeMessagesRead), "&kinds=intents", nil},
			{"two of them", x.bob.token, "&limit=2", nil},
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
		x.hook(worker, wire.HookStop, map[string]any{"status": map[string]any{"excerpt": "The zebra cache has tests now."}})
		if got := x.search(x.bob.token, "zebra cache", "&kinds=statuses"); len(got) != 2 || got[0].ID == got[1].ID ||
			got[0].Ref != worker.session {
			t.Errorf("statuses = %+v", got)
		}
		// What only the contract index knows is found too, also by an index that was built before.
		x.w.Must(200, request{
			Method: "POST",
			Path:   "/v1/repos/" + url.PathEscape(webRepo) + "/index",
			Token:  x.bob.token,
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
		if got := x.search(x.bob.token, "okapis", ""); len(got) != 1 || got[0].Kind != coord.MemoryContracts ||
			!strings.Contains(got[0].Snippet, "src/okapi.ts") {
			t.Errorf("the index gives %+v", got)
		}
		x.w.Must(200, request{Method: "PATCH", Path: "/v1/org", Token: x.o.Owner(), Body: map[string]any{"data_mode": "metadata_only"}}, nil)
		if got := x.search(x.bob.token, "zebra cache", "&kinds=statuses"); len(got) != 0 {
			t.Errorf("in metadata_only: %+v", got)
		}
		// Nor is kept what an agent says whose token was read before the change.
		stale := coord.Caller{
			OrgID:    x.o.ID,
			UserID:   x.bob.ID,
			Email:    x.bob.Email,
			Name:     x.bob.Name,
			Role:     coord.Admin,
			DataMode: coord.DataFull,
			Scopes:   coord.Scopes(),
			Via:      coord.ViaToken,
		}
		if _, err := x.w.D.Ops.Moments.EvaluateHook(t.Context(), stale, wire.EvaluateHook{HookRequest: wire.HookRequest{
			Event:   wire.HookStop,
			Status:  &wire.HookStatus{Excerpt: "The zebra cache leaks."},
			Session: wire.HookSession{ExternalID: worker.external, Tool: "claude_code"},
			Repo:    wire.HookRepo{RemoteFingerprints: []string{"github.com/" + apiRepo}},
		}}); err != nil {
			t.Fatal(err)
		}
		if got := x.search(x.bob.token, "zebra cache", "&kinds=statuses"); len(got) != 0 {
			t.Errorf("in metadata_only, from a caller known from before: %+v", got)
		}
		stranger := newTeam(t, x.w, "Strangers")
		if got := stranger.search(stranger.ada.token, "zebra", ""); len(got) != 0 {
			t.Errorf("another org finds %+v", got)
		}
		x.w.Must(403, request{Method: "GET", Path: "/v1/search?q=zebra", Token: x.o.Service}, nil)
		x.w.Must(403, request{Method: "GET", Path: "/v1/search?q=zebra", Token: x.w.Token(x.o, &x.bob.User, coord.ScopeReposRead)}, nil)
		x.w.Must(404, request{Method: "GET", Path: "/v1/search?q=zebra&repo=acme/none", Token: x.bob.token}, nil)
		x.w.Must(400, request{Method: "GET", Path: "/v1/search?q=%20x%20", Token: x.bob.token}, nil)

		var found wire.Page[coord.Memory]
		x.must(worker.token, "history_search", map[string]any{"q": "zebra tokens", "kinds": []string{"intents"}}, &found)
		if len(found.Items) != 1 || !strings.Contains(found.Items[0].Title, "⟦peer:") ||
			!strings.Contains(found.Items[0].Title, "Rework zebra tokens") {
			t.Errorf("history_search = %+v", found.Items)
		}
		// What is new is found at once; what is old is forgotten.
		x.send(x.ada, "channel:team", "a quagga appeared")
		if got := x.search(x.cyd.token, "quagga", ""); len(got) != 1 {
			t.Errorf("what was just said is not found: %+v", got)
		}
		x.w.Advance(91 * 24 * time.Hour)
		if got := x.search(x.bob.token, "zebra quagga", ""); len(got) != 0 {
			t.Errorf("after 91 days %+v is remembered", got)
		}
	})
}
