package references

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/kept"
	"github.com/svc-hq/svc/internal/client/rules"
)

// inMemory is a tree that is written down.
type inMemory map[string]string

func (m inMemory) Has(file string) bool { _, ok := m[file]; return ok }

func (m inMemory) Read(file string) []byte {
	if text, ok := m[file]; ok {
		return []byte(text)
	}
	return nil
}

func (m inMemory) List(dir string) (out []string) {
	for _, f := range slices.Sorted(maps.Keys(m)) {
		if path.Dir(f) == path.Clean(dir) {
			out = append(out, path.Base(f))
		}
	}
	return out
}

func (m inMemory) pick(is func(base string) bool) (out []string) {
	for _, f := range slices.Sorted(maps.Keys(m)) {
		if is(path.Base(f)) {
			out = append(out, f)
		}
	}
	return out
}

func (m inMemory) Ending(end string) []string {
	return m.pick(func(base string) bool { return strings.HasSuffix(base, end) })
}

func (m inMemory) Named(base string) []string {
	return m.pick(func(b string) bool { return b == base })
}

func (m inMemory) Listed(_ string, find func() []string) []string { return find() }

func (m inMemory) Lately(_ string, find func() bool) bool { return find() }

func (m inMemory) Anew() {}

func (m inMemory) Sketch(string, func([]byte) byte) *kept.Sketch { return nil }

// A circular language is how programs of one refer to themselves: lines in
// which NAME and OTHER are names of values, TYPE and BASE of types, and FILE is
// the stem of a file.
type circular struct {
	files []string
	lines []string
}

var ecmaCircles = []string{
	"import express from 'express'\nconst app = express()\nconst router = express.Router()\n",
	"import axios from 'axios'\nconst client = axios.create({ baseURL: NAME })\n",
	"import { NAME, OTHER } from './FILE'\n", "import NAME from './FILE'\n", "import * as NAME from './FILE'\n",
	"const NAME = require('./FILE')\n", "const { NAME } = require('./FILE')\n",
	"export * from './FILE'\n", "export { NAME } from './FILE'\n", "export { NAME as OTHER } from './FILE'\n",
	"module.exports = { NAME, OTHER }\n", "module.exports = NAME\n", "exports.NAME = OTHER\n", "module.exports.NAME = NAME\n",
	"module.exports = { NAME: { OTHER: NAME }, OTHER: NAME.OTHER }\n", "export default NAME\n",
	"const NAME = OTHER\n", "let NAME = `${OTHER}/x/${NAME}`\n", "NAME = NAME + OTHER\n", "const NAME = OTHER || NAME\n",
	"const NAME = { OTHER: NAME, path: OTHER.NAME }\n", "const NAME = [OTHER, NAME]\n", "const NAME = cond ? OTHER : NAME\n",
	"const NAME = () => OTHER()\n", "const NAME = (x) => `${NAME(x)}/${OTHER(x)}`\n",
	"function NAME(x) { return OTHER(x) + NAME }\n", "async function NAME(x) { return fetch(`${OTHER}/items/${NAME}`) }\n",
	"async function NAME(x) { const x = OTHER(x); return NAME(x, `${x}/y`) }\n", "const NAME = OTHER(NAME)\n",
	"class TYPE extends BASE { path = this.path; NAME() { return this.NAME() + BASE.NAME } }\n",
	"class TYPE { OTHER = TYPE.OTHER; get NAME() { return fetch(this.OTHER + this.NAME) } }\n",
	"type TYPE = { NAME: BASE; OTHER: TYPE[] }\n", "interface TYPE extends BASE { NAME: TYPE }\n",
	"router.get(NAME, (req, res) => res.json(OTHER))\n", "app.use(OTHER, NAME)\n", "router.use('/NAME', require('./FILE'))\n",
	"app.use(`/${NAME}`, router)\nrouter.use('/x', app)\n", "const NAME = router.route(OTHER)\nNAME.get(NAME)\n",
	"client.get(NAME)\n", "fetch(NAME.OTHER)\n", "NAME.get(OTHER)\n", "const NAME = client.create({ baseURL: OTHER })\n",
}

