package mcpserver

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
)

// ours are fields that the service itself writes, or that are checked to be of
// a form in which nothing can be said.
var ours = []string{
	"id", "session_id", "conversation_id", "message_id", "thread_id", "fingerprint",
	"next_cursor", "email", "ref", "intent", "previous", "depends_on", "outcome",
}

// Everything that a teammate or their agent wrote, or named, carries a tag
// that says how it is cleaned before a model sees it.
func TestEveryTextOfAToolIsCleaned(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(owner string, t reflect.Type, f reflect.StructField)
	var bad []string
	walk = func(owner string, typ reflect.Type, f reflect.StructField) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(owner, typ.Elem(), f)
		case reflect.String:
			_, enum := reflect.Zero(typ).Interface().(interface{ Enum() []string })
			name, _ := shape.Name(f)
			free := !enum && f.Tag.Get("enum") == "" && f.Tag.Get("peer") == "" && typ != reflect.TypeFor[coord.Time]()
			if free && !slices.Contains(ours, name) {
				bad = append(bad, owner+"."+f.Name)
			}
		case reflect.Interface:
			bad = append(bad, owner+"."+f.Name+" (may hold anything)")
		case reflect.Struct:
			if seen[typ] {
				return
			}
			seen[typ] = true
			for _, f := range reflect.VisibleFields(typ) {
				if f.IsExported() && !f.Anonymous && f.Tag.Get("json") != "-" {
					walk(typ.String(), f.Type, f)
				}
			}
		}
	}
	for _, tool := range Tools {
		if op, ok := api.Find(tool.Name); ok {
			walk(tool.Name, op.Run.Output, reflect.StructField{Name: "answer"})
		}
	}
	slices.Sort(bad)
	if len(bad) > 0 {
		t.Errorf("these have no peer tag:\n%s", strings.Join(slices.Compact(bad), "\n"))
	}
}
