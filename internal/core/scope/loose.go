package scope

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A server seldom knows the prefix that a gateway puts before its routes, and a
// client's base address is mostly a setting. Two routes that differ by what
// stands before them are probably one, when the rest is specific enough.

// baseWord is an element that says where an API lies rather than what is asked
// of it.
var baseWord = lazy.Regexp(`^(?i:apis?|rest|v\d+(?:\.\d+)?|public|private|internal|gateway|backend|server|services?|app|web)$`)

// plainWords are routes that every service has: they say nothing of which one
// is meant.
var plainWords = []string{
	"health", "healthz", "healthcheck", "status", "metrics", "ping", "ready", "readyz", "readiness", "live", "livez", "liveness",
	"version", "info", "docs", "swagger", "openapi.json", "graphql", "index", "favicon.ico", "robots.txt", "debug", "env",
}

// sharedWords are what routes of many services are made of, each with users of
// its own: the same route in two programs does not make the one call the other.
var sharedWords = []string{
	"user", "users", "auth", "login", "logout", "signin", "signup", "sign-in", "sign-up", "signout", "register", "registration", "me", "self",
	"account", "accounts", "profile", "profiles", "token", "tokens", "refresh", "session", "sessions", "password", "reset", "reset-password",
	"forgot-password", "change-password", "verify", "verify-email", "confirm", "whoami", "current", "search", "settings", "config", "upload",
	"uploads", "files", "images", "notifications", "admin", "roles", "permissions",
}

// CommonRoute reports whether a route is one that many services have.
func CommonRoute(key string) bool {
	route, ok := httpRoute(key)
	if !ok {
		return false
	}
	for _, e := range core(route) {
		if w := strings.ToLower(e); e != "" && !isParam(e) && !slices.Contains(sharedWords, w) && !slices.Contains(plainWords, w) {
			return false
		}
	}
	return true
}

// core is a route without the base words before it.
func core(route string) []string {
	elems := strings.Split(strings.Trim(route, "/"), "/")
	for len(elems) > 1 && baseWord.Get().MatchString(elems[0]) {
		elems = elems[1:]
	}
	return elems
}

func isParam(elem string) bool { return strings.HasPrefix(elem, "{") }

func literals(elems []string) (n int) {
	for _, e := range elems {
		if !isParam(e) && e != "" {
			n++
		}
	}
	return n
}

// LooseKey is what the keys have in common that RoutesMeet holds for one; "" for
// a key that meets none but itself.
func LooseKey(key string) string {
	route, ok := httpRoute(key)
	if !ok {
		return ""
	}
	elems := core(route)
	n := literals(elems)
	if n == 0 || n == 1 && slices.Contains(plainWords, strings.ToLower(strings.Join(elems, "/"))) {
		return ""
	}
	for n > 2 {
		if !isParam(elems[0]) {
			n--
		}
		elems = elems[1:]
	}
	for isParam(elems[0]) {
		elems = elems[1:]
	}
	return strings.ToLower("/" + strings.Join(elems, "/"))
}

func httpRoute(key string) (string, bool) {
	rest, ok := strings.CutPrefix(key, "http:")
	if !ok {
		return "", false
	}
	_, route, ok := strings.Cut(rest, " ")
	return route, ok
}

// RoutesMeet reports whether two canonical keys are probably one route: they
// have a method in common and differ only by what stands before them.
func RoutesMeet(a, b string) bool {
	loose := LooseKey(a)
	if loose == "" || loose != LooseKey(b) {
		return false
	}
	method := func(key string) string {
		m, _, _ := strings.Cut(strings.TrimPrefix(key, "http:"), " ")
		return m
	}
	if m, n := method(a), method(b); m != n && m != AnyMethod && n != AnyMethod {
		return false
	}
	x, _ := httpRoute(a)
	y, _ := httpRoute(b)
	long, short := core(x), core(y)
	if len(long) < len(short) {
		long, short = short, long
	}
	before := long[:len(long)-len(short)]
	if !slices.EqualFunc(long[len(before):], short, strings.EqualFold) { // some servers do not tell A from a
		return false
	}
	// A word that is no base word may be another thing's name: then two more
	// must agree.
	return len(before) == 0 || len(before) <= 2 && literals(before) == len(before) && literals(short) >= 2
}

// Prefixed returns the keys that a route has where a prefix stands before it, or
// where the one that it has is left out.
func Prefixed(key, prefix string) (out []string) {
	route, ok := httpRoute(key)
	if !ok {
		return nil
	}
	method := strings.TrimSuffix(key, route)
	out = append(out, method+strings.TrimSuffix(prefix+route, "/"))
	if rest, ok := strings.CutPrefix(route, prefix); ok && (rest == "" || rest[0] == '/') {
		out = append(out, method+max(rest, "/"))
	}
	for _, k := range out {
		out = append(out, RelatedContracts(k)...)
	}
	return out
}