var circles = map[string]circular{
	"javascript": {[]string{"a.js", "b.js", "index.js"}, ecmaCircles},
	"typescript": {[]string{"a.ts", "b.ts", "index.ts"}, ecmaCircles},
	"python": {[]string{"app/a.py", "app/b.py", "app/__init__.py"}, []string{
		"from fastapi import FastAPI, APIRouter\napp = FastAPI()\nrouter = APIRouter(prefix=NAME)\n",
		"from .FILE import NAME, OTHER\n", "from . import FILE as NAME\n", "from .FILE import *\n", "import app.FILE as NAME\n",
		"NAME = OTHER\n", "NAME = NAME + OTHER\n", "NAME = f'{OTHER}/x/{NAME}'\n", "NAME = {'OTHER': NAME, 'x': OTHER['NAME']}\n",
		"NAME = OTHER or NAME\n", "NAME = [OTHER, NAME]\n", "NAME = lambda x: OTHER(NAME)\n",
		"def NAME(x):\n    return OTHER(x) + NAME\n", "def NAME(x):\n    x = OTHER(x)\n    return requests.get(f'{x}/{NAME}')\n",
		"class TYPE(BASE):\n    NAME = OTHER\n    OTHER = NAME\n    x: TYPE\n" +
			"    def NAME(self):\n        return self.NAME() + self.OTHER\n",
		"class TYPE(BASE, TYPE):\n    serializer_class = BASE\n    fields = BASE.fields\n",
		"app.include_router(NAME, prefix=OTHER)\n", "router.include_router(router, prefix='/x')\n",
		"@router.get(NAME)\ndef OTHER() -> TYPE:\n    return OTHER()\n",
		"urlpatterns = [path('x/', include('app.FILE')), path(NAME, include(urlpatterns))]\n",
		"NAME = requests.Session()\nNAME.get(OTHER)\n",
		"@router.get('/x')\ndef TYPE(NAME):\n    OTHER = entry(NAME=NAME, x=OTHER)\n    return {NAME: OTHER, OTHER: 1}\n",
	}},
	"go": {[]string{"a/a.go", "a/b.go", "c/c.go"}, []string{
		"package a\n\nimport \"net/http\"\n", "const NAME = OTHER\n", "const NAME = OTHER + \"/x\" + NAME\n", "var NAME = OTHER(NAME)\n",
		"func NAME(x string) string { return OTHER(x) + NAME(x) }\n", "func NAME() string { return fmt.Sprintf(\"%s/%s\", OTHER, NAME()) }\n",
		"type TYPE struct { BASE; NAME *TYPE }\n", "type TYPE = BASE\n", "type TYPE interface { BASE; NAME() TYPE }\n",
		"func (t *TYPE) NAME() { t.NAME(); http.Get(t.OTHER + NAME) }\n",
		"func NAME(mux *http.ServeMux) { OTHER(mux); mux.Handle(NAME, mux); mux.HandleFunc(\"GET \"+OTHER, NAME) }\n",
		"func NAME(r *mux.Router) { s := r.PathPrefix(OTHER).Subrouter(); NAME(s); OTHER(s) }\n",
	}},
	"java": {[]string{"src/main/java/x/A.java", "src/main/java/x/B.java", "src/main/java/x/C.java"}, []string{
		"package x;\n", "import x.TYPE;\n", "import static x.TYPE.*;\n",
		"class TYPE extends BASE { static final String NAME = BASE.OTHER; static final String OTHER = NAME + TYPE.OTHER; }\n",
		"@RestController @RequestMapping(TYPE.NAME) class TYPE extends BASE { @GetMapping(NAME + OTHER) TYPE NAME() { return OTHER(); } }\n",
		"@RequestMapping(BASE.NAME) interface TYPE extends BASE { String NAME = BASE.NAME; }\n",
		"record TYPE(BASE NAME, TYPE OTHER) {}\n",
		"class TYPE { TYPE NAME; String OTHER() { return restTemplate.getForObject(NAME + OTHER(), BASE.class); } }\n",
	}},
	"kotlin": {[]string{"src/main/kotlin/x/A.kt", "src/main/kotlin/x/B.kt", "src/main/kotlin/x/C.kt"}, []string{
		"package x\n", "import x.TYPE\n", "const val NAME = OTHER + NAME\n", "val NAME = OTHER\n", "val NAME get() = OTHER\n",
		"fun NAME(x: String): String = OTHER(x) + NAME(x)\n", "data class TYPE(val NAME: BASE, val OTHER: TYPE?) : BASE()\n",
		"object TYPE : BASE { const val NAME = BASE.NAME; val OTHER = TYPE.OTHER }\n",
		"fun Route.NAME() { route(OTHER) { NAME(); OTHER(); get(NAME) { call.respond(OTHER) } } }\n",
		"@RequestMapping(TYPE.NAME) class TYPE : BASE() { @GetMapping(NAME) fun OTHER(): TYPE = OTHER() }\n",
	}},
	"scala": {[]string{"src/main/scala/x/A.scala", "src/main/scala/x/B.scala", "src/main/scala/x/C.scala"}, []string{
		"package x\n", "import x.TYPE._\n", "object TYPE extends BASE { val NAME = OTHER; def OTHER = NAME + TYPE.OTHER }\n",
		"case class TYPE(NAME: BASE, OTHER: TYPE) extends BASE\n", "trait TYPE extends BASE { val NAME: String = OTHER }\n",
		"object TYPE { val NAME = path(OTHER) { NAME ~ OTHER } }\n", "object TYPE { def NAME(x: String): Route = OTHER(NAME(x)) }\n",
		"object TYPE { val NAME = Router(\"/x\" -> OTHER, \"/y\" -> NAME) }\n",
	}},
	"csharp": {[]string{"A.cs", "B.cs", "C.cs"}, []string{
		"using X;\nnamespace X;\n", "class TYPE : BASE { public const string NAME = BASE.OTHER; const string OTHER = NAME + TYPE.OTHER; }\n",
		"record TYPE(BASE NAME, TYPE OTHER);\n", "[Route(TYPE.NAME)] class TYPE : BASE { [HttpGet(NAME)] public TYPE OTHER() => OTHER(); }\n",
		"class TYPE { string NAME => OTHER; string OTHER => NAME + this.NAME; void F() { client.GetAsync(NAME + OTHER); } }\n",
		"var app = WebApplication.Create();\nvar NAME = app.MapGroup(OTHER);\nvar OTHER = NAME.MapGroup(NAME);\n" +
			"OTHER.MapGet(NAME, () => OTHER);\n",
		"static class TYPE { static void NAME(this WebApplication app) { app.NAME(); app.OTHER(); app.MapGet(OTHER, NAME); } }\n",
	}},
	"php": {[]string{"app/A.php", "app/B.php", "routes/api.php"}, []string{
		"<?php\nnamespace App;\n", "use App\\TYPE;\n", "const NAME = OTHER . NAME;\n", "$NAME = $OTHER . $NAME;\n", "$NAME = [$OTHER, $NAME];\n",
		"class TYPE extends BASE { const NAME = BASE::OTHER; const OTHER = self::NAME; public $x = self::OTHER; }\n",
		"function NAME($x) { return OTHER($x) . NAME($x); }\n", "Route::prefix($NAME)->group(__DIR__ . '/FILE.php');\n",
		"Route::get(TYPE::NAME, [TYPE::class, 'OTHER']);\n", "require __DIR__ . '/FILE.php';\n",
		"class TYPE extends BASE { public function NAME() { return $this->NAME() . $this->OTHER(); } }\n",
		"$NAME = new Client(['base_uri' => $OTHER]);\n$NAME->get($NAME . $OTHER);\n",
	}},
	"ruby": {[]string{"app/a.rb", "app/b.rb", "config/routes.rb"}, []string{
		"require_relative 'FILE'\n", "NAME = OTHER\n", "N = N + M\nM = N\n",
		"class TYPE < BASE\n  N = BASE::N\n  def NAME\n    OTHER + NAME\n  end\nend\n",
		"module TYPE\n  include BASE\n  include TYPE\nend\n", "def NAME(x)\n  OTHER(NAME(x))\nend\n",
		"class TYPE < Grape::API\n  mount TYPE\n  mount BASE => '/x'\nend\n",
		"Rails.application.routes.draw do\n  mount TYPE => NAME\n  draw(:FILE)\n  namespace :NAME do\n    resources :OTHER\n  end\nend\n",
		"class TYPE < BASE\n  def NAME\n    HTTParty.get(\"#{NAME}/#{OTHER}\")\n  end\n  def OTHER\n    NAME\n  end\nend\n",
	}},
	"rust": {[]string{"src/a.rs", "src/b.rs", "src/lib.rs"}, []string{
		"mod FILE;\npub use FILE::*;\n", "use crate::FILE::NAME;\n", "use self::NAME as OTHER;\n", "pub use crate::FILE::{NAME, OTHER};\n",
		"const NAME: &str = OTHER;\n", "const N: &str = concat!(N, M);\n",
		"fn NAME() -> Router { Router::new().nest(OTHER, NAME()).merge(OTHER()) }\n",
		"struct TYPE { NAME: Box<BASE>, OTHER: Vec<TYPE> }\n", "type TYPE = BASE;\n",
		"fn NAME(x: &str) -> String { format!(\"{}/{}\", OTHER(x), NAME(x)) }\n",
		"impl TYPE { fn NAME(&self) { self.NAME(); reqwest::get(self.OTHER) } }\n", "fn NAME() -> impl Filter { OTHER().or(NAME()) }\n",
	}},
	"swift": {[]string{"A.swift", "B.swift", "C.swift"}, []string{
		"let NAME = OTHER\n", "let NAME = \"\\(OTHER)/\\(NAME)\"\n", "func NAME() -> String { return OTHER() + NAME() }\n",
		"class TYPE: BASE { var NAME: TYPE; let OTHER = BASE.OTHER }\n", "struct TYPE: Codable { let NAME: BASE; let OTHER: [TYPE] }\n",
		"enum TYPE: String { case NAME = \"x\"\n  var path: String { return self.path + TYPE.NAME.path } }\n",
		"extension TYPE { static let NAME = TYPE.OTHER; static let OTHER = TYPE.NAME }\n",
	}},
	"c": {[]string{"a.c", "b.h", "c.h"}, []string{
		"#include \"FILE.h\"\n", "#define NAME OTHER\n", "#define NAME(x) OTHER(NAME(x))\n",
		"struct TYPE { struct BASE *NAME; struct TYPE *OTHER; };\n",
		"int NAME(int x) { return OTHER(x) + NAME(x); }\n", "typedef struct TYPE BASE;\n",
	}},
	"cpp": {[]string{"a.cpp", "b.hpp", "c.hpp"}, []string{
		"#include \"FILE.hpp\"\n", "class TYPE : public BASE { TYPE *NAME; };\n", "using TYPE = BASE;\n",
		"namespace NAME { using namespace OTHER; }\n",
		"template <class T> struct TYPE : BASE<TYPE<T>> {};\n", "auto NAME() { return OTHER() + NAME(); }\n",
	}},
	"elixir": {[]string{"lib/a.ex", "lib/b.ex", "lib/router.ex"}, []string{
		"defmodule TYPE do\n  use BASE\n  import TYPE\n  @NAME @OTHER\n  @OTHER @NAME\n  def NAME(x), do: OTHER(NAME(x))\nend\n",
		"defmodule TYPE do\n  use Phoenix.Router\n  scope @NAME, TYPE do\n    get @OTHER, BASE, :NAME\n    forward \"/x\", TYPE\n  end\nend\n",
		"defmodule TYPE do\n  defstruct [:NAME, OTHER: %TYPE{}]\n  def NAME, do: HTTPoison.get(\"#{NAME()}/#{@OTHER}\")\nend\n",
	}},
}

