package mcpserver

import (
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-hq/svc/internal/core/shape"
)

// Lean is the value of the query parameter "for" with which a host asks for
// what a model reads, and no more: hosts put the schemas of all tools into
// every conversation, and where an answer has structured content many show
// their model that instead of the words. Limits are left to the check of the
// arguments, which names the field and what it takes.
const Lean = "model"

// A slimmer makes the schemas of one list of tools lean. It says a thing once:
// a model reads the whole list.
type slimmer struct{ said map[string]bool }

// definition returns a tool as a model needs to know it.
func (l *slimmer) definition(t *mcp.Tool) *mcp.Tool {
	out := *t
	out.Title, out.OutputSchema = "", nil
	in := l.schema(t.InputSchema.(*shape.Schema))
	if t.Annotations.ReadOnlyHint { // who only reads may be taken for the person's latest session
		delete(in.Properties, sessionField)
	}
	out.InputSchema = in
	out.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: t.Annotations.ReadOnlyHint}
	if !t.Annotations.ReadOnlyHint {
		out.Annotations.DestructiveHint = t.Annotations.DestructiveHint
	}
	return &out
}

// schema returns s without what only a validator needs.
func (l *slimmer) schema(s *shape.Schema) *shape.Schema {
	out := &shape.Schema{Type: s.Type, Description: s.Description, Enum: s.Enum, Required: s.Required}
	if types, ok := s.Type.([]string); ok {
		out.Type = types[0] // a ref may be a number, too; as text it always works
	}
	if l.said[s.Description] || plain(s.Description) {
		out.Description = ""
	}
	l.said[s.Description] = true
	if s.Items != nil {
		out.Items = l.schema(s.Items)
	}
	if s.Properties == nil {
		return out
	}
	out.Properties = map[string]*shape.Schema{}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		out.Properties[key] = l.schema(s.Properties[key])
	}
	return out
}

// plain reports whether a description is so short that it says no more than
// the name does, and shows no form such as INT-n.
func plain(description string) bool {
	return len(description) <= 30 && !strings.Contains(description, "-n")
}

// sessionField names the session that a tool acts as. Of two agents of one
// person only this tells which one acts.
const sessionField = "session_id"
