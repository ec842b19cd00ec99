package wire_test

import (
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/doctable"
)

var update = flag.Bool("update", false, "write the tables of docs/privacy.md")

// inMetadataOnly says of fields whose content an org in the mode metadata_only
// does not get as in full what it gets. TestMetadataOnlyKeepsWordsAtHome and
// TestMetadataOnlyKeepsTextsBack hold the client to it.
var inMetadataOnly = map[string]string{
	"prompt_excerpt":                              "not sent",
	"status.excerpt":                              "not sent",
	"task.title":                                  "not sent",
	"analysis.files.contracts.signature":          "not sent",
	"analysis.files.contracts.previous_signature": "not sent",
	"analysis.files.contracts.detail":             "not sent",
	"analysis.files.symbols.signature":            "not sent",
	"analysis.files.symbols.previous_signature":   "not sent",
	"analysis.files.symbols.detail":               "not sent",
	"files.contracts.signature":                   "not sent",
	"files.contracts.previous_signature":          "not sent",
	"files.contracts.detail":                      "not sent",
	"analysis.files.contracts.fields.name":        "hashed",
	"analysis.files.symbols.takes.name":           "hashed",
	"analysis.files.references.call.named":        "hashed",
	"files.contracts.fields.name":                 "hashed",
}

// notInMetadataOnly are tables of what is not sent at all there: the client does
// not send it, and TestPatchesAreForRelatedWorkAlone holds the service to keeping
// none.
var notInMetadataOnly = map[string]bool{"patch fields": true}

// docs/privacy.md has every field that a hook, svc index or a check of what
// nobody has pushed sends, and what metadata_only makes of it.
func TestPrivacyNamesEveryField(t *testing.T) {
	said := map[string]bool{}
	for table, typ := range map[string]reflect.Type{
		"hook fields":  reflect.TypeFor[wire.HookRequest](),
		"index fields": reflect.TypeFor[wire.IndexFiles](),
		"patch fields": reflect.TypeFor[wire.ExchangePatches](),
	} {
		var rows strings.Builder
		rows.WriteString("| Field | In `metadata_only` |\n|---|---|\n")
		fieldsOf(typ, "", map[reflect.Type]bool{}, func(path string) {
			mode := "as in `full`"
			if notInMetadataOnly[table] {
				mode = "not sent"
			}
			if m, ok := inMetadataOnly[path]; ok {
				mode, said[path] = m, true
			}
			fmt.Fprintf(&rows, "| `%s` | %s |\n", path, mode)
		})
		doctable.Read(t, "../../../docs/privacy.md", table).Check(t, rows.String(), *update,
			"go test ./internal/core/wire -run Privacy -update, and read what it wrote")
	}
	for path := range inMetadataOnly {
		if !said[path] {
			t.Errorf("there is no field %s", path)
		}
	}
}

// fieldsOf calls fn with the path of every field that JSON of a type can have.
func fieldsOf(t reflect.Type, at string, within map[reflect.Type]bool, fn func(string)) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || within[t] {
		return
	}
	within[t] = true
	defer delete(within, t)
	for f := range t.Fields() {
		if f.Anonymous && f.Tag.Get("json") == "" {
			fieldsOf(f.Type, at, within, fn)
			continue
		}
		name, _ := shape.Name(f)
		if name == "" || name == "-" || f.Tag.Get("path") != "" || f.Tag.Get("header") != "" || f.Tag.Get("query") != "" {
			continue
		}
		fn(at + name)
		fieldsOf(f.Type, at+name+".", within, fn)
	}
}
