package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Parse reads a rules object. Unknown rules and values of the wrong form are
// named as rules.<name>; nothing is taken over then.
func Parse(text []byte) (Rules, []problem.Field) {
	var in map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&in); err != nil || in == nil || dec.More() {
		return Rules{}, []problem.Field{{Path: "rules", Message: "must be an object of rules"}}
	}
	var bad []problem.Field
	table := Table()
	for _, name := range slices.Sorted(maps.Keys(in)) {
		at := slices.IndexFunc(table, func(r Rule) bool { return r.Name == name })
		if at < 0 {
			bad = append(bad, problem.Field{Path: "rules." + name, Message: "is not a rule; the rules are " + list(names(table))})
			continue
		}
		value, faults := table[at].check(in[name])
		for _, f := range faults {
			bad = append(bad, problem.Field{Path: "rules." + name + f.Path, Message: f.Message})
		}
		in[name] = value
	}
	if len(bad) > 0 {
		return Rules{}, bad
	}
	var r Rules
	clean, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(clean, &r)
	}
	if err != nil {
		return Rules{}, []problem.Field{{Path: "rules", Message: err.Error()}}
	}
	return r, nil
}

func names(table []Rule) []string {
	out := make([]string, len(table))
	for i, r := range table {
		out[i] = r.Name
	}
	return out
}

// check returns v in its canonical form, and what is wrong with it.
func (r Rule) check(v any) (any, []problem.Field) {
	wrong := []problem.Field{{Message: "must be " + r.Form()}}
	switch r.Type {
	case Boolean:
		if _, ok := v.(bool); ok {
			return v, nil
		}
	case Integer, Number:
		n, ok := v.(float64)
		if ok && n >= r.Min && n <= r.Max && (r.Type == Number || n == math.Trunc(n)) {
			return v, nil
		}
	case Choice:
		if s, ok := v.(string); ok && slices.Contains(r.Values, s) {
			return v, nil
		}
	case Choices, Globs:
		if items, ok := v.([]any); ok && (r.Max == 0 || len(items) <= int(r.Max)) {
			return r.checkItems(items)
		}
	case Ranges:
		if m, ok := v.(map[string]any); ok && len(m) <= int(r.Max) {
			return checkRanges(m)
		}
	case Choosing:
		if m, ok := v.(map[string]any); ok {
			return r.checkChoosing(m)
		}
	}
	return nil, wrong
}

func (r Rule) checkItems(items []any) (any, []problem.Field) {
	var bad []problem.Field
	out := make([]string, 0, len(items))
	for i, item := range items {
		s, ok := item.(string)
		message := ""
		switch {
		case !ok:
			message = "must be a string"
		case r.Type == Globs:
			g, err := scope.ParseGlob(s)
			if s = g.String(); err != nil {
				message = err.Error()
			}
		case !slices.Contains(r.Values, s):
			message = "must be one of " + list(r.Values)
		}
		if message != "" {
			bad = append(bad, problem.Field{Path: fmt.Sprintf("[%d]", i), Message: message})
		} else if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, bad
}

func (r Rule) checkChoosing(m map[string]any) (any, []problem.Field) {
	var bad []problem.Field
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v, _ := m[k].(string)
		switch {
		case !slices.Contains(r.Keys, k):
			bad = append(bad, problem.Field{Path: "." + k, Message: "is not a conflict kind; the kinds are " + list(r.Keys)})
		case !slices.Contains(r.Values, v):
			bad = append(bad, problem.Field{Path: "." + k, Message: "must be one of " + list(r.Values)})
		}
	}
	return m, bad
}

func checkRanges(m map[string]any) (any, []problem.Field) {
	var bad []problem.Field
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if key, err := scope.ParseContract(scope.ResourcePrefix + k + ":*"); err != nil || key != scope.ResourcePrefix+k+":*" {
			bad = append(bad, problem.Field{Path: "." + k, Message: "is no kind of resource: small letters, digits, - and _"})
		} else if text, _ := m[k].(string); !Range(text).valid() {
			bad = append(bad, problem.Field{Path: "." + k, Message: "must be a range of at most 100,000 numbers, such as 3000-3099"})
		}
	}
	return m, bad
}

// A Range is the numbers that a counted resource hands out, as from-to.
type Range string

// Ends returns the first and the last number; of a text that is no range, the
// last comes before the first.
func (r Range) Ends() (first, last int64) {
	a, b, ok := strings.Cut(string(r), "-")
	first, errA := strconv.ParseInt(a, 10, 64)
	last, errB := strconv.ParseInt(b, 10, 64)
	if !ok || errA != nil || errB != nil {
		return 1, 0
	}
	return first, last
}

func (r Range) valid() bool {
	first, last := r.Ends()
	return first >= 0 && first <= last && last-first < 100_000
}
