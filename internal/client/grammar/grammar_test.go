package grammar

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
)

// samples hold a definition in every language, and how its node is called.
var samples = []struct{ lang, source, kind string }{
	{"c", "int add(int a, int b) { return a + b; }", "function_definition"},
	{"cpp", "class A { public: int f(); };", "class_specifier"},
	{"csharp", "class A { public int F(int x) { return x; } }", "method_declaration"},
	{"elixir", "defmodule A do\n  def f(a), do: a\nend", "call"},
	{"go", "package p\nfunc F(a int) {}", "function_declaration"},
	{"java", "class A { int f(int x) { return x; } }", "method_declaration"},
	{"javascript", "function f(a) { return <b>{a}</b> }", "function_declaration"},
	{"kotlin", "fun f(a: Int): Int = a", "function_declaration"},
	{"php", "<?php function f($a) { return $a; }", "function_definition"},
	{"python", "def f(a):\n    return a", "function_definition"},
	{"ruby", "def f(a)\n  a\nend", "method"},
	{"rust", "fn f(a: i32) -> i32 { a }", "function_item"},
	{"scala", "def f(a: Int): Int = a", "function_definition"},
	{"swift", "func f(a: Int) -> Int { return a }", "function_declaration"},
	{"tsx", "const f = (a: string) => <b>{a}</b>", "arrow_function"},
	{"typescript", "function f(a: string): void {}", "function_declaration"},
}

func TestParse(t *testing.T) {
	for _, tt := range samples {
		t.Run(tt.lang, func(t *testing.T) {
			tree, err := Parse(tt.lang, []byte(tt.source), 0)
			if !Supported(tt.lang) {
				if !errors.Is(err, ErrUnsupported) {
					t.Errorf("error %v, want ErrUnsupported", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if tree.Broken() {
				t.Error("the sample does not parse")
			}
			if !has(tree, tt.kind) {
				t.Errorf("no %s in the tree", tt.kind)
			}
			checkShape(t, tree)
			broken, err := Parse(tt.lang, []byte(tt.source[:len(tt.source)*2/3]+" ((("), 0)
			if err != nil {
				t.Fatal(err)
			}
			checkShape(t, broken)
		})
	}
}

func has(tree *Tree, kind string) bool {
	for i := range tree.Nodes {
		if tree.Kind(i) == kind {
			return true
		}
	}
	return false
}

// checkShape holds that every node lies in its parent and that Next leads to
// the first node that does not.
func checkShape(t interface{ Fatalf(string, ...any) }, tree *Tree) {
	for i, n := range tree.Nodes {
		if n.Start > n.End || int(n.End) > len(tree.Source) {
			t.Fatalf("node %d spans %d-%d of %d bytes", i, n.Start, n.End, len(tree.Source))
		}
		if int(n.Next) <= i || int(n.Next) > len(tree.Nodes) {
			t.Fatalf("node %d: next is %d", i, n.Next)
		}
		for j := i + 1; j < int(n.Next); j++ {
			if tree.Nodes[j].Depth <= n.Depth || tree.Nodes[j].Start < n.Start || tree.Nodes[j].End > n.End {
				t.Fatalf("node %d is not inside its ancestor %d", j, i)
			}
		}
		if int(n.Next) < len(tree.Nodes) && tree.Nodes[n.Next].Depth > n.Depth {
			t.Fatalf("node %d lies deeper than %d, which it follows", n.Next, i)
		}
	}
}

// What was parsed as an edit must be what a fresh parse gives.
func TestParsePairAgreesWithParse(t *testing.T) {
	for _, tt := range samples {
		if !Supported(tt.lang) {
			continue
		}
		prefix := ""
		if tt.lang == "php" {
			prefix = "<?php\n"
		}
		old := []byte(prefix + strings.Repeat(strings.TrimPrefix(tt.source, "<?php ")+"\n", 5))
		half := len(prefix) + (len(old)-len(prefix))/5*2
		for _, new := range [][]byte{
			append(append(append([]byte{}, old[:half]...), "\n\n"...), old[half:]...),
			append([]byte{}, old[:half]...),
			[]byte(prefix),
			old,
			[]byte(strings.Replace(string(old), "f", "renamed", 1)),
		} {
			a, b, err := ParsePair(tt.lang, old, new, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, side := range []struct {
				got    *Tree
				source []byte
			}{{a, old}, {b, new}} {
				want, err := Parse(tt.lang, side.source, 0)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.Nodes, side.got.Nodes); diff != "" && !want.Broken() {
					t.Errorf("%s: fresh (-) and edited (+) differ for %q:\n%s", tt.lang, side.source, diff)
				}
			}
		}
	}
}

// What two versions share is copied from one to the other: it must lie where
// its text does, whatever the edit and however broken the file.
func TestParsePairOfRandomEdits(t *testing.T) {
	words := []string{"\n", "\n\n", " ", "x", "é", "(", ")", "{", "}", "/*", "*/", "\"", "1", "class", "f"}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(samples).Draw(t, "sample")
		if !Supported(s.lang) {
			return
		}
		old := strings.Repeat(s.source+"\n", rapid.IntRange(1, 6).Draw(t, "copies"))
		from := rapid.IntRange(0, len(old)).Draw(t, "from")
		to := min(len(old), from+rapid.IntRange(0, 30).Draw(t, "bytes"))
		new := old[:from] + strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(words, s.source)), 0, 5).Draw(t, "words"), "") + old[to:]
		a, b, err := ParsePair(s.lang, []byte(old), []byte(new), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, tree := range []*Tree{a, b} {
			checkShape(t, tree)
			for i, n := range tree.Nodes {
				row, end := bytes.Count(tree.Source[:n.Start], []byte{'\n'}), bytes.Count(tree.Source[:n.End], []byte{'\n'})
				if int(n.Row) != row || int(n.EndRow) != end {
					t.Fatalf("%s: node %d (%s) is on lines %d-%d, its text on %d-%d\nold %q\nnew %q", s.lang, i, tree.Kind(i), n.Row, n.EndRow, row, end,
						old, new)
				}
			}
		}
		if want, err := Parse(s.lang, []byte(new), 0); err != nil {
			t.Fatal(err)
		} else if diff := cmp.Diff(want.Nodes, b.Nodes); diff != "" && !want.Broken() && !a.Broken() && !b.Broken() {
			t.Fatalf("%s: fresh (-) and edited (+) differ:\n%s\nold %q\nnew %q", s.lang, diff, old, new)
		}
	})
}

