package references

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/receivers"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
)

// ownedModule stands for an owner whose type is known in a use: the name is the
// key of its file and the member.
const ownedModule = "\x02"

const (
	maxOwners    = 24    // other files that are read for the types of one analysis
	maxOwnedRows = 4_000 // changed lines of a file that are looked at
)

// ownedUses are the uses of members in the lines in which two versions of a
// file differ: elsewhere they are the same.
func (r *Repo) ownedUses(old, new *outline.File) (was, now []usedAt) {
	if r.standing || r.files.Tree == nil || !receivers.Reads(new.Lang) || len(new.Source) == 0 {
		return nil, nil
	}
	gone, come := differing(old.Source, new.Source)
	if len(come) == 0 && len(gone) == 0 || len(come) > maxOwnedRows {
		return nil, nil
	}
	if r.modules.receivers == nil {
		r.modules.receivers = receivers.New(owners{r})
	}
	take := func(o *outline.File, uses []receivers.Use) (out []usedAt) {
		for _, u := range uses {
			if u.File.Path == new.Path && !defines(old, u.Name) {
				continue // nobody else can change what is new here
			}
			out = append(out, usedAt{
				Use:  locate.Use{Module: ownedModule, Name: u.File.Path + "#" + u.Name},
				line: u.Line, call: u.Call, typed: u.Typed, whole: u.Whole, has: u.Has, lacks: u.Lacks,
			})
		}
		return out
	}
	now = take(new, append(r.modules.receivers.Uses(new, come), r.modules.receivers.Implementers(old, new)...))
	if len(now) > 0 && len(gone) > 0 {
		was = take(old, r.modules.receivers.Uses(old, gone))
	}
	return was, now
}

func defines(o *outline.File, name string) bool {
	return slices.ContainsFunc(o.Defs, func(d outline.Def) bool { return d.Name == name })
}

// differing are the lines, from 0, that one version of a text has and the other
// does not.
func differing(old, new []byte) (gone, come map[uint32]bool) {
	count := map[string]int{}
	for l := range bytes.Lines(old) {
		count[string(bytes.TrimSpace(l))]++
	}
	gone, come = map[uint32]bool{}, map[uint32]bool{}
	row := uint32(0)
	for l := range bytes.Lines(new) {
		l = bytes.TrimSpace(l)
		if count[string(l)]--; count[string(l)] < 0 && len(l) > 1 {
			come[row] = true
		}
		row++
	}
	row = 0
	for l := range bytes.Lines(old) {
		l = bytes.TrimSpace(l)
		if count[string(l)] > 0 && len(l) > 1 {
			count[string(l)]--
			gone[row] = true
		}
		row++
	}
	return gone, come
}

// owners finds types for receivers.
type owners struct{ r *Repo }

// Find returns the definition that a name means in a file: its own, one that is
// imported, one of its package. If an import binds it to something outside of
// the repository, there is none.
func (w owners) Find(o *outline.File, name string) (receivers.Place, bool) {
	if p, ok := exactly(o, name); ok {
		return p, true
	}
	root, rest, _ := strings.Cut(name, ".")
	bound := false
	for _, im := range o.Imports {
		if im.Local != root || root == "" {
			continue
		}
		bound = true
		file, def := w.r.files.File(o, locate.Use{Module: im.Module, Name: im.Name, Member: rest})
		if file == "" {
			continue
		}
		file, def = w.r.files.Origin(o.Lang, file, def)
		if p, ok := w.in(file, spelled(def, rest)); ok {
			return p, true
		}
	}
	if bound {
		return receivers.Place{}, false
	}
	if file, def := w.r.files.Ambient(o, locate.Use{Module: ambientModule, Name: root, Member: rest}); file != "" && file != o.Path {
		if p, ok := w.in(file, append(spelled(def, ""), name)); ok {
			return p, true
		}
	}
	return w.only(o, name)
}

// only is the one definition of a name in the whole repository, in languages
// whose files do not say where their types come from.
func (w owners) only(o *outline.File, name string) (receivers.Place, bool) {
	switch o.Lang {
	case "csharp", "kotlin", "java", "rust":
	default:
		return receivers.Place{}, false
	}
	if strings.Contains(name, ".") || len(name) < 3 || name[0] < 'A' || name[0] > 'Z' {
		return receivers.Place{}, false
	}
	found := world(w).search(o, name, true)
	if len(found) != 1 || found[0].Def >= len(found[0].File.Defs) {
		return receivers.Place{}, false
	}
	return receivers.Place{File: found[0].File, Def: found[0].Def}, true
}

// in finds a definition of another file under one of several names.
func (w owners) in(file string, names []string) (receivers.Place, bool) {
	o := w.outline(file)
	if o == nil {
		return receivers.Place{}, false
	}
	for _, n := range names {
		if p, ok := exactly(o, n); ok {
			return p, true
		}
	}
	return receivers.Place{}, false
}

// outline reads another file, unless too many were.
func (w owners) outline(file string) *outline.File {
	if file == "" || !outline.CanRead(rules.LanguageOf(file)) {
		return nil
	}
	if _, known := w.r.modules.read[file]; !known && len(w.r.modules.owners) >= maxOwners {
		return nil
	}
	if w.r.modules.owners == nil {
		w.r.modules.owners = map[string]*outline.File{}
	}
	if o, ok := w.r.modules.owners[file]; ok {
		return o
	}
	var o *outline.File
	if v := w.r.readVersion(file); v != nil && v.Outline != nil {
		o = v.Outline
	}
	w.r.modules.owners[file] = o
	return o
}

// exactly is the definition of that name in a file: at the top, or a type
// within another one.
func exactly(o *outline.File, name string) (receivers.Place, bool) {
	nested := -1
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.Kind == "implementation" {
			continue
		}
		if d.Name == name {
			return receivers.Place{File: o, Def: i}, true
		}
		if nested < 0 && strings.HasSuffix(d.Name, "."+name) && d.Contain {
			nested = i
		}
	}
	return receivers.Place{File: o, Def: nested}, nested >= 0
}

// maxBeside bounds the files of a package that are read for one type's methods.
const maxBeside = 12

// Beside are the other files in which members of a type may be defined: in Go
// those of its package that have methods of it, in C# its other parts.
func (w owners) Beside(p receivers.Place) (out []*outline.File) {
	name := p.File.Defs[p.Def].Name
	mark := ""
	switch p.File.Lang {
	case "go":
		mark = name + ") "
	case "rust":
		mark = "for " + name
	default:
		return nil
	}
	dir := path.Dir(p.File.Path)
	for _, f := range w.r.files.List(dir) {
		file := path.Join(dir, f)
		if path.Ext(f) != path.Ext(p.File.Path) || file == p.File.Path || len(out) == maxBeside ||
			strings.HasSuffix(f, "_test.go") || !bytes.Contains(w.r.files.Text(file), []byte(mark)) {
			continue
		}
		if o := w.outline(file); o != nil {
			out = append(out, o)
		}
	}
	return out
}
