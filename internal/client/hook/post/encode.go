package post

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A process that lives for one request pays for all that encoding/json finds
// out about its types, the facts about code above all, and uses it once. So
// requests are written by a walk over the fields that are filled, and an answer
// is read into those that are there; types of which nothing is said cost
// nothing. Tests hold both against the real thing.

// Digest names what a request asks: two with the same one may share an answer.
func Digest(req wire.HookRequest) string {
	req.DedupeKey, req.Client, req.FailOpens, req.StaleWrites, req.Unheard = "", wire.HookClient{}, 0, 0, nil
	sum := sha256.Sum256(encode(req))
	return hex.EncodeToString(sum[:])
}

// encode returns req as JSON.
func encode(req wire.HookRequest) []byte {
	return appendValue(make([]byte, 0, 2048), reflect.ValueOf(req))
}

// A field is one of a struct, as its tag says.
type field struct {
	number int
	key    string // with quotes and colon
	omit   bool   // if it is empty
}

var known sync.Map // from reflect.Type to []field

// fieldsOf returns the fields of a struct.
func fieldsOf(t reflect.Type) []field {
	if f, ok := known.Load(t); ok {
		return f.([]field)
	}
	var out []field
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" { // the server's own
			continue
		}
		out = append(out, field{i, `"` + name + `":`, strings.Contains(options, "omit")})
	}
	known.Store(t, out)
	return out
}

// appendValue appends v as encoding/json would, but for a list that is nil,
// which is an empty one.
func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return appendText(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return appendValue(b, v.Elem())
	case reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, v.Index(i))
		}
		return append(b, ']')
	case reflect.Struct:
		return appendStruct(b, v)
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok { // a time
		if text, err := m.MarshalText(); err == nil {
			return appendText(b, string(text))
		}
	}
	panic("a request cannot have " + v.Type().String())
}

func appendStruct(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	first := len(b)
	for _, f := range fieldsOf(v.Type()) {
		x := v.Field(f.number)
		if f.omit && (x.Kind() == reflect.Slice && x.Len() == 0 || x.Kind() != reflect.Struct && x.IsZero()) {
			continue
		}
		if len(b) > first {
			b = append(b, ',')
		}
		b = appendValue(append(b, f.key...), x)
	}
	return append(b, '}')
}

// appendText appends a string. Bytes that are no text become the replacement
// character, as in encoding/json.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

// decode reads an answer. Of the decision and the texts that an agent is shown
// it is strict; what else is not as it should be counts as not there.
func decode(data []byte) (wire.HookReply, error) {
	var out wire.HookReply
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return out, fmt.Errorf("read the answer: %w", err)
	}
	for _, key := range []string{"reason", "inject_context"} {
		if v := m[key]; v != nil && reflect.TypeOf(v).Kind() != reflect.String {
			return out, errors.New("the service answered with a " + key + " that is no text")
		}
	}
	fill(reflect.ValueOf(&out).Elem(), m)
	if out.Decision != wire.Allow && out.Decision != wire.Warn && out.Decision != wire.Block {
		return out, fmt.Errorf("the service answered with decision %q", excerpt.Text(string(out.Decision), 20))
	}
	out.Conflicts = slices.DeleteFunc(out.Conflicts, func(c wire.HookConflict) bool { return c.Ref == "" })
	return out, nil
}

// fill puts what JSON said into a value, and reports whether it fits.
func fill(to reflect.Value, said any) bool {
	if to.Kind() == reflect.Pointer {
		v := reflect.New(to.Type().Elem())
		fits := fill(v.Elem(), said)
		if fits {
			to.Set(v)
		}
		return fits
	}
	switch said := said.(type) {
	case string:
		if to.Kind() == reflect.String {
			to.SetString(said)
			return true
		}
	case float64:
		if to.Kind() == reflect.Int {
			to.SetInt(int64(said))
			return true
		}
	case bool:
		if to.Kind() == reflect.Bool {
			to.SetBool(said)
			return true
		}
	case []any:
		if to.Kind() == reflect.Slice {
			for _, v := range said {
				if one := reflect.New(to.Type().Elem()).Elem(); fill(one, v) {
					to.Set(reflect.Append(to, one))
				}
			}
			return true
		}
	case map[string]any:
		if to.Kind() == reflect.Struct {
			for _, f := range fieldsOf(to.Type()) {
				fill(to.Field(f.number), said[f.key[1:len(f.key)-2]])
			}
			return true
		}
	}
	return false
}
