package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os/exec"
	"path"
	"slices"
	"sort"
	"strings"
)

// A tree is the Go files of a commit, by path.
type tree map[string][]byte

// A checker holds what the standard library exports, which all trees share.
type checker struct {
	fset *token.FileSet
	std  types.Importer
}

func newChecker() *checker {
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil { // a program that was built with -trimpath does not know
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	build.Default.CgoEnabled = false // the standard library in Go alone
	fset := token.NewFileSet()
	return &checker{fset: fset, std: importer.ForCompiler(fset, "source", nil)}
}

// A checked tree has the types of its packages.
type checked struct {
	*checker
	tree   tree
	module string
	pkgs   map[string]*types.Package // by folder
	open   map[string]bool           // that are being checked
	infos  []*types.Info
	files  map[string]*ast.File
	faults []string
}

// check has Go's type checker look at a whole module, tests and all.
func (k *checker) check(t tree) *checked {
	c := &checked{checker: k, tree: t, pkgs: map[string]*types.Package{}, open: map[string]bool{}, files: map[string]*ast.File{}}
	for line := range strings.Lines(string(t["go.mod"])) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			c.module = strings.TrimSpace(name)
		}
	}
	dirs := map[string]bool{}
	for f := range t {
		if strings.HasSuffix(f, ".go") && !c.elsewhere(f) {
			dirs[path.Dir(f)] = true
		}
	}
	var all []string
	for d := range dirs {
		all = append(all, d)
	}
	sort.Strings(all)
	for _, dir := range all {
		_, _ = c.folder(dir) // what is wrong is noted
	}
	for _, dir := range all {
		c.tests(dir)
	}
	return c
}

// elsewhere tells a file that is no part of the module.
func (c *checked) elsewhere(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		base := path.Base(dir)
		if _, nested := c.tree[dir+"/go.mod"]; nested || base == "testdata" || base == "vendor" || strings.HasPrefix(base, "_") ||
			strings.HasPrefix(base, ".") {
			return true
		}
	}
	return false
}

// Import finds a package of the module, or of the standard library.
func (c *checked) Import(name string) (*types.Package, error) {
	if name == c.module {
		return c.folder(".")
	}
	if dir, ok := strings.CutPrefix(name, c.module+"/"); ok {
		return c.folder(dir)
	}
	if name == "C" || strings.Contains(strings.Split(name, "/")[0], ".") {
		return nil, fmt.Errorf("%s is not of this module", name)
	}
	return c.std.Import(name)
}

// folder checks the package of a folder, once, without its tests.
func (c *checked) folder(dir string) (*types.Package, error) {
	if p, ok := c.pkgs[dir]; ok {
		return p, nil
	}
	if c.open[dir] {
		return nil, errors.New("import cycle")
	}
	c.open[dir] = true
	p := c.types(dir, c.parsed(dir, func(name string, _ *ast.File) bool { return !strings.HasSuffix(name, "_test.go") }))
	c.pkgs[dir] = p
	return p, nil
}

// tests checks a folder again, with its tests.
func (c *checked) tests(dir string) {
	isTest := func(name string) bool { return strings.HasSuffix(name, "_test.go") }
	own := c.parsed(dir, func(name string, f *ast.File) bool { return !strings.HasSuffix(f.Name.Name, "_test") })
	if slices.ContainsFunc(own, func(f *ast.File) bool { return isTest(c.fset.Position(f.Pos()).Filename) }) {
		c.types(dir, own)
	}
	c.types(dir, c.parsed(dir, func(name string, f *ast.File) bool { return isTest(name) && strings.HasSuffix(f.Name.Name, "_test") }))
}

// parsed are the files of a folder that this system compiles.
func (c *checked) parsed(dir string, want func(name string, f *ast.File) bool) (out []*ast.File) {
	var names []string
	for f := range c.tree {
		if path.Dir(f) == dir && strings.HasSuffix(f, ".go") {
			names = append(names, f)
		}
	}
	sort.Strings(names)
	ctx := build.Default
	ctx.CgoEnabled = false
	ctx.OpenFile = func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(c.tree[strings.TrimPrefix(name, "/")])), nil
	}
	for _, name := range names {
		if ok, err := ctx.MatchFile("/"+dir, path.Base(name)); err != nil || !ok {
			continue
		}
		f := c.files[name]
		if f == nil {
			var err error
			if f, err = parser.ParseFile(c.fset, name, c.tree[name], parser.SkipObjectResolution); err != nil {
				c.faults = append(c.faults, err.Error())
				continue
			}
			c.files[name] = f
		}
		if want(name, f) {
			out = append(out, f)
		}
	}
	return out
}

func (c *checked) types(dir string, files []*ast.File) *types.Package {
	if len(files) == 0 {
		return types.NewPackage(path.Join(c.module, dir), "none")
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: c, Error: func(err error) { c.faults = append(c.faults, err.Error()) }}
	p, _ := conf.Check(path.Join(c.module, dir), c.fset, files, info) // its errors are noted
	c.infos = append(c.infos, info)
	return p
}
