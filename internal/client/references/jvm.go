package references

import (
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Programs on the JVM keep parts of their routes in constants of other classes
// and in settings.

// classConstant is the text that a class of the repository gives a name: one
// that is named before it, or one whose members are imported.
func (r *Repo) classConstant(o *outline.File, name string) []string {
	switch o.Lang {
	case "java", "kotlin", "scala":
	default:
		return nil
	}
	local, _, _ := strings.Cut(name, ".")
	classes := []string{local}
	for _, im := range o.Imports {
		if last := owner(im.Module); last != "" && last[0] >= 'A' && last[0] <= 'Z' && (im.Local == local || im.Name == "*" || im.Name == "_") {
			classes = append(classes, last)
		}
	}
	var found []string
	for _, class := range classes {
		for _, p := range (world{r}).search(o, class, true) {
			v := r.versionOf(p.File.Path)
			if v == nil || p.File.Path == o.Path {
				continue
			}
			out := v.Constant(name)
			if path.Dir(p.File.Path) == path.Dir(o.Path) && out != nil {
				return out
			}
			if len(out) == 1 && !slices.Contains(found, out[0]) {
				found = append(found, out[0])
			}
		}
	}
	if len(found) != 1 { // classes of different packages are called alike
		return nil
	}
	return found
}

// classRoute is the route that a class of another file stands for.
func (r *Repo) classRoute(o *outline.File, class string) []string {
	for _, p := range (world{r}).Find(o, class) {
		v := r.versionOf(p.File.Path)
		if v == nil || p.File.Path == o.Path {
			continue
		}
		r.resolveNames(v)
		if out := v.ClassRoute(class); out != nil {
			return out
		}
	}
	return nil
}

// routerNamed is the prefix of a router that another file gives a name.
func (r *Repo) routerNamed(o *outline.File, name string) []string {
	for _, p := range (world{r}).search(o, name, true) {
		v := r.versionOf(p.File.Path)
		if v == nil || p.File.Path == o.Path {
			continue
		}
		r.resolveNames(v)
		if w := v.Wiring(); w != nil {
			if prefix, ok := w.Prefixes[name]; ok {
				return []string{prefix}
			}
		}
	}
	return nil
}

// settingKeys are what frameworks call the setting of a prefix.
var settingKeys = lazy.Table[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"spring":    {"server.servlet.context-path", "spring.mvc.servlet.path", "spring.webflux.base-path", "server.context-path"},
		"jaxrs":     {"quarkus.http.root-path", "quarkus.resteasy.path", "quarkus.rest.path", "quarkus.resteasy-reactive.path"},
		"micronaut": {"micronaut.server.context-path"},
		"ktor":      {"ktor.deployment.rootPath"},
	}
}}

// settingsOf are the files of settings that a file's module has; if it has none,
// those of the other modules, which may start the program.
var jvmSettings = []string{"application.properties", "application.yml", "application.yaml", "bootstrap.yml",
	"microprofile-config.properties", "koin.properties", "application.conf"}

func (r *Repo) settingsOf(file string) (out []string) {
	root, _, ok := strings.Cut(file, "src/main/")
	var others []string
	for _, name := range jvmSettings {
		for _, f := range r.files.Named(name) {
			switch {
			case rules.TestPath(f):
			case ok && strings.HasPrefix(f, path.Join(root, "src/main/resources")+"/"):
				out = append(out, f)
			default:
				others = append(others, f)
			}
		}
	}
	if len(out) == 0 {
		return others
	}
	return out
}

// settingOf is what the settings say of a name, if they agree.
func (r *Repo) settingOf(file, key string) []string {
	found := ""
	for _, f := range r.settingsOf(file) {
		v := plainSetting(setting(r.files.Read(f), key))
		if v == "" || v == found {
			continue
		}
		if found != "" {
			return nil
		}
		found = v
	}
	if found == "" {
		return nil
	}
	return []string{found}
}

// plainSetting is a setting without what the environment may say instead:
// ${NAME:default}.
func plainSetting(v string) string {
	if m := ofEnvironment.Get().FindStringSubmatch(v); m != nil {
		v = m[1]
	}
	if strings.Contains(v, "${") {
		return ""
	}
	return v
}

var ofEnvironment = lazy.Regexp(`^\$\{[\w.-]+:([^}]*)\}$`)