// What both versions share may be something else in the new one: another kind
// of node, in another field of its parent, at another depth.
func TestWhatIsSharedTakesItsNewPlace(t *testing.T) {
	long := strings.Repeat("Name", 100) // long enough to be a subtree of its own
	for _, tt := range []struct{ name, lang, old, new string }{
		{"a value becomes a type", "go", "package p\nvar a = " + long + "\n", "package p\nvar a " + long + "\n"},
		{"a type becomes a value", "go", "package p\nvar a " + long + "\n", "package p\nvar a = " + long + "\n"},
		{"a name becomes a field", "go", "package p\nvar a = " + long + "(1, 2)\n", "package p\nvar a = b." + long + "(1, 2)\n"},
		{"a value becomes an operand", "go", "package p\nvar a = f(1, 2)\n", "package p\nvar a = 1 + f(1, 2)\n"},
		{"an operand becomes a value", "javascript", "x = y + f(1, 2);\n", "x = f(1, 2);\n"},
		{"a value becomes a key", "javascript", "x = {a: " + long + "};\n", "x = {" + long + "};\n"},
		{"a statement becomes an operand", "javascript", "g(1, 2)        ;\n", "g(1, 2)        + 1;\n"},
		{"a name becomes a label", "javascript", long + "        ;\n", long + "        : f();\n"},
		{"an element becomes an object", "javascript", "x = [g(1, 2)        ];\n", "x = [g(1, 2)        .y];\n"},
		{"a call becomes the left of a sum", "go", "package p\n\nfunc f() {\n\tg(1, 2) /* a long way */\n}\n",
			"package p\n\nfunc f() {\n\tg(1, 2) /* a long way */ .h()\n}\n"},
		{"an item becomes a condition", "python", "x = [(1, 2)        ]\n", "x = [(1, 2)        if y else z]\n"},
		{"a block becomes a consequence", "rust", "fn f() { x = { 1 }        ; }\n", "fn f() { x = { 1 }        + 2; }\n"},
		{"a call is wrapped", "typescript", "f(g(1, 2));\nh();\n", "k(f(g(1, 2)));\nh();\n"},
		{"a parameter gets a type before it", "java", "class A { int f(" + long + " x) { return x; } }",
			"class A { int f(final " + long + " x) { return x; } }"},
		{"a line above, a line below", "python", "def f(a):\n    return g(a)\n", "x = 1\ndef f(a):\n    return g(a)\ny = 2\n"},
	} {
		if !Supported(tt.lang) {
			continue
		}
		_, got, err := ParsePair(tt.lang, []byte(tt.old), []byte(tt.new), 0)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse(tt.lang, []byte(tt.new), 0)
		if err != nil || want.Broken() {
			t.Fatalf("%s: broken, %v", tt.name, err)
		}
		if diff := cmp.Diff(want.Nodes, got.Nodes); diff != "" {
			t.Errorf("%s: fresh (-) and edited (+) differ:\n%s", tt.name, diff)
		}
	}
}

// A file may be nested deeper than the count of depths goes.
func TestDepthsEndAtTheLargest(t *testing.T) {
	if !Supported("javascript") {
		return
	}
	const n = 70_000
	tree, err := Parse("javascript", []byte("x = "+strings.Repeat("(", n)+"1"+strings.Repeat(")", n)), 0)
	if err != nil {
		t.Fatal(err)
	}
	var last uint16
	for _, node := range tree.Nodes {
		if node.Depth < last && len(tree.Source) > int(node.Start) && tree.Source[node.Start] == '(' {
			t.Fatalf("the depth fell from %d to %d on the way in", last, node.Depth)
		}
		last = node.Depth
	}
	if last != 65535 || len(tree.Nodes) < n {
		t.Errorf("%d nodes, the innermost at depth %d", len(tree.Nodes), last)
	}
}

func TestParseGivesUpInTime(t *testing.T) {
	if !Supported("python") {
		return
	}
	source := strings.Repeat("x = [1, 2, {3: (4, 5)}]\n", 100_000)
	start := time.Now()
	if _, err := Parse("python", []byte(source), 5*time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Errorf("error %v after %v, want ErrTimeout", err, time.Since(start))
	}
}

func TestParseOfNothing(t *testing.T) {
	if tree, err := Parse("python", nil, 0); Supported("python") && (err != nil || len(tree.Nodes) != 1) {
		t.Errorf("%v, %v; want a root alone", tree, err)
	}
	if _, err := Parse("cobol", []byte("x"), 0); !errors.Is(err, ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, tt := range samples {
		if !Supported(tt.lang) {
			continue
		}
		source := []byte(strings.Repeat(tt.source+"\n", 2000))
		b.Run(tt.lang, func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse(tt.lang, source, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
