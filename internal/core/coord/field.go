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
		if slices.ContainsFunc(lost, func(l ContractField) bool { return samePath(l.Name, u.Name) }) {
			return u.Line, true
		}
	}
	return 0, false
}

// samePath tells whether two ways to a field may mean the same one: article.title
// and title are, since one side may leave out what is around it, but user.name
// and article.name are not.
func samePath(a, b string) bool {
	as, bs := segments(a), segments(b)
	for i := 1; i <= min(len(as), len(bs)); i++ {
		if !sameName(fieldName(as[len(as)-i]), fieldName(bs[len(bs)-i])) {
			return false
		}
	}
	return len(as) > 0 && len(bs) > 0
}

// segments takes a way to a field apart; elements of lists do not count.
func segments(path string) []string {
	var out []string
	for s := range strings.SplitSeq(path, ".") {
		if s = strings.ReplaceAll(s, "[]", ""); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// HideFields returns fields with hashes for names.
func HideFields(fields []ContractField) []ContractField {
	out := slices.Clone(fields)
	for i := range out {
		parts := segments(out[i].Name)
		for j, p := range parts {
			parts[j] = HideName(fieldName(p))
		}
		out[i].Name = strings.Join(parts, ".")
	}
	return out
}
