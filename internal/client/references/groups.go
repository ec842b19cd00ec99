package references

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Files of routes of PHP and Ruby that another file takes in under a prefix.

var (
	phpPrefix = lazy.Regexp(`(?:prefix\(\s*|['"]prefix['"]\s*=>\s*)['"]([^'"]*)['"]`)
	apiPrefix = lazy.Regexp(`apiPrefix:\s*['"]([^'"]*)['"]`)
)

// laravelPrefix is what the provider of routes, another file of routes, or the
// framework by itself puts before the routes of a file.
func (r *Repo) laravelPrefix(file string, depth int) string {
	root, base, ok := strings.Cut(file, "routes/")
	if !ok || depth == maxMountDepth {
		return ""
	}
	provider := path.Join(root, "app/Providers/RouteServiceProvider.php")
	boot := path.Join(root, "bootstrap/app.php")
	for _, f := range []string{provider, boot, path.Join(root, "app/Providers/AppServiceProvider.php")} {
		if prefix, ok := groupedFile(r.files.Read(f), "routes/"+base); ok {
			return prefix
		}
	}
	dir := path.Dir(file)
	for _, name := range r.files.List(dir) {
		other := path.Join(dir, name)
		at := bytes.Index(r.files.Text(other), []byte("/"+path.Base(base)+"'")) // required, or a group of its own
		if other == file || !strings.HasSuffix(name, ".php") || at < 0 {
			continue
		}
		if v := r.versionOf(other); v != nil {
			return contract.JoinRoute(r.laravelPrefix(other, depth+1), v.PrefixAt(uint32(at)))
		}
	}
	if base == "api.php" && len(r.files.Read(provider)) == 0 { // newer ones do it by themselves
		if m := apiPrefix.Get().FindSubmatch(r.files.Read(boot)); m != nil {
			return string(m[1])
		}
		return "api"
	}
	return ""
}

// attributedFolder is a folder of controllers that the package of attributes is
// told a prefix of.
var attributedFolder = lazy.Regexp(`app_path\(\s*['"]([^'"]+)['"]\s*\)\s*=>\s*\[[^\]]*?['"]prefix['"]\s*=>\s*['"]([^'"]*)['"]`)

// attributesPrefix is what stands before the routes of a controller of Laravel
// that tells them by attributes: by the settings of its folder, or by whoever
// registers that.
func (r *Repo) attributesPrefix(file string) string {
	root, below, ok := strings.Cut(file, "app/")
	if !ok {
		return ""
	}
	for _, m := range attributedFolder.Get().FindAllSubmatch(r.files.Read(path.Join(root, "config/route-attributes.php")), -1) {
		if strings.HasPrefix(below, strings.Trim(string(m[1]), "/")+"/") {
			return string(m[2])
		}
	}
	for _, f := range []string{"bootstrap/app.php", "app/Providers/RouteServiceProvider.php", "app/Providers/AppServiceProvider.php"} {
		text := r.files.Read(path.Join(root, f))
		for dir := path.Dir(below); dir != "."; dir = path.Dir(dir) {
			if prefix, ok := groupedFile(text, "app_path('"+dir+"')"); ok {
				return prefix
			}
		}
	}
	return ""
}

// groupedFile finds the statement that makes a group of a file's routes, and
// what it puts before them.
func groupedFile(text []byte, file string) (string, bool) {
	for statement := range bytes.SplitSeq(text, []byte(";")) {
		at := bytes.Index(statement, []byte(file))
		from := bytes.LastIndex(statement[:max(at, 0)], []byte("Route::"))
		if from < 0 {
			continue
		}
		prefix := ""
		for _, m := range phpPrefix.Get().FindAllSubmatch(statement[from:at], -1) {
			prefix = contract.JoinRoute(prefix, string(m[1]))
		}
		return prefix, true
	}
	return "", false
}

var (
	grapeClass   = lazy.Regexp(`class\s+([\w:]+)\s*<\s*(?:[\w:]*Grape::API|[\w:]*Base|[\w:]*API)\b`)
	grapePrefix  = lazy.Regexp(`(?m)^\s*prefix\s*\(?\s*[:'"]([\w/]+)`)
	grapeVersion = lazy.Regexp(`(?m)^\s*version\s*\(?\s*[:'"\[]+([\w.]+)['"\]]*([^\n]*)`)
	hanamiApp    = lazy.Regexp(`^(.*\bapps/\w+/)config/routes\.rb$`)
	hanamiClass  = lazy.Regexp(`module\s+(\w+)\s+class\s+Application\s*<\s*Hanami::Application`)
)

// grapePrefix is what stands before the routes of an API of Grape: prefixes,
// then a version, then where it is mounted.
func (r *Repo) grapePrefix(file string) string {
	prefix, version, mounted := "", "", ""
	for depth := 0; depth < maxMountDepth && file != ""; depth++ {
		text := r.files.Text(file)
		if m := grapePrefix.Get().FindSubmatch(text); m != nil && prefix == "" {
			prefix = string(m[1])
		}
		if m := grapeVersion.Get().FindSubmatch(text); m != nil && version == "" {
			if how := string(m[2]); !strings.Contains(how, "using:") || strings.Contains(how, ":path") {
				version = string(m[1])
			}
		}
		class := grapeClass.Get().FindSubmatch(text)
		if class == nil {
			break
		}
		above, at := r.mountedClass(file, string(class[1]))
		mounted = contract.JoinRoute(at, mounted)
		if strings.HasSuffix(above, "routes.rb") {
			return contract.JoinRoute(at, contract.JoinRoute(prefix, contract.JoinRoute(version, strings.TrimPrefix(mounted, at))))
		}
		file = above
	}
	return contract.JoinRoute(prefix, contract.JoinRoute(version, mounted))
}

// mountedClass finds the file of Ruby that mounts a class, and where.
func (r *Repo) mountedClass(file, class string) (from, at string) {
	last := class[strings.LastIndexByte(class, ':')+1:]
	if last == "Application" { // many are called so
		last = class
	}
	mount := regexp.MustCompile(`\bmount[\s(]+(?:::)?(?:\w+::)*` + last + `\b\)?(?:\s*(?:=>|,\s*at:|,\s*:at\s*=>)\s*['"]([^'"]*)['"])?`)
	for f := range r.saying(".rb", func(f string) bool { return f != file }, last) {
		if m := mount.FindSubmatch(r.files.Text(f)); m != nil {
			return f, string(m[1])
		}
	}
	return "", ""
}

// hanamiPrefix is where the program mounts one of the applications of Hanami.
func (r *Repo) hanamiPrefix(file string) string {
	if app := hanamiApp.Get().FindStringSubmatch(file); app != nil {
		if class := hanamiClass.Get().FindSubmatch(r.files.Text(app[1] + "application.rb")); class != nil {
			_, at := r.mountedClass(file, string(class[1])+"::Application")
			return at
		}
	}
	return ""
}
