package work_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
)

// Where the team shares what is not pushed, machines whose work is related hand
// it to each other: nobody else gets it, the database does not show it, and it
// goes with the work, with the rule and with the data mode.
func TestPatchesAreForRelatedWorkAlone(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		ada, bob, cyd := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo), x.Agent(x.Cyd, teamtest.APIRepo)
		edits := func(a teamtest.Agent, path string) wire.HookReply {
			return x.Hook(a, wire.HookPostEdit, map[string]any{"paths": []string{path}, "analysis": map[string]any{
				"truncated": false, "files": []any{map[string]any{"path": path, "status": "modified", "language": "go", "parsed": true,
					"binary": false, "generated": false, "base_blob": "b1", "new_blob": "n-" + a.External[:8],
					"hunks":   []any{map[string]any{"start": len(path), "count": 1, "lines_hash": path}},
					"symbols": []any{}, "contracts": []any{}, "references": []any{}}}}})
		}
		const secret = "diff --git a/src/a.go b/src/a.go of Ada's"
		swap := func(a teamtest.Agent, p teamtest.Person, diff string, of ...string) (out wire.Patches) {
			x.W.Must(http.StatusOK, request{Method: http.MethodPost, Path: "/v1/patches", Token: p.Token, Body: map[string]any{
				"repo": teamtest.APIRepo, "copy": a.External, "base": strings.Repeat("a", 40), "diff": diff, "of": of}}, &out)
			return out
		}
		policy := func(rules string) {
			x.W.Must(http.StatusOK, request{Method: http.MethodPut, Path: "/v1/policies", Token: x.Own(x.Person(coord.Owner)),
				Body: map[string]any{"rules": map[string]any{"share_patches": rules, "merge_check": "own"}}}, nil)
		}
		adas := edits(ada, "src/a.go").Intent
		if reply := edits(bob, "src/b.go"); len(reply.MergeChecks) > 0 {
			t.Fatalf("asked for others' work though nobody shares: %+v", reply.MergeChecks)
		}
		if out := swap(ada, x.Ada, secret); out.Allowed || x.Count("patches") != 0 {
			t.Fatalf("kept though nobody shares: %+v", out)
		}
		policy("team")
		reply := edits(bob, "src/b.go")
		if len(reply.MergeChecks) != 1 || reply.MergeChecks[0].Patch == nil || reply.MergeChecks[0].Copy != ada.External ||
			len(reply.MergeChecks[0].Patch.Near) != 1 || reply.MergeChecks[0].Patch.Near[0] != "src/b.go" || reply.MergeChecks[0].Branch != "" {
			t.Fatalf("asked for %+v", reply.MergeChecks)
		}
		edits(cyd, "far/c.go")
		swap(ada, x.Ada, secret)
		want := []wire.Patch{{Copy: ada.External, Base: strings.Repeat("a", 40), Diff: secret}}
		if got := swap(bob, x.Bob, "b", ada.External); !slices.Equal(got.Patches, want) {
			t.Errorf("Bob got %+v", got)
		}
		for name, got := range map[string]wire.Patches{
			"whose work is elsewhere":         swap(cyd, x.Cyd, "c", ada.External),
			"who names another's copy as own": swap(bob, x.Cyd, "c", ada.External),
			"who names no copy":               swap(teamtest.Agent{External: "nowhere"}, x.Cyd, "c", ada.External),
		} {
			if len(got.Patches) != 0 {
				t.Errorf("one %s got %+v", name, got)
			}
		}
		var sealed string
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRowContext(ctx, `SELECT sealed FROM patches WHERE org_id = $1 AND copy = $2`, x.O.ID, ada.External).Scan(&sealed)
		})
		if sealed == "" || strings.Contains(sealed, "Ada's") || strings.Contains(sealed, "diff") {
			t.Errorf("the database has %q", sealed)
		}
		if adas == nil {
			t.Fatal("Ada's work has no intent")
		}
		x.W.Must(http.StatusOK, request{Method: http.MethodPost, Path: "/v1/intents/" + adas.Ref + "/close", Token: x.Ada.Token,
			Body: map[string]any{"outcome": "abandoned"}}, nil)
		if got := swap(bob, x.Bob, "b", ada.External); len(got.Patches) != 0 {
			t.Errorf("work that is over was handed out: %+v", got)
		}
		if n := x.Count("patches"); n != 2 { // Bob's and Cyd's
			t.Errorf("%d are kept", n)
		}
		policy("off")
		if n := x.Count("patches"); n != 0 {
			t.Errorf("%d are kept though nobody shares any more", n)
		}
		policy("team")
		swap(ada, x.Ada, secret)
		x.W.Must(http.StatusOK, request{Method: http.MethodPatch, Path: "/v1/org", Token: x.Own(x.Person(coord.Owner)),
			Body: map[string]any{"data_mode": "metadata_only"}}, nil)
		if out := swap(ada, x.Ada, secret); out.Allowed || x.Count("patches") != 0 {
			t.Errorf("of an org that shares metadata alone %d are kept: %+v", x.Count("patches"), out)
		}
	})
}
