package references

import (
	"iter"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// What one repository exports and another imports goes by the name of a
// package: pkg:<registry>:<package>#<name>. The provider knows its packages by
// their manifests; the user takes those imports for the team's own that look
// like it: the rest of the world's would only fill the index.

func packageKey(lang, pkg, name string) string {
	return "pkg:" + locate.Registry(lang) + ":" + pkg + "#" + name
}

// packageUses adds what a file uses of the team's packages in other places.
func (r *Repo) packageUses(v *extract.Version) {
	o := v.Outline
	if r.files.Tree == nil || v.Generated || locate.Registry(o.Lang) == "" || len(o.Imports) == 0 {
		return
	}
	own := r.files.OwnPackage(o.Path, o.Lang)
	ours := map[string]bool{}
	for _, u := range uses(o) {
		is, known := ours[u.Module]
		if !known {
			is = own != "" && !o.Generated[u.Module] && r.files.IsOurs(o, own, u.Module)
			ours[u.Module] = is
		}
		if !is {
			continue
		}
		pkg, name := locate.ImportedName(o.Lang, u.Use)
		if name == "" || pkg == own && locate.Registry(o.Lang) != "npm" { // files of an npm package may import it by its name
			continue
		}
		if file, _ := r.files.File(o, u.Use); file != "" {
			continue // of this repository: a reference tells
		}
		if c, ok := contract.New(packageKey(o.Lang, pkg, name), coord.Uses, int(u.line)+1); ok {
			c.Call = u.call
			v.Contracts = append(v.Contracts, c)
		}
	}
}

// PackageChanges tells of changed exports what that means to the users of
// their packages: those in other repositories know nothing of files.
func (r *Repo) PackageChanges(files []coord.FileFacts) {
	if r.files.Tree == nil {
		return
	}
	arrived := map[string]bool{}
	for i := range files {
		r.eachExport(&files[i], func(key string, s *coord.SymbolFacts) {
			if s.Change == coord.Added {
				arrived[key] = true
			}
		})
	}
	for i := range files {
		f := &files[i]
		r.eachExport(f, func(key string, s *coord.SymbolFacts) {
			if s.Change == coord.Added || s.Change == coord.Modified || s.Compatibility == coord.Compatible || arrived[key] ||
				len(s.Needs) > 0 || len(f.Contracts) >= contract.MaxPerFile { // of what it needs only implementers hear, by its file
				return
			}
			c, ok := contract.New(key, coord.Provides, 1)
			if !ok {
				return
			}
			if s.Lines != nil {
				c.Line = s.Lines.Start
			}
			f.Contracts = append(f.Contracts, coord.ContractFacts{
				Key:                   c.Key,
				Role:                  coord.Provides,
				Change:                s.Change,
				Compatibility:         s.Compatibility,
				Detail:                s.Detail,
				Line:                  c.Line,
				Takes:                 s.Takes,
				Signature:             s.Signature,
				SignatureHash:         s.SignatureHash,
				PreviousSignature:     s.PreviousSignature,
				PreviousSignatureHash: s.PreviousSignatureHash,
			})
		})
	}
}

// eachExport visits what the users of a file's package can import of it.
func (r *Repo) eachExport(f *coord.FileFacts, visit func(key string, s *coord.SymbolFacts)) {
	if locate.Registry(f.Language) == "" || len(f.Symbols) == 0 || rules.TestPath(f.Path) {
		return
	}
	file := f.Path
	if f.OldPath != nil {
		file = *f.OldPath
	}
	pkg := r.files.OwnPackage(file, f.Language)
	if pkg == "" || f.Language == "go" && slices.Contains(strings.Split(pkg, "/"), "internal") {
		return
	}
	members := locate.Registry(f.Language) == "maven" || locate.Registry(f.Language) == "composer"
	for k := range f.Symbols {
		s := &f.Symbols[k]
		if _, name, _ := strings.Cut(s.Key, "#"); s.Exported && (members || !strings.Contains(name, ".")) {
			visit(packageKey(f.Language, pkg, name), s)
		}
	}
}

// packageReferences are the uses of packages that the base did not have, in
// each form.
func (r *Repo) packageReferences(old, new *extract.Version) (out []coord.Reference) {
	had := map[string]int{}
	id := func(c *contract.Contract) string { return c.Key + " " + outline.CallKey(c.Call) }
	for c := range ofPackages(old) {
		had[id(c)]++
	}
	more := growth(old.Outline, new.Outline, packageLines(old), packageLines(new))
	told := map[string]bool{}
	for c := range ofPackages(new) {
		if had[id(c)]--; had[id(c)] >= 0 || told[id(c)] {
			continue
		}
		told[id(c)] = true
		call := c.Call
		if r.metadataOnly {
			call = call.Hidden()
		}
		out = append(out, coord.Reference{Key: c.Key, Line: c.Line, Call: call, In: more[c.Key]})
	}
	return out
}

// ofPackages are the contracts of a version that go by a package's name.
func ofPackages(v *extract.Version) iter.Seq[*contract.Contract] {
	return func(yield func(*contract.Contract) bool) {
		for i := range v.Contracts {
			if strings.HasPrefix(v.Contracts[i].Key, "pkg:") && !yield(&v.Contracts[i]) {
				return
			}
		}
	}
}

func packageLines(v *extract.Version) iter.Seq2[string, uint32] {
	return func(yield func(string, uint32) bool) {
		for c := range ofPackages(v) {
			if !yield(c.Key, uint32(c.Line-1)) {
				return
			}
		}
	}
}
