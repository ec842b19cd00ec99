package scope_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
)

func TestParseSymbol(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"sym:go:src/auth/jwt.go#parseToken", "sym:go:src/auth/jwt.go#parseToken"},
		{"sym:Go:./src//a.go#F", "sym:go:src/a.go#F"},
		{`src\a.py#User.save`, "src/a.py#User.save"},
		{"app/[id]/page.tsx#Page", "app/[id]/page.tsx#Page"},
		{"c#/x.cs#Main", "c#/x.cs#Main"},
	} {
		if got, err := scope.ParseSymbol(tt.in); err != nil || got.String() != tt.want {
			t.Errorf("ParseSymbol(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ in, want string }{
		{"src/a.go", "names no definition"},
		{"src/a.go#", "needs a name"},
		{"src/a.go#.x", "needs a name"},
		{"#F", "is empty"},
		{"sym:src/a.go#F", "has no language"},
		{"src/*.go#F", "wildcards belong into paths"},
		{"../a.go#F", "may lead out of the repository"},
		{"/a.go#F", "absolute"},
	} {
		if _, err := scope.ParseSymbol(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseSymbol(%q) = %v, want an error with %q", tt.in, err, tt.want)
		}
	}
}

func TestSymbolOverlap(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       bool
	}{
		{"the same", "a.py#F", "a.py#F", true},
		{"with and without a language", "sym:python:a.py#F", "a.py#F", true},
		{"other languages", "sym:ts:a#F", "sym:js:a#F", false},
		{"a class holds its method", "a.py#User", "a.py#User.save", true},
		{"a common prefix is not enough", "a.py#User", "a.py#Users", false},
		{"siblings", "a.py#User.load", "a.py#User.save", false},
		{"other files", "a.py#F", "b.py#F", false},
	} {
		a, _ := scope.ParseSymbol(tt.a)
		b, _ := scope.ParseSymbol(tt.b)
		if a.Overlaps(b) != tt.want || b.Overlaps(a) != tt.want {
			t.Errorf("%s: %s and %s overlap: %v, want %v", tt.name, a, b, a.Overlaps(b), tt.want)
		}
	}
}

