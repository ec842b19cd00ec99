package rules

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A line that cannot mean anything is told of with what it should have been.
func TestARuleThatCannotMeanAnythingIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"provides":              "want <role> <contract>",
		"offers http call=get":  "want <role> <contract>",
		"provides ftp call=get": "want <role> <contract>",
		"provides http path=0":  "nothing sets it off",
	} {
		var l Line
		for w := range strings.FieldsSeq(text) {
			if key, value, ok := strings.Cut(w, "="); ok {
				l.Options = append(l.Options, Option{key, value})
			} else {
				l.Words = append(l.Words, w)
			}
		}
		if _, err := parseRule("x", nil, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
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
