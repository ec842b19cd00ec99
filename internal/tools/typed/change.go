package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

const (
	perCommit  = 4   // changes that are tried beside one commit
	maxAdded   = 600 // lines that a commit may add
	madeMember = "Extra77"
)

// beside draws changes for the parent of a commit, and judges them.
func (d *draw) beside(b string) error {
	base, err := d.git("", "rev-parse", "--verify", "-q", b+"^")
	if err != nil {
		return nil // the first
	}
	words, err := d.added(base, b, "*.go")
	if err != nil || len(words) == 0 {
		return err
	}
	before, err := d.tree(base)
	if err != nil {
		return err
	}
	after, err := d.tree(b)
	if err != nil {
		return err
	}
	was := d.checker.check(before)
	if len(was.faults) > 0 || len(d.checker.check(after).faults) > 0 {
		return nil // one that needs other modules, or never compiled here
	}
	drawn := was.definitions(words)
	d.chance.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	for n, o := range drawn {
		if n == perCommit {
			break
		}
		if err := d.judge(base, b, was, o); err != nil {
			return err
		}
	}
	return nil
}

// judge makes a change of one definition and asks the checker.
func (d *draw) judge(base, b string, was *checked, o types.Object) error {
	what, files := was.changed(o, d.chance.IntN(2) == 0)
	if len(files) == 0 {
		return nil
	}
	changed := maps.Clone(was.tree)
	maps.Copy(changed, files)
	if len(d.checker.check(changed).faults) > 0 {
		return nil // not all uses could be adapted
	}
	a, err := d.commit(base, files)
	if err != nil {
		return err
	}
	out, err := d.git("", "merge-tree", "--write-tree", a, b)
	if err != nil {
		return nil // git stops, and says more
	}
	merged, err := d.tree(strings.Fields(out)[0])
	if err != nil {
		return err
	}
	p := pair{base: base, a: a, b: b, what: what}
	if faults := d.checker.check(merged).faults; len(faults) > 0 {
		p.breaks, p.why = true, faults[0]
	}
	return d.take(p)
}

// take keeps a pair, as long as there are not enough of its kind. Rows are
// written before svc is asked about any.
func (d *draw) take(p pair) error {
	if p.breaks && d.have(true) >= d.breaks || !p.breaks && d.have(false) >= d.fits ||
		slices.ContainsFunc(d.pairs, func(o pair) bool { return o.b == p.b && o.what == p.what }) {
		return nil
	}
	d.pairs = append(d.pairs, p)
	f, err := os.OpenFile(filepath.Join(d.dir, rowsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%s\t%s\t%s\t%v\t%s\n", p.base, p.a, p.b, p.what, p.breaks,
		strings.NewReplacer("\t", " ", "\n", " ").Replace(p.why))
	fmt.Fprintf(os.Stderr, "%s beside %.10s: breaks %v; %d and %d so far\n", p.what, p.b, p.breaks, d.have(true), d.have(false))
	return errors.Join(err, f.Close())
}

// added are the words of the lines that a commit adds.
func (d *draw) added(base, b, files string) (map[string]bool, error) {
	diff, err := d.git("", "diff", "-U0", base, b, "--", files)
	if err != nil {
		return nil, err
	}
	words, lines := map[string]bool{}, 0
	for l := range strings.Lines(diff) {
		if !strings.HasPrefix(l, "+") || strings.HasPrefix(l, "+++") {
			continue
		}
		lines++
		code, _, _ := strings.Cut(l[1:], "//")
		for _, w := range strings.FieldsFunc(code, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			words[w] = true
		}
	}
	if lines > maxAdded {
		return nil, nil
	}
	return words, nil
}

// definitions are the functions, methods, fields, types, constants and
// variables of a module that go by one of the words.
func (c *checked) definitions(words map[string]bool) (out []types.Object) {
	seen := map[token.Pos]bool{}
	for _, info := range c.infos {
		for id, o := range info.Defs {
			if o == nil || !words[o.Name()] || seen[o.Pos()] || len(o.Name()) < 3 || strings.HasSuffix(c.file(o.Pos()), "_test.go") {
				continue
			}
			seen[o.Pos()] = true
			switch o := o.(type) {
			case *types.Func, *types.TypeName, *types.Const:
				if o.Parent() == nil || o.Parent() == o.Pkg().Scope() {
					out = append(out, o)
				}
			case *types.Var:
				if o.IsField() && !o.Embedded() || o.Parent() == o.Pkg().Scope() {
					out = append(out, o)
				}
			}
			_ = id
		}
	}
	sort.Slice(out, func(i, j int) bool { return c.at(out[i].Pos()) < c.at(out[j].Pos()) })
	return out
}

func (c *checked) file(p token.Pos) string { return c.fset.Position(p).Filename }

func (c *checked) at(p token.Pos) string {
	where := c.fset.Position(p)
	return fmt.Sprintf("%s:%06d", where.Filename, where.Offset)
}

// An edit replaces nothing by a text, or a name by another.
type edit struct {
	file      string
	from, to  int
	insertion string
}

// changed changes a definition, with all that uses it in the tree.
func (c *checked) changed(o types.Object, sign bool) (string, tree) {
	name := c.file(o.Pos()) + "#" + o.Name()
	if f, ok := o.(*types.Func); ok && sign && f.Name() != "init" && f.Name() != "main" {
		return "a parameter for " + name, c.apply(c.parameter(f))
	}
	if t, ok := o.(*types.TypeName); ok && types.IsInterface(t.Type()) && sign {
		return "a method for " + name, c.apply(c.method(t))
	}
	if o.Name() == "init" || o.Name() == "main" {
		return "", nil
	}
	return "another name for " + name, c.apply(c.renamed(o))
}

// renamed gives an object another name.
func (c *checked) renamed(o types.Object) (out []edit) {
	for _, id := range c.mentions(o) {
		p := c.fset.Position(id.Pos())
		out = append(out, edit{p.Filename, p.Offset, p.Offset + len(id.Name), o.Name() + "77"})
	}
	return out
}

// mentions are all names that mean an object, which the checks of a package
// with and without its tests call by two objects.
func (c *checked) mentions(o types.Object) (out []*ast.Ident) {
	seen := map[token.Pos]bool{}
	add := func(all map[*ast.Ident]types.Object) {
		for id, x := range all {
			if x != nil && x.Pos() == o.Pos() && x.Name() == o.Name() && !seen[id.Pos()] {
				seen[id.Pos()] = true
				out = append(out, id)
			}
		}
	}
	for _, info := range c.infos {
		add(info.Defs)
		add(info.Uses)
	}
	return out
}

// parameter gives a function one parameter more, and every call an argument.
func (c *checked) parameter(f *types.Func) (out []edit) {
	at := map[token.Pos]bool{}
	for _, id := range c.mentions(f) {
		at[id.Pos()] = true
	}
	done := 0
	for name, file := range c.files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if id := calledName(n.Fun); id != nil && at[id.Pos()] {
					out = append(out, c.last(name, n.Rparen, len(n.Args) > 0, "0"))
					done++
				}
			case *ast.FuncDecl:
				if at[n.Name.Pos()] {
					out = append(out, c.grow(name, n.Type.Params))
					done++
				}
			case *ast.Field:
				if ft, ok := n.Type.(*ast.FuncType); ok && len(n.Names) == 1 && at[n.Names[0].Pos()] {
					out = append(out, c.grow(name, ft.Params))
					done++
				}
			}
			return true
		})
	}
	if done != len(at) || f.Signature().Variadic() {
		return nil // it is also used without a call
	}
	return out
}

