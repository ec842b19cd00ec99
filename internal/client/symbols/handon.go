package symbols

import (
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// handsOn holds, by language, how a file offers names of another one as its
// own: a definition that moved away is still found where it was.
var handsOn = lazy.Table[map[string]struct {
	all   *lazy.Expr // every name of a module
	names *lazy.Expr // a list of names, in its first group
}]{Make: func() map[string]struct {
	all   *lazy.Expr // every name of a module
	names *lazy.Expr // a list of names, in its first group
} {
	return map[string]struct {
		all   *lazy.Expr // every name of a module
		names *lazy.Expr // a list of names, in its first group
	}{
		"python":     {lazy.Regexp(`(?m)^\s*from\s+\S+\s+import\s+\*`), lazy.Regexp(`(?m)^\s*from\s+\S+\s+import\s+(\([^)]*\)|[^\n(]+)`)},
		"typescript": {lazy.Regexp(`export\s*\*\s*from\b`), lazy.Regexp(`export\s+(?:type\s+)?(\{[^}]*\})`)},
		"javascript": {lazy.Regexp(`export\s*\*\s*from\b`), lazy.Regexp(`export\s+(\{[^}]*\})`)},
		"rust":       {lazy.Regexp(`pub(?:\([^)]*\))?\s+use\s+[^;]*\*`), lazy.Regexp(`pub(?:\([^)]*\))?\s+use\s+([^;]+);`)},
	}
}}

// handedOn reports whether a name that is defined in a file no more may still
// be had from it.
func handedOn(o *outline.File, name string) bool {
	how, ok := handsOn.Get()[o.Lang]
	if !ok || len(o.Source) == 0 {
		return false
	}
	if how.all.Get().Match(o.Source) {
		return true
	}
	first, _, _ := strings.Cut(name, ".")
	for _, list := range how.names.Get().FindAllSubmatch(o.Source, -1) {
		if outline.Mentions(list[1], first) {
			return true
		}
	}
	return false
}

// imports reports whether a file has a name from elsewhere.
func imports(o *outline.File, name string) bool {
	return slices.ContainsFunc(o.Imports, func(im outline.Imported) bool { return im.Local == name })
}

// packaged are the languages in which all files of a folder share one space of
// names, so that a definition may move between them unseen by its users.
var packaged = lazy.Words("go java kotlin scala swift")

// SettleMoves takes the break from definitions that left their file for
// another one of the same package.
func SettleMoves(files []coord.FileFacts) {
	type place struct{ lang, dir, name string }
	at := func(f *coord.FileFacts, s *coord.SymbolFacts) place {
		_, name, _ := strings.Cut(s.Key, "#")
		return place{f.Language, path.Dir(f.Path), name}
	}
	arrived := map[place]string{}
	each := func(change coord.Change, visit func(*coord.FileFacts, *coord.SymbolFacts)) {
		for i := range files {
			if !packaged.Has(files[i].Language) {
				continue
			}
			for k := range files[i].Symbols {
				if s := &files[i].Symbols[k]; s.Change == change {
					visit(&files[i], s)
				}
			}
		}
	}
	each(coord.Added, func(f *coord.FileFacts, s *coord.SymbolFacts) {
		if s.SignatureHash != nil {
			arrived[at(f, s)] = *s.SignatureHash
		}
	})
	each(coord.Removed, func(f *coord.FileFacts, s *coord.SymbolFacts) {
		if hash, ok := arrived[at(f, s)]; ok && s.PreviousSignatureHash != nil && *s.PreviousSignatureHash == hash {
			s.Compatibility = coord.Compatible
			if s.Detail != nil {
				s.Detail = verdict.Detail("moved to another file of the package")
			}
		}
	})
}

// samePackage reports whether what a file defines is found in another one's
// place: in its folder, or under another root of a JVM module's sources, as when
// src/test/java gives to src/testFixtures/java. What src/main has is not found
// elsewhere by itself.
func samePackage(from, to string) bool {
	if path.Dir(from) == path.Dir(to) {
		return true
	}
	a, b := sourceSet.Get().FindStringSubmatch(path.Dir(from)), sourceSet.Get().FindStringSubmatch(path.Dir(to))
	return a != nil && b != nil && a[1] == b[1] && a[3] == b[3] && a[2] != "main"
}

var sourceSet = lazy.Regexp(`^(.*?)\bsrc/([^/]+)/(?:java|kotlin|scala)/(.*)$`)

// LeftBehind tells of the visible definitions of a renamed file that they are
// gone from where they were, unless users find them all the same.
func LeftBehind(from, to string, old *outline.File, metadataOnly bool) (out []coord.SymbolFacts) {
	if packaged.Has(old.Lang) && samePackage(from, to) || old.Lang == "csharp" || old.Lang == "swift" ||
		moduleStem(from) == moduleStem(to) {
		return nil
	}
	by, order := groups(old)
	for _, n := range order {
		g := by[n]
		if !g.exported() && (packaged.Has(old.Lang) || !seenInPackage(old.Lang, g)) {
			continue
		}
		f := coord.SymbolFacts{
			Key:           Key(old.Lang, from, n),
			Kind:          g.defs[0].Kind,
			Exported:      g.exported(),
			Change:        coord.Removed,
			Compatibility: coord.Breaking,
			Detail:        verdict.Detail("was removed; it is in " + to + " now"),
			Lines:         linesOf(g),
		}
		verdict.SetSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, g.signature())
		if metadataOnly {
			f.PreviousSignature, f.Detail = nil, nil
		}
		out = append(out, f)
	}
	return out
}

// AtOldPath joins the changes of a renamed file with what it left behind. What
// was removed is known to others by where it was.
func AtOldPath(changed, left []coord.SymbolFacts, from, lang string) []coord.SymbolFacts {
	gone := map[string]bool{}
	for i := range changed {
		if s := &changed[i]; s.Change == coord.Removed {
			_, name, _ := strings.Cut(s.Key, "#")
			s.Key = Key(lang, from, name)
			gone[s.Key] = true
		}
	}
	return append(changed, slices.DeleteFunc(left, func(s coord.SymbolFacts) bool { return gone[s.Key] })...)
}

// moduleStem is a path as imports write it: without its ending, and without
// the file that stands for its folder.
func moduleStem(file string) string {
	stem := strings.TrimSuffix(file, path.Ext(file))
	for _, whole := range []string{"/index", "/__init__", "/mod"} {
		stem = strings.TrimSuffix(stem, whole)
	}
	return stem
}

// seenInPackage tells whether other files of the package may use a definition
// that is not exported.
func seenInPackage(lang string, g *group) bool {
	switch lang {
	case "go":
		return true
	case "python": // modules import each other's names with one underscore
		return g.defs[0].Parent < 0 && !strings.HasPrefix(g.defs[0].Name, "__")
	case "java":
		return !slices.Contains(strings.Fields(g.defs[0].Before), "private")
	}
	return false
}
