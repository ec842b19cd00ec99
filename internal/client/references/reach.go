package references

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// Most edits mean nothing to the routes of other files. To work those out again
// costs ten times what the edit itself does, so first it is looked which files
// go by a name that the edit concerns, directly or through others that do.

const (
	maxReach     = 24  // files that go by a changed name and are read for what goes by them
	maxReachName = 120 // names that are followed
	maxReachRows = 400 // changed lines that are looked at
)

// A Changed file is one that routes of others may depend on. What is nil of it
// is not known.
type Changed struct {
	Path     string
	Old, New *extract.Version
	Hunks    []diff.Hunk
}

// wiringWords stand where routers are put together: what changes there may
// concern routes that no name leads to.
var wiringWords = []string{"use(", "oute(", "outes(", "outer(", "outer)", "Routes", "include(", "include_", "egister(", "egister_", "ount(",
	"refix", "nest(", "scope", "roup(", "roup{", "ApplicationPath", "urlpatterns"}

// commonNames are what nearly every file has, for something else each.
var commonNames = []string{"router", "app", "server", "express", "exports", "module", "default", "index", "main", "new", "init",
	"constructor", "__init__", "toString", "this", "self"}

// A reach is the names that a change concerns.
type reach struct{ names []string }

func (n *reach) add(name string) bool {
	name = strings.TrimSpace(name[strings.LastIndexAny(name, ".:#")+1:])
	if len(name) < 2 || slices.Contains(commonNames, name) || slices.Contains(n.names, name) {
		return false
	}
	n.names = append(n.names, name)
	return true
}

// addDef adds a definition and those that it stands in.
func (n *reach) addDef(o *outline.File, i int) (grew bool) {
	for ; i >= 0; i = o.Defs[i].Parent {
		grew = n.add(o.Defs[i].Name) || grew
	}
	return grew
}

// within adds the definitions of a file that go by a name.
func (n *reach) within(o *outline.File) (grew bool) {
	for again := true; again && len(n.names) <= maxReachName; {
		again = false
		for i := range o.Defs {
			d := &o.Defs[i]
			if int(d.Span.End) <= len(o.Source) && n.in(o.Source[d.Span.Start:d.Span.End]) && n.addDef(o, i) {
				again, grew = true, true
			}
		}
		for i := range o.Funcs {
			f := &o.Funcs[i]
			if f.Name != "" && int(f.Span.End) <= len(o.Source) && n.in(o.Source[f.Span.Start:f.Span.End]) && n.add(f.Name) {
				again, grew = true, true
			}
		}
	}
	return grew
}

// in tells whether a text has one of the names, elsewhere than where it is
// imported.
func (n *reach) in(text []byte) bool {
	return slices.ContainsFunc(n.names, func(name string) bool { return goesBy(text, name) })
}

