package outline

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// A GoFile is a Go file as its declarations, which may come from parses of
// different texts.
type GoFile struct {
	imports []*ast.ImportSpec
	decls   []goDecl
	broken  bool
}

// A goDecl is a declaration and the parse it is from.
type goDecl struct {
	ast.Decl
	from piece
}

// A piece is a parse of a stretch of a file: how far its places are from those
// in the file.
type piece struct {
	file        *token.File
	bytes, rows int
}

// ParseGo is the bare parse.
func ParseGo(source []byte, path string) *GoFile {
	out, _, _ := parseGoWith(token.NewFileSet(), source, path)
	return out
}

func parseGoWith(fset *token.FileSet, source []byte, path string) (*GoFile, *token.File, error) {
	f, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	out := &GoFile{broken: err != nil}
	if f == nil {
		return out, nil, err
	}
	from := piece{file: fset.File(f.FileStart)}
	if from.file == nil {
		return out, nil, err
	}
	out.imports = f.Imports
	out.decls = make([]goDecl, len(f.Decls))
	for i, d := range f.Decls {
		out.decls[i] = goDecl{d, from}
	}
	return out, from.file, err
}

// ParseGoPair parses two versions of a file. Declarations that are before or
// after all that differs are parsed once.
func ParseGoPair(old, new []byte, path string) (a, b *GoFile) {
	fset := token.NewFileSet()
	a, file, err := parseGoWith(fset, old, path)
	if err == nil {
		if b = a.edited(fset, file, old, new, path); b != nil {
			return a, b
		}
	}
	b, _, _ = parseGoWith(fset, new, path)
	return a, b
}

// edited is the file after an edit, or nil if it has to be parsed as a whole:
// where the lines around what differs do not part declarations, or what
// differs does not parse on its own.
func (f *GoFile) edited(fset *token.FileSet, file *token.File, old, new []byte, path string) *GoFile {
	for _, text := range [][]byte{old, new} { // lines that say which line they are
		if bytes.Contains(text, []byte("//line ")) || bytes.Contains(text, []byte("/*line ")) {
			return nil
		}
	}
	same, tail := commonEnds(old, new)
	// Declaration k ends with the line before ends[k].
	ends := make([]int, len(f.decls))
	for k, d := range f.decls {
		at := file.Offset(d.End())
		n := bytes.IndexByte(old[at:], '\n')
		if n < 0 {
			return nil
		}
		if rest := bytes.TrimSpace(old[at : at+n]); len(rest) > 0 && !bytes.HasPrefix(rest, []byte("//")) {
			return nil
		}
		ends[k] = at + n + 1
	}
	before := 0 // how many declarations stay as they are, before and after
	for before < len(ends) && ends[before] <= same {
		before++
	}
	if before == 0 || slices.ContainsFunc(f.decls[before:], isImport) {
		return nil
	}
	after := len(ends)
	for after > before && ends[after-2] >= len(old)-tail {
		after--
	}
	from, to := ends[before-1], len(old)
	if after < len(ends) {
		to = ends[after-1]
	}
	const head = "package p\n"
	moved := len(new) - len(old)
	text := append([]byte(head), new[from:to+moved]...)
	middle, at, err := parseGoWith(fset, text, path)
	if err != nil || slices.ContainsFunc(middle.decls, isImport) {
		return nil
	}
	out := &GoFile{imports: f.imports, decls: slices.Clone(f.decls[:before])}
	lines := func(s []byte) int { return bytes.Count(s, []byte{'\n'}) }
	for _, d := range middle.decls {
		out.decls = append(out.decls, goDecl{d.Decl, piece{at, from - len(head), lines(old[:from]) - 1}})
	}
	rows := lines(new[from:to+moved]) - lines(old[from:to])
	for _, d := range f.decls[after:] {
		out.decls = append(out.decls, goDecl{d.Decl, piece{file, moved, rows}})
	}
	return out
}

func isImport(d goDecl) bool {
	g, ok := d.Decl.(*ast.GenDecl)
	return ok && g.Tok == token.IMPORT
}

// commonEnds returns how many bytes two texts share at their starts and, of the
// rest, at their ends.
func commonEnds(old, new []byte) (start, tail int) {
	for start < len(old) && start < len(new) && old[start] == new[start] {
		start++
	}
	for tail < len(old)-start && tail < len(new)-start && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	return start, tail
}

// GoImports are the packages that a file of Go imports, without reading more of
// it.
func GoImports(source []byte) (out []string) {
	f, _ := parser.ParseFile(token.NewFileSet(), "", source, parser.ImportsOnly)
	if f == nil {
		return nil
	}
	for _, im := range f.Imports {
		if module, err := strconv.Unquote(im.Path.Value); err == nil {
			out = append(out, module)
		}
	}
	return out
}
