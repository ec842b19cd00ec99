package shape

import "strings"

// Example returns a value that s allows, for the API document.
func (r *Registry) Example(s *Schema) any { return r.example(s, 0) }

// deep is where examples of types that contain themselves end.
const deep = 6

func (r *Registry) example(s *Schema, depth int) any {
	s = r.Resolve(s)
	switch {
	case len(s.AnyOf) > 0 && depth > deep:
		return nil
	case len(s.AnyOf) > 0:
		return r.example(s.AnyOf[0], depth)
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.sample != "":
		return s.sample
	}
	switch typeOf(s) {
	case "string":
		return exampleText(s)
	case "boolean":
		return false
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case "array":
		if depth > deep {
			return []any{}
		}
		return []any{r.example(s.Items, depth+1)}
	case "object":
		out := map[string]any{}
		for name, p := range s.Properties {
			out[name] = r.example(p, depth+1)
		}
		return out
	}
	return nil
}

func exampleText(s *Schema) string {
	switch s.Format {
	case "date-time":
		return "2026-11-15T09:30:00.000Z"
	case "uuid":
		return "01936f3e-7c1a-7b32-9d58-2f1f6a0c4e11"
	case "email":
		return "ana@example.com"
	case "uri":
		return "https://example.com/x"
	}
	n := 6
	if s.MinLength != nil {
		n = max(n, *s.MinLength)
	}
	if s.MaxLength != nil {
		n = min(n, *s.MaxLength)
	}
	return strings.Repeat("string", n/6+1)[:n]
}
