package moments_test

import (
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A task of a host's own team is an intent from when it is there until it is
// done, and in nobody's way: its title is that of the agent's own work here.
func TestATeamsTaskIsAnIntent(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		lead, mate := x.Agent(x.Bob, apiRepo), x.Agent(x.Bob, apiRepo)
		task := func(a agent, done bool) {
			t.Helper()
			more := map[string]any{"task": map[string]any{"team": "session-a45c2f18", "id": "1", "title": "Write the parser", "done": done}}
			if r := x.Hook(a, wire.HookPlan, more); r.Decision != wire.Allow || r.InjectContext != "" {
				t.Errorf("the agent is told %q", r.InjectContext)
			}
		}
		tasks := func(status string) (found []coord.Intent) {
			t.Helper()
			var page wire.Page[coord.Intent]
			x.W.Must(200, request{Method: "GET", Path: "/v1/intents?status=" + status + "&repo=" + apiRepo, Token: x.Ada.Token}, &page)
			return slices.DeleteFunc(page.Items, func(i coord.Intent) bool { return i.ExternalRef == nil })
		}
		task(lead, false)
		task(lead, false) // told by another configuration, too
		made := tasks("live")
		if len(made) != 1 || made[0].Title != "Write the parser" || made[0].SessionID != nil || made[0].Status != coord.IntentActive ||
			made[0].Owner.ID != x.Bob.User.ID || *made[0].ExternalRef.ID != "1" {
			t.Fatalf("the team's task is %+v", made)
		}
		x.Hook(mate, wire.HookPrompt, map[string]any{"prompt_excerpt": "Write the parser."})
		x.Hook(mate, wire.HookPostEdit, map[string]any{"paths": []string{"src/parser.go"}})
		var conflicts wire.Page[coord.Conflict]
		x.W.Must(200, request{Method: "GET", Path: "/v1/conflicts", Token: x.Ada.Token}, &conflicts)
		if len(conflicts.Items) > 0 {
			t.Errorf("the task is in somebody's way: %+v", conflicts.Items)
		}
		task(mate, true)
		if left, done := tasks("live"), tasks("merged"); len(left) != 0 || len(done) != 1 || done[0].Ref != made[0].Ref {
			t.Errorf("done: %d are left, %d closed", len(left), len(done))
		}
		task(mate, true) // nothing is left to close
	})
}
