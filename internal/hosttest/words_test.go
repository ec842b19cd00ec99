//go:build unix

package hosttest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// What an agent's user pays for in words.
const (
	firstWords   behaviour = "ours in the first request, characters (at most 4,000)"
	firstSchemas behaviour = "our tools in it: descriptions and schemas, bytes (at most 9,000)"
	oneConflict  behaviour = "an answer with one conflict, characters (at most 900)"
)

var measures = []behaviour{firstWords, firstSchemas, oneConflict}

var atMost = map[behaviour]int{firstWords: 4000, firstSchemas: 9000, oneConflict: 900}

// TestHostsWords measures what svc adds to what the model is sent: against the
// same host in the same repository without svc.
func TestHostsWords(t *testing.T) {
	hosts := wanted(t)
	if len(hosts) == 0 {
		return
	}
	bin := buildClient(t)
	results := map[string]cells{}
	for _, h := range hosts {
		t.Run(h.id, func(t *testing.T) {
			path := append([]string{bin}, install(t, h)...)
			found := h.words(t, path)
			results[h.id] = cells{}
			for _, b := range measures {
				n, ok := found[b]
				results[h.id][b] = fmt.Sprint(n)
				switch limit := h.limits[b]; {
				case !ok || n > atMost[b] && limit == "":
					t.Errorf("%s: %d", b, n)
				case n > atMost[b]:
					results[h.id][b] += ": " + limit
				case limit != "":
					t.Errorf("%s: %d; its limit is no longer true: %s", b, n, limit)
				}
			}
		})
	}
	t.Log("\n" + wordMatrix.record(t, results))
}

func (h row) words(t *testing.T, path []string) map[behaviour]int {
	without := newWorld(t, path).drive(h, new(script).ends("Nothing to do."), "")
	w := newWorld(t, path)
	w.setUp(h.id)
	found := map[behaviour]int{}
	var s script
	s.tool(h, "svc", "intent_declare", object{"title": "Bring the ledger up to date", "scope": object{"paths": []string{claimed}}},
		func(fresh string) {
			for _, text := range w.model.news {
				if strings.Contains(text, w.claim.Ref) {
					found[oneConflict] = max(found[oneConflict], utf8.RuneCountInString(text))
				}
			}
		})
	with := w.drive(h, s.ends("Somebody holds it."), "")
	if with.first == nil || without.first == nil {
		t.Fatal("the host asked its model nothing")
	}
	found[firstWords] = spoken(with.first) - spoken(without.first)
	found[firstSchemas] = ourTools(with.first["tools"])
	return found
}

// spoken counts the characters of a request's texts besides its tools.
func spoken(req object) (n int) {
	for key, v := range req {
		if key != "tools" {
			texts(v, func(s string) { n += utf8.RuneCountInString(s) })
		}
	}
	return n
}

// ourTools counts the bytes of descriptions and schemas of the tools that are
// ours, without what hosts put around them and into them.
func ourTools(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			n += ourTools(x)
		}
	case object:
		if f, ok := v["function"].(object); ok {
			v = f
		}
		if name, _ := v["name"].(string); strings.Contains(name, "svc") {
			return ourBytes(v)
		}
		for _, x := range v {
			n += ourTools(x)
		}
	}
	return n
}

func ourBytes(tool object) (n int) {
	for _, key := range []string{"description", "parameters", "parametersJsonSchema", "input_schema"} {
		if tool[key] == nil {
			continue
		}
		if schema, ok := tool[key].(object); ok {
			if fields, ok := schema["properties"].(object); ok {
				delete(fields, "wait_for_previous") // Gemini CLI's own, in every tool
			}
		}
		text, err := json.Marshal(tool[key])
		if err != nil {
			panic(err) // it was JSON
		}
		n += len(text)
	}
	return n
}
