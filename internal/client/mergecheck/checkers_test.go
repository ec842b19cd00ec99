package mergecheck_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A language is one that is checked: two changes that git merges and its own
// checker does not, and the same with the use taken out again.
type language struct {
	name    string
	needs   string // what has to be there beside git; "" for what every machine has that builds svc
	base    files
	one     files
	two     files
	fine    files // instead of two
	want    []string
	install func(t testing.TB, root string)
}

var languages = []language{
	{
		name: "go",
		base: files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "shop/store.go": "package shop\n\ntype Store struct{}\n\n" +
			"func (s *Store) Open(name string) error { return nil }\n", "app/app.go": "package app\n",
			"far/far.go": "package far\n\nvar wrong int = \"text\"\n"},
		one: files{"shop/store.go": "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Open(name string, n int) error { return nil }\n"},
		two: files{"app/app.go": "package app\n\nimport \"example.org/shop/shop\"\n\nfunc Run(s *shop.Store) error { return s.Open(\"a\") }\n",
			"app/wrong.go": "package app\n\nvar wrong int = \"text\"\n"},
		fine: files{"app/app.go": "package app\n\nimport \"example.org/shop/shop\"\n\nfunc Run(s *shop.Store) *shop.Store { return s }\n"},
		want: []string{"app/app.go:5: not enough arguments in call to s.Open"},
	},
	{ // folders with nothing to compile, or with tests alone
		name: "go of another system",
		base: files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a.go": "package shop\n\nfunc Total() int { return 1 }\n",
			"gen/gen.go": "//go:build ignore\n\npackage main\n", "t/t_test.go": "package t\n"},
		one: files{"a.go": "package shop\n\nfunc Sum() int { return 1 }\n", "gen/gen.go": "//go:build ignore\n\npackage main // all\n"},
		two: files{"t/t_test.go": "package t\n\nimport \"example.org/shop\"\n\nvar x = shop.Total()\n",
			"b.go": "package shop\n\nvar y = Total()\n"},
		fine: files{"b.go": "package shop\n\nvar y = 1\n"},
		want: []string{"b.go:3: undefined: Total"},
	},
	{
		name: "go tests",
		base: files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a.go": "package shop\n\nfunc Total() int { return 1 }\n"},
		one:  files{"a.go": "package shop\n\nfunc Sum() int { return 1 }\n"},
		two:  files{"a_test.go": "package shop\n\nvar x = Total()\n"},
		fine: files{"a_test.go": "package shop\n\nvar x = 1\n"},
		want: []string{"a_test.go:3: undefined: Total"},
	},
	{ // as where code is generated that is not in the repository
		name: "go tests beside what never compiles",
		base: files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a.go": "package shop\n\nfunc Total() int { return 1 }\n",
			"gen/gen.go": "package gen\n\nvar x = generated\n"},
		one:  files{"a.go": "package shop\n\nfunc Sum() int { return 1 }\n", "gen/more.go": "package gen\n"},
		two:  files{"a_test.go": "package shop\n\nvar x = Total()\n"},
		fine: files{"a_test.go": "package shop\n\nvar x = 1\n"},
		want: []string{"a_test.go:3: undefined: Total"},
	},
	{
		name: "go cycle",
		base: files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a/a.go": "package a\n", "b/b.go": "package b\n"},
		one:  files{"a/a.go": "package a\n\nimport _ \"example.org/shop/b\"\n"},
		two:  files{"b/b.go": "package b\n\nimport _ \"example.org/shop/a\"\n"},
		fine: files{"b/b.go": "package b\n\nvar X = 1\n"},
		want: []string{"go.mod:1: import cycle not allowed"},
	},
	{
		name: "cc",
		base: files{"include/shop.h": "int total(int n);\n", "src/a.c": "#include \"shop.h\"\nint total(int n) { return n; }\n",
			"src/b.c": "int b;\n"},
		one: files{"include/shop.h": "int total(int n, int m);\n",
			"src/a.c": "#include \"shop.h\"\nint total(int n, int m) { return n + m; }\n"},
		two:  files{"src/b.c": "#include \"shop.h\"\nint b(void) { return total(1); }\n"},
		fine: files{"src/b.c": "#include \"shop.h\"\nint b(void) { return 1; }\n"},
		want: []string{"src/b.c:2: error: too few arguments to function"},
	},
	{
		name: "cc, a function that has another name",
		base: files{"shop.h": "int total(int n);\n", "a.c": "#include \"shop.h\"\nint total(int n) { return n; }\n", "b.c": "int b;\n"},
		one:  files{"shop.h": "int sum(int n);\n", "a.c": "#include \"shop.h\"\nint sum(int n) { return n; }\n"},
		two:  files{"b.c": "#include \"shop.h\"\nint b(void) { return total(1); }\n"},
		fine: files{"b.c": "#include \"shop.h\"\nint b(void) { char *p = 1; return 1; }\n"}, // a warning
		want: []string{"b.c:2: error: "},
	},
	{
		name: "c++",
		base: files{"lib/shop.hpp": "#pragma once\nstruct Shop { int total() const { return 1; } };\n",
			"lib/shop.cpp": "#include \"shop.hpp\"\nint one(const Shop &s) { return s.total(); }\n", "app/app.cpp": "int b;\n"},
		one: files{"lib/shop.hpp": "#pragma once\nstruct Shop { int sum() const { return 1; } };\n",
			"lib/shop.cpp": "#include \"shop.hpp\"\nint one(const Shop &s) { return s.sum(); }\n"},
		two:  files{"app/app.cpp": "#include \"../lib/shop.hpp\"\nint b(const Shop &s) { return s.total(); }\n"},
		fine: files{"app/app.cpp": "#include \"../lib/shop.hpp\"\nint b(const Shop &s) { return 1; }\n"},
		want: []string{"app/app.cpp:2: error: "},
	},
	{
		name: "tsc", needs: "tsc", install: installed("typescript", "web/node_modules"), want: tsWant,
		base: tsBase, one: tsOne, two: tsTwo, fine: tsFine,
	},
	{
		name: "tsc of a solution", needs: "tsc", install: installed("typescript", "web/node_modules"), want: tsWant,
		base: with(tsBase, files{"tsconfig.json": `{"files": [], "references": [{"path": "./tsconfig.app.json"}]}`,
			"tsconfig.app.json": `{"compilerOptions": {"strict": true, "composite": true, "types": []}, "include": ["src"]}`}),
		one: tsOne, two: tsTwo, fine: tsFine,
	},
	{ // the packages of a workspace are links to where they are worked on
		name: "tsc of a workspace", needs: "tsc",
		want: []string{"app/main.ts:1: error TS2305: Module '\"@acme/lib\"' has no exported member 'total'."},
		base: files{".gitignore": "node_modules\n", "lib/package.json": `{"name": "@acme/lib", "types": "index.ts"}`,
			"lib/index.ts": "export function total(n: number): number { return n }\n", "app/main.ts": "export {}\n",
			"app/tsconfig.json": `{"compilerOptions": {"strict": true, "types": [], "module": "nodenext"}}`},
		one:  files{"app/main.ts": "import { total } from \"@acme/lib\"\nexport const t = total(1)\n"},
		two:  files{"lib/index.ts": "export function sum(n: number): number { return n }\n"},
		fine: files{"lib/index.ts": "export function total(n: number, m = 1): number { return n + m }\n"},
		install: func(t testing.TB, root string) {
			installed("typescript", "web/node_modules")(t, root)
			link(t, "../../lib", filepath.Join(root, "node_modules", "@acme", "lib"))
		},
	},
	{
		name: "tsc 7", needs: "tsc7", install: installed("typescript", "$SVC_TEST_TYPESCRIPT7"), want: tsWant,
		base: tsBase, one: tsOne, two: tsTwo, fine: tsFine,
	},
	{
		name: "mypy", needs: "mypy", want: []string{"app.py:4: error: Module \"shop\" has no attribute \"total\""},
		base: with(pyBase, files{"mypy.ini": "[mypy]\nstrict = True\n"}), one: pyOne, two: pyTwo, fine: pyFine,
	},
	{ // of two files of one name it takes one
		name: "mypy with scripts", needs: "mypy", want: []string{"app.py:4: error: Module \"shop\" has no attribute \"total\""},
		base: with(pyBase, files{"mypy.ini": "[mypy]\nstrict = True\n"}),
		one:  with(pyOne, files{"x-1/setup.py": "x = 1\n", "x-2/setup.py": "x = 2\n", "x-3/setup.py": "x = 3\n"}),
		two:  pyTwo, fine: pyFine,
	},
	{ // it looks at nothing where there is one file that it cannot read
		name: "mypy with a file of another Python", needs: "mypy", want: []string{"app.py:4: error: Module \"shop\" has no attribute \"total\""},
		base: with(pyBase, files{"mypy.ini": "[mypy]\nstrict = True\n", "old.py": "print 1\n"}),
		one:  with(pyOne, files{"old.py": "print 2\n", "older.py": "exec 'x'\n"}),
		two:  pyTwo, fine: pyFine,
	},
	{
		name: "pyright", needs: "pyright", want: []string{"app.py:4: error: \"total\" is unknown import symbol"},
		base: with(pyBase, files{"pyrightconfig.json": "{}"}), one: pyOne, two: pyTwo, fine: pyFine,
	},
	{
		name: "cargo", needs: "cargo", want: []string{"app/src/lib.rs:1: error[E0425]: cannot find function `total` in crate `shop`"},
		base: files{"Cargo.toml": "[workspace]\nmembers = [\"shop\", \"app\"]\nresolver = \"2\"\n",
			"shop/Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"shop/src/lib.rs": "pub fn total() -> i32 { 1 }\n",
			"app/Cargo.toml":  "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nshop = { path = \"../shop\" }\n",
			"app/src/lib.rs":  "pub fn run() -> i32 { 1 }\n"},
		one:  files{"shop/src/lib.rs": "pub fn sum() -> i32 { 1 }\n"},
		two:  files{"app/src/lib.rs": "pub fn run() -> i32 { shop::total() }\n"},
		fine: files{"app/src/lib.rs": "pub fn run() -> i32 { 2 }\n"},
	},
	{
		name: "javac", needs: "javac", want: []string{"App.java:3: error: cannot find symbol, symbol method total()"},
		base: files{"lib/src/main/java/org/acme/Shop.java": "package org.acme;\npublic class Shop { public int total() { return 1; } }\n",
			"app/src/main/java/org/acme/app/App.java": "package org.acme.app;\nclass App {}\n"},
		one: files{"lib/src/main/java/org/acme/Shop.java": "package org.acme;\npublic class Shop { public int sum() { return 1; } }\n"},
		two: files{"app/src/main/java/org/acme/app/App.java": "package org.acme.app;\nimport org.other.Missing;\n" +
			"class App { int n(org.acme.Shop s) { return s.total(); } Missing m; }\n"},
		fine: files{"app/src/main/java/org/acme/app/App.java": "package org.acme.app;\nimport org.other.Missing;\n" +
			"class App { int n(org.acme.Shop s) { return 1; } Missing m; }\n"},
	},
}

