package work_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// The order of landing: who has more to redo goes first, with the conflict that
// is left for the second, and what the other order would cost.
func TestLandingOrder(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		ana, bob := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
		for _, edit := range []struct {
			by           teamtest.Agent
			start, count int
		}{{ana, 10, 2}, {bob, 8, 40}} {
			x.Hook(edit.by, wire.HookPrompt, map[string]any{"prompt_excerpt": "Rotate the tokens"})
			x.Hook(edit.by, wire.HookPostEdit, map[string]any{"paths": []string{"src/a.go"}, "analysis": map[string]any{
				"truncated": false, "files": []any{map[string]any{"path": "src/a.go", "status": "modified", "language": "go", "parsed": true,
					"binary": false, "generated": false, "base_blob": "b1", "new_blob": "new-" + edit.by.External[:8],
					"hunks":   []any{map[string]any{"start": edit.start, "count": edit.count, "lines_hash": edit.by.External[:8]}},
					"symbols": []any{}, "contracts": []any{}, "references": []any{}}}}})
		}
		ask := func(first string) (out wire.Landing) {
			x.W.Must(http.StatusOK, request{Path: "/v1/repos/" + url.PathEscape(teamtest.APIRepo) + "/landing" + first, Token: x.Bob.Token}, &out)
			return out
		}
		best := ask("")
		if len(best.Steps) != 2 || best.LinesRedone != 2 || best.Best != best.LandingPrice {
			t.Fatalf("the order is %+v", best)
		}
		second := best.Steps[1]
		if best.Steps[0].User.ID != x.Bob.User.ID || second.User.ID != x.Ada.User.ID || second.Place != 2 || len(second.Conflicts) != 1 ||
			second.Redo[0].Place != "src/a.go" || second.Redo[0].After != best.Steps[0].Intent.Ref {
			t.Errorf("the second step is %+v", second)
		}
		if second.Intent.Title != nil {
			t.Errorf("the title of a draft is told: %q", *second.Intent.Title)
		}
		if other := ask("?if=" + second.Intent.Ref); other.LinesRedone != 40 || other.Best.LinesRedone != 2 ||
			other.Steps[0].Intent.Ref != second.Intent.Ref {
			t.Errorf("the other way round costs %+v", other)
		}
	})
}
