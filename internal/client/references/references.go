// Package references adds what the other files of a repository say: where what
// a file uses is defined, which prefix its routes are mounted under, which base
// address its clients have, which package it belongs to. It is the only one that
// reads files other than the one at hand.
package references

import (
	"sort"
	"strings"

	"github.com/svc-hq/svc/internal/client/bodies"
	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/receivers"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
)

// References are the uses of symbols and contracts that the base did not have.
func (r *Repo) References(f *coord.FileFacts, old, new *extract.Version) []coord.Reference {
	out := []coord.Reference{}
	for _, c := range f.Contracts {
		if c.Role == coord.Uses && c.Change == coord.Added && !strings.HasPrefix(c.Key, "pkg:") {
			out = append(out, coord.Reference{Key: c.Key, Line: c.Line})
		}
	}
	out = append(out, r.packageReferences(old, new)...)
	// A use is new if there are more of its form than before: where it stands
	// does not count.
	type form struct {
		locate.Use
		call string
	}
	had := map[form]int{}
	formOf := func(u usedAt) form { return form{u.Use, outline.CallKey(u.call) + u.members()} }
	was, now := append(uses(old.Outline), ambientUses(old.Outline)...), append(uses(new.Outline), ambientUses(new.Outline)...)
	if own := ownNames(old.Outline, new.Outline); len(own) > 0 {
		was, now = append(was, ownUses(old.Outline, own)...), append(now, ownUses(new.Outline, own)...)
	}
	owned, owning := r.ownedUses(old.Outline, new.Outline)
	was, now = append(was, owned...), append(now, owning...)
	for _, u := range was {
		had[formOf(u)]++
	}
	more := growth(old.Outline, new.Outline, eachUse(old.Outline, was), eachUse(new.Outline, now))
	told := map[string]bool{}
	for _, u := range now {
		f := formOf(u)
		if had[f]--; had[f] >= 0 || len(out) >= contract.MaxPerFile {
			continue
		}
		var key, via string
		var call *coord.Call
		switch u.Module {
		case ownModule:
			key, call = symbols.Key(new.Outline.Lang, new.Outline.Path, u.Full()), u.call
		case ownedModule:
			file, name, _ := strings.Cut(u.Name, "#")
			key, call = symbols.Key(rules.LanguageOf(file).Name, file, name), u.call
		case ambientModule:
			key, call = r.resolveAmbient(new.Outline, u)
		default:
			key, via, call = r.resolve(new.Outline, u)
		}
		if id := key + " " + outline.CallKey(call) + u.members(); key != "" && !told[id] {
			told[id] = true
			if r.metadataOnly {
				call = call.Hidden()
			}
			out = append(out, coord.Reference{
				Key: key, Line: int(u.line) + 1, Call: call, In: more[u.Use], Via: via, Typed: u.typed, Whole: u.whole, Has: u.has,
				Lacks: u.lacks,
			})
		}
	}
	for _, u := range onlyImported(old.Outline, new.Outline) {
		if key, via, _ := r.resolve(new.Outline, u); key != "" && !told[key+" "] && len(out) < contract.MaxPerFile {
			told[key+" "] = true
			out = append(out, coord.Reference{Key: key, Line: int(u.line) + 1, In: []string{""}, Via: via})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Line < out[j].Line })
	return out
}

// onlyImported are names that are newly imported and seen nowhere in the code:
// types in quotes, names that are handed on. The import fails once one is gone.
func onlyImported(old, new *outline.File) (out []usedAt) {
	seen, had := map[string]bool{}, map[locate.Use]bool{}
	for _, n := range new.Names {
		seen[n.Local] = true
	}
	for _, im := range old.Imports {
		had[locate.Use{Module: im.Module, Name: im.Name}] = true
	}
	for _, im := range new.Imports {
		u := locate.Use{Module: im.Module, Name: im.Name}
		if im.Name != "" && im.Name != "*" && !seen[im.Local] && !had[u] {
			out = append(out, usedAt{Use: u, line: im.Line})
		}
	}
	return out
}

type usedAt struct {
	locate.Use
	line uint32
	call *coord.Call
	mark bool

	typed bool     // the code does not name its owner
	whole bool     // it implements or makes one, and must have all members
	has   []string // those that it has
	lacks []string // those that it had before
}

// members tells uses apart by what they must have.
func (u *usedAt) members() string {
	if !u.whole && len(u.lacks) == 0 {
		return ""
	}
	return " {" + strings.Join(u.has, ",") + " -" + strings.Join(u.lacks, ",") + "}"
}

