package scope_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/scope"
)

// readers are the rules that the forms write down.
var readers = map[string]func(string) bool{
	"path":     func(s string) bool { _, err := scope.ParseGlob(s); return err == nil },
	"symbol":   func(s string) bool { _, err := scope.ParseSymbol(s); return err == nil },
	"contract": func(s string) bool { _, err := scope.ParseContract(s); return err == nil },
	"lookup":   func(s string) bool { _, err := scope.ParseLookup(s); return err == nil },
	"file":     func(s string) bool { _, err := scope.CleanPath(s); return err == nil },
	"remote":   func(s string) bool { _, ok := scope.Fingerprint(s); return ok },
}

// pieces are what selectors are made of, so that texts are drawn of which
// about as many are good as bad.
var pieces = []string{
	"a", "B", "src", "s", "é", "\u00a0", "\u212a", "ſ", " ", "  ", ".", "..", "...", "/", "//", "\\", ":", "C:", "*", "**", "?", "[", "]",
	"[a]", "[!]", "[^a-z]", "!", "{", "}", "{}", "{id}", "{a b}", "{{ x }}", "<", ">", "<int: id>", "(", ")", ",", "#", "#F", "@", "git@",
	"$", "${base}", "^", "'", "`", "\"", "%s", "-", "_", "~", "sym:", "sym:go:", "http:", "GET ", "get  /", "db:", "event:", "config:", "gql:",
	"proto:", "pkg:", "PKG:npm:", "://", "https://", "file://", "FILE", "fill://", "ssh://", "github.com",
	"github.com/", ".git", ".GIT", "\t", "\n",
	"\x00", "\x7f", "h.", "owner/name", "h:", "a.go#F",
}

// seeds are selectors as people write them; a text is one of them with some
// pieces put in or cut out, or of pieces alone.
var seeds = []string{
	"src/a.go", "./src//x/", "app/[id]/page.tsx", "src/**/*.ts", "a/[!a-z]?.go", "src/a.go#User.save", "sym:go:src/a.go#F",
	"http:GET /users/{id}", "http:get https://api.example.com/users/<int: id>", "GET ${BASE}/x", "http:* {{base}}/users/:id(\\d+)",
	"/users/{id}?x=1", "GET /a", `db:"Public"."Users"`, "db:a.b.c", "event: order.paid", "proto:/pkg.Svc/Get", "pkg:npm:@acme/auth#login",
	"git@github.com:acme/shop.git", "https://user:token@GitHub.com:443/acme/shop.git/?a#b", "ssh://h/a/b/.git", "github.com/acme/shop",
	"file:///a/b/c", "h.:a/b", "C:/a/b",
}

func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom(pieces)
		if rapid.IntRange(0, 2).Draw(t, "how") == 0 {
			return strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "pieces"), "")
		}
		s := []rune(rapid.SampledFrom(seeds).Draw(t, "seed"))
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			from := rapid.IntRange(0, len(s)).Draw(t, "from")
			to := min(len(s), from+rapid.IntRange(0, 3).Draw(t, "cut"))
			put := ""
			if rapid.Bool().Draw(t, "puts") {
				put = piece.Draw(t, "piece")
			}
			s = []rune(string(s[:from]) + put + string(s[to:]))
		}
		return string(s)
	})
}

// What the document calls a selector the service reads, and the other way
// round. A glob with braces is one if its alternatives are.
func TestFormsSayWhatTheReadersTake(t *testing.T) {
	for name, form := range scope.Forms() {
		if !regexp.MustCompile(form[0]).MatchString(form[1]) {
			t.Errorf("%s: its example %s is none", name, form[1])
		}
		read, ok := readers[name]
		if !ok {
			continue // a union of others
		}
		expression := regexp.MustCompile(form[0])
		agree := func(t interface{ Fatalf(string, ...any) }, s string) (good bool) {
			want, got := read(s), expression.MatchString(s)
			if name == "path" && strings.ContainsAny(s, "{}") && got && !want {
				return false // each alternative is held to the rule, which no expression says
			}
			if got != want {
				t.Fatalf("%q: the form says %v, the reader %v", s, got, want)
			}
			return want
		}
		t.Run(name, func(t *testing.T) {
			// What is drawn comes from the seeds: how many of them are good is no matter of chance.
			good := slices.DeleteFunc(slices.Clone(seeds), func(s string) bool { return !agree(t, s) })
			if len(good) == 0 || len(good) == len(seeds) {
				t.Errorf("of %d texts to begin with %d are one: both kinds are needed", len(seeds), len(good))
			}
			rapid.Check(t, func(t *rapid.T) { agree(t, texts().Draw(t, "text")) })
		})
	}
}

// Braces: what the form takes and the reader refuses has an alternative that
// the form refuses, too.
func TestBracesHoldSelectors(t *testing.T) {
	form := regexp.MustCompile(scope.Forms()["path"][0])
	rapid.Check(t, func(t *rapid.T) {
		before, after := texts().Draw(t, "before"), texts().Draw(t, "after")
		one, two := texts().Draw(t, "one"), texts().Draw(t, "two")
		if strings.ContainsAny(before+after+one+two, "{},") {
			return
		}
		s := before + "{" + one + "," + two + "}" + after
		alternatives := form.MatchString(before+one+after) && form.MatchString(before+two+after)
		if _, err := scope.ParseGlob(s); (err == nil) != (form.MatchString(s) && alternatives) {
			t.Fatalf("%q: %v; the form takes it: %v, and both alternatives: %v", s, err, form.MatchString(s), alternatives)
		}
	})
}

// A selector's canonical text is one, or what is read could not be sent.
func TestCanonicalTextHasTheForm(t *testing.T) {
	forms := map[string]*regexp.Regexp{}
	for name, form := range scope.Forms() {
		forms[name] = regexp.MustCompile(form[0])
	}
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		check := func(name, canonical string, err error) {
			if err == nil && !forms[name].MatchString(canonical) {
				t.Fatalf("%s: %q is read as %q, which has not the form", name, s, canonical)
			}
		}
		g, err := scope.ParseGlob(s)
		check("path", g.String(), err)
		sym, err := scope.ParseSymbol(s)
		check("symbol", sym.String(), err)
		key, err := scope.ParseContract(s)
		check("contract", key, err)
		key, err = scope.ParseLookup(s)
		check("lookup", key, err)
	})
}
