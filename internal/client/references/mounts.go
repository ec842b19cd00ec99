package references

import (
	"bytes"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Routers are often written in one file and mounted under a prefix in another.
// The prefix is part of the route, so the files that usually mount are asked.

const (
	maxMountDepth = 4
	maxMountFile  = 512 << 10
	mountLimit    = 200 * time.Millisecond // for one such file, while an edit waits
)

// mountNames are the files that mount routers, without their endings.
var mountNames = []string{"index", "app", "server", "main", "routes", "router", "api", "urls", "__init__", "asgi", "wsgi", "application"}

var mountWords = [][]byte{[]byte("use("), []byte(".route("), []byte("include_router("), []byte("register_blueprint("),
	[]byte("include("), []byte("add_namespace("), []byte(".urls)"), []byte("add_router("), []byte("Mount("), []byte("add_subapp("),
	[]byte(".blueprint("), []byte(".register("), []byte("plugin:"), []byte(".openapi("), []byte("module:"), []byte("controllers:"),
	[]byte("registry.extend(")}

// Complete adds to a file that was read what other files say of it: the
// prefixes of its routes, and what it uses of generated code and of packages.
func (r *Repo) Complete(file string, v *extract.Version) {
	r.requested(v, 0)
	r.viewSets(v)
	r.classViews(v)
	r.bodied(v)
	r.mounted(file, v)
	r.protoUses(v)
	r.packageUses(v)
	r.entities(v)
}

// mounted puts the prefix under which other files mount this one in front of
// the routes that it provides, and base addresses in front of those it calls.
func (r *Repo) mounted(file string, v *extract.Version) {
	if r.files.Tree == nil || v.Generated {
		return
	}
	r.based(v)
	if !slices.ContainsFunc(v.Contracts, isProvidedRoute) {
		return
	}
	prefix, _ := r.mountPrefix(file)
	found := make([]contract.Contract, 0, len(v.Contracts))
	for _, c := range v.Contracts {
		if !isProvidedRoute(c) || c.Rule == "" {
			found = append(found, c)
			continue
		}
		before := prefix
		if c.Of != "" {
			if above, ok := r.routerPrefix(v.Outline, c.Of); ok {
				before = above
			}
		}
		before = contract.JoinRoute(r.appPrefix(file, c.Rule), before)
		method, route, _ := strings.Cut(strings.TrimPrefix(c.Key, "http:"), " ")
		for _, handed := range r.handings(file, c.Router) {
			whole := contract.JoinRoute("/"+strings.Trim(before, "/"), contract.JoinRoute(handed, route))
			if moved, ok := contract.New("http:"+method+" "+whole, c.Role, c.Line); ok {
				c.Key = moved.Key
			}
			found = append(found, c)
		}
	}
	v.Contracts = found
}

// routerPrefix is what stands before the routes of a router that another file
// makes.
func (r *Repo) routerPrefix(o *outline.File, name string) (string, bool) {
	at := slices.IndexFunc(o.Imports, func(im outline.Imported) bool { return im.Local == name })
	if at < 0 {
		return "", false
	}
	im := o.Imports[at]
	file, as := r.files.File(o, locate.Use{Module: im.Module, Name: im.Name})
	if im.Name != "" {
		file, as = r.files.Origin(o.Lang, file, as)
	}
	if file == "" || file == o.Path {
		return "", false
	}
	w := r.wiringOf(file)
	if w == nil {
		return "", false
	}
	above, _ := r.mountPrefix(file)
	return contract.JoinRoute(above, w.Prefixes[as]), true
}

// based puts the base address of a client that another file makes in front of
// the routes that are called with it.
func (r *Repo) based(v *extract.Version) {
	o := v.Outline
	for i := range v.Contracts {
		c := &v.Contracts[i]
		if c.Client == "" {
			continue
		}
		at := slices.IndexFunc(o.Imports, func(im outline.Imported) bool { return im.Local == c.Client })
		if at < 0 {
			continue
		}
		im := o.Imports[at]
		file, name := r.files.File(o, locate.Use{Module: im.Module, Name: im.Name})
		base := scope.Route(strings.TrimPrefix(r.clientBase(file, name), "{}"))
		if base == "" || base == "/" {
			continue
		}
		method, route, _ := strings.Cut(strings.TrimPrefix(c.Key, "http:"), " ")
		if moved, ok := contract.New("http:"+method+" "+contract.JoinRoute(base, route), c.Role, c.Line); ok {
			c.Key = moved.Key
		}
	}
}

// clientBase is the base address of an HTTP client that a file defines.
func (r *Repo) clientBase(file, name string) string {
	if file == "" {
		return ""
	}
	key := file + "#" + name
	if known, ok := r.modules.clients[key]; ok {
		return known
	}
	if r.modules.clients == nil {
		r.modules.clients = map[string]string{}
	}
	r.modules.clients[key] = ""
	if w := r.wiringOf(file); w != nil {
		r.modules.clients[key] = w.Clients[name]
	}
	return r.modules.clients[key]
}

// wiringOf reads another file as far as prefixes and clients go.
func (r *Repo) wiringOf(file string) *extract.Wiring {
	if r.files.Same(file) {
		return r.after.wiringOf(file)
	}
	if w, ok := r.modules.wirings[file]; ok {
		return w
	}
	if r.modules.wirings == nil {
		r.modules.wirings = map[string]*extract.Wiring{}
	}
	var w *extract.Wiring
	if v := r.readVersion(file); v != nil {
		r.resolveNames(v)
		w = v.Wiring()
	}
	r.modules.wirings[file] = w
	return w
}

func isProvidedRoute(c contract.Contract) bool {
	return c.Role == coord.Provides && strings.HasPrefix(c.Key, "http:")
}

// A mounting is the prefix under which a file's routes are reached.
type mounting struct {
	prefix string
	is     bool // whether any file mounts it
}

// mountPrefix finds under which prefix a file's routes are reached; ok is
// false when no file mounts it.
func (r *Repo) mountPrefix(file string) (prefix string, ok bool) {
	m, _ := r.modules.mounts.get(file, func() mounting { return r.findMounting(file) })
	return m.prefix, m.is
}

func (r *Repo) findMounting(file string) mounting {
	lang := rules.LanguageOf(file)
	if lang.Name != "typescript" && lang.Name != "javascript" && lang.Name != "python" || !outline.CanRead(lang) {
		return mounting{}
	}
	near := r.mountCandidates(file)
	for parent := range r.mounters(file, near) {
		below, up, found := r.mountIn(parent, file)
		if !found {
			continue
		}
		above, _ := r.mountPrefix(parent)
		if up {
			above = withoutParameter(above)
		}
		return mounting{contract.JoinRoute(above, below), true}
	}
	whole, ok := r.loopMount(file)
	return mounting{whole, ok}
}

// routerWords are among what a file says whose routes another may mount.
var routerWords = [][]byte{[]byte("outer"), []byte("lueprint"), []byte("urlpatterns"), []byte("Hono"), []byte("astify"),
	[]byte("Namespace("), []byte("ethod:"), []byte("lysia"), []byte("server"), []byte("app."),
	[]byte("ontroller")}

// mounters yields the files that may mount a file: those near it, then all that
// mount something and name it.
func (r *Repo) mounters(file string, near []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range near {
			if !yield(f) {
				return
			}
		}
		text := r.files.Text(file)
		if !slices.ContainsFunc(routerWords, func(w []byte) bool { return bytes.Contains(text, w) }) {
			return
		}
		stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
		if stem == "index" || stem == "__init__" {
			stem = path.Base(path.Dir(file))
		}
		for f := range r.saying(path.Ext(file), func(f string) bool { return f != file && !slices.Contains(near, f) }, stem) {
			if !yield(f) {
				return
			}
		}
	}
}