func goesBy(text []byte, name string) bool {
	for i := range outline.Words(text, name) {
		line := text[bytes.LastIndexByte(text[:i], '\n')+1:]
		if cut := bytes.IndexByte(line, '\n'); cut >= 0 {
			line = line[:cut]
		}
		if !imports(bytes.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// imports tells whether a line only brings names into a file.
func imports(line []byte) bool {
	for _, lead := range []string{"import ", "from ", "use ", "using ", "require"} {
		if bytes.HasPrefix(line, []byte(lead)) {
			return true
		}
	}
	return bytes.HasPrefix(line, []byte("const ")) && bytes.Contains(line, []byte("= require(")) && !bytes.Contains(line, []byte(")."))
}

// concerns adds the names that a changed file's change concerns. It reports
// false when that cannot be told.
func (n *reach) concerns(c *Changed) bool {
	lang := rules.LanguageOf(c.Path)
	if c.Old == nil || c.New == nil || c.Old.Outline == nil || c.New.Outline == nil || c.Old.Outline.Source == nil ||
		c.New.Outline.Source == nil || !outline.CanRead(lang) || lang.Name == "ruby" { // Ruby's files find each other by their folders
		return false
	}
	old, new := bytes.Split(c.Old.Outline.Source, []byte("\n")), bytes.Split(c.New.Outline.Source, []byte("\n"))
	for _, h := range c.Hunks {
		if h.OldCount+h.NewCount > maxReachRows || !n.rows(c.Old, old, h.OldStart-1, h.OldCount) ||
			!n.rows(c.New, new, h.NewStart-1, h.NewCount) {
			return false
		}
	}
	for n.within(c.Old.Outline) || n.within(c.New.Outline) {
		if len(n.names) > maxReachName {
			return false
		}
	}
	return true
}

// rows adds what changed lines are part of.
func (n *reach) rows(v *extract.Version, lines [][]byte, from, count int) bool {
	for row := from; row < from+count && row < len(lines); row++ {
		line := bytes.TrimSpace(lines[row])
		if len(line) == 0 || bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("* ")) {
			continue
		}
		around := bytes.Join(lines[max(0, row-1):min(len(lines), row+2)], []byte("\n"))
		if slices.ContainsFunc(wiringWords, func(w string) bool { return bytes.Contains(around, []byte(w)) }) {
			return false
		}
		if !n.row(v, uint32(row)) {
			n.whole(v.Outline)
		}
	}
	return true
}

// row adds the definitions that a line stands in. It reports false when there
// is none, and the line is not of a route either, which its own file tells of.
func (n *reach) row(v *extract.Version, row uint32) bool {
	o, found := v.Outline, false
	for i := range o.Defs {
		if s := o.Defs[i].Span; s.Row <= row && row <= s.Last {
			n.addDef(o, i)
			found = true
		}
	}
	for i := range o.Funcs {
		if f := &o.Funcs[i]; f.Name != "" && f.Span.Row <= row && row <= f.Span.Last {
			n.add(f.Name)
			found = true
		}
	}
	for i := range v.Contracts {
		c := &v.Contracts[i]
		if found || !isProvidedRoute(*c) || uint32(c.Line) > row+1 {
			continue
		}
		last := uint32(c.Line) - 1
		if to := int(c.Answer.To); to > 0 && to <= len(o.Source) {
			last = uint32(bytes.Count(o.Source[:to], []byte("\n")))
		}
		found = row <= last
	}
	return found
}

// whole adds everything that a file defines, and what the file is called by.
func (n *reach) whole(o *outline.File) {
	for i := range o.Defs {
		n.add(o.Defs[i].Name)
	}
	stem := strings.TrimSuffix(path.Base(o.Path), path.Ext(o.Path))
	n.add(stem)
	if stem == "index" || stem == "mod" || stem == "__init__" {
		n.add(path.Base(path.Dir(o.Path)))
	}
}

// routeFiles are the files whose routes may depend on changed ones: those that
// go by what changed first, and where that cannot be told all others.
func (r *Repo) routeFiles(changed []Changed) []string {
	if r.routeless(changed) {
		return nil
	}
	n, known := &reach{}, true
	for i := range changed {
		known = n.concerns(&changed[i]) && known
	}
	files := r.around(changed)
	naming, others := r.follow(n, files)
	if known && others == nil {
		return slices.DeleteFunc(naming, func(f string) bool { return !r.mayRoute(f) })
	}
	for _, f := range files {
		if !slices.Contains(naming, f) {
			others = append(others, f)
		}
	}
	return slices.DeleteFunc(append(naming, others...), func(f string) bool { return !r.mayRoute(f) })
}

// around are the files near the changed ones that are neither these nor too large.
func (r *Repo) around(changed []Changed) (files []string) {
	seen := map[string]bool{}
	for i := range changed {
		seen[changed[i].Path] = true
	}
	for i := range changed {
		for _, file := range r.near(changed[i].Path) {
			if !seen[file] && outline.CanRead(rules.LanguageOf(file)) && r.size(file) <= maxText {
				seen[file] = true
				files = append(files, file)
			}
		}
	}
	return files
}

// routeless reports whether no file around one that changed has routes, as in
// most repositories and folders. That is not looked up anew at every edit: a
// first route comes with git, which has another index then, or with an edit of
// which svc hears in time to tell of it.
func (r *Repo) routeless(changed []Changed) bool {
	for i := range changed {
		if v := changed[i].New; v != nil && v.Outline != nil && routeMarks(v.Outline.Source) == hasRoutes {
			r.files.Anew()
			return false
		}
	}
	if len(changed) != 1 || changed[0].New == nil {
		return false
	}
	file := changed[0].Path
	return r.files.Lately("routeless "+path.Dir(file)+" "+path.Ext(file), func() bool {
		return !slices.ContainsFunc(r.around(changed), r.mayRoute)
	})
}

// follow finds the files that go by the names, and by what goes by them. When
// they are too many, more is not nil.
func (r *Repo) follow(n *reach, files []string) (naming, more []string) {
	for grew := true; grew; {
		grew = false
		for _, file := range files {
			if slices.Contains(naming, file) || !r.mayName(n, file) || !n.in(r.files.Text(file)) {
				continue
			}
			naming = append(naming, file)
			if len(naming) > maxReach || len(n.names) > maxReachName {
				return naming, []string{}
			}
			if v := r.readVersion(file); v != nil && v.Outline != nil && v.Outline.Source != nil && n.within(v.Outline) {
				grew = true
			}
		}
	}
	return naming, nil
}

// routeWords are among what a file says that has routes.
var routeWords = []string{"outer", "oute", "Mapping", "@Get", "@Post", "ontroller", "HttpGet", "HttpPost", ".GET(", ".get(", ".post(",
	"@Path", "urlpatterns", "lueprint", "resources", "@GET"}

// A file that is looked through for names is mostly in vain: what was found in
// it before says so without reading it.

// hasRoutes is the mark of a file that may have routes.
const hasRoutes = 1

func routeMarks(text []byte) byte {
	if slices.ContainsFunc(routeWords, func(w string) bool { return bytes.Contains(text, []byte(w)) }) {
		return hasRoutes
	}
	return 0
}

func (r *Repo) mayRoute(file string) bool {
	if s := r.files.Sketch(file, routeMarks); s != nil {
		return s.Marks == hasRoutes
	}
	return routeMarks(r.files.Text(file)) == hasRoutes
}

func (r *Repo) mayName(n *reach, file string) bool {
	s := r.files.Sketch(file, routeMarks)
	return s == nil || slices.ContainsFunc(n.names, s.May)
}

func (r *Repo) size(file string) int {
	if s := r.files.Sketch(file, routeMarks); s != nil {
		return int(s.Size)
	}
	return len(r.files.Text(file))
}
