package references

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
)

// resolveNames tells a version what other files say of the names that it asks
// for.
func (r *Repo) resolveNames(v *extract.Version) {
	if v == nil || r.files.Tree == nil || v.Outline == nil {
		return
	}
	v.Resolve(func(name string) []string { return r.constant(v.Outline, name) })
}

// markedClass is what an annotation of a class of another file says.
func (r *Repo) markedClass(o *outline.File, class, sel string) []string {
	places := world{r}.Find(o, class)
	if len(places) == 0 || places[0].File.Path == o.Path {
		return nil
	}
	if v := r.versionOf(places[0].File.Path); v != nil {
		return v.Marked(class, sel)
	}
	return nil
}

// A question is what a file asks of others.
type question struct{ file, name string }

// constant is what other files say of a name, as extract asks for it.
func (r *Repo) constant(o *outline.File, name string) (out []string) {
	r.modules.questions.Follow(question{o.Path, name}, func() { out = r.answer(o, name) })
	return out
}

func (r *Repo) answer(o *outline.File, name string) []string {
	if setting, is := strings.CutPrefix(name, "${"); is {
		return r.settingOf(o.Path, strings.TrimSuffix(setting, "}"))
	}
	if router, is := strings.CutPrefix(name, "&"); is {
		return r.routerNamed(o, router)
	}
	if class, is := strings.CutPrefix(name, "@"); is {
		return r.classRoute(o, class)
	}
	if class, sel, ok := strings.Cut(name, ".@"); ok {
		return r.markedClass(o, class, sel)
	}
	if r.modules.asking >= maxRequestDepth {
		return nil
	}
	r.modules.asking++
	defer func() { r.modules.asking-- }()
	name, called := strings.CutSuffix(name, "()")
	if file, as := r.constantAt(o, name); file != "" && outline.CanRead(rules.LanguageOf(file)) {
		if v := r.versionOf(file); v != nil {
			v.Know(func(name string) []string { return r.constant(v.Outline, name) })
			if called {
				as += "()"
			}
			if out := v.Constant(as); out != nil {
				return out
			}
		}
	}
	return r.classConstant(o, name)
}

// constantAt finds the file that gives a name its text, and its name there.
func (r *Repo) constantAt(o *outline.File, name string) (file, as string) {
	local, field, _ := strings.Cut(name, ".")
	for _, im := range o.Imports {
		if im.Local != local {
			continue
		}
		u := locate.Use{Module: im.Module, Name: im.Name}
		if im.Name == "" {
			u.Member = "x"
		}
		if o.Lang == "go" { // any file of the package may
			u.Member, _, _ = strings.Cut(field, ".")
		}
		file, as = r.files.File(o, u)
		switch {
		case o.Lang == "typescript" || o.Lang == "javascript":
			if im.Name == "" {
				as, field, _ = strings.Cut(field, ".")
			}
			file, as = r.files.Origin(o.Lang, file, as)
		case im.Name != "" && o.Lang != "go":
			file, as = r.files.Origin(o.Lang, file, as)
		default:
			as = ""
		}
		if file == o.Path {
			return "", ""
		}
		return file, strings.Trim(as+"."+field, ".")
	}
	if o.Lang == "go" {
		file, as = r.files.Ambient(o, locate.Use{Name: local})
		return file, as
	}
	if places := (world{r}).Find(o, local); len(places) > 0 && locate.HasAmbient(o.Lang) {
		return places[0].File.Path, name
	}
	return "", ""
}
