package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
)

func TestHistorySearch(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		has(t, bob.call("history_search", args{"q": "okapi"}).Text, "Nothing found", "ask")
		do[wire.Declared](ana, "intent_declare", args{"title": "Tame the okapi", "scope": paths("zoo/okapi.go"), "mode": "exclusive"})
		do[coord.Message](ana, "message_send", args{"to": "channel:team", "body": "The okapi bites; wear gloves."})
		do[coord.Question](bob, "ask", args{"to": "user:" + ana.user.Email, "question": "Where does the okapi sleep?"})
		said := bob.call("history_search", args{"q": "okapi"})
		has(t, said.Text, "3 found", "intent INT-1 by Ana in acme/api", "Tame the okapi", "wear gloves", "Where does the okapi sleep?", "⟦peer:")
		for kind, want := range map[string]string{"intents": "Tame", "messages": "gloves", "questions": "sleep"} {
			found := do[wire.Page[coord.Memory]](bob, "history_search", args{"q": "okapi", "kinds": []string{kind}, "repo": "acme/api"})
			if kind == "messages" { // the channel is of no repository
				found = do[wire.Page[coord.Memory]](bob, "history_search", args{"q": "okapi", "kinds": []string{kind}})
			}
			if len(found.Items) != 1 || string(found.Items[0].Kind) != kind || !strings.Contains(found.Items[0].Title+found.Items[0].Snippet, want) {
				t.Errorf("%s: %+v", kind, found.Items)
			}
		}
		if found := do[wire.Page[coord.Memory]](bob, "history_search", args{"q": "okapi", "limit": 1}); len(found.Items) != 1 {
			t.Errorf("one of them: %+v", found.Items)
		}
		for _, tt := range []struct {
			in   args
			want problem.Kind
		}{
			{args{"q": "okapi", "repo": "acme/unheard"}, "not-found"},
			{args{"q": " x "}, "validation"},
			{args{"q": "okapi", "kinds": []string{"animals"}}, "validation"},
		} {
			bob.fails("history_search", tt.in, tt.want)
		}
	})
}

// Ordinary results, ten at a time, stay short enough to be read.
func TestManyMemoriesAreToldBriefly(t *testing.T) {
	s := start(t, t.TempDir()+"/svc.db")
	ana := s.agent("Ana", "acme/api")
	for i := range 15 {
		do[coord.Message](ana, "message_send", args{"to": "channel:team", "body": strings.Repeat("The okapi has eaten lunch. ", i+1)})
	}
	has(t, ana.call("history_search", args{"q": "okapi"}).Text, "10 found", "more in the structured content") // call checks how long it is
}
