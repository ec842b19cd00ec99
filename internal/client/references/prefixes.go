package references

import (
	"bytes"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// What stands before a program's routes is often said far from them: by whoever
// hands a router to a function, by the file that starts the program, or by a
// setting.

const (
	maxHandFiles = 400  // that are read as programs, of those that may say something
	maxLookedAt  = 2000 // whose texts are looked at to find them
)

// saying yields the files with an ending that are not tests, may count and have
// all of the texts. How many there are is bounded only after those that cannot
// be the ones are gone: a large repository has many.
func (r *Repo) saying(end string, may func(file string) bool, texts ...string) iter.Seq[string] {
	return func(yield func(string) bool) {
		looked, found := 0, 0
		for _, f := range r.files.Ending(end) {
			if rules.TestPath(f) || !may(f) {
				continue
			}
			if looked++; looked > maxLookedAt || found == maxHandFiles {
				return
			}
			source := r.files.Text(f)
			if slices.ContainsFunc(texts, func(t string) bool { return !bytes.Contains(source, []byte(t)) }) {
				continue
			}
			if found++; !yield(f) {
				return
			}
		}
	}
}

// handings are the prefixes under which the routes of a handed router lie: one
// that is empty when nobody is known to hand it, unless it has none then.
func (r *Repo) handings(file string, h contract.Handed) []string {
	if h.Func == "" {
		return []string{""}
	}
	lang := rules.LanguageOf(file)
	key := fmt.Sprint(lang.Name, h)
	if h.Param == contract.Receiver { // many files have one of the same name
		key = fmt.Sprint(file, h)
	}
	crate := ""
	if at := strings.Index(file, "src/"); at >= 0 && lang.Name == "rust" { // each has modules of its own
		crate = file[:at]
		key += " " + crate
	}
	out, ok := r.modules.handings.get(key, func() []string { return r.findHandings(file, h, crate) })
	if !ok {
		return []string{""}
	}
	return out
}

func (r *Repo) findHandings(file string, h contract.Handed, crate string) []string {
	if h.Param == contract.Kept {
		return r.findKeepings(file, h)
	}
	lang := rules.LanguageOf(file)
	files := slices.DeleteFunc(slices.Clone(r.files.Ending(path.Ext(file))), rules.TestPath)
	slices.SortStableFunc(files, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	if h.Param == contract.Receiver && bytes.Count(r.files.Text(file), []byte(h.Func+"(")) > 1 {
		files = []string{file}
	}
	if h.Param == contract.Mounted {
		files = mayMountEngines(files, file)
	}
	names := func(text []byte) bool { return bytes.Contains(text, []byte(h.Func+"(")) }
	switch {
	case h.Param == contract.Inherited:
		names = regexp.MustCompile(`(?:extends|implements|with|:|,)\s+(?:\w+\.)*` + regexp.QuoteMeta(h.Func) + `\b`).Match
	case h.Param == contract.Mounted:
		last := []byte(h.Func[strings.LastIndexByte(h.Func, '.')+1:])
		names = func(text []byte) bool { return bytes.Contains(text, []byte("mount ")) && bytes.Contains(text, last) }
	case h.Param == contract.Paired:
		names = func(text []byte) bool {
			return bytes.Contains(text, []byte("Router")) && bytes.Contains(text, []byte("->"))
		}
	case lang.Name == "rust": // a function is mounted by its name, too
		names = func(text []byte) bool { return bytes.Contains(text, []byte(h.Func)) }
	}
	files = slices.DeleteFunc(files[:min(len(files), maxLookedAt)], func(f string) bool {
		return !outline.CanRead(lang) || !names(r.files.Text(f))
	})
	files = files[:min(len(files), maxHandFiles)]
	near := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !strings.HasPrefix(f, crate) })
	out := r.handedIn(near, h, true)
	if len(out) == 0 && h.Param == contract.Given {
		out = r.handedIn(files, h, false)
	}
	if len(out) == 0 && !h.Only {
		out = []string{""}
	}
	return out
}

