package rest_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// A document is the API document as a client gets it.
type document struct {
	tree     map[string]any
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

func fetchDocument(t *testing.T, w *daemontest.World) *document {
	t.Helper()
	res := w.Must(200, daemontest.Request{Method: "GET", Path: "/openapi.json"}, nil)
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(res.Body))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("openapi.json", tree); err != nil {
		t.Fatal(err)
	}
	return &document{tree.(map[string]any), c, map[string]*jsonschema.Schema{}}
}

// at returns what a JSON pointer names, nil if nothing.
func (d *document) at(keys ...string) any {
	var v any = d.tree
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func (d *document) schema(t *testing.T, keys ...string) *jsonschema.Schema {
	t.Helper()
	loc := "openapi.json#"
	for _, k := range keys {
		loc += "/" + escape.Replace(k)
	}
	loc = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(loc)
	if s, ok := d.schemas[loc]; ok {
		return s
	}
	s, err := d.compiler.Compile(loc)
	if err != nil {
		t.Fatal(err)
	}
	d.schemas[loc] = s
	return s
}

func place(op api.Op) (path, method string) {
	method, path, _ = strings.Cut(op.Route, " ")
	return path, strings.ToLower(method)
}

// matches checks an answer against what the document promises.
func (d *document) matches(t *testing.T, op api.Op, body []byte) {
	t.Helper()
	path, method := place(op)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	s := d.schema(t, "paths", path, method, "responses", strconv.Itoa(op.Success), "content", "application/json", "schema")
	if err := s.Validate(v); err != nil {
		t.Errorf("the answer is not what the document says: %v\n%s", err, body)
	}
}

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

func wantParams(a *api.API, op api.Op) []string {
	in := a.Inputs(op)
	out := []string{}
	for where, names := range map[string][]string{"path": in.Path.Names(), "query": in.Query.Names(), "header": in.Header.Names()} {
		for _, n := range names {
			out = append(out, where+" "+n)
		}
	}
	slices.Sort(out)
	return out
}

func params(doc map[string]any) []string {
	out := []string{}
	list, _ := doc["parameters"].([]any)
	for _, p := range list {
		m := p.(map[string]any)
		out = append(out, m["in"].(string)+" "+m["name"].(string))
	}
	slices.Sort(out)
	return out
}

func wantResponses(t *testing.T, op api.Op, got map[string]any) {
	t.Helper()
	want := map[string]bool{strconv.Itoa(op.Success): true}
	for _, k := range op.Kinds() {
		want[strconv.Itoa(k.Status())] = true
	}
	for status := range want {
		if got[status] == nil {
			t.Errorf("%s: the document has no answer %s", op.Route, status)
		}
	}
	for status := range got {
		if !want[status] {
			t.Errorf("%s: the document has an answer %s, the table has not", op.Route, status)
		}
	}
}

// examples checks that every example is valid by the schema beside it.
func (d *document) examples(t *testing.T, op api.Op, path, method string) {
	t.Helper()
	check := func(keys ...string) {
		example := d.at(append(slices.Clone(keys), "example")...)
		if err := d.schema(t, append(slices.Clone(keys), "schema")...).Validate(example); err != nil {
			t.Errorf("%s: the example is not valid: %v", op.Route, err)
		}
	}
	if d.at("paths", path, method, "requestBody") != nil {
		check("paths", path, method, "requestBody", "content", "application/json")
	}
	for status, r := range d.at("paths", path, method, "responses").(map[string]any) {
		content, _ := r.(map[string]any)["content"].(map[string]any)
		for media := range content {
			check("paths", path, method, "responses", status, "content", media)
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

// Making the document registers schemas, which must happen once.
func TestTheDocumentCanBeAskedForByManyAtOnce(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if res := w.Do(daemontest.Request{Method: "GET", Path: "/openapi.json"}); res.Status != 200 {
				t.Errorf("status %d", res.Status)
			}
		})
	}
	wg.Wait()
}
