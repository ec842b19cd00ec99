package shape_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/shape"
)

type inner struct {
	ID    string   `json:"id" format:"uuid"`
	Kinds []string `json:"kinds" enum:"a,b" maxItems:"2"`
	Self  *inner   `json:"self"`
}

type outer struct {
	Title  string            `json:"title" minLength:"1" maxLength:"5"`
	Mode   string            `json:"mode,omitempty" enum:"x,y"`
	Code   string            `json:"code,omitempty" pattern:"^[a-z]+$"`
	Count  int               `json:"count" default:"3" minimum:"1" maximum:"9"`
	Share  float64           `json:"share,omitempty"`
	On     bool              `json:"on"`
	Near   inner             `json:"near"`
	Many   []inner           `json:"many" minItems:"1" maxItems:"2" required:"true"`
	Labels map[string]string `json:"labels"`
	Any    any               `json:"any,omitempty"`
}

// What is accepted at a glance, a closer look finds nothing wrong with.
func TestWhatIsAcceptedIsValid(t *testing.T) {
	reg := shape.NewRegistry(nil)
	schema := reg.Fields(reflect.TypeFor[outer](), shape.In, func(reflect.StructField) bool { return true })
	const id = `"0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11"`
	good := `{"title":"a","mode":"x","code":"abc","count":1,"share":1,"on":true,"near":{"id":` + id +
		`,"kinds":["a"],"self":null},"many":[{"id":` + id + `}],"labels":{},"any":1}`
	for _, how := range []shape.Strictness{shape.Strict, shape.Lenient} {
		if !reg.Accepts(schema, []byte(good), how) { // else the rest may hold of nothing
			t.Errorf("not accepted: %s", good)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := object(t, map[string]func() string{
			"title": func() string {
				return either(t, `"a"`, `"äöüßx"`, `"abcdef"`, `""`, `"\n\n\n"`, `"\u0000"`, `7`, `null`)
			},
			"mode":  func() string { return either(t, `"x"`, `"\u0078"`, `"z"`, `null`) },
			"code":  func() string { return either(t, `"abc"`, `"A"`) },
			"count": func() string { return either(t, `1`, `9`, `10`, `0`, `-1`, `1.5`, `2e0`, `"1"`) },
			"share": func() string { return either(t, `1`, `0.5`, `1e3`) },
			"on":    func() string { return either(t, `true`, `false`, `0`) },
			"near":  func() string { return nested(t, 0) },
			"many": func() string {
				return either(t, `[`+nested(t, 0)+`]`, `[]`, `null`, `[ `+nested(t, 0)+` , `+nested(t, 0)+`]`, `[{},{},{}]`)
			},
			"labels": func() string {
				return either(t, `{}`, `null`, `{"a":"b"}`, `{"a":1}`, `{"":"\""}`)
			},
			"any":   func() string { return either(t, `1.5e3`, `{"a":[1,{"b":null}]}`, `"x"`, `[]`) },
			"other": func() string { return either(t, `1`, `{"deep":[-1.5,"]"]}`) },
		})
		for _, how := range []shape.Strictness{shape.Strict, shape.Lenient} {
			if !reg.Accepts(schema, []byte(text), how) {
				continue
			}
			var tree any
			if err := json.Unmarshal([]byte(text), &tree); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if bad := reg.Validate(schema, tree, how); len(bad) > 0 {
				t.Fatalf("accepted %s, but %v", text, bad)
			}
		}
	})
}

func nested(t *rapid.T, depth int) string {
	return object(t, map[string]func() string{
		"id": func() string {
			return either(t, `"0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11"`, `"0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a1"`,
				`"0d9fb4c6-6c83-4f2b-9c0e+6b2d1f6f0a11"`)
		},
		"kinds": func() string { return either(t, `["a"]`, `["a","b"]`, `["a","a","a"]`, `["c"]`, `null`) },
		"self": func() string {
			if depth > 1 {
				return `null`
			}
			return either(t, `null`, nested(t, depth+1))
		},
	})
}

// either mostly returns the first, which is right.
func either(t *rapid.T, of ...string) string {
	if rapid.IntRange(0, 9).Draw(t, "odd") > 0 {
		return of[0]
	}
	return rapid.SampledFrom(of).Draw(t, "value")
}

// object writes most of the members, in any order of theirs.
func object(t *rapid.T, members map[string]func() string) string {
	text, comma := "{", ""
	for _, name := range rapid.Permutation(slices.Sorted(maps.Keys(members))).Draw(t, "names") {
		if rapid.IntRange(0, 9).Draw(t, "left out") == 0 {
			continue
		}
		text += comma + ` "` + name + `" : ` + members[name]()
		comma = ","
	}
	return text + "}"
}
