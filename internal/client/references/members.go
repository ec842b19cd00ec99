package references

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

var memberName = lazy.Regexp(`\.\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*[:=]`)

// members are all names in a file that may be fields of some message: what is
// taken from a value, and what is given a value. Their types are not known, so
// that they are more than the fields, never fewer. Destructuring may name any,
// so a file that does it has nil.
func members(o *outline.File) []coord.ContractField {
	if destructured.Get().Match(o.Source) {
		return nil
	}
	seen := map[string]bool{}
	out := []coord.ContractField{}
	head := uint32(0) // what imports name is no field
	for _, im := range o.Imports {
		head = max(head, im.Line+1)
	}
	line, at := 1, 0
	for _, m := range memberName.Get().FindAllSubmatchIndex(o.Source, -1) {
		line += bytes.Count(o.Source[at:m[0]], []byte("\n"))
		at = m[0]
		if line <= int(head) {
			continue
		}
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		for _, name := range accessed(string(o.Source[from:to])) {
			if key := strings.ToLower(name); !seen[key] {
				seen[key] = true
				out = append(out, coord.ContractField{Name: name, Line: line + bytes.Count(o.Source[m[0]:from], []byte("\n"))})
			}
		}
	}
	if len(out) > contract.MaxFields {
		return nil
	}
	return out
}

var destructured = lazy.Regexp(`(?m)\{[^{}:;]*\}\s*=[^=>]|\(\s*\{[^{}:;]*\}\s*[:)]`)

// accessed are the fields that an accessor may be of: getTagsList is of tags,
// too.
func accessed(name string) []string {
	out := []string{name}
	for _, verb := range []string{
		"get", "set", "has", "clear", "add", "Get", "Set", "Has", "Clear", "Add", "get_", "set_", "has_", "clear_", "add_",
	} {
		field, ok := strings.CutPrefix(name, verb)
		if !ok || field == "" || !strings.HasSuffix(verb, "_") && (field[0] < 'A' || field[0] > 'Z') {
			continue
		}
		out = append(out, field)
		for _, many := range []string{"List", "Map", "Count", "OrBuilder"} {
			if one, ok := strings.CutSuffix(field, many); ok && one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}
