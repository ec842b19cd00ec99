package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// filled is what fields hold before null clears them, and where the answer
// shows them.
var filled = map[string]map[string]any{
	"PATCH /v1/intents/{ref}": {"summary": "Why", "plan_md": "1. Do", "branch": "login", "pr_number": 7},
	"PATCH /v1/webhooks/{id}": {"description": "CI"},
	"PATCH /v1/repos/{repo}":  {},
	"PATCH /v1/integrations/slack": {"quiet": map[string]any{
		"from":  "19:00",
		"until": "08:00",
		"zone":  "UTC",
	}},
	"PATCH /v1/org":              {},
	"PATCH /v1/members/{userId}": {},
	// what a directory patches is a resource of its own protocol, which core/scim tests
	"PATCH /scim/v2/Users/{id}":  {},
	"PATCH /scim/v2/Groups/{id}": {},
}

// Every field that a change may hold is cleared by null, or refuses it: none
// takes it and stays as it was.
func TestNullClearsOrIsRefused(t *testing.T) {
	storetest.EachWalk(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Ours")
		schemas := api.New(nil)
		for _, op := range api.Table {
			method, path, _ := strings.Cut(op.Route, " ")
			if method != http.MethodPatch {
				continue
			}
			t.Run(op.Route, func(t *testing.T) {
				values, known := filled[op.Route]
				if !known {
					t.Fatalf("say in null_test.go what its fields hold")
				}
				at := object{path: path}
				if make, ok := objects[op.Route]; ok {
					at = make(t, w, o)
				}
				send := func(body map[string]any) daemontest.Response {
					r := daemontest.Request{Method: method, Path: at.path, Body: body, Token: o.Owner()}
					if op.Agent == api.PersonOnly {
						r.Token, r.Cookie, r.Org = "", w.Cookie(o.Users[coord.Owner]), o.Slug
					}
					return w.Do(r)
				}
				if len(values) > 0 {
					if res := send(values); res.Status != 200 {
						t.Fatalf("%s", res.Body)
					}
				}
				body := schemas.Inputs(op).Body
				for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
					res := send(map[string]any{name: nil})
					if _, clears := values[name]; !clears {
						if types := fmt.Sprint(body.Properties[name].Type); res.Status != 400 && !strings.Contains(types, "array") && name != "note" {
							t.Errorf("%s: null is taken and does nothing: %d %s", name, res.Status, res.Body)
						}
						continue
					}
					if got := shown(t, res.Body)[name]; res.Status != 200 || got != nil {
						t.Errorf("%s is %v after null: %d %s", name, got, res.Status, res.Body)
					}
				}
			})
		}
	})
}

// shown returns the record of an answer, which may stand beside others.
func shown(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	if intent, ok := out["intent"].(map[string]any); ok {
		return intent
	}
	return out
}
