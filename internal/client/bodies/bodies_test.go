package bodies

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/outline"
)

// nowhere is a world without other files.
type nowhere struct{}

func (nowhere) Find(*outline.File, string) []Place   { return nil }
func (nowhere) Method(*outline.File, string) []Place { return nil }

func parts(lang, src string) string {
	o := &outline.File{Lang: lang, Path: "x", Source: []byte(src), Traits: &outline.Traits{}}
	var out []string
	for _, p := range New(nowhere{}).Bound(o, 0, len(src)).Parts() {
		out = append(out, strings.TrimSpace(p.Path+" "+p.Type))
	}
	return strings.Join(out, ", ")
}

// How languages write what a reply holds.
func TestExpressions(t *testing.T) {
	for _, tt := range []struct{ lang, src, want string }{
		{"typescript", "{ a: 1, b: 'x', c: { d: true }, ...rest }", "a integer, b string, c object, c.d boolean"},
		{"typescript", "ok ? { a: 1 } : { a: 2, b: 3 }", "a integer, b integer"},
		{"typescript", "rows.map((r: any) => ({ id: r.id }))", "[], [].id"},
		{"typescript", "db.user.findUnique({ where: { id } })", ""},
		{"javascript", "Object.assign({}, { a: 1 }, { b: 2 })", "a integer, b integer"},
		{"javascript", "_.omit({ a: 1, b: 2 }, ['b'])", "a integer"},
		{"python", "{'a': 1, **rest}", "a integer"},
		{"python", "jsonify(a=1, b='x')", "a integer, b string"},
		{"ruby", "{ a: 1, 'b' => 2 }", "a integer, b integer"},
		{"php", "['a' => 1, 'b' => ['c' => 2]]", "a integer, b object, b.c integer"},
		{"kotlin", `mapOf("a" to 1, "b" to listOf(mapOf("c" to 2)))`, "a integer, b array, b[].c integer"},
		{"java", `Map.of("a", 1, "b", "x")`, "a integer, b string"},
		{"java", `new HashMap<String, Object>() {{ put("a", 1); }}`, "a integer"},
		{"scala", `Json.obj("a" -> 1)`, "a integer"},
		{"csharp", "new { a = 1, b = new { c = 2 } }", "a integer, b object, b.c integer"},
		{"go", `gin.H{"a": 1, "b": []string{}}`, "a integer, b array"},
		{"rust", `Ok(Json(json!({"a": 1})))`, "a integer"},
	} {
		if got := parts(tt.lang, tt.src); got != tt.want {
			t.Errorf("%s: %s holds %s, want %s", tt.lang, tt.src, got, tt.want)
		}
	}
}

// Whatever a file holds, reading it ends.
func FuzzExpr(f *testing.F) {
	for _, lang := range []string{"typescript", "python", "ruby", "php", "kotlin", "java", "scala", "csharp", "go", "rust", "swift"} {
		f.Add(lang, "f(x).g({ a: [1, ...b], 'c': (d) => { return { e } } })?.h<T>(i -> j) || k as T[] if l else |m| n {o}")
		f.Add(lang, "if (a) { {\"b\" to c} } else new D<E>() {{ put(\"x\", y); }} ?: \"\"\"z")
	}
	f.Fuzz(func(t *testing.T, lang, src string) {
		if len(src) < 2000 {
			parts(lang, src)
			e := New(nowhere{})
			o := &outline.File{Lang: lang, Path: "x", Source: []byte(src), Traits: &outline.Traits{}}
			e.typ(src, &scope{o: o})
			e.results(&scope{o: o, to: len(src)})
			e.bound("a", len(src), &scope{o: o, to: len(src)})
		}
	})
}
