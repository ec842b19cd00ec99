package work_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// What is under way in a file: three agents on two versions of it, a claim, and
// a draft whose title is its owner's alone.
func TestLiveFile(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		ana, bob, cyd := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo), x.Agent(x.Cyd, teamtest.APIRepo)
		post := func(a teamtest.Agent, base string, maps []any, hunks ...map[string]any) {
			x.Hook(a, wire.HookPostEdit, map[string]any{"paths": []string{"src/a.go"}, "line_maps": maps, "analysis": map[string]any{
				"truncated": false, "files": []any{map[string]any{"path": "src/a.go", "status": "modified", "language": "go", "parsed": true,
					"binary": false, "generated": false, "base_blob": base, "new_blob": "new-" + a.External[:8], "hunks": hunks,
					"symbols": []any{map[string]any{"key": "sym:go:src/a.go#Login", "kind": "function", "exported": true, "change": "modified",
						"compatibility": "compatible", "lines": map[string]any{"start": 18, "count": 9}}},
					"contracts": []any{}, "references": []any{}}}}})
		}
		hunk := func(start, count int) map[string]any {
			return map[string]any{"start": start, "count": count, "lines_hash": fmt.Sprint(start)}
		}
		look := func(token, base string) (out wire.LiveFile) {
			q := url.Values{"repo": {teamtest.APIRepo}, "path": {"src/a.go"}, "base": {base}}
			x.W.Must(http.StatusOK, request{Path: "/v1/live?" + q.Encode(), Token: token}, &out)
			return out
		}
		of := func(f wire.LiveFile, p teamtest.Person) *wire.LiveWork {
			for i, w := range f.Work {
				if w.Developer != nil && w.Developer.ID == p.User.ID {
					return &f.Work[i]
				}
			}
			return nil
		}
		x.Hook(ana, wire.HookPrompt, map[string]any{"prompt_excerpt": "Rotate the tokens"})
		post(ana, "b1", nil, hunk(20, 2))
		post(bob, "b2", nil, hunk(40, 1))
		post(bob, "b2", []any{map[string]any{"from": "b1", "to": "b2", "shifts": []any{map[string]any{"from_start": 10, "from_count": 0,
			"to_start": 10, "to_count": 3}}}}, hunk(40, 1))
		x.Intent(x.Cyd, teamtest.APIRepo, "Everything in src", "src/**")
		_ = cyd

		seen := look(x.Bob.Token, "b2")
		if len(seen.Work) != 3 {
			t.Fatalf("at work are %+v", seen.Work)
		}
		a := of(seen, x.Ada)
		if a == nil || *a.Base != "b2" || a.Own || a.EditedAt == nil ||
			!slices.Equal(a.Lines, []coord.LineCount{{Start: 23, Count: 2}}) {
			t.Errorf("Ada's lines in Bob's version: %+v", a)
		}
		if a.Intent == nil || a.Intent.Title != nil {
			t.Errorf("of a draft others see %+v", a.Intent)
		}
		if len(a.Definitions) != 1 || a.Definitions[0].Name != "Login" || a.Definitions[0].Lines.Start != 21 {
			t.Errorf("definitions are %+v", a.Definitions)
		}
		if c := of(seen, x.Cyd); c == nil || c.Claim == nil || c.Claim.Selector != "src/**" || c.Status != "" ||
			*c.Intent.Title != "Everything in src" {
			t.Errorf("Cyd's claim: %+v", c)
		}
		// Who counts in another version hears the lines as they were told.
		if a := of(look(x.Ada.Token, "unheard-of"), x.Ada); *a.Base != "b1" || a.Lines[0].Start != 20 || !a.Own || a.Intent.Title == nil {
			t.Errorf("Ada sees of her own %+v", a)
		}
		x.Hook(ana, wire.HookPostEdit, map[string]any{"paths": []string{"src/a.go"}, "analysis": map[string]any{"truncated": false,
			"files": []any{map[string]any{"path": "src/a.go", "status": "unchanged", "language": "go", "parsed": true, "binary": false,
				"generated": false, "hunks": []any{}, "symbols": []any{}, "contracts": []any{}, "references": []any{}}}}})
		if a := of(look(x.Bob.Token, "b2"), x.Ada); a != nil && a.Status != "" {
			t.Errorf("what was undone is still there: %+v", a)
		}
	})
}
