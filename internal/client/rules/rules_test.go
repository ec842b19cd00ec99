package rules

import (
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// A line that cannot mean anything is told of with its place and what it should
// have been.
func TestARuleThatCannotMeanAnythingIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"provides":                               "want <role> <contract>",
		"offers http call=get":                   "want <role> <contract>",
		"provides ftp call=get":                  "want <role> <contract>",
		"provides http path=0":                   "nothing sets it off",
		"provides http call=get pathh=0":         "nobody knows the option pathh=",
		"provides http call=get Path=0":          "nobody knows the option Path=",
		"provides http call=get path=":           "the option path= says nothing",
		"provides http call=get path=0 path=1":   "the option path= is there twice",
		"provides http call=get path=0 optional": "want <role> <contract>",
		"needs express call=get":                 "want <role> <contract>",
	} {
		_, err := parse("go/made.rules", linesOf([]byte("# made up\nneeds x\n"+text+"\n")), true)
		if err == nil || !strings.Contains(err.Error(), "go/made.rules:3: "+want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// What people write for their own framework is held to the same, and to what
// only svc's own tests hold svc's rules to.
func TestOwnRulesAreReadOrRefused(t *testing.T) {
	for text, want := range map[string]string{
		"provides http call=get path=0|first":           `nobody knows the selector "first" of path=`,
		"provides http call=get min=two path=0":         "min= wants a number",
		"provides http match=(x path=0":                 "the pattern of match= is none",
		"provides http match=GET":                       "has no group",
		"provides http call=get pathh=0":                "nobody knows the option pathh=",
		"provides http call=acme.route method=0 path=1": "",
	} {
		set, err := Own(Source{Name: ".svc/rules/go/acme.rules", Lang: "go", Text: []byte("# ours\n" + text + "\n")})
		switch {
		case want == "" && (err != nil || set.Hash() == ""):
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), ".svc/rules/go/acme.rules:2: ") || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	_, err := Own(Source{Name: ".svc/rules/cobol/acme.rules", Lang: "cobol", Text: []byte("# ours\n")})
	if err == nil || !strings.Contains(err.Error(), `svc reads no language "cobol"`) {
		t.Errorf("a language that nobody reads: %v", err)
	}
	if set, err := Own(); set != nil || err != nil || set.Hash() != "" {
		t.Errorf("no rules: %v, %v", set, err)
	}
}

// Whatever stands in a rules file, it is read or refused.
func FuzzParse(f *testing.F) {
	f.Add("needs x\nprovides http call=*.get path=0\n")
	f.Add("scope http call=a call=b\n# x\nuses db read=, under=\n")
	f.Fuzz(func(t *testing.T, text string) {
		some, err := parse("go/made.rules", linesOf([]byte(text)), true)
		if err != nil && !strings.HasPrefix(err.Error(), "go/made.rules:") {
			t.Errorf("an error without its place: %v", err)
		}
		for _, r := range some {
			for _, o := range r.Options {
				if !slices.Contains(options, o.Key) {
					t.Errorf("%s= was let through", o.Key)
				}
			}
		}
	})
}

// Every option is described, so that whoever writes a rule finds it.
func TestEveryOptionIsDescribed(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		if !regexp.MustCompile("`" + o + "(=[^`]*)?`").Match(readme) {
			t.Errorf("README.md does not say what %s= means", o)
		}
	}
}

func TestEveryFolderLoads(t *testing.T) {
	entries, err := rulesFS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		m, err := Load(e.Name())
		if err != nil {
			t.Error(err)
			continue
		}
		files, _ := frameworkFiles(e.Name())
		for _, file := range files {
			lines, err := Lines(file)
			if err != nil {
				t.Fatal(err)
			}
			some, err := parse(file, lines, true)
			if err == nil {
				err = check(file, lines, some)
			}
			if err != nil {
				t.Error(err)
			}
		}
		for _, r := range m.Rules {
			for _, name := range r.Calls {
				if !m.WantsCall(name[strings.LastIndexByte(name, '.')+1:]) {
					t.Errorf("%s %s: call %s is not wanted", e.Name(), r.Framework, name)
				}
			}
		}
	}
}

func TestNamesOfFiles(t *testing.T) {
	for file, want := range map[string]string{
		"a/b.go": "go", "x.tsx": "typescript", "lib/a.d.ts": "typescript", ".env.local": "env", "Makefile.unknown": "", "a.rb": "ruby",
	} {
		if got := LanguageOf(file).Name; got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	for file, want := range map[string]bool{"a_test.go": true, "src/test/java/A.java": true, "spec/a_spec.rb": true, "src/latest.ts": false} {
		if got := TestPath(file); got != want {
			t.Errorf("%s: a test: %v, want %v", file, got, want)
		}
	}
	for url, want := range map[string]bool{"https://api.github.com/user": true, "http://localhost:3000/user": false, "/user": false} {
		if got := IsExternal(url); got != want {
			t.Errorf("%s: external: %v, want %v", url, got, want)
		}
	}
}

// What a path must have before its expression is compiled is what the
// expression asks of every path.
func TestWhatARuleAsksOfAPathFirst(t *testing.T) {
	folders, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		m, err := Load(folder.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Rules {
			if r.within == "" {
				continue
			}
			seen++
			parsed, err := syntax.Parse(r.Options.Get("file"), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			if parsed.Op != syntax.OpConcat || !slices.ContainsFunc(parsed.Sub, func(one *syntax.Regexp) bool {
				return one.Op == syntax.OpLiteral && one.Flags&syntax.FoldCase == 0 && strings.Contains(string(one.Rune), r.within)
			}) {
				t.Errorf("%s:%d: not every path that %s matches has %q", r.Framework, r.Line, r.Options.Get("file"), r.within)
			}
		}
	}
	if seen < 5 {
		t.Errorf("%d rules name a folder", seen)
	}
}
