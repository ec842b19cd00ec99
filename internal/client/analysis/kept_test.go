package analysis

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/kept"
	"github.com/svc-hq/svc/internal/gittest"
)

// settle waits until what is found in files that were just written is kept.
func (r *testRepo) settle() {
	r.t.Helper()
	folder, dir := r.t.TempDir(), filepath.Join(r.root, ".git")
	r.write(".git/probe", "x")
	await.True(r.t, "what was just written is kept", func() bool {
		book := kept.Open(folder, "probe", dir, filepath.Join(dir, "probe"))
		book.Sketch("probe", func() ([]byte, byte) { return []byte("x"), 0 })
		book.Close()
		files, _ := filepath.Glob(filepath.Join(folder, "*.words"))
		return len(files) > 0
	})
}

// What is kept from one edit to the next saves work, and changes no fact.
func TestWhatIsKeptChangesNoFact(t *testing.T) {
	files, err := filepath.Glob("testdata/typescript/*outer*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := newRepo(t)
			for _, side := range []string{"base/", "side/"} {
				for _, f := range ar.Files {
					for _, at := range []string{side, "both/"} {
						if name, ok := strings.CutPrefix(f.Name, at); ok {
							r.write(name, string(f.Data))
						}
					}
				}
				if side == "base/" {
					r.commit()
				}
			}
			r.settle()
			want, keep := render(r.analyze(Options{Budget: 60e9})), t.TempDir()
			if got := render(r.analyze(Options{Budget: 60e9, Keep: keep})); got != want {
				t.Errorf("the first time:\n%s\nwithout:\n%s", got, want)
			}
			if got := render(r.analyze(Options{Budget: 60e9, Keep: keep})); got != want {
				t.Errorf("the second time:\n%s\nwithout:\n%s", got, want)
			}
		})
	}
}

// A file that was looked through and changed since is looked through again, and
// one that git has got to know is found.
func TestWhatIsKeptEndsWithTheFile(t *testing.T) {
	r, keep := newRepo(t), t.TempDir()
	routes := func(reply string) string {
		return "const express = require('express');\nconst { toView } = require('./mapper');\nconst router = express.Router();\n" +
			"router.get('/items/:id', (req, res) => {\n  res.json(" + reply + ");\n});\nmodule.exports = router;\n"
	}
	mapper := func(field string) string { return "exports.toView = (o) => ({ id: o.id, " + field + ": o.total });\n" }
	const route = "GET /items/{}"
	r.write("mapper.js", mapper("total"))
	r.write("plain.js", routes("{ id: 1 }"))
	r.commit()
	r.write("mapper.js", mapper("sum"))
	r.settle()
	if got := render(r.analyze(Options{Budget: 60e9, Keep: keep})); strings.Contains(got, route) {
		t.Fatalf("no route replies with it yet:\n%s", got)
	}
	base := Options{Base: strings.TrimSpace(r.git("rev-parse", "HEAD")), Budget: 60e9, Keep: keep}
	r.write("plain.js", routes("toView(load(req.params.id))"))
	if got := render(r.analyze(base, "mapper.js")); !strings.Contains(got, route) {
		t.Errorf("the route that begins to reply with it is not told:\n%s", got)
	}
	r.write("plain.js", routes("{ id: 1 }"))
	r.write("later.js", strings.ReplaceAll(routes("toView(load(req.params.id))"), "/items/", "/later/"))
	r.git("add", "later.js")
	if got := render(r.analyze(base, "mapper.js")); !strings.Contains(got, "GET /later/{}") || strings.Contains(got, route) {
		t.Errorf("the new file is not looked at, or the old one not again:\n%s", got)
	}
}

// Where no file had a route, none is looked for, until svc hears of one.
func TestAFirstRouteIsFound(t *testing.T) {
	r, keep := newRepo(t), t.TempDir()
	r.write("mapper.js", "exports.toView = (o) => ({ id: o.id, total: o.total });\n")
	r.write("other.js", "exports.twice = (n) => n * 2;\n")
	r.commit()
	base := Options{Base: strings.TrimSpace(r.git("rev-parse", "HEAD")), Budget: 60e9, Keep: keep}
	r.write("mapper.js", "exports.toView = (o) => ({ id: o.id, sum: o.total });\n")
	r.settle()
	r.analyze(base, "mapper.js")
	lists, _ := filepath.Glob(filepath.Join(keep, "*.lists"))
	if len(lists) != 1 {
		t.Fatalf("there are %d files of lists", len(lists))
	}
	if text, err := os.ReadFile(lists[0]); !strings.Contains(string(text), "lately routeless") {
		t.Fatalf("it is not kept that there are no routes: %s %v", text, err)
	}
	r.write("other.js", "const express = require('express');\nconst { toView } = require('./mapper');\nconst router = express.Router();\n"+
		"router.get('/items/:id', (req, res) => {\n  res.json(toView(load(req.params.id)));\n});\nmodule.exports = router;\n")
	r.analyze(base, "other.js")
	if got := render(r.analyze(base, "mapper.js")); !strings.Contains(got, "GET /items/{}") {
		t.Errorf("the route that now replies with it is not told:\n%s", got)
	}
}

// In a repository of many files an edit is followed to others as in a small
// one.
func TestManyFilesHideNoRoute(t *testing.T) {
	r := newRepo(t)
	var stream strings.Builder
	put := func(path, text string) {
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	stream.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata 1\nx\n")
	put("src/mapper.js", "exports.toView = (o) => ({ id: o.id, total: o.total });\n")
	put("src/routes.js", "const express = require('express');\nconst { toView } = require('./mapper');\nconst router = express.Router();\n"+
		"router.get('/items/:id', (req, res) => {\n  res.json(toView(load(req.params.id)));\n});\nmodule.exports = router;\n")
	for i := range 25_000 {
		put(fmt.Sprintf("data/d%d/f%d.txt", i/100, i), "")
	}
	gittest.Feed(t, r.root, stream.String(), "fast-import", "--quiet")
	base := strings.TrimSpace(r.git("rev-parse", "refs/heads/main"))
	r.git("read-tree", base)
	r.git("checkout", "-q", base, "--", "src")
	r.write("src/mapper.js", "exports.toView = (o) => ({ id: o.id, sum: o.total });\n")
	got := render(r.analyze(Options{Base: base, Budget: 60e9, Keep: t.TempDir()}, "src/mapper.js"))
	if !strings.Contains(got, "GET /items/{}") {
		t.Errorf("the route that replies with it is not told:\n%s", got)
	}
}
