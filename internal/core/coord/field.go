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

// FieldName is a name as all languages' ways to write it have in common:
// full_name, fullName and FullName are one.
func FieldName(s string) string {
	if strings.HasPrefix(s, hiddenMark) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0x80: // letters of other alphabets have their own small ones
			return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c != '_' && c != '-':
			out = append(out, c)
		}
	}
	return string(out)
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
		if !sameName(FieldName(as[len(as)-i]), FieldName(bs[len(bs)-i])) {
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
			parts[j] = HideName(FieldName(p))
		}
		out[i].Name = strings.Join(parts, ".")
	}
	return out
}

// A LostName is the name of a field, a value or the like that a file no longer
// has, or that holds another kind of value now.
type LostName struct {
	Word    string `json:"word" minLength:"8" maxLength:"8" doc:"Hash of the name, whatever way it is written"`
	Name    string `json:"name,omitempty" maxLength:"60" doc:"As the code wrote it; empty in metadata_only"`
	Now     string `json:"now,omitempty" maxLength:"120" doc:"What stands in its place, or what it holds now, in a few words; empty in metadata_only"`
	Line    int    `json:"line" minimum:"0" doc:"Where it stood"`
	Owner   string `json:"owner,omitempty" maxLength:"8" doc:"Hash of the name of what it was a member of"`
	Telling int    `json:"telling" minimum:"0" maximum:"2" doc:"How much the name says of what is meant: 0 for one that all programs have, 2 for one of several words"`
}

// Limits of names.
const (
	MaxLost  = 50  // that one edit of a file takes away
	MaxCame  = 200 // that it brings
	MaxNames = 400 // of one file that are kept
)
