package analysis

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Routers are often written in one file and mounted under a prefix in another.
// The prefix is part of the route, so the files that usually mount are asked.

const (
	maxMountDepth = 4
	maxMountFile  = 256 << 10
	mountLimit    = 200 * time.Millisecond // for one such file
)

// mountNames are the files that mount routers, without their endings.
var mountNames = []string{"index", "app", "server", "main", "routes", "router", "api", "urls", "__init__", "asgi", "wsgi", "application"}

var mountWords = [][]byte{[]byte("use("), []byte(".route("), []byte("include_router("), []byte("register_blueprint("), []byte("include(")}

// mounted puts the prefix under which other files mount this one in front of
// the routes that it provides, and base addresses in front of those it calls.
func (r *run) mounted(file string, v *version) {
	if r.tree == nil || v.generated {
		return
	}
	r.based(v)
	if !slices.ContainsFunc(v.contracts, isProvidedRoute) {
		return
	}
	prefix, ok := r.mountPrefix(file, 0)
	if !ok || strings.Trim(prefix, "/") == "" {
		return
	}
	for i, c := range v.contracts {
		if !isProvidedRoute(c) {
			continue
		}
		method, route, _ := strings.Cut(strings.TrimPrefix(c.key, "http:"), " ")
		if moved, ok := newContract("http:"+method+" "+joinRoute("/"+strings.Trim(prefix, "/"), route), c.role, c.line); ok {
			v.contracts[i].key = moved.key
		}
	}
}

// based puts the base address of a client that another file makes in front of
// the routes that are called with it.
func (r *run) based(v *version) {
	o := v.outline
	for i := range v.contracts {
		c := &v.contracts[i]
		if c.client == "" {
			continue
		}
		at := slices.IndexFunc(o.imports, func(im imported) bool { return im.local == c.client })
		if at < 0 {
			continue
		}
		im := o.imports[at]
		file, name := r.locate(o, use{module: im.module, name: im.name})
		base := scope.Route(strings.TrimPrefix(r.clientBase(file, name), "{}"))
		if base == "" || base == "/" {
			continue
		}
		method, route, _ := strings.Cut(strings.TrimPrefix(c.key, "http:"), " ")
		if moved, ok := newContract("http:"+method+" "+joinRoute(base, route), c.role, c.line); ok {
			c.key = moved.key
		}
	}
}

// clientBase is the base address of an HTTP client that a file defines.
func (r *run) clientBase(file, name string) string {
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
	if e := r.extractorOf(file); e != nil {
		r.modules.clients[key] = e.clients[name]
	}
	return r.modules.clients[key]
}

// extractorOf reads another file as far as prefixes and clients go.
func (r *run) extractorOf(file string) *extractor {
	source := r.tree.read(file)
	lang := languageOf(file)
	if len(source) == 0 || len(source) > maxMountFile || !canRead(lang) {
		return nil
	}
	s := &side{file: file, lang: lang, source: source}
	if s.read(nil, mountLimit) != nil {
		return nil
	}
	m, err := loadMatcher(orName(lang))
	if err != nil {
		return nil
	}
	e := newExtractor(m, s.version.outline)
	e.findPrefixes()
	return e
}

func isProvidedRoute(c contract) bool {
	return c.role == coord.Provides && strings.HasPrefix(c.key, "http:")
}

// mountPrefix finds under which prefix a file's routes are reached; ok is
// false when no file mounts it.
func (r *run) mountPrefix(file string, depth int) (prefix string, ok bool) {
	if r.modules.mounts == nil {
		r.modules.mounts = map[string]*string{}
	}
	if known, seen := r.modules.mounts[file]; seen {
		if known == nil {
			return "", false
		}
		return *known, true
	}
	r.modules.mounts[file] = nil // also ends a circle
	lang := languageOf(file)
	if depth == maxMountDepth || lang.name != "typescript" && lang.name != "javascript" && lang.name != "python" || !canRead(lang) {
		return "", false
	}
	for _, parent := range r.mountCandidates(file) {
		below, found := r.mountIn(parent, file)
		if !found {
			continue
		}
		above, _ := r.mountPrefix(parent, depth+1)
		whole := joinRoute(above, below)
		r.modules.mounts[file] = &whole
		return whole, true
	}
	return "", false
}

// mountCandidates are the files in the folders above that may mount a file.
func (r *run) mountCandidates(file string) []string {
	var out []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, name := range r.tree.list(dir) {
			stem, _, _ := strings.Cut(name, ".")
			if full := path.Join(dir, name); full != file && slices.Contains(mountNames, stem) && languageOf(name).name == languageOf(file).name && !testPath(full) {
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

func (r *run) djangoProjects(file string) []string {
	settings := bytes.Index(r.tree.read("manage.py"), []byte("DJANGO_SETTINGS_MODULE"))
	if settings < 0 {
		return nil
	}
	text := string(r.tree.read("manage.py")[settings:])
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == '"' || c == '\'' })
	if len(parts) < 3 {
		return nil
	}
	project, _, _ := strings.Cut(parts[2], ".")
	if urls := path.Join(project, "urls.py"); urls != file && r.tree.has(urls) {
		return []string{urls}
	}
	return nil
}

// mountIn finds the prefix under which parent mounts file.
func (r *run) mountIn(parent, file string) (string, bool) {
	source := r.tree.read(parent)
	if !slices.ContainsFunc(mountWords, func(w []byte) bool { return bytes.Contains(source, w) }) {
		return "", false
	}
	e := r.extractorOf(parent)
	if e == nil {
		return "", false
	}
	o := e.o
	for i := range o.calls {
		c := &o.calls[i]
		for _, rule := range e.matching(c, "mount") {
			p := place{o: o, rule: rule, call: c, def: c.def}
			v, ok := p.value(rule.options["var"])
			if !ok || r.valueFile(o, v) != file {
				continue
			}
			return joinRoute(e.prefixes[mountOwner(o, c)], p.first(rule.options["path"])), true
		}
	}
	return "", false
}

// mountOwner is the router that a mount belongs to: the receiver, or the
// variable that the whole chain is assigned to.
func mountOwner(o *outline, c *call) string {
	if recv := rootReceiver(c); recv != "" && !strings.Contains(c.name, "()") {
		return recv
	}
	for _, a := range o.assigns {
		if a.value.span.holds(c.span.start) {
			return a.name
		}
	}
	return ""
}

// valueFile is the file that an imported router comes from.
func (r *run) valueFile(o *outline, v value) string {
	switch v.kind {
	case valName:
		local, member, _ := strings.Cut(v.text, ".")
		for _, im := range o.imports {
			if im.local == local {
				file, _ := r.locate(o, use{module: im.module, name: im.name, member: member})
				return file
			}
		}
	case valCall:
		if v.call == nil || len(v.call.args) == 0 {
			return ""
		}
		module, ok := v.call.args[0].literal()
		switch last := v.call.name[strings.LastIndexByte(v.call.name, '.')+1:]; {
		case ok && (last == "require" || last == "include"):
			file, _ := r.locate(o, use{module: module, member: "x"})
			return file
		}
	}
	return ""
}