// mountCandidates are the files in the folders above that may mount a file.
func (r *Repo) mountCandidates(file string) []string {
	var out []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, name := range r.files.List(dir) {
			stem, _, _ := strings.Cut(name, ".")
			if full := path.Join(dir, name); full != file && slices.Contains(mountNames, stem) &&
				rules.LanguageOf(name).Name == rules.LanguageOf(file).Name && !rules.TestPath(full) {
				out = append(out, full)
			}
		}
		if dir == "." {
			break
		}
	}
	if path.Base(file) == "urls.py" { // Django's project lies beside its apps
		out = append(out, r.djangoProjects(file)...)
	}
	return out
}

func (r *Repo) djangoProjects(file string) []string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		manage := r.files.Read(path.Join(dir, "manage.py"))
		if settings := bytes.Index(manage, []byte("DJANGO_SETTINGS_MODULE")); settings >= 0 {
			parts := strings.FieldsFunc(string(manage[settings:]), func(c rune) bool { return c == '"' || c == '\'' })
			if len(parts) < 3 {
				return nil
			}
			project := strings.ReplaceAll(parts[2], ".", "/") // its settings, perhaps a folder of them
			for project = path.Dir(project); project != "."; project = path.Dir(project) {
				if urls := path.Join(dir, project, "urls.py"); urls != file && r.files.Has(urls) {
					return []string{urls}
				}
			}
			return nil
		}
		if dir == "." {
			return nil
		}
	}
}

