//go:build !race

package rest_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

func TestTheDocumentIsOpenAPI(t *testing.T) {
	d := fetchDocument(t, daemontest.Start(t, t.TempDir()+"/svc.db"))
	official, err := jsonschema.UnmarshalJSON(strings.NewReader(datamodel.OpenAPI31SchemaData))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("oas31.json", official); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("oas31.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(d.tree); err != nil {
		t.Errorf("the document is not valid OpenAPI 3.1: %v", err)
	}
	for name := range d.at("components", "schemas").(map[string]any) {
		d.schema(t, "components", "schemas", name) // compiles, and all its references resolve
	}
}

func TestTheDocumentAndTheTableAgree(t *testing.T) {
	d := fetchDocument(t, daemontest.Start(t, t.TempDir()+"/svc.db"))
	a := api.New(nil)
	rows := map[string]bool{}
	for _, op := range api.Table {
		if op.Route == "" {
			continue
		}
		path, method := place(op)
		rows[method+" "+path] = true
		doc, ok := d.at("paths", path, method).(map[string]any)
		if !ok {
			t.Errorf("%s is not in the document", op.Route)
			continue
		}
		if doc["operationId"] == "" || doc["summary"] != op.Summary {
			t.Errorf("%s: operationId %v, summary %v", op.Route, doc["operationId"], doc["summary"])
		}
		found := slices.DeleteFunc(params(doc), func(p string) bool { // read by the way in, for whichever operation
			return strings.HasPrefix(p, "header X-Svc-") && !strings.HasSuffix(p, "Protocol") || p == "header Last-Event-ID"
		})
		if diff := cmp.Diff(wantParams(a, op), found); diff != "" {
			t.Errorf("%s: parameters differ (-table +document)\n%s", op.Route, diff)
		}
		if has := doc["requestBody"] != nil; has != (len(a.Inputs(op).Body.Properties) > 0) {
			t.Errorf("%s: request body in the document: %v", op.Route, has)
		}
		if scopes, _ := doc["x-scopes"].([]any); len(scopes) != len(op.Scopes) {
			t.Errorf("%s: scopes %v, the table says %v", op.Route, scopes, op.Scopes)
		}
		if open := len(doc["security"].([]any)) == 0; open != (op.Door == api.Public) {
			t.Errorf("%s: public in the document: %v", op.Route, open)
		}
		wantResponses(t, op, doc["responses"].(map[string]any))
		d.examples(t, op, path, method)
	}
	for path, item := range d.at("paths").(map[string]any) {
		for method := range item.(map[string]any) {
			if !rows[method+" "+path] {
				t.Errorf("the document has %s %s, the table has not", method, path)
			}
		}
	}
}

// What the way in reads and writes beside bodies is in the document, too.
func TestHeadersAreInTheDocument(t *testing.T) {
	text, err := json.Marshal(api.New(nil).Document("1", "/"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"X-Svc-Session", "X-Svc-Org", "X-Svc-CSRF", "Last-Event-ID", "If-Match", "Retry-After", "WWW-Authenticate"} {
		if !strings.Contains(string(text), strconv.Quote(name)) {
			t.Errorf("the document does not mention %s", name)
		}
	}
}

func TestEventTypesAreInTheDocument(t *testing.T) {
	d := fetchDocument(t, daemontest.Start(t, t.TempDir()+"/svc.db"))
	got, _ := d.tree["x-event-types"].([]any)
	if len(got) != len(coord.EventTypes()) {
		t.Errorf("the document lists %d event types of %d", len(got), len(coord.EventTypes()))
	}
}

// Generators of clients leave out a schema that no path refers to, and then
// cannot compile what an event makes of it.
func TestEventsStandByThemselves(t *testing.T) {
	d := fetchDocument(t, daemontest.Start(t, t.TempDir()+"/svc.db"))
	webhooks, err := json.Marshal(d.tree["webhooks"])
	if err != nil {
		t.Fatal(err)
	}
	if at := bytes.Index(webhooks, []byte(`"$ref"`)); at >= 0 {
		t.Errorf("an event refers to a schema: %s", webhooks[at:min(at+80, len(webhooks))])
	}
}

// A status that is taken out of the document is missed.
func TestTheFuzzerMissesAStatusThatIsNotListed(t *testing.T) {
	w := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	f := newStatusFuzzer(w)
	for _, of := range f.listed {
		delete(of, "404")
	}
	if unlisted := f.run(200); len(unlisted) == 0 {
		t.Error("no 404 was missed in a document that lists none")
	}
}
