package api

import (
	"crypto/sha256"
	"encoding/base64"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// tagLength is how much of a cursor says which list it is of.
const tagLength = 8

// openCursor takes from the cursor of an input what says of which list it is,
// and refuses that of another: a position in one list means nothing in others,
// nor with other filters. It returns how to mark the cursors of this list.
func (a *API) openCursor(op *Op, who *coord.Caller, input any) (tag string, err error) {
	where := a.Inputs(*op).cursor
	if where == nil {
		return "", nil
	}
	at := reflect.ValueOf(input).Elem().FieldByIndex(where)
	given := at.String()
	at.SetString("")
	if tag, err = listTag(op, who, input); err != nil || given == "" {
		return tag, err
	}
	rest, ok := strings.CutPrefix(given, tag)
	if !ok || rest == "" {
		return tag, problem.InvalidField("cursor",
			"is not a cursor of this list with these filters; send it with the query that it came from, or start without one")
	}
	at.SetString(rest)
	return tag, nil
}

// listTag names a list: its route, its org and all that narrows it, but not
// where one is in it.
func listTag(op *Op, who *coord.Caller, input any) (string, error) {
	text, err := json.Marshal(input, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	var filters map[string]any
	if err := json.Unmarshal(text, &filters); err != nil {
		return "", err
	}
	delete(filters, "Limit") // a page may have another size than the one before
	if text, err = json.Marshal([]any{op.Route, who.OrgID, filters}, json.Deterministic(true)); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])[:tagLength], nil
}

// closeCursor marks the cursor of an answer as one of its list.
func closeCursor(tag string, out any) any {
	if tag == "" || out == nil {
		return out
	}
	v := reflect.ValueOf(out)
	if v.Kind() != reflect.Struct {
		return out
	}
	if next, ok := nextCursor(v); !ok || next.IsNil() {
		return out
	}
	own := reflect.New(v.Type()).Elem()
	own.Set(v)
	next, _ := nextCursor(own)
	marked := tag + next.Elem().String()
	next.Set(reflect.ValueOf(&marked))
	return own.Interface()
}

func nextCursor(v reflect.Value) (reflect.Value, bool) {
	next := v.FieldByName("NextCursor")
	return next, next.IsValid() && next.Type() == reflect.TypeFor[*string]()
}
