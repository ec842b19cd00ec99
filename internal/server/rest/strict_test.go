package rest_test

import (
	"testing"

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