// settingPrefix asks the settings of a program on the JVM.
func (r *Repo) settingPrefix(file, framework string) string {
	out := ""
	for _, key := range settingKeys.Get()[framework] {
		if v := r.settingOf(file, key); v != nil {
			out = contract.JoinRoute(out, v[0])
		}
	}
	return out
}

// matchedPrefix asks the files of a program whose text a rule matches, those of
// the file's module first.
func (r *Repo) matchedPrefix(file, framework string, m *rules.Matcher) string {
	var asked []*rules.Rule
	for _, x := range m.Rules {
		if x.Is(framework) && x.Role == "prefix" && x.Match != nil {
			asked = append(asked, x)
		}
	}
	if len(asked) == 0 {
		return ""
	}
	root, _, _ := strings.Cut(file, "src/main/")
	key := "text " + framework + " " + root + path.Ext(file)
	if known, ok := r.modules.prefixes[key]; ok {
		return known
	}
	prefix := r.matchPrefix(file, root, asked)
	r.modules.prefixes[key] = prefix
	return prefix
}

func (r *Repo) matchPrefix(file, root string, asked []*rules.Rule) string {
	files := slices.DeleteFunc(slices.Clone(r.files.Ending(path.Ext(file))), func(f string) bool {
		return rules.TestPath(f) || !slices.ContainsFunc(asked, func(x *rules.Rule) bool { return x.Covers(f) })
	})
	slices.SortStableFunc(files, func(a, b string) int {
		return boolInt(strings.HasPrefix(b, root)) - boolInt(strings.HasPrefix(a, root))
	})
	for _, f := range files[:min(len(files), maxLookedAt)] {
		for _, x := range asked {
			if !x.Covers(f) {
				continue
			}
			found := x.Match.Get().FindSubmatch(r.files.Text(f))
			if found == nil {
				continue
			}
			if at := x.Match.Get().SubexpIndex("setting"); at > 0 && len(found[at]) > 0 {
				if v := r.settingOf(f, string(found[at])); v != nil {
					return v[0]
				}
				continue
			}
			return strings.TrimSuffix(string(found[x.Match.Get().SubexpIndex("path")]), "*")
		}
	}
	return ""
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var (
	playMount   = lazy.Regexp(`(?m)^\s*->\s+(/\S*)\s+@?([\w.]+)`)
	playContext = lazy.Regexp(`(?m)^\s*(?:play\.http\.context|application\.context)\s*[=:]\s*"?([^\s"]+)`)
)

// playPrefix is where the routes of a file of Play lie: other files of routes
// mount it by its name, or by that of a class in it.
func (r *Repo) playPrefix(file string, depth int) string {
	above := ""
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	if path.Base(file) == "routes" || depth == maxMountDepth {
		if m := playContext.Get().FindSubmatch(r.files.Read(path.Join(path.Dir(file), "application.conf"))); m != nil {
			above = string(m[1])
		}
		return above
	}
	for _, f := range append(r.files.Named("routes"), r.files.Ending(".routes")...) {
		for _, m := range playMount.Get().FindAllSubmatch(r.files.Text(f), -1) {
			name := string(m[2])
			mine := strings.HasSuffix(file, ".routes") && name == stem+".Routes" ||
				!strings.HasSuffix(file, ".routes") && declares(r.files.Text(file), owner(name), true)
			if mine && f != file {
				return contract.JoinRoute(r.playPrefix(f, depth+1), string(m[1]))
			}
		}
	}
	return above
}

var settingLine = lazy.Regexp(`^(\s*)["']?([\w.-]+)["']?\s*[:={]\s*(?:"([^"]*)"|'([^']*)'|([^\s#]*))`)

// setting reads a key of a properties file or of YAML, where its parts may stand
// on lines of their own.
func setting(text []byte, key string) string {
	type level struct {
		indent int
		key    string
	}
	var open []level
	for line := range strings.Lines(string(text)) {
		m := settingLine.Get().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for len(open) > 0 && open[len(open)-1].indent >= len(m[1]) {
			open = open[:len(open)-1]
		}
		whole := m[2]
		if len(open) > 0 {
			whole = open[len(open)-1].key + "." + m[2]
		}
		if v := m[3] + m[4] + m[5]; v != "" && sameSetting(whole, key) {
			return v
		}
		open = append(open, level{len(m[1]), whole})
	}
	return ""
}

// sameSetting compares names of settings: contextPath is context-path.
func sameSetting(a, b string) bool {
	plain := strings.NewReplacer("-", "", "_", "")
	return strings.EqualFold(plain.Replace(a), plain.Replace(b))
}
