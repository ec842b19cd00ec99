package api

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/shape"
)

// maxDepth is how deep an input may nest. The decoder itself would go to 10,000.
const maxDepth = 64

// Decode reads a JSON object into in, if it keeps to the limits declared on the
// type. Text that may not is read as a tree first, to name all that is wrong.
func (a *API) Decode(text []byte, schema *shape.Schema, how shape.Strictness, in any) error {
	accepted := a.Schemas.Accepts(schema, text, how)
	if !accepted { // what nests deeply is not
		if err := CheckDepth(text); err != nil {
			return err
		}
	}
	if c, ok := in.(interface{ NoteNulls([]string) }); ok {
		c.NoteNulls(nulls(text))
	}
	if accepted {
		return badJSON(json.Unmarshal(text, in))
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return badJSON(err)
	}
	if _, ok := tree.(map[string]any); !ok {
		return problem.Newf(problem.BadRequest, "the body must be a JSON object")
	}
	if err := problem.Invalid(a.Schemas.Validate(schema, tree, how)); err != nil {
		return err
	}
	return badJSON(json.Unmarshal(text, in))
}

// nulls returns the members of an object that are null.
func nulls(text []byte) (out []string) {
	var given map[string]jsontext.Value
	if json.Unmarshal(text, &given) != nil {
		return nil // which the decoder tells
	}
	for name, v := range given {
		if v.Kind() == 'n' {
			out = append(out, name)
		}
	}
	return out
}

// DecodeTool reads a tool's arguments, all of which are in one object.
func (a *API) DecodeTool(op *Op, args []byte, in any) error {
	want := a.Inputs(*op)
	if err := want.SetDefaults(reflect.ValueOf(in).Elem()); err != nil {
		return err
	}
	return a.Decode(withoutNulls(args), want.All, shape.Strict, in)
}

// withoutNulls drops the arguments that are null. Hosts that make a model fill
// in every parameter have it say null where it means nothing.
func withoutNulls(args []byte) []byte {
	if len(args) == 0 || string(args) == "null" {
		return []byte("{}")
	}
	var given map[string]jsontext.Value
	if !bytes.Contains(args, []byte("null")) || json.Unmarshal(args, &given) != nil {
		return args
	}
	maps.DeleteFunc(given, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
	out, err := json.Marshal(given)
	if err != nil {
		return args
	}
	return out
}

// CheckDepth refuses deep nesting before a decoder recurses into it.
func CheckDepth(text []byte) error {
	depth, quoted, escaped := 0, false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped = c == '\\'
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return problem.Newf(problem.BadRequest, "the body nests deeper than %d levels", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

func badJSON(err error) error {
	if err == nil {
		return nil
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return problem.Newf(problem.BadRequest, "the body is not valid JSON: %v (at byte %d)", syntax.Err, syntax.ByteOffset)
	}
	var sem *json.SemanticError
	if errors.As(err, &sem) {
		path := fieldPath(string(sem.JSONPointer))
		return problem.InvalidField(path, "%v", firstOf(sem.Err, errors.New("is of the wrong type")))
	}
	return problem.Newf(problem.BadRequest, "the body is not valid JSON")
}

// fieldPath writes a JSON pointer as problems name fields: scope.paths[2].
func fieldPath(pointer string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			out.WriteString("[" + part + "]")
			continue
		}
		if out.Len() > 0 {
			out.WriteByte('.')
		}
		out.WriteString(part)
	}
	return out.String()
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// assign puts a decoded JSON value into a field; what does not fit is our own
// mistake.
func assign(to reflect.Value, value any) error {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch v := value.(type) {
	case string:
		to.SetString(v)
	case bool:
		to.SetBool(v)
	case float64:
		to.SetInt(int64(v))
	case int:
		to.SetInt(int64(v))
	case []any:
		list := reflect.MakeSlice(to.Type(), len(v), len(v))
		for i, item := range v {
			if err := assign(list.Index(i), item); err != nil {
				return err
			}
		}
		to.Set(list)
	default:
		return fmt.Errorf("cannot hold a %T", value)
	}
	return nil
}
