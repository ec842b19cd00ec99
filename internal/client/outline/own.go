package outline

import (
	"bytes"
	"go/ast"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Own returns the uses of definitions of the file itself, as far as wanted has
// their names: by name, or as a member of the object that is at work. Names
// that a parameter or a variable hides are not among them.
func (o *File) Own(wanted map[string]bool) []Name {
	if o.own == nil || len(wanted) == 0 {
		return nil
	}
	return o.own(wanted)
}

// implicitThis are the languages in which a method calls others of its class by
// their names alone.
var implicitThis = lazy.Words("java kotlin scala csharp swift cpp ruby")

// ofSelf are what the object at work is called, with what takes a member of it.
var ofSelf = [][]byte{[]byte("self."), []byte("this."), []byte("cls."), []byte("this->"), []byte("this?.")}

func (w *walker) ownUses(wanted map[string]bool) (out []Name) {
	members, defined, imported := map[string]bool{}, map[uint32]bool{}, map[string]bool{}
	for n := range wanted {
		if dot := strings.LastIndexByte(n, '.'); dot >= 0 {
			members[n[dot+1:]] = true
		}
	}
	for i := range w.Defs {
		defined[w.Defs[i].nameAt] = true
	}
	for _, im := range w.Imports {
		imported[im.Local] = true
	}
	last := -1
	for i := range w.t.Nodes {
		n := &w.t.Nodes[i]
		if int(n.Next) > i+1 || int(n.Start) == last || defined[n.Start] {
			continue
		}
		text := w.Source[n.Start:n.End]
		named := w.s.acts[n.Kind] == actName && !w.isMember(n.Start)
		switch {
		case members[string(text)] && w.afterSelf(n.Start):
			if class := w.classOf(n.Start, string(text), wanted); class != "" {
				last = int(n.Start)
				out = append(out, Name{Local: class, Member: string(text), Line: n.Row, Call: w.calledOfSelf(i)})
			}
		case named && wanted[string(text)] && !imported[string(text)]:
			last = int(n.Start)
			if u := w.use(i); w.tells(u) && !w.hidden(u.Local, n.Start) {
				out = append(out, u)
			}
		case named && members[string(text)] && implicitThis.Has(w.Lang):
			last = int(n.Start)
			u := w.use(i)
			if class := w.classOf(n.Start, u.Local, wanted); class != "" && u.Call != nil && u.Member == "" {
				out = append(out, Name{Local: class, Member: u.Local, Line: u.Line, Call: u.Call})
			}
		}
	}
	return out
}

// tells reports whether it shows that a name means the definition: a call, a
// mark, something taken from it, a type or a constant. A small name alone may
// be anything's.
func (w *walker) tells(u Name) bool {
	return u.Call != nil || u.Mark || u.Member != "" || u.Local[0] >= 'A' && u.Local[0] <= 'Z'
}

func (w *walker) afterSelf(at uint32) bool {
	before := w.Source[:at]
	for _, s := range ofSelf {
		if rest, ok := bytes.CutSuffix(before, s); ok && (len(rest) == 0 || !IsNameByte(rest[len(rest)-1]) && rest[len(rest)-1] != '.') {
			return true
		}
	}
	return false
}

// calledOfSelf returns how the member at node i is called, if it is.
func (w *walker) calledOfSelf(i int) *coord.Call {
	n := w.t.Nodes[i]
	for at := i - 1; at >= 0 && at > i-4; at-- {
		if s := w.t.Nodes[at]; int(s.Next) <= i && n.Start-s.End <= 2 && n.Start > s.End {
			u := Name{Local: string(w.Source[s.Start:s.End]), Member: string(w.Source[n.Start:n.End])}
			return w.callOf(at, u)
		}
	}
	return w.callOf(i, Name{Local: string(w.Source[n.Start:n.End])})
}

// classOf returns the innermost definition around a place of which a member is
// wanted.
func (w *walker) classOf(at uint32, member string, wanted map[string]bool) string {
	found := -1
	for i := range w.Defs {
		if d := &w.Defs[i]; d.Span.Holds(at) && wanted[d.Name+"."+member] && (found < 0 || d.Span.Start >= w.Defs[found].Span.Start) {
			found = i
		}
	}
	if found < 0 {
		return ""
	}
	return w.Defs[found].Name
}

// hidden reports whether a parameter or a variable around a place has a name.
func (w *walker) hidden(name string, at uint32) bool {
	for i := range w.Defs {
		if !w.Defs[i].Span.Holds(at) || w.Defs[i].nameAt == at {
			continue
		}
		for _, p := range w.Defs[i].Full().Params {
			if p.Name == name {
				return true
			}
		}
		for _, a := range w.Assigns {
			if a.Def == i && a.Name == name {
				return true
			}
		}
	}
	return false
}

// A goMember is taken from the receiver of a method.
type goMember struct {
	*ast.Ident
	typ  string
	line uint32
	call *coord.Call
}

func (g *goReader) ownUses(wanted map[string]bool) (out []Name) {
	for _, id := range g.idents {
		if wanted[id.Name] && !g.declared[id.Name] {
			out = append(out, Name{Local: id.Name, Line: id.line, Call: g.form[id.Pos()]})
		}
	}
	for _, m := range g.members {
		if wanted[m.typ+"."+m.Name] {
			out = append(out, Name{Local: m.typ, Member: m.Name, Line: m.line, Call: m.call})
		}
	}
	return out
}
