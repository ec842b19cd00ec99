package references

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Which file a router that is mounted comes from.

// valueFiles are the files that an imported router may come from: those of the
// names that it is made with.
func (r *Repo) valueFiles(o *outline.File, v outline.Value) (out []string) {
	if v.Kind == outline.ValList {
		for _, item := range v.Items {
			out = append(out, r.valueFiles(o, item)...)
		}
		return out
	}
	if file := r.valueFile(o, v); file != "" {
		return []string{file}
	}
	if v.Kind == outline.ValCall && v.Call != nil && o.Lang == "python" && len(v.Call.Args) > 0 { // include([*router.urls])
		for _, item := range append(v.Call.Args[0].Items, v.Call.Args[0].Parts...) {
			if list, ok := item.Spread(); ok {
				item = list
			}
			if file := r.includedFile(o, item); file != "" {
				out = append(out, file)
			}
		}
	}
	return out
}

// valueFile is the file that an imported router comes from.
func (r *Repo) valueFile(o *outline.File, v outline.Value) string {
	switch v.Kind {
	case outline.ValName:
		return r.nameFile(o, v.Text, 0)
	case outline.ValText: // a plugin that goes by its path
		if o.Lang == "javascript" || o.Lang == "typescript" {
			return r.pathFile(o, v.Text)
		}
	case outline.ValCall:
		if v.Call == nil {
			return ""
		}
		if module, ok := requiredModule(v.Call); ok {
			file, _ := r.files.File(o, locate.Use{Module: module, Member: "x"})
			return file
		}
		if o.Lang == "python" && len(v.Call.Args) > 0 {
			return r.includedFile(o, v.Call.Args[0])
		}
	}
	if o.Lang != "javascript" && o.Lang != "typescript" {
		return ""
	}
	if m := madeOf.Get().FindStringSubmatch(v.Text); m != nil { // new Users().router, users.routes(), users(db)
		return r.nameFile(o, m[1], 0)
	}
	return ""
}

// includedFile is the file of what Django includes by its name, as in
// include(router.urls), include(urls): a member, so that a module is one.
func (r *Repo) includedFile(o *outline.File, of outline.Value) string {
	if len(of.Items) > 0 { // include((urls, "shop"))
		of = of.Items[0]
	}
	if of.Kind != outline.ValName {
		return ""
	}
	return r.nameFile(o, strings.TrimSuffix(of.Text, ".urls")+".urls", 0)
}

var madeOf = lazy.Regexp(`^\(?(?:await\s+)?\(?(?:new\s+)?([A-Za-z_$][\w$]*)\b`)

// requiredModule is the module that a call loads, as require("./x")(app) does.
func requiredModule(c *outline.Call) (string, bool) {
	for ; c.Inner != nil; c = c.Inner {
	}
	last := c.Name[strings.LastIndexByte(c.Name, '.')+1:]
	if len(c.Args) == 0 || last != "require" && last != "include" && last != "import" {
		return "", false
	}
	of := c.Args[0]
	if len(of.Items) > 0 { // include(("shop.urls", "shop"))
		of = of.Items[0]
	}
	return of.Literal()
}

// nameFile is the file that a name comes from: an import, or what a variable
// was made of.
func (r *Repo) nameFile(o *outline.File, name string, depth int) string {
	local, member, _ := strings.Cut(strings.TrimPrefix(name, "this."), ".")
	for _, im := range o.Imports {
		if im.Local != local {
			continue
		}
		file, as := r.files.File(o, locate.Use{Module: im.Module, Name: im.Name, Member: member})
		if file != "" && (o.Lang == "javascript" || o.Lang == "typescript") {
			if from, _ := r.files.Origin(o.Lang, file, as); from != "" {
				return from
			}
		}
		return file
	}
	if depth > 0 || o.Lang != "javascript" && o.Lang != "typescript" {
		return ""
	}
	for _, a := range o.Assigns {
		if strings.TrimPrefix(a.Name, "this.") != local || a.Value.Kind != outline.ValCall || a.Value.Call == nil {
			continue
		}
		if module, ok := requiredModule(a.Value.Call); ok {
			file, _ := r.files.File(o, locate.Use{Module: module, Member: "x"})
			return file
		}
		root, _, _ := strings.Cut(a.Value.Call.Name, "(")
		return r.nameFile(o, root, depth+1)
	}
	return ""
}

// pathFile is the file that a path in a list of plugins means, which may begin
// in another folder than that of the list.
func (r *Repo) pathFile(o *outline.File, module string) string {
	if !strings.HasPrefix(module, ".") {
		return ""
	}
	if file, _ := r.files.File(o, locate.Use{Module: module, Member: "x"}); file != "" {
		return file
	}
	want := strings.TrimLeft(module, "./")
	for _, f := range r.files.Ending(path.Ext(o.Path)) {
		stem := strings.TrimSuffix(strings.TrimSuffix(f, path.Ext(f)), "/index")
		if stem == want || strings.HasSuffix(stem, "/"+want) {
			return f
		}
	}
	return ""
}

var folderRead = lazy.Regexp(`readdir(?:Sync)?\(|glob(?:Sync)?\(|requireDir|import\.meta\.glob`)

