package receivers

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A typ is a type as a file writes it.
type typ struct {
	o    *outline.File
	text string
}

// wrappers hold a value of the type in their brackets and are used like it, by
// language: by themselves, or once awaited, checked or unwrapped.
var wrappers = lazy.Table[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"typescript": {"Promise", "Readonly", "Partial", "Required", "NonNullable", "Awaited"},
		"python":     {"Optional", "Annotated", "Awaitable", "Coroutine", "Final", "ClassVar"},
		"csharp":     {"Task", "ValueTask", "Nullable"},
		"rust": {"Box", "Arc", "Rc", "Option", "Result", "Mutex", "RwLock", "RefCell", "Cell", "Pin", "MutexGuard", "RwLockReadGuard",
			"RwLockWriteGuard", "Ref", "RefMut", "Cow"},
	}
}}

// lists hold many of the type in their brackets.
var lists = []string{
	"Array", "ReadonlyArray", "Set", "ReadonlySet", "Iterable", "AsyncIterable", "list", "List", "set", "Sequence",
	"Iterator", "Collection", "frozenset", "tuple", "MutableList", "ArrayList", "IEnumerable", "IList", "ICollection",
	"IReadOnlyList", "Vec", "VecDeque", "HashSet", "BTreeSet", "Flow", "LinkedList", "Stream", "Deque", "Queue",
	"AsyncIterator", "Generator",
}

// maps have keys, and values of the last type in their brackets.
var maps = []string{"Map", "Record", "dict", "Dict", "Mapping", "MutableMap", "HashMap", "BTreeMap", "Dictionary", "IDictionary",
	"LinkedHashMap", "TreeMap", "defaultdict", "OrderedDict", "IReadOnlyDictionary", "WeakMap", "ConcurrentHashMap", "ConcurrentDictionary"}

// named is the name of a type without what does not matter for its members; ""
// if it has none.
func named(lang, text string) string {
	for range 8 {
		was := text
		text = stripped(lang, strings.TrimSpace(text))
		if text == was {
			break
		}
	}
	head, args := arguments(lang, text)
	if slices.Contains(wrappers.Get()[lang], lastOf(head)) && len(args) > 0 {
		if strings.HasPrefix(args[0], "'") && lang == "rust" { // a lifetime
			args = args[1:]
		}
		if len(args) > 0 {
			return named(lang, args[0])
		}
	}
	if head == "" || strings.ContainsAny(head, " (){}[]*&|'\"=<>!,;") {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(head, "::", "."), "?", "")
}

// stripped takes from a type what may stand around its name.
func stripped(lang, text string) string {
	switch lang {
	case "go":
		return strings.TrimPrefix(text, "*")
	case "rust":
		for _, p := range []string{"&", "mut ", "dyn ", "impl ", "*const ", "*mut "} {
			text = strings.TrimSpace(strings.TrimPrefix(text, p))
		}
		if strings.HasPrefix(text, "'") {
			_, text, _ = strings.Cut(text, " ")
		}
		return split(text, '+')[0]
	case "typescript", "python":
		text = strings.TrimPrefix(text, "readonly ")
		if lang == "python" {
			text = strings.Trim(text, `"'`)
		}
		if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") {
			return text[1 : len(text)-1]
		}
		parts := slices.DeleteFunc(split(text, '|'), func(p string) bool {
			return p == "null" || p == "undefined" || p == "None" || p == ""
		})
		if len(parts) == 1 {
			return parts[0]
		}
	case "java", "csharp", "kotlin":
		for strings.HasPrefix(text, "@") {
			var ok bool
			if _, text, ok = strings.Cut(text, " "); !ok {
				return ""
			}
		}
		for _, p := range []string{"final ", "readonly ", "ref ", "in ", "params ", "this ", "scoped "} {
			text = strings.TrimPrefix(text, p)
		}
		return strings.TrimRight(text, "?!")
	}
	return text
}

// arguments takes the types in brackets from a type.
func arguments(lang, text string) (head string, args []string) {
	open, end := byte('<'), byte('>')
	if lang == "go" || lang == "python" {
		open, end = '[', ']'
	}
	i := strings.IndexByte(text, open)
	if i <= 0 || text[len(text)-1] != end {
		return text, nil
	}
	return strings.TrimSpace(text[:i]), split(text[i+1:len(text)-1], ',')
}

func lastOf(name string) string { return name[strings.LastIndexAny(name, ".:")+1:] }

// element is the type of what a list or map holds; "" if that is not known.
func element(lang, text string, keyed bool) string {
	text = strings.TrimSpace(text)
	switch lang {
	case "go":
		switch {
		case strings.HasPrefix(text, "map["):
			if end := closes([]byte(text), 3); end > 0 {
				return text[end:]
			}
		case strings.HasPrefix(text, "["):
			if end := strings.IndexByte(text, ']'); end > 0 {
				return text[end+1:]
			}
		case strings.HasPrefix(text, "..."):
			return text[3:]
		}
		return ""
	case "rust":
		text = stripped(lang, stripped(lang, text))
		if strings.HasPrefix(text, "[") {
			return split(strings.TrimSuffix(text[1:], "]"), ';')[0]
		}
	}
	text = stripped(lang, text)
	if bare, ok := strings.CutSuffix(text, "[]"); ok && lang != "python" {
		return strings.Trim(bare, "()")
	}
	head, args := arguments(lang, text)
	switch {
	case len(args) > 0 && slices.Contains(wrappers.Get()[lang], lastOf(head)):
		return element(lang, args[0], keyed)
	case len(args) > 0 && slices.Contains(lists, lastOf(head)) && !slices.Contains(args, "..."):
		return args[0]
	case len(args) == 2 && lastOf(head) == "tuple" && args[1] == "...":
		return args[0]
	case len(args) == 2 && keyed && slices.Contains(maps, lastOf(head)):
		return args[1]
	}
	return ""
}
