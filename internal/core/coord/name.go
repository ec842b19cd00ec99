package coord

import "strings"

// A definition that nothing else in a repository goes by can be found by its
// name alone, whoever uses it and however it is imported.

// NameFamily returns the family of languages that use each other's definitions,
// or "" for a language whose definitions are not found by their names.
func NameFamily(lang string) string {
	switch lang {
	case "go", "python", "csharp", "rust", "ruby", "php", "swift", "dart", "lua":
		return lang
	case "typescript", "javascript":
		return "ecma"
	case "java", "kotlin", "scala":
		return "jvm"
	case "c", "cpp":
		return "c"
	}
	return ""
}

const nameKey = "name:"

// NameKey is the key of every definition of a name in a family of languages.
func NameKey(family, name string) string { return nameKey + family + ":" + name }

// IsNameKey tells such a key from others.
func IsNameKey(key string) bool { return strings.HasPrefix(key, nameKey) }

// LastName returns the name of a definition without what it stands in.
func LastName(key string) string { return key[strings.LastIndexAny(key, "#.")+1:] }

// A NameForm is how code has to write a name to use what it stands for.
type NameForm string

const (
	FormType   NameForm = "type"   // the name alone
	FormCall   NameForm = "call"   // called
	FormMethod NameForm = "method" // called, of something
	FormMember NameForm = "member" // taken from something
	FormValue  NameForm = "value"  // the name alone, where nothing else is called so
)

// Enum lists the values for the API document.
func (NameForm) Enum() []string {
	return enum([]NameForm{FormType, FormCall, FormMethod, FormMember, FormValue})
}

// FormOf returns how a definition of a kind is used, by its key.
func FormOf(kind, key string) NameForm {
	_, name, _ := strings.Cut(key, "#")
	nested := strings.Contains(name, ".")
	switch kind {
	case "function", "macro", "method", "constructor":
		if nested {
			return FormMethod
		}
		return FormCall
	case "field", "property", "case":
		return FormMember
	case "constant", "variable", "value":
		if nested {
			return FormMember
		}
		return FormValue
	}
	return FormType
}

// A WatchedName is a definition that somebody took away, or whose parameters
// somebody changed, and that nothing else in the repository goes by. Whoever
// newly mentions it is told.
type WatchedName struct {
	Family string   `json:"family" doc:"Languages that share definitions: go, ecma, python, jvm, csharp, rust, ruby, php, c, swift, dart, lua"`
	Name   string   `json:"name"`
	Form   NameForm `json:"form" doc:"How code has to write it to mean it"`
	Files  []string `json:"files" doc:"Where it is, or was, defined"`
}

// Key is the key under which mentions are told.
func (w *WatchedName) Key() string { return NameKey(w.Family, w.Name) }
