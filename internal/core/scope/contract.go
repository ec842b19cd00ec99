package scope

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Methods lists the HTTP methods that a contract key may name.
func Methods() []string {
	return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
}

// AnyMethod stands in a key for whatever method.
const AnyMethod = "ANY"

// contractKinds maps each prefix to the reader of what follows it.
var contractKinds = lazy.Table[map[string]func(string) (string, error)]{Make: func() map[string]func(string) (string, error) {
	return map[string]func(string) (string, error){
		"http":   httpKey,
		"db":     tableKey,
		"event":  plainKey("a topic", false),
		"config": plainKey("a name", false),
		"gql":    plainKey("<Type.field>", false),
		"proto":  plainKey("<pkg.Service/Method> or <pkg.Message>", true),
		"pkg":    packageKey,
		"sym":    symbolKey,
		"res":    resourceKey,
	}
}}

// ContractPrefixes lists the prefixes of contract keys, in their usual order.
func ContractPrefixes() []string {
	return []string{"http:", "db:", "event:", "config:", "gql:", "proto:", "pkg:", "sym:", ResourcePrefix}
}

// ParseContract reads a contract key and returns its canonical form: many
// spellings of one route or table are one key.
func ParseContract(s string) (string, error) {
	if err := checkText(s); err != nil {
		return "", err
	}
	kind, rest, ok := strings.Cut(strings.Trim(s, " "), ":")
	kind = lower(kind)
	read := contractKinds.Get()[kind]
	if !ok || read == nil {
		return "", fmt.Errorf("%q has no known prefix; use one of %s", s, strings.Join(ContractPrefixes(), " "))
	}
	key, err := read(strings.Trim(rest, " "))
	if err != nil {
		return "", fmt.Errorf("%q %w", s, err)
	}
	return kind + ":" + key, nil
}

// ParseLookup reads what people and agents ask a contract by: a contract key,
// a method and a route, a route alone (any method), or a symbol.
func ParseLookup(s string) (string, error) {
	if err := checkText(s); err != nil {
		return "", err
	}
	s = strings.Trim(s, " ")
	method, route, _ := strings.Cut(s, " ")
	prefix, _, _ := strings.Cut(s, ":")
	switch {
	case strings.HasPrefix(s, "/"), isMethod(method) && strings.HasPrefix(strings.TrimLeft(route, " "), "/"):
		key, err := ParseContract("http:" + s)
		if sym, e := ParseSymbol(s); err != nil && e == nil { // a folder may be called GET
			return sym.String(), nil
		}
		return key, err
	case contractKinds.Get()[lower(prefix)] == nil && strings.Contains(s, "#"):
		sym, err := ParseSymbol(s)
		return sym.String(), err
	}
	return ParseContract(s)
}

// ContractsOverlap reports whether two canonical keys mean the same contract.
func ContractsOverlap(a, b string) bool {
	return a == b || slices.Contains(RelatedContracts(a), b)
}

// RelatedContracts returns the other canonical keys that mean the same
// contract as key: a route for any method meets the route for each.
func RelatedContracts(key string) []string {
	rest, ok := strings.CutPrefix(key, "http:")
	if !ok {
		return nil
	}
	method, route, _ := strings.Cut(rest, " ")
	if method != AnyMethod {
		return []string{"http:" + AnyMethod + " " + route}
	}
	var out []string
	for _, m := range Methods() {
		out = append(out, "http:"+m+" "+route)
	}
	return out
}

// lower writes letters of ASCII small; it makes none of other letters, as
// strings.ToLower does of the Kelvin sign.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= utf8.RuneSelf:
			return utf8.RuneError
		}
		return r
	}, s)
}

func isMethod(s string) bool {
	s = strings.ToUpper(lower(s))
	return s == "*" || s == AnyMethod || s == "ALL" || slices.Contains(Methods(), s)
}

func httpKey(s string) (string, error) {
	method, route, spaced := strings.Cut(s, " ")
	switch {
	case !spaced && strings.HasPrefix(s, "/"):
		method, route = AnyMethod, s
	case !isMethod(method):
		return "", fmt.Errorf("needs a method and a route, such as http:GET /users/{id}")
	}
	if method = strings.ToUpper(method); method == "*" || method == "ALL" {
		method = AnyMethod
	}
	route = strings.Trim(route, " ")
	if strings.Contains(route, " ") && !spacedRoute.Get().MatchString(route) {
		return "", fmt.Errorf("needs a route without spaces, such as http:GET /users/{id}")
	}
	if route = Route(route); route == "" {
		return "", fmt.Errorf("needs a route that starts with /, such as http:GET /users/{id}")
	}
	return method + " " + route, nil
}

// tableKey reads schema.table or table, quoted in any dialect's way.
func tableKey(s string) (string, error) {
	s = strings.ToLower(strings.NewReplacer(`"`, "", "`", "", "[", "", "]", "", " ", "").Replace(s))
	parts := strings.Split(s, ".")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return "", fmt.Errorf("needs a table, such as db:public.users")
	}
	if len(parts) == 1 {
		return "public." + s, nil
	}
	return s, nil
}

func plainKey(what string, rooted bool) func(string) (string, error) {
	return func(s string) (string, error) {
		if rooted {
			s = strings.TrimLeft(s, "./")
		}
		if s == "" || strings.Contains(s, " ") {
			return "", fmt.Errorf("needs %s without spaces after the prefix", what)
		}
		return s, nil
	}
}

// packageKey reads <registry>:<package>#<name>.
func packageKey(s string) (string, error) {
	registry, rest, ok := strings.Cut(s, ":")
	pkg, name, named := strings.Cut(rest, "#")
	if !ok || !named || registry == "" || pkg == "" || name == "" || strings.Contains(s, " ") {
		return "", fmt.Errorf("needs a registry, a package and a name, such as pkg:npm:@acme/auth#login")
	}
	return strings.ToLower(registry) + ":" + pkg + "#" + name, nil
}

func symbolKey(s string) (string, error) {
	sym, err := ParseSymbol(symbolPrefix + s)
	return strings.TrimPrefix(sym.String(), symbolPrefix), err
}
