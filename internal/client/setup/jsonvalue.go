package setup

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// compact writes val, or with a key a member, on one line.
func compact(key string, val any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // commands hold > and &
	if err := enc.Encode(val); err != nil {
		panic(err) // the values are our own tables
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if key != "" {
		text = compact("", key) + ": " + text
	}
	return text
}

// decode returns v as Go values, without its comments.
func decode(v *hujson.Value) any {
	c := v.Clone()
	c.Standardize()
	var out any
	dec := json.NewDecoder(bytes.NewReader(c.Pack()))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		return nil
	}
	return out
}

// An object is a JSON object with its members in order.
type object []field

type field struct {
	key string
	val any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	parts := make([]string, len(o))
	for i, f := range o {
		parts[i] = compact(f.key, f.val)
	}
	return []byte("{" + strings.Join(parts, ",") + "}"), nil
}

// sameJSON compares a value of a file with one of ours by meaning, so that a
// formatter's run does not make our entries look outdated.
func sameJSON(v *hujson.Value, want any) bool {
	w, err := hujson.Parse([]byte(compact("", want)))
	return err == nil && reflect.DeepEqual(decode(v), decode(&w))
}
