package symbols

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
)

// onlyResult tells whether nothing of a function changed for its callers but
// what it gives back.
func onlyResult(old, new *group, tr *outline.Traits) bool {
	if len(old.defs) != 1 || len(new.defs) != 1 {
		return false
	}
	a, b := old.defs[0].Full(), new.defs[0].Full()
	words := func(d *outline.Def) (out []string) {
		for _, w := range []string{"static", "abstract"} {
			if slices.Contains(strings.Fields(d.Before), w) {
				out = append(out, w)
			}
		}
		return out
	}
	return a.HasCall && b.HasCall && a.Kind == b.Kind && a.Exported == b.Exported && slices.Equal(a.Params, b.Params) &&
		slices.Equal(words(a), words(b)) && outline.ResultOf(a, tr) != outline.ResultOf(b, tr)
}

// maxNeeds is how many members are told that a type needs now.
const maxNeeds = 50

// grown tells of types that need members which they did not: whoever implements
// or makes one has to have them.
func grown(out []coord.SymbolFacts, path string, old, new *outline.File) []coord.SymbolFacts {
	needs := map[int][]string{}
	for i := range new.Defs {
		d := &new.Defs[i]
		if d.Parent < 0 || !needed(new, i) || has(old, d.Name) || !has(old, new.Defs[d.Parent].Name) {
			continue
		}
		needs[d.Parent] = append(needs[d.Parent], d.Name[strings.LastIndexByte(d.Name, '.')+1:])
	}
	for i := range new.Defs {
		names := needs[i]
		if len(names) == 0 || len(names) > maxNeeds {
			continue
		}
		of := &new.Defs[i]
		f := coord.SymbolFacts{
			Key: Key(new.Lang, path, of.Name), Kind: of.Kind, Exported: of.Exported, Change: coord.Signature,
			Compatibility: coord.Breaking, Needs: names, Detail: verdict.Detail("now needs " + strings.Join(names, ", ")),
			TextHash: (&group{[]*outline.Def{of}}).textHash(),
		}
		if k := slices.IndexFunc(out, func(s coord.SymbolFacts) bool { return s.Key == f.Key }); k < 0 {
			f.Lines = linesOf(&group{[]*outline.Def{&old.Defs[index(old, of.Name)]}})
			out = append(out, f)
		} else if out[k].Compatibility == coord.Compatible && out[k].Change != coord.Removed {
			out[k].Change, out[k].Compatibility, out[k].Needs, out[k].Detail = f.Change, f.Compatibility, f.Needs, f.Detail
		}
	}
	return out
}

func index(o *outline.File, name string) int {
	return slices.IndexFunc(o.Defs, func(d outline.Def) bool { return d.Name == name && d.Kind != "implementation" })
}

func has(o *outline.File, name string) bool { return index(o, name) >= 0 }

// needed tells whether whoever implements or makes a type must have a member.
func needed(o *outline.File, i int) bool {
	d := o.Defs[i].Full()
	of := &o.Defs[d.Parent]
	words := strings.Fields(d.Before)
	if slices.Contains(words, "abstract") {
		return true
	}
	if o.Lang == "python" {
		return slices.ContainsFunc(o.Marks, func(m outline.Mark) bool {
			return m.Target == i && m.Name[strings.LastIndexByte(m.Name, '.')+1:] == "abstractmethod"
		})
	}
	if o.Lang == "rust" && of.Kind == "struct" {
		return d.Kind == "field"
	}
	if of.Kind != "interface" && of.Kind != "trait" && of.Kind != "protocol" && !slices.Contains(strings.Fields(of.Before), "interface") {
		return false
	}
	for _, w := range []string{"default", "static", "private", "type", "const"} {
		if slices.Contains(words, w) {
			return false
		}
	}
	switch o.Lang {
	case "go":
		return d.Kind == "method"
	case "typescript":
		name := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
		return !strings.HasPrefix(strings.TrimSpace(d.Head[strings.Index(d.Head, name)+len(name):]), "?")
	case "csharp":
		return !strings.Contains(d.Own, "=>") && (d.Kind == "property" || d.HasCall && !strings.Contains(d.Own, "{"))
	}
	return (d.HasCall || d.Kind == "property") && !strings.ContainsAny(d.Own, "{=") && d.Kind != "case" && !d.Contain
}

// narrowed tells of the values that a type no longer has, as of definitions
// that were removed.
func narrowed(out []coord.SymbolFacts, path string, old, new *outline.File) []coord.SymbolFacts {
	for i := range old.Defs {
		was := outline.Literals(old.Lang, &old.Defs[i])
		at := index(new, old.Defs[i].Name)
		if len(was) == 0 || at < 0 || old.Defs[i].Own == new.Defs[at].Own {
			continue
		}
		is := outline.Literals(new.Lang, &new.Defs[at])
		if len(is) == 0 {
			continue
		}
		for _, l := range was {
			if !slices.Contains(is, l) {
				f := coord.SymbolFacts{
					Key: Key(new.Lang, path, old.Defs[i].Name+"."+l), Kind: "case", Exported: old.Defs[i].Exported,
					Change: coord.Removed, Compatibility: coord.Breaking, Detail: verdict.Detail("is no longer one of " + old.Defs[i].Name),
					Lines: linesOf(&group{[]*outline.Def{&old.Defs[i]}}),
				}
				verdict.SetSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, "'"+l+"'")
				out = append(out, f)
			}
		}
	}
	return out
}
