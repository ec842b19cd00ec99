package shape

import "slices"

// Inline returns s with every reference replaced by what it refers to, as
// tools need it: their schemas stand alone, and not every host follows
// references. With plain, null is left out: an optional argument is left out
// instead, and some hosts know one type per field only; so are the patterns of
// forms, which cost a model more than its mistakes do.
func (r *Registry) Inline(s *Schema, plain bool) *Schema {
	described := s.Description
	s = r.Resolve(s)
	if plain && len(s.AnyOf) == 2 {
		return withDoc(r.Inline(s.AnyOf[0], plain), s.Description)
	}
	out := *s
	if described != "" {
		out.Description = described
	}
	if plain && s.sample != "" {
		out.Pattern, out.Minimum, out.Maximum = "", nil, nil
	}
	if s.Items != nil {
		out.Items = r.Inline(s.Items, plain)
	}
	if s.Properties != nil {
		out.Properties = map[string]*Schema{}
		for name, p := range s.Properties {
			out.Properties[name] = r.Inline(p, plain)
		}
	}
	if rest, ok := s.AdditionalProperties.(*Schema); ok {
		out.AdditionalProperties = r.Inline(rest, plain)
	}
	for i, alt := range s.AnyOf {
		if i == 0 {
			out.AnyOf = nil
		}
		out.AnyOf = append(out.AnyOf, r.Inline(alt, plain))
	}
	if types, ok := s.Type.([]string); ok && plain {
		types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
		out.Type = types
		if len(types) == 1 {
			out.Type = types[0]
		}
		out.Enum = slices.DeleteFunc(slices.Clone(s.Enum), func(v any) bool { return v == nil })
	}
	return &out
}

func withDoc(s *Schema, doc string) *Schema {
	if doc != "" {
		s.Description = doc
	}
	return s
}