// write makes a program of a language, as picks say.
func (c circular) write(picks []byte) inMemory {
	next := func(n int) int {
		if len(picks) == 0 {
			return 0
		}
		at := int(picks[0]) % n
		picks = picks[1:]
		return at
	}
	values, types := []string{"a", "b", "baseUrl"}, []string{"A", "B", "C"}
	out := inMemory{"go.mod": "module example.com/x\n", "package.json": `{"name": "x"}`}
	for i := 0; len(picks) > 0 && i < 60; i++ {
		stem := c.files[next(len(c.files))]
		stem = strings.TrimSuffix(path.Base(stem), path.Ext(stem))
		line := strings.NewReplacer("NAME", values[next(len(values))], "OTHER", values[next(len(values))],
			"TYPE", types[next(len(types))], "BASE", types[next(len(types))], "FILE", stem).Replace(c.lines[next(len(c.lines))])
		file := c.files[next(len(c.files))]
		if out[file] == "" {
			out[file] = strings.NewReplacer("NAME", "a", "OTHER", "b", "TYPE", "A", "BASE", "B", "FILE", stem).Replace(c.lines[0])
		}
		out[file] += line
	}
	return out
}

// Reading a program that refers to itself comes to an end: names that stand for
// each other, functions that call themselves, types that extend and hold each
// other, files that import, hand on and mount each other.
func FuzzCircles(f *testing.F) {
	debug.SetMaxStack(64 << 20) // who goes round in circles is caught early
	langs := slices.Sorted(maps.Keys(circles))
	for lang := range langs {
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 1))
			picks := make([]byte, 7*(1+r.IntN(40)))
			for i := range picks {
				picks[i] = byte(r.Uint32())
			}
			f.Add(byte(lang), picks)
		}
	}
	f.Fuzz(func(t *testing.T, lang byte, picks []byte) {
		read(t, circles[langs[int(lang)%len(langs)]].write(picks))
	})
}

// read reads a whole program, as svc index does.
func read(t *testing.T, tree inMemory) {
	t.Helper()
	r := Open(tree, false)
	for _, file := range slices.Sorted(maps.Keys(tree)) {
		if rules.LanguageOf(file).Name == "" {
			continue
		}
		v, err := r.Read(file, func() ([]byte, error) { return tree.Read(file), nil })
		if err != nil {
			continue // a build without C reads nothing of it
		}
		r.Complete(file, v)
		for _, c := range v.Contracts {
			if c.Key == "" {
				t.Errorf("%s: a contract without a key: %+v", file, c)
			}
		}
	}
}

// Names that name another twice double with each step, and there may be many.
func TestNamesThatDouble(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "const a%d = `${a%d}/${a%d}`\nfunction f%d(x) { return f%d(x) + f%d(x) }\n", i, i+1, i+1, i, i+1, i+1)
	}
	text.WriteString("module.exports = { a0, f0 }\nfetch(a0)\nfetch(f0(1))\nfunction g() { return fetch(`${a0}/x`) }\n")
	read(t, inMemory{"a.js": text.String(), "b.js": "const { a0, f0 } = require('./a')\nfetch(`${a0}/y`)\nfetch(f0(2))\n"})
}