// withoutParameter is a prefix without the parameter that it ends in.
func withoutParameter(prefix string) string {
	at := strings.LastIndexByte(strings.TrimRight(prefix, "/"), '/')
	if strings.HasPrefix(prefix[at+1:], ":") || strings.HasPrefix(prefix[at+1:], "{") {
		return prefix[:max(at, 0)]
	}
	return prefix
}

// mountIn finds the prefix under which parent mounts file, and whether it is of
// the resource as a whole.
func (r *Repo) mountIn(parent, file string) (prefix string, up, ok bool) {
	source := r.files.Text(parent)
	if !slices.ContainsFunc(mountWords, func(w []byte) bool { return bytes.Contains(source, w) }) {
		return "", false, false
	}
	w := r.wiringOf(parent)
	if w == nil {
		return "", false, false
	}
	for _, m := range w.Mounts {
		if below, ok := r.loads(w.Outline, m, file); ok {
			return below, false, true
		}
		if !(m.Listed && r.listHas(w.Outline, m.Router, file)) && !slices.Contains(r.valueFiles(w.Outline, m.Router), file) {
			continue
		}
		if m.Name != "" {
			return contract.JoinRoute(m.Prefix, r.settingNamed(w.Outline, m.Name)), false, true
		}
		return m.Prefix, m.Up, true
	}
	if of := r.wiringOf(file); of != nil && of.Listed { // whoever takes a table in goes through it
		return "", false, slices.ContainsFunc(w.Outline.Imports, func(im outline.Imported) bool {
			from, _ := r.files.File(w.Outline, locate.Use{Module: im.Module, Name: im.Name, Member: "x"})
			return from == file
		})
	}
	return "", false, false
}

// listHas tells whether a list of routers, of this file or of another, has the one
// of a file.
func (r *Repo) listHas(o *outline.File, list outline.Value, file string) bool {
	name := list.Text
	if at := slices.IndexFunc(o.Imports, func(im outline.Imported) bool { return im.Local == list.Text }); at >= 0 {
		im := o.Imports[at]
		from, as := r.files.File(o, locate.Use{Module: im.Module, Name: im.Name})
		v := r.versionOf(from)
		if from == "" || v == nil {
			return false
		}
		o, name = v.Outline, as
	}
	for _, a := range o.Assigns {
		if a.Name == name && slices.ContainsFunc(a.Value.Items, func(item outline.Value) bool { return r.valueFile(o, item) == file }) {
			return true
		}
	}
	return false
}
