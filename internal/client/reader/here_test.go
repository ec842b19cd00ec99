//go:build !lean

package reader

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/svc-hq/svc/internal/client/formats"
)

// What the lean svc is told of a document is what the inner one found in it.
func TestADocumentIsReadElsewhereAsHere(t *testing.T) {
	for file, source := range map[string]string{
		"api.yaml": "openapi: 3.0.0\npaths:\n  /orders/{id}:\n    get:\n      parameters:\n" +
			"        - {in: path, name: id, schema: {type: integer}}\n" +
			"      responses:\n        '200':\n          content:\n            application/json:\n              schema:\n" +
			"                type: object\n                required: [id]\n                properties: {id: {type: string, enum: [a, b]}}\n",
		"serverless.yml":     "functions:\n  a:\n    events:\n      - http: GET /a\n",
		"config/routes.yaml": "b:\n  path: /b\n  methods: [GET, POST]\n",
		"package.json":       `{"name": "openapi"}`,
		"swagger.json":       `{"swagger": "2.0", "paths": `,
	} {
		request, err := json.Marshal(document{file, []byte(source)})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		if code := AnswerDocument(bytes.NewReader(request), &said); code != 0 {
			t.Fatalf("%s: exit code %d", file, code)
		}
		var got answer
		if err := json.Unmarshal(said.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		found, parsed := formats.Document([]byte(source), file)
		if want := (answer{found, parsed}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: elsewhere %+v, here %+v", file, got, want)
		}
		if describes := file != "package.json" && file != "swagger.json"; describes != (len(found) > 0) {
			t.Errorf("%s describes %v", file, found)
		}
	}
}
