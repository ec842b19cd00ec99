package extinct_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-hq/svc/internal/client/extinct"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
)

// A name is told only where code newly uses it in the form of its definition.
func TestNewMentions(t *testing.T) {
	dir := gittest.Init(t)
	function, method, member, class, value := coord.FormCall, coord.FormMethod, coord.FormMember, coord.FormType, coord.FormValue
	for _, tc := range []struct {
		file, name string
		form       coord.NameForm
		old, now   string
		line       int // 0: nothing is told
	}{
		{"a.go", "parseToken", function, "package a\n", "package a\n\nvar x = parseToken(1)\n", 3},
		{"a.go", "parseToken", function, "package a\n", "package a\n\n// parseToken(1) is gone\nvar x = \"parseToken(2)\"\n", 0},
		{"a.go", "parseToken", function, "package a\n", "package a\n\nfunc parseToken(n int) int { return parseToken(n) }\n", 0},
		{"a.go", "parseToken", function, "package a\n", "package a\n\nvar x = other.parseToken(1)\n", 0},
		{"a.go", "ParseToken", function, "package a\n", "package a\n\nimport \"x.org/auth\"\n\nvar x = auth.ParseToken(1)\n", 5},
		{"a.go", "parseToken", function, "package a\n\nvar x = parseToken(1)\n", "package a\n\n\n\nvar x = parseToken(1)\n", 0},
		{"a.go", "parseToken", function, "package a\n\nvar x = parseToken(1)\n",
			"package a\n\nvar x = parseToken(1)\nvar y = parseToken(2)\n", 4},
		{"a.go", "Revoke", method, "package a\n", "package a\n\nfunc f(s *S) { s.Revoke(1) }\n", 3},
		{"a.go", "Revoke", method, "package a\n", "package a\n\nimport \"x.org/auth\"\n\nfunc f() { auth.Revoke(1) }\n", 0},
		{"a.go", "Revoke", method, "package a\n", "package a\n\nfunc f() { s := Revoke(1) }\n", 0},
		{"a.go", "Expiry", member, "package a\n", "package a\n\nvar t = Token{\n\tExpiry: 3,\n}\n", 4},
		{"a.go", "Expiry", member, "package a\n", "package a\n\nfunc f(t *T) int { return t.Expiry }\n", 3},
		{"a.go", "Session", class, "package a\n", "package a\n\nfunc f(s *Session) {}\n", 3},
		{"a.go", "Session", class, "package a\n", "package a\n\nfunc (h *Handle) f() error { return h.Session.Close() }\n", 3},
		{"a.go", "Session", class, "package a\n", "package a\n\ntype Session struct{}\n\nfunc f(s *Session) {}\n", 0},
		{"a.rs", "resolve_path", function, "", "fn f() { crate::paths::resolve_path(1); }\n", 1},
		{"a.rs", "ensure_ready", function, "", "fn f() { ensure_ready!(x, 'a', \"b\"); }\n", 1},
		{"a.rs", "Shape", class, "", "impl Draw for Shape {}\n", 1},
		{"a.rs", "Shape", class, "", "fn f<'a>(x: &'a mut Shape) {}\n", 1},
		{"a.rs", "from_parts", method, "", "let x = Url::from_parts(a, b);\n", 1},
		{"a.py", "load_rules", function, "", "from rules import load_rules\n\nload_rules()\n", 3},
		{"a.py", "load_rules", function, "", "x = '''\nload_rules()\n'''  # load_rules()\n", 0},
		{"a.py", "load_rules", function, "", "def f(load_rules):\n    pass\n", 0},
		{"a.py", "revoke_all", method, "", "self.revoke_all()\n", 1},
		{"a.py", "MAX_AGE", value, "", "if age > MAX_AGE:\n    pass\n", 1},
		{"a.py", "MAX_AGE", value, "", "MAX_AGE = 3\nif age > MAX_AGE:\n    pass\n", 0},
		{"a.ts", "renderRow", function, "", "const a = `x ${renderRow(1)} renderRow(2)`\n", 1},
		{"a.ts", "renderRow", function, "", "const re = /['\"]/; renderRow(1) // it's\n", 1},
		{"a.ts", "renderRow", method, "", "class A {\n  renderRow(a: number) {\n    return this.renderRow(a)\n  }\n}\n", 0},
		{"a.ts", "RowProps", class, "", "const p = {} as RowProps\n", 1},
		{"A.java", "revokeAll", method, "", "class A { void f() { revokeAll(1); } }\n", 1},
		{"A.java", "revokeAll", method, "", "class A { void revokeAll(int n) { } void g() { revokeAll(1); } }\n", 0},
		{"A.cs", "TokenStore", class, "", "class A { private static TokenStore store; }\n", 1},
		{"a.cpp", "Widget", class, "", "static const Widget &widget(struct Thing *t);\n", 1},
		{"a.cpp", "Widget", class, "", "class Widget {\n};\nWidget w;\n", 0},
	} {
		gittest.Write(t, dir, tc.file, tc.now)
		lang := rules.LanguageOf(tc.file).Name
		f := []coord.FileFacts{{Path: tc.file, Language: lang, Status: coord.FileModified}}
		extinct.Mentions(extinct.OnDisk(t.Context(), dir), f, []coord.WatchedName{
			{Family: coord.NameFamily(lang), Name: tc.name, Form: tc.form, Files: []string{"gone.x"}},
		}, func(*coord.FileFacts) []byte { return []byte(tc.old) })
		if err := os.Remove(filepath.Join(dir, tc.file)); err != nil {
			t.Fatal(err)
		}
		line := 0
		if len(f[0].References) > 0 {
			line = f[0].References[0].Line
		}
		if line != tc.line {
			t.Errorf("%s, %s %s: told at line %d, want %d:\n%s", tc.file, tc.form, tc.name, line, tc.line, tc.now)
		}
	}
}