// mayMountEngines are the files that usually mount an engine whose routes a file
// has: those of its own plugin, and those that are for it by their name.
func mayMountEngines(files []string, file string) []string {
	own, _, _ := strings.Cut(file, "config/")
	return slices.DeleteFunc(files, func(f string) bool {
		return (own == "" || own == file || !strings.HasPrefix(f, own)) &&
			!slices.Contains([]string{"routes.rb", "plugin.rb", "application.rb", "engine.rb"}, path.Base(f)) && f != file
	})
}

// handedIn are the prefixes that files say, near: by the very name of what gives
// the router, not by that of the folder around, which may give another.
func (r *Repo) handedIn(files []string, h contract.Handed, near bool) (out []string) {
	for _, f := range files {
		v := r.versionOf(f)
		if v == nil {
			continue
		}
		r.resolveNames(v)
		for _, x := range v.Handings(h, near) {
			for _, above := range r.handings(f, x.Router) {
				if whole := contract.JoinRoute(above, x.Prefix); !slices.Contains(out, whole) {
					out = append(out, whole)
				}
			}
		}
	}
	return out
}

// starters are the files that start a program, without their endings.
var starters = []string{"main", "index", "app", "server", "bootstrap", "program", "startup", "application"}

// appPrefix is what a whole program puts before its routes.
func (r *Repo) appPrefix(file, framework string) string {
	key := framework + " " + path.Dir(file)
	switch framework {
	case "laravel", "routeattributes", "grape", "rails", "play": // each file has its own
		key = framework + " " + file
	}
	if known, ok := r.modules.prefixes[key]; ok {
		return known
	}
	if r.modules.prefixes == nil {
		r.modules.prefixes = map[string]string{}
	}
	prefix := ""
	switch framework {
	case "laravel":
		prefix = r.laravelPrefix(file, 0)
	case "routeattributes":
		prefix = r.attributesPrefix(file)
	case "grape":
		prefix = r.grapePrefix(file)
	case "rails":
		prefix = r.hanamiPrefix(file)
	case "fastify", "express": // files may leave out who they are of
		prefix = r.folderPrefix(file)
	case "play":
		prefix = r.playPrefix(file, 0)
	default:
		prefix = contract.JoinRoute(r.settingPrefix(file, framework), r.startPrefix(file, framework))
	}
	r.modules.prefixes[key] = prefix
	return prefix
}

// startPrefix asks the files that may start the program.
func (r *Repo) startPrefix(file, framework string) string {
	lang := rules.LanguageOf(file)
	m, err := r.rules.Load(rules.OrName(lang))
	if err != nil || !slices.ContainsFunc(m.Rules, func(x *rules.Rule) bool { return x.Is(framework) && x.Role == "prefix" }) {
		return ""
	}
	if prefix := r.matchedPrefix(file, framework, m); prefix != "" {
		return prefix
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, name := range r.files.List(dir) {
			stem, _, _ := strings.Cut(strings.ToLower(name), ".")
			if full := path.Join(dir, name); slices.Contains(starters, stem) && rules.LanguageOf(name).Name == lang.Name && !rules.TestPath(full) {
				if v := r.versionOf(full); v != nil {
					if prefix := v.AppPrefix(framework); prefix != "" {
						return prefix
					}
				}
			}
		}
		if dir == "." {
			return ""
		}
	}
}

// settingFiles are the files that programs keep their settings in.
var settingFiles = lazy.Regexp(`(?i)(settings?|config|configuration|constants?|conf|env|app|base)$`)

// settingNamed is the text of a setting: of a name of another file, or of a
// member of an object that a file of settings describes.
func (r *Repo) settingNamed(o *outline.File, name string) string {
	if found := r.constant(o, name); len(found) == 1 && found[0] != "{}" {
		return found[0]
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	assigned := regexp.MustCompile(`(?m)^\s*(?:(?:export\s+)?(?:const|let|var)\s+|self\.|this\.)?` + regexp.QuoteMeta(last) +
		`\s*(?::\s*[\w.\[\]]+\s*)?[:=]\s*["'` + "`" + `]([^"'` + "`" + `\n]*)["'` + "`" + `]`)
	settings := func(f string) bool {
		return settingFiles.Get().MatchString(strings.TrimSuffix(path.Base(f), path.Ext(f)))
	}
	for f := range r.saying(path.Ext(o.Path), settings) {
		if m := assigned.FindSubmatch(r.files.Text(f)); m != nil {
			return string(m[1])
		}
	}
	return ""
}