func calledName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// grow adds a parameter to a list, named if the others are.
func (c *checked) grow(file string, params *ast.FieldList) edit {
	text := "int"
	if len(params.List) == 0 || len(params.List[0].Names) > 0 {
		text = "extra77 int"
	}
	return c.last(file, params.Closing, len(params.List) > 0, text)
}

// last puts something at the end of a list, before its bracket.
func (c *checked) last(file string, closing token.Pos, some bool, text string) edit {
	p := c.fset.Position(closing).Offset
	src, at := c.tree[file], p
	for at > 0 && strings.ContainsRune(" \t\n", rune(src[at-1])) {
		at--
	}
	if some && src[at-1] == ',' {
		return edit{file, at, at, text + ","}
	}
	if some {
		text = ", " + text
	}
	return edit{file, p, p, text}
}

// method gives an interface one method more, and all its implementers in the
// tree that method.
func (c *checked) method(t *types.TypeName) (out []edit) {
	iface := t.Type().Underlying().(*types.Interface)
	if iface.NumMethods() == 0 {
		return nil
	}
	done := map[string]bool{}
	for name, file := range c.files {
		for _, decl := range file.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if !ok || done[c.at(s.Pos())] {
					continue
				}
				done[c.at(s.Pos())] = true
				if s.Name.Pos() == t.Pos() {
					if it, ok := s.Type.(*ast.InterfaceType); ok {
						p := c.fset.Position(it.Methods.Closing).Offset
						out = append(out, edit{name, p, p, "\t" + madeMember + "()\n"})
					}
				} else if o := c.object(s.Name); o != nil && !types.IsInterface(o.Type()) && s.TypeParams == nil && s.Assign == 0 &&
					(types.Implements(o.Type(), iface) || types.Implements(types.NewPointer(o.Type()), iface)) {
					end := len(c.tree[name])
					out = append(out, edit{name, end, end, fmt.Sprintf("\nfunc (*%s) %s() {}\n", s.Name.Name, madeMember)})
				}
			}
		}
	}
	return out
}

func (c *checked) object(id *ast.Ident) types.Object {
	for _, info := range c.infos {
		if o := info.Defs[id]; o != nil {
			return o
		}
	}
	return nil
}

// apply makes edits, from the last to the first.
func (c *checked) apply(edits []edit) tree {
	slices.SortFunc(edits, func(a, b edit) int {
		if n := strings.Compare(a.file, b.file); n != 0 {
			return n
		}
		return b.from - a.from
	})
	edits = slices.Compact(edits)
	out := tree{}
	for _, e := range edits {
		src, ok := out[e.file]
		if !ok {
			src = c.tree[e.file]
		}
		out[e.file] = slices.Concat(src[:e.from], []byte(e.insertion), src[e.to:])
	}
	return out
}