func TestParseContract(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"http:get /users/{id}", "http:GET /users/{}"},
		{"HTTP:GET  /users/:id/", "http:GET /users/{}"},
		{"http:/users", "http:ANY /users"},
		{"http:* /users", "http:ANY /users"},
		{"db:users", "db:public.users"},
		{`db:"Public"."Users"`, "db:public.users"},
		{"db:[dbo].[Orders]", "db:dbo.orders"},
		{"event: order.paid", "event:order.paid"},
		{"config:API_URL", "config:API_URL"},
		{"gql:Query.user", "gql:Query.user"},
		{"proto:/pkg.Svc/Get", "proto:pkg.Svc/Get"},
		{"pkg:NPM:@acme/auth#login", "pkg:npm:@acme/auth#login"},
		{"sym:GO:./a.go#F", "sym:go:a.go#F"},
	} {
		if got, err := scope.ParseContract(tt.in); err != nil || got != tt.want {
			t.Errorf("ParseContract(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ in, want string }{
		{"users", "no known prefix; use one of http: db:"},
		{"ftp:x", "no known prefix"},
		{"http:GET users", "needs a route"},
		{"http:FETCH /x", "needs a method"},
		{"db:a.b.c.d", "needs a table"},
		{"db:", "needs a table"},
		{"event:", "needs a topic"},
		{"config:A B", "without spaces"},
		{"pkg:npm:@acme/auth", "needs a registry"},
		{"sym:a.go", "no language"},
	} {
		if _, err := scope.ParseContract(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseContract(%q) = %v, want an error with %q", tt.in, err, tt.want)
		}
	}
}

func TestParseLookup(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"http:GET /x", "http:GET /x"},
		{"GET /x/:id", "http:GET /x/{}"},
		{"get /x", "http:GET /x"},
		{"/x/1?y=2", "http:ANY /x/1"},
		{"sym:go:a.go#F", "sym:go:a.go#F"},
		{"a.go#F", "a.go#F"},
		{"db:users", "db:public.users"},
	} {
		if got, err := scope.ParseLookup(tt.in); err != nil || got != tt.want {
			t.Errorf("ParseLookup(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	if _, err := scope.ParseLookup("what"); err == nil {
		t.Error("ParseLookup(what) succeeded")
	}
}

// One route has many spellings and one key.
func TestRouteSpellings(t *testing.T) {
	for want, spellings := range map[string][]string{
		"/users/{}": {"/users/:id", "/users/{id}", "/users/<int:id>", "/users/${id}", "`/users/${user.id}`", "/users/[id]",
			"/users/:id/", "/users//:id", "/users/:id?expand=1", "/users/{id:int}", "/users/{id:[0-9]+}", "/users/<id>",
			"https://api.example.com/users/{id}", "${BASE_URL}/users/${id}", "{{base}}/users/{{id}}", "/users/$id",
			"/users/:id(\\d+)", "/users/:id?", "^/users/(?P<pk>[0-9]+)/$", "/users/%s", "/users/{id}#top", "/users/#{id}"},
		"/users/{}/posts": {"/users/:id/posts", "/users/:id?/posts", "/users/{u}/posts/"},
		"/files/{*}": {
			"/files/*",
			"/files/*path",
			"/files/{path...}",
			"/files/<path:p>",
			"/files/[...slug]",
			"/files/{p:path}",
			"/files/:p*",
			"/files/{*p}",
		},
		"/a/{}.json": {"/a/:id.json", "/a/{id}.json", "/a/${x}.json"},
		"/":          {"/", "//", "https://example.com", "/?q=1"},
		"/Users":     {"/Users", "/Users/"},
	} {
		for _, s := range spellings {
			if got := scope.Route(s); got != want {
				t.Errorf("Route(%q) = %q, want %q", s, got, want)
			}
		}
	}
	for _, s := range []string{"", "users", "?x"} {
		if got := scope.Route(s); got != "" {
			t.Errorf("Route(%q) = %q, want none", s, got)
		}
	}
}

func TestRouteSpellingsProperty(t *testing.T) {
	param := []func(string) string{
		func(n string) string { return ":" + n },
		func(n string) string { return "{" + n + "}" },
		func(n string) string { return "<int:" + n + ">" },
		func(n string) string { return "${" + n + "}" },
		func(n string) string { return "[" + n + "]" },
	}
	name := rapid.StringMatching(`[a-z][a-z_]{0,5}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := "", ""
		for range rapid.IntRange(1, 5).Draw(t, "elements") {
			if rapid.Bool().Draw(t, "parameter") {
				a += "/" + rapid.SampledFrom(param).Draw(t, "spelling")(name.Draw(t, "name"))
				b += "/" + rapid.SampledFrom(param).Draw(t, "spelling")(name.Draw(t, "name"))
			} else {
				n := name.Draw(t, "literal")
				a, b = a+"/"+n, b+"/"+n
			}
		}
		b += rapid.SampledFrom([]string{"", "/", "?x=1", "/?y=${z}"}).Draw(t, "end")
		if ka, kb := scope.Route(a), scope.Route(b); ka != kb || ka == "" {
			t.Fatalf("%s is %q and %s is %q", a, ka, b, kb)
		}
	})
}

func TestContractsOverlap(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"http:GET /x", "http:GET /x", true},
		{"http:GET /x", "http:ANY /x", true},
		{"http:GET /x", "http:POST /x", false},
		{"db:public.a", "db:public.b", false},
	} {
		if scope.ContractsOverlap(tt.a, tt.b) != tt.want || scope.ContractsOverlap(tt.b, tt.a) != tt.want {
			t.Errorf("%s and %s overlap: want %v", tt.a, tt.b, tt.want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	for want, remotes := range map[string][]string{
		"github.com/acme/shop": {"git@github.com:acme/shop.git", "https://github.com/acme/shop", "https://github.com/Acme/Shop.git/",
			"ssh://git@github.com:22/acme/shop.git", "git://github.com/acme/shop.git", "https://user:token@GitHub.com/acme/shop.git",
			"github.com:acme/shop", "github.com/acme/shop", "ssh://git@ssh.github.com:443/acme/shop.git",
			"git+ssh://git@github.com/acme/shop", " https://github.com/acme/shop \n"},
		"gitlab.com/group/sub/name":  {"git@gitlab.com:group/sub/name.git", "https://gitlab.com/Group/Sub/Name"},
		"git.corp.example/Team/Repo": {"https://git.corp.example:8443/Team/Repo.git", "git@git.corp.example:Team/Repo"},
	} {
		for _, r := range remotes {
			if got, ok := scope.Fingerprint(r); !ok || got != want {
				t.Errorf("Fingerprint(%q) = %q, %v, want %q", r, got, ok, want)
			}
		}
	}
	for _, r := range []string{
		"", "/srv/git/x.git", "../x", "file:///srv/x/y", `C:\repos\x\y`, "C:/repos/x", "github.com", "https://github.com/acme",
		"acme/shop", "https://a b/c/d", "git@host:../x/y",
	} {
		if got, ok := scope.Fingerprint(r); ok {
			t.Errorf("Fingerprint(%q) = %q, want none", r, got)
		}
	}
}

// What is a fingerprint already is taken as it is: it must be what its address
// comes to.
func TestAFingerprintIsWhatItsAddressComesTo(t *testing.T) {
	part := rapid.StringMatching(`[a-z0-9._/-]{1,6}`)
	host := rapid.OneOf(rapid.SampledFrom([]string{"github.com", "www.github.com", "ssh.github.com", "git.corp.example"}), part)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join([]string{host.Draw(t, "host"), part.Draw(t, "owner"), part.Draw(t, "name")}, "/") +
			rapid.SampledFrom([]string{"", ".git", "/.git", "/"}).Draw(t, "end")
		got, ok := scope.Fingerprint(s)
		want, wanted := scope.Fingerprint("https://" + s)
		if got != want || ok != wanted {
			t.Fatalf("%q is %q, %v; as an address %q, %v", s, got, ok, want, wanted)
		}
	})
}

func TestCanonicalNamesEachBadItem(t *testing.T) {
	got, bad := scope.Canonical("scope", coord.ScopeSet{
		Paths:     []string{"./src/a.go", "src/a.go", "ok/", "/abs"},
		Symbols:   []string{"a.go#F", "nope"},
		Contracts: []string{"http:get /u/:id", "http:GET /u/{x}", "wat"},
	})
	want := coord.ScopeSet{Paths: []string{"src/a.go", "ok/**"}, Symbols: []string{"a.go#F"}, Contracts: []string{"http:GET /u/{}"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantBad := []problem.Field{
		{Path: "scope.paths[3]", Message: `"/abs" is absolute; give the path from the repository's root`},
		{Path: "scope.symbols[1]", Message: `"nope" names no definition; write <path>#<name>`},
		{Path: "scope.contracts[2]", Message: `"wat" has no known prefix; use one of http: db: event: config: gql: proto: pkg: sym: res:`},
	}
	if diff := cmp.Diff(wantBad, bad); diff != "" {
		t.Error(diff)
	}
}

func FuzzCanonicalFormsAreStable(f *testing.F) {
	for _, s := range []string{
		"http:GET /a/:b?c", "sym:go:a.go#F", "db:a.b", "git@github.com:a/b.git", "/users/{id", "http:GET /<a:/b>", "a#b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, parse := range map[string]func(string) (string, error){
			"contract": scope.ParseContract,
			"lookup":   scope.ParseLookup,
			"path":     scope.CleanPath,
			"symbol":   func(s string) (string, error) { x, err := scope.ParseSymbol(s); return x.String(), err },
			"fingerprint": func(s string) (string, error) {
				x, ok := scope.Fingerprint(s)
				if !ok {
					return "", problem.Newf(problem.Validation, "no fingerprint")
				}
				return x, nil
			},
		} {
			once, err := parse(s)
			if err != nil {
				continue
			}
			if twice, err := parse(once); err != nil || twice != once {
				t.Errorf("%s %q is %q, and again %q, %v", name, s, once, twice, err)
			}
		}
	})
}