var (
	tsBase = files{".gitignore": "node_modules\n", "tsconfig.json": `{"compilerOptions": {"strict": true, "types": []}, "include": ["src"]}`,
		"src/shop.ts": "export interface Shop { total: number }\nexport const shop: Shop = { total: 1 }\n", "src/app.ts": "export {}\n",
		"src/wrong.ts": "export const wrong: number = \"text\"\n"}
	tsOne = files{"src/shop.ts": "export interface Shop { sum: number }\nexport const shop: Shop = { sum: 1 }\n"}
	tsTwo = files{"src/app.ts": "import { shop } from \"./shop\"\nexport const n: number = shop.total\n",
		"src/wrong.ts": "export const w: number = \"t\"\n"}
	tsFine = files{"src/app.ts": "import { shop } from \"./shop\"\nexport const n = shop\n"}
	tsWant = []string{"src/app.ts:2: error TS2339: Property 'total' does not exist on type 'Shop'."}

	pyBase = files{"shop.py": "def total() -> int:\n    return 1\n", "app.py": "x: int = 1\n"}
	pyOne  = files{"shop.py": "def sum_up() -> int:\n    return 1\n"}
	pyTwo  = files{"app.py": "x: int = 1\n\n\nfrom shop import total\n\ny: int = total()\nz: int = \"text\"\n"}
	pyFine = files{"app.py": "x: int = 1\nz: int = 2\n"}
)

