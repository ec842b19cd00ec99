package mcpserver

import (
	"crypto/rand"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/api"
)

var marker = peertext.NewMarker(rand.Reader)

// Limits of teammates' text in one answer, in bytes.
const (
	maxBlock = 16_000 // a message of 4,000 characters, whatever the script
	maxLine  = 512
)

// protect returns a copy of an answer in which everything that teammates wrote
// is cleaned, and free text marked: the fields that carry a peer tag. It is
// the one place where answers pass on their way to a model. What has no such
// field is shared with the answer.
func protect(v any) any {
	if v == nil {
		return nil
	}
	return copyOf(reflect.ValueOf(v), "").Interface()
}

func copyOf(v reflect.Value, how string) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		out := reflect.New(v.Type()).Elem()
		out.SetString(clean(v.String(), how))
		return out
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(copyOf(v.Elem(), how))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return copyOf(v.Elem(), how)
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(copyOf(v.Index(i), how))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), copyOf(it.Value(), how))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for _, f := range peerFieldsOf(v.Type()) {
			out.Field(f.at).Set(copyOf(v.Field(f.at), f.how))
		}
		return out
	}
	return v
}

// A peerField is a field with something in it that is cleaned.
type peerField struct {
	at  int
	how string
}

// peerFields are those of the types that tools return: reflection tells them
// slowly.
var peerFields = sync.OnceValue(func() map[reflect.Type][]peerField {
	all := map[reflect.Type][]peerField{}
	var note func(t reflect.Type)
	note = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			note(t.Elem())
		case reflect.Struct:
			if _, known := all[t]; known {
				return
			}
			all[t] = findPeerFields(t)
			for _, f := range all[t] {
				note(t.Field(f.at).Type)
			}
		}
	}
	for _, t := range Tools {
		if op, ok := api.Find(t.Name); ok {
			note(op.Run.Output)
		}
	}
	return all
})

func peerFieldsOf(t reflect.Type) []peerField {
	if known, ok := peerFields()[t]; ok {
		return known
	}
	return findPeerFields(t) // of a value in an interface
}

func findPeerFields(t reflect.Type) (out []peerField) {
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && cleaned(f.Type, f.Tag.Get("peer"), nil) {
			out = append(out, peerField{i, f.Tag.Get("peer")})
		}
	}
	return out
}

// cleaned reports whether anything in a value of a type is cleaned, or may be.
// within are the types that it is in.
func cleaned(t reflect.Type, how string, within []reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return how != ""
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return cleaned(t.Elem(), how, within)
	case reflect.Struct:
		if slices.Contains(within, t) {
			return false // if anything is, another field of it says so
		}
		within = append(within, t)
		for f := range t.Fields() {
			if f.IsExported() && cleaned(f.Type, f.Tag.Get("peer"), within) {
				return true
			}
		}
	}
	return false
}

func clean(s, how string) string {
	switch {
	case s == "":
		return s
	case how == "inline":
		return marker.Inline(s, peertext.MaxTitle)
	case how == "block":
		return marker.Block(s, maxBlock)
	case how == "person":
		return marker.PersonName(s)
	case how == "text": // our own lines around names that are quoted
		return marker.Text(excerpt.Bytes(s, maxBlock))
	case how == "detail" && slices.Contains(coord.OwnDetails(), s):
		return s
	case how == "detail": // as a client told it
		return marker.Inline(s, maxLine)
	case how == "clean": // our own words around names that are quoted
		return marker.Say(s, maxBlock)
	case how == "line": // a branch, path, symbol or contract
		return marker.Place(s, maxLine)
	}
	return s
}

// protectProblem is protect for a failure: what it names is quoted.
func protectProblem(b problem.Body) problem.Body {
	b.Detail = sayProblem(b.Detail)
	b.Errors = slices.Clone(b.Errors)
	for i, f := range b.Errors {
		b.Errors[i] = problem.Field{Path: marker.Place(f.Path, maxLine), Message: sayProblem(f.Message)}
	}
	b.Candidates = slices.Clone(b.Candidates)
	for i, c := range b.Candidates {
		b.Candidates[i] = sayProblem(c)
	}
	return b
}

// quotation is a text in quotation marks as %q writes it.
var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// sayProblem marks what a problem quotes. In quotation marks stands what the
// model sent, which it may have read in a stranger's text before.
func sayProblem(text string) string {
	return marker.Text(quotation.ReplaceAllStringFunc(text, func(q string) string {
		s, err := strconv.Unquote(q)
		if err != nil {
			return q
		}
		if quoted := peertext.Quoted(s); quoted != s {
			return quoted
		}
		return q
	}))
}

// encode writes an answer as REST does: no list or field is ever missing.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true))
}