// uses joins uses of imported names with their imports.
func uses(o *outline.File) []usedAt {
	by := map[string]outline.Imported{}
	for _, im := range o.Imports {
		by[im.Local] = im
	}
	var out []usedAt
	for _, n := range o.Names {
		im, ok := by[n.Local]
		if !ok {
			continue
		}
		u := locate.Use{Module: im.Module, Name: im.Name, Member: n.Member}
		if im.Name == "" && n.Member == "" {
			continue // the module is only handed on
		}
		out = append(out, usedAt{Use: u, line: n.Line, call: n.Call, mark: n.Mark})
	}
	return out
}

// A Repo is the files of one version of a repository, and what was found in
// them during one analysis.
type Repo struct {
	files        *locate.Files
	metadataOnly bool // names of arguments stay here
	standing     bool // files are read as they stand: nothing in them is new
	rules        *rules.Set
	after        *Repo // of one as it was before some files changed: with them changed
	modules      moduleCache
}

// Open begins an analysis of the files of a tree.
func Open(t locate.Tree, metadataOnly bool) *Repo {
	return &Repo{files: locate.In(t), metadataOnly: metadataOnly}
}

// Under makes it read files by the rules of a repository.
func (r *Repo) Under(own *rules.Set) *Repo {
	r.rules = own
	return r
}

// Standing makes it read files as they stand. Whose member x.m is, is then not
// asked: it is for the few lines of an edit, and bounded for them.
func (r *Repo) Standing() *Repo {
	r.standing = true
	return r
}

// A moduleCache remembers what other files say during one analysis.
type moduleCache struct {
	nuxt         map[string]string             // names that Nuxt gives all files, and theirs
	questions    outline.Trail[question]       // that are asked at the moment
	asking       int                           // how many of them are about names
	clients      map[string]string             // base addresses of clients, by file#name
	csharpProtos map[string]*protoNamespace    // what .proto files put into namespaces of C#
	protoOptions map[string]string             // protobuf packages, by an option and what it says
	handings     memo[string, []string]        // prefixes of routers that are handed to functions
	prefixes     map[string]string             // of whole programs
	read         map[string]*extract.Version   // files as they are, nothing added
	versions     map[string]*extract.Version   // of other files
	wirings      map[string]*extract.Wiring    // of files that may mount others
	requests     map[reached][]extract.Request // functions of files that are HTTP calls
	migrated     map[string]bool               // tables that migrations make
	cutRequests  bool                          // files were too far to be asked for theirs
	mounts       memo[string, mounting]        // of files

	receivers *receivers.Reader
	owners    map[string]*outline.File // files that types come from

	meanings map[meaning][]bodies.Place // of names, in files and in the whole repository
	eval     *bodies.Eval
}

// resolve returns the key of what is used, the file that hands it on, if one
// does, and how it is called; or "" when it is not of this repository or cannot
// be found.
func (r *Repo) resolve(o *outline.File, u usedAt) (key, via string, _ *coord.Call) {
	file, name := r.files.File(o, u.Use)
	call := u.call
	if u.Member != "" && name != u.Member && !strings.HasSuffix(name, "."+u.Member) {
		call = nil // the call is of a member that the key does not name
	}
	if at, n := r.files.Origin(o.Lang, file, name); at != file {
		file, name, via = at, n, file
	}
	if file == "" || name == "" || file == o.Path {
		return "", "", nil
	}
	return symbols.Key(rules.LanguageOf(file).Name, file, name), via, call
}

// ambientModule stands for no import in a use.
const ambientModule = "\x00"

// ambientUses are the uses of names that neither the file nor an import binds.
func ambientUses(o *outline.File) []usedAt {
	if len(o.Ambient) == 0 {
		return nil
	}
	own := map[string]bool{}
	for i := range o.Defs {
		own[o.Defs[i].Name] = true
		own[o.Defs[i].Name[strings.LastIndexByte(o.Defs[i].Name, '.')+1:]] = true
	}
	var out []usedAt
	for _, n := range o.Ambient {
		if !own[n.Local] {
			out = append(out, usedAt{
				Use: locate.Use{Module: ambientModule, Name: n.Local, Member: n.Member}, line: n.Line, call: n.Call, mark: n.Mark,
			})
		}
	}
	return out
}

// resolveAmbient finds what a use without an import is of.
func (r *Repo) resolveAmbient(o *outline.File, u usedAt) (string, *coord.Call) {
	file, name := r.files.Ambient(o, u.Use)
	if file == "" || name == "" || file == o.Path {
		return "", nil
	}
	return symbols.Key(rules.LanguageOf(file).Name, file, name), u.call
}