// A check that was ended while git wrote its files keeps no later one out.
func TestAGitThatWasEndedKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	p := newPair(t, files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a.go": "package shop\n\nfunc Total() int { return 1 }\n"},
		files{"a.go": "package shop\n\nfunc Sum() int { return 1 }\n"}, files{"b.go": "package shop\n\nvar x = Total()\n"})
	if err := errors.Join(os.MkdirAll(p.dir, 0o700), os.WriteFile(filepath.Join(p.dir, "merged.index.lock"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	tells(t, p.check(), "b.go:3: undefined: Total")
}

// What is wrong already keeps Go from looking at what needs it: that is said.
func TestWhatCouldNotBeLookedAtIsSaid(t *testing.T) {
	t.Parallel()
	p := newPair(t, files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a/a.go": "package a\n\nfunc Total() int { return 1 }\n",
		"gen/gen.go": "package gen\n\nvar X = generated\n", "app/app.go": "package app\n\nimport _ \"example.org/shop/gen\"\n"},
		files{"a/a.go": "package a\n\nfunc Sum() int { return 1 }\n"},
		files{"app/app.go": "package app\n\nimport (\n\t\"example.org/shop/a\"\n\t_ \"example.org/shop/gen\"\n)\n\nvar X = a.Total()\n"})
	r := p.check()
	if len(r.New) != 0 || len(r.Skipped) != 1 || !strings.HasSuffix(r.Skipped[0], " was not looked at: gen/gen.go") {
		t.Errorf("told %v, skipped %q", r.New, r.Skipped)
	}
}

// installed puts a package where the repository would have it.
func installed(name, from string) func(testing.TB, string) {
	return func(t testing.TB, root string) {
		t.Helper()
		if from = os.ExpandEnv(from); !filepath.IsAbs(from) {
			var err error
			if from, err = filepath.Abs(filepath.Join("../../..", from)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(filepath.Join(from, name)); err != nil {
			t.Fatal(err)
		}
		link(t, filepath.Join(from, name), filepath.Join(root, "node_modules", name))
	}
}

func link(t testing.TB, to, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// here reports whether a checker is to be run: SVC_TEST_CHECKERS lists those
// that are not on every machine that builds svc (make test-checkers has all).
func here(name string) bool {
	return name == "" || slices.Contains(strings.Fields(os.Getenv("SVC_TEST_CHECKERS")), name)
}

// What git merges and the language's own checker does not is told in its words,
// and nothing else: not what was wrong before, on either side.
func TestCheckers(t *testing.T) {
	for _, l := range languages {
		if !here(l.needs) {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			look := func(two files) *pair {
				p := newPair(t, l.base, l.one, two)
				p.trusted = true
				if l.install != nil {
					l.install(t, p.root)
				}
				return p
			}
			p := look(l.two)
			tells(t, p.check(), l.want...)
			if out, err := exec.Command("git", "-C", p.root, "status", "--short").CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("the check left something behind: %v %s", err, out)
			}
			tells(t, look(l.fine).check())
		})
	}
}
