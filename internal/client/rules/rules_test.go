package rules

import (
	"errors"
	"fmt"
	"os"
	"regexp"
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
		_, err := parse("go/made.rules", linesOf([]byte("# made up\nneeds x\n"+text+"\n")))
		if err == nil || !strings.Contains(err.Error(), "go/made.rules:3: "+want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// Whatever stands in a rules file, it is read or refused.
func FuzzParse(f *testing.F) {
	f.Add("needs x\nprovides http call=*.get path=0\n")
	f.Add("scope http call=a call=b\n# x\nuses db read=, under=\n")
	f.Fuzz(func(t *testing.T, text string) {
		some, err := parse("go/made.rules", linesOf([]byte(text)))
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
		for _, r := range m.Rules {
			if err := sound(r); err != nil {
				t.Errorf("%s %s: %v", e.Name(), r.Framework, err)
			}
			for _, name := range r.Calls {
				if !m.WantsCall(name[strings.LastIndexByte(name, '.')+1:]) {
					t.Errorf("%s %s: call %s is not wanted", e.Name(), r.Framework, name)
				}
			}
		}
	}
}

// sound tells whether a rule's expressions can be compiled, and have the groups
// that are read.
func sound(r *Rule) error {
	for _, key := range []string{"file", "match", "then", "under"} {
		if _, err := regexp.Compile(r.Options.Get(key)); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if r.Match != nil && r.Contract == "event" {
		if r.Match().SubexpIndex("name") < 0 && r.Match().SubexpIndex("text") < 0 {
			return errors.New("match: want a group called name or text")
		}
	} else if r.Match != nil && r.Match().NumSubexp() != 2 && r.Match().SubexpIndex("path") < 0 {
		return errors.New("match: want two groups, a method and a path, or one called path")
	}
	for key, e := range map[string]Expr{"then": r.Then, "under": r.Under} {
		if e != nil && (e().NumSubexp() != 1 || r.Match == nil && (key == "then" || r.Role != "uses")) {
			return fmt.Errorf("%s: want one group, beside match=, or the call of a client", key)
		}
	}
	return nil
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
