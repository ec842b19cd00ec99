package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/core/coord"
)

// web is a description of schemas each of which holds all others, n of them. It has
// operations that answer with the first; without names a field it lacks.
func web(n, operations int, without string) string {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\npaths:\n")
	for i := range operations {
		fmt.Fprintf(&b, "  /things%d:\n    post:\n"+
			"      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}\n"+
			"      responses: {'200': {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}\n", i)
	}
	b.WriteString("components:\n  schemas:\n")
	for i := range n {
		fmt.Fprintf(&b, "    S%d:\n      type: object\n      properties:\n        name: {type: string}\n", i)
		for j := range n {
			if name := fmt.Sprintf("to%d", j); i > 0 || name != without {
				fmt.Fprintf(&b, "        %s: {$ref: '#/components/schemas/S%d'}\n", name, j)
			}
		}
	}
	return b.String()
}

func read(t *testing.T, text string) []contract.Contract {
	t.Helper()
	all, ok := Document([]byte(text), "openapi.yaml")
	if !ok || len(all) == 0 {
		t.Fatalf("read %d contracts, parsed: %t", len(all), ok)
	}
	return all
}

// Schemas that hold one another have more fields than anybody can read: a file
// of 40 KB took minutes, and memory until there was none.
func TestSchemasThatHoldOneAnother(t *testing.T) {
	t.Parallel()
	old := read(t, web(40, 30, ""))
	fields := 0
	for _, c := range old {
		fields += len(c.Shape.In) + len(c.Shape.Out)
	}
	if len(old) != 30 || fields > 30*2*(sideFields+1) {
		t.Fatalf("%d operations have %d fields", len(old), fields)
	}
	// What is near is known all the same.
	for without, want := range map[string]struct {
		compat coord.Compatibility
		detail string
	}{"": {coord.Compatible, ""}, "to39": {coord.Breaking, "no longer has 200.to39"}} {
		facts := contract.Facts(old, read(t, web(40, 30, without)), false, false)
		if f := facts[0]; f.Compatibility != want.compat || f.Detail != nil && !strings.Contains(*f.Detail, want.detail) {
			t.Errorf("without %q it is %s: %s", without, f.Compatibility, *f.Detail)
		}
	}
	// What is far is not known, and is said to be gone by nobody.
	for _, n := range []int{2, 5, 8, 9, 10, 12} {
		for _, f := range contract.Facts(read(t, web(n, 1, "")), read(t, web(n+1, 1, "")), false, false) {
			if f.Compatibility == coord.Breaking {
				t.Errorf("%d schemas and one more: %s", n, *f.Detail)
			}
		}
	}
}