// What is gone is gone from the whole tree; what takes other parameters is the
// only one of its name, and all its calls fit.
func TestSole(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		takes [][]coord.Param // nil: it was removed
		want  bool
	}{
		{"removed", map[string]string{"b.go": "package a\n"}, nil, true},
		{"in remarks and texts alone", map[string]string{"b.go": "package a\n\n// parseToken\nvar x = `parseToken`\n"}, nil, true},
		{"defined elsewhere", map[string]string{"b.go": "package b\n\nfunc parseToken() {}\n"}, nil, false},
		{"a method of another", map[string]string{"b.go": "package b\n\nvar _ = x.parseToken\n"}, nil, false},
		{"part of a longer name", map[string]string{"b.go": "package b\n\nvar parseTokens = 1\n"}, nil, true},
		{"in another language", map[string]string{"b.py": "parseToken()\n"}, nil, true},
		{"every call fits", map[string]string{"a.go": "package a\n\nfunc parseToken(a, b int) {}\n",
			"b.go": "package a\n\nvar x = parseToken(1, 2)\n"}, [][]coord.Param{{{}, {}}}, true},
		{"a call does not fit", map[string]string{"a.go": "package a\n\nfunc parseToken(a, b int) {}\n",
			"b.go": "package a\n\nvar x = parseToken(1, 2)\nvar y = z.parseToken(1)\n"}, [][]coord.Param{{{}, {}}}, false},
		{"nobody calls it", map[string]string{"a.go": "package a\n\nfunc parseToken(a, b int) {}\n"}, [][]coord.Param{{{}, {}}}, false},
		{"two of the name", map[string]string{"a.go": "package a\n\nfunc parseToken(a, b int) {}\n",
			"b.go": "package b\n\nfunc parseToken(a, b int) {}\n\nvar x = parseToken(1, 2)\n"}, [][]coord.Param{{{}, {}}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := gittest.Init(t)
			for name, text := range tc.files {
				gittest.Write(t, dir, name, text)
			}
			s := coord.SymbolFacts{Key: "sym:go:a.go#parseToken", Kind: "function", Change: coord.Removed, Compatibility: coord.Breaking}
			if tc.takes != nil {
				s.Change, s.Takes = coord.Signature, tc.takes
			}
			f := []coord.FileFacts{{Path: "a.go", Language: "go", Status: coord.FileModified, Symbols: []coord.SymbolFacts{s}}}
			if err := extinct.MarkSole(extinct.OnDisk(t.Context(), dir), f, nil); err != nil {
				t.Fatal(err)
			}
			if got := f[0].Symbols[0].Sole; got != tc.want {
				t.Errorf("sole is %v", got)
			}
			if n := len(extinct.Watch(f)); tc.want != (n == 1) {
				t.Errorf("%d names are watched", n)
			}
		})
	}
}