// loads tells the prefix of a file that another mounts with all others of its
// folder: the path may be made of the file's name.
func (r *Repo) loads(o *outline.File, m extract.Mount, file string) (string, bool) {
	if dir := path.Dir(o.Path); dir != "." && !strings.HasPrefix(file, dir+"/") {
		return "", false
	}
	if !folderRead.Get().Match(o.Source) || !loaded(o, m.Router) || len(r.valueFiles(o, m.Router)) > 0 {
		return "", false
	}
	stem, _, _ := strings.Cut(path.Base(file), ".")
	if stem == "index" {
		stem = path.Base(path.Dir(file))
	}
	at := strings.LastIndex(m.Prefix, "{}")
	if at < 0 {
		return m.Prefix, true
	}
	return contract.JoinRoute(m.Prefix[:at], stem) + m.Prefix[at+2:], true
}

// loaded tells whether a value is what a module has whose name is put together.
func loaded(o *outline.File, v outline.Value) bool {
	if v.Kind == outline.ValName {
		name := strings.TrimSuffix(v.Text, ".default")
		for _, a := range o.Assigns {
			if a.Name == name {
				return a.Value.Kind == outline.ValCall && loaded(o, a.Value)
			}
		}
		return false
	}
	if v.Kind == outline.ValCall && v.Call != nil {
		last := v.Call.Name[strings.LastIndexByte(v.Call.Name, '.')+1:]
		if last == "require" || last == "import" {
			return true
		}
	}
	return strings.Contains(v.Text, "require(") || strings.Contains(v.Text, "import(")
}

var (
	autoload = lazy.Regexp(`dir:\s*(?:[\w.]*\bjoin|[\w.]*\bresolve)\(\s*[\w.]+\s*,\s*((?:['"][^'"]+['"][\s,]*)+)\)([^;]*?\}[\s,]*\))`)
	prefixed = lazy.Regexp(`prefix:\s*['"]([^'"]*)['"]`)
	aFolder  = lazy.Regexp(`['"]([^'"]+)['"]`)
	// plainFolders is the option that folders say nothing of routes.
	plainFolders = lazy.Regexp(`dirNameRoutePrefix:\s*false`)
)

// folderPrefix is what a loader of plugins of Fastify makes of the folder that a
// file lies in.
func (r *Repo) folderPrefix(file string) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, name := range r.files.List(dir) {
			stem, _, _ := strings.Cut(name, ".")
			text := r.files.Text(path.Join(dir, name))
			if !slices.Contains(mountNames, stem) || !bytes.Contains(text, []byte("utoload")) && !bytes.Contains(text, []byte("utoLoad")) {
				continue
			}
			for _, m := range autoload.Get().FindAllSubmatch(text, -1) {
				folder := dir
				for _, f := range aFolder.Get().FindAllSubmatch(m[1], -1) {
					folder = path.Join(folder, string(f[1]))
				}
				below, ok := strings.CutPrefix(path.Dir(file)+"/", folder+"/")
				if !ok {
					continue
				}
				prefix := ""
				if found := prefixed.Get().FindSubmatch(m[2]); found != nil {
					prefix = string(found[1])
				}
				if plainFolders.Get().Match(m[2]) {
					below = ""
				}
				for elem := range strings.SplitSeq(strings.Trim(below, "/"), "/") {
					if param, ok := strings.CutPrefix(elem, "_"); ok && bytes.Contains(m[2], []byte("routeParams")) {
						elem = ":" + param
					}
					prefix = contract.JoinRoute(prefix, elem)
				}
				return prefix
			}
		}
		if dir == "." {
			return ""
		}
	}
}

var (
	routerClass = lazy.Regexp(`(?m)^(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s[^{]*\{`)
	loopMember  = lazy.Regexp(`^(\w+)\.\w+$`)
)

// loopMount is where a program mounts the routers of objects that it was given,
// one after the other, for a class that has a router and that no file mounts.
func (r *Repo) loopMount(file string) (string, bool) {
	text := r.files.Text(file)
	if !bytes.Contains(text, []byte("this.")) || !bytes.Contains(text, []byte("outer")) || !routerClass.Get().Match(text) {
		return "", false
	}
	top, _, _ := strings.Cut(file, "/")
	beside := func(f string) bool {
		at, _, _ := strings.Cut(f, "/")
		return f != file && at == top
	}
	for f := range r.saying(path.Ext(file), beside, ".use(") {
		source := r.files.Text(f)
		if !bytes.Contains(source, []byte("forEach(")) && !bytes.Contains(source, []byte(" of ")) {
			continue
		}
		w := r.wiringOf(f)
		if w == nil {
			continue
		}
		for _, m := range w.Mounts {
			member := loopMember.Get().FindStringSubmatch(m.Router.Text)
			if member == nil || member[1] == "this" {
				continue
			}
			loop := regexp.MustCompile(`forEach\(\s*(?:function\s*)?\(?\s*` + member[1] + `\b|\b` + member[1] + `\s+of\s`)
			if loop.Match(source) {
				return m.Prefix, true
			}
		}
	}
	return "", false
}
