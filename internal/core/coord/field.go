package coord

import (
	"slices"
	"strings"
)

// A ContractField is a field or column of a contract.
type ContractField struct {
	Name string `json:"name" minLength:"1" maxLength:"200" doc:"As the code writes it; a hash in metadata_only"`
	Line int    `json:"line,omitempty" minimum:"0"`
}

// fieldName is a name as all languages' ways to write it have in common:
// full_name, fullName and FullName are one.
func fieldName(s string) string {
	if strings.HasPrefix(s, hiddenMark) {
		return s
	}
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
}

// SharedField returns the line of the first field that a use has of those that
// were lost, or false if it has none of them.
func SharedField(lost, used []ContractField) (line int, ok bool) {
	for _, u := range used {
		if slices.ContainsFunc(lost, func(l ContractField) bool { return sameName(fieldName(l.Name), fieldName(u.Name)) }) {
			return u.Line, true
		}
	}
	return 0, false
}

// HideFields returns fields with hashes for names.
func HideFields(fields []ContractField) []ContractField {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Name = HideName(fieldName(out[i].Name))
	}
	return out
}
