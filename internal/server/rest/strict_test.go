//go:build !race

package rest_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// What the document calls wrong the server refuses, and the other way round:
// both read one declaration. These were rules of operations once.
func TestTheDocumentIsAsStrictAsTheServer(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Ours")
	d := fetchDocument(t, w)
	days := d.schema(t, "paths", "/v1/stats", "get", "parameters", "0", "schema")
	for n, text := range map[int]string{0: "0", 6: "6", 7: "7", 8: "8", 30: "30", 31: "31", 90: "90", 91: "91", 365: "365"} {
		res := w.Do(daemontest.Request{Method: "GET", Path: "/v1/stats?days=" + text, Token: o.Owner()})
		if good := days.Validate(float64(n)) == nil; good != (res.Status == 200) {
			t.Errorf("%d days: good for the document %v, the server says %d", n, good, res.Status)
		}
	}
	hook := d.schema(t, "paths", "/v1/webhooks", "post", "requestBody", "content", "application/json", "schema")
	for _, types := range [][]any{
		{"*"}, {"intent.declared"}, {"intent.declared", "intent.exploded"}, {"webhook.updated", "*"}, {""}, {}, {"INTENT.DECLARED"},
	} {
		body := map[string]any{"url": "https://hooks.example.com/" + unique("strict"), "event_types": types}
		res := w.Do(daemontest.Request{Method: "POST", Path: "/v1/webhooks", Token: o.Owner(), Body: body})
		if good := hook.Validate(body) == nil; good != (res.Status == 201) {
			t.Errorf("%v: good for the document %v, the server says %d %s", types, good, res.Status, res.Body)
		}
	}
}

// Selectors: what the document refuses the server refuses and the other way
// round, wherever one is sent. Texts are drawn of what selectors are made of;
// the forms themselves are held to their readers in core/scope.
func TestSelectorsInTheDocumentAreAsStrictAsTheServer(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Ours")
	w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/repos", Token: o.Owner(), Body: map[string]any{"full_name": "acme/shop"}}, nil)
	d := fetchDocument(t, w)
	body := func(path string) []string {
		return []string{"paths", path, "post", "requestBody", "content", "application/json", "schema"}
	}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", "src/", "/", "..", ".", " ", "*", "**", "[a]", "[", "#F", "sym:go:", "http:", "GET ", "/users/", ":id", "db:", "event:", "C:",
			"\\", "é", "\u00a0", "\t", "github.com/", "git@", "h:", "acme/shop", ".git", "INT-", "0", "7", "https://",
		}), 0, 6).Draw(t, "pieces"), "")
	})
	for _, place := range []struct {
		path string
		make func(s string) map[string]any
		// names: one of the right form may still name nothing that is there.
		names bool
	}{
		{"/v1/intents", func(s string) map[string]any {
			return map[string]any{"title": "x", "repo": "acme/shop", "scope": map[string]any{"paths": []any{s}}}
		}, false},
		{"/v1/intents", func(s string) map[string]any {
			return map[string]any{"title": "x", "repo": "acme/shop", "scope": map[string]any{"symbols": []any{s}}}
		}, false},
		{"/v1/intents", func(s string) map[string]any {
			return map[string]any{"title": "x", "repo": "acme/shop", "scope": map[string]any{"contracts": []any{s}}}
		}, false},
		{"/v1/intents", func(s string) map[string]any {
			return map[string]any{"title": "x", "repo": "acme/shop", "depends_on": []any{s}}
		}, true},
		{"/v1/intents", func(s string) map[string]any { return map[string]any{"title": "x", "repo": s} }, true},
		{"/v1/repos", func(s string) map[string]any {
			return map[string]any{"full_name": "acme/" + unique("r"), "remotes": []any{s}}
		}, false},
		{"/v1/projects", func(s string) map[string]any { return map[string]any{"name": unique("p"), "repos": []any{s}} }, true},
	} {
		schema := d.schema(t, body(place.path)...)
		rapid.Check(t, func(t *rapid.T) {
			in := place.make(text.Draw(t, "text"))
			res := w.Do(daemontest.Request{Method: "POST", Path: place.path, Token: o.Owner(), Body: in})
			good := schema.Validate(in) == nil
			taken := res.Status < 300 || res.Status == 409 // some other repo has the remote
			if good != taken && !(good && place.names) {
				t.Fatalf("%v: good for the document %v, the server says %d %s", in, good, res.Status, res.Body)
			}
		})
	}
	for _, field := range []string{"key", "symbol", "path"} {
		schema := d.parameter(t, "/v1/contracts/lookup", field)
		rapid.Check(t, func(t *rapid.T) {
			s := text.Draw(t, "text")
			path := "/v1/contracts/lookup?repo=acme/shop&" + field + "=" + url.QueryEscape(s)
			res := w.Do(daemontest.Request{Method: "GET", Path: path, Token: o.Owner()})
			if good := schema.Validate(s) == nil; good != (res.Status == 200) {
				t.Fatalf("%s %q: good for the document %v, the server says %d %s", field, s, good, res.Status, res.Body)
			}
		})
	}
}

// parameter returns the schema of a query parameter.
func (d *document) parameter(t *testing.T, path, name string) *jsonschema.Schema {
	t.Helper()
	list, _ := d.at("paths", path, "get", "parameters").([]any)
	for i, p := range list {
		if p.(map[string]any)["name"] == name {
			return d.schema(t, "paths", path, "get", "parameters", strconv.Itoa(i), "schema")
		}
	}
	t.Fatalf("%s has no parameter %s", path, name)
	return nil
}
