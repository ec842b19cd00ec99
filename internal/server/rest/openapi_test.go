package rest_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

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
