package join

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/scope"
)

// A Text is a place that looks like the use of a route.
type Text struct {
	Path   string
	Line   int
	Form   scope.Form
	Method string     // that is written beside it
	Guess  string     // that a name around it makes likely
	Via    scope.Word // what it is handed to
	Known  bool       // a use that was read, which counts for what two repositories have in common
}

// A route is one that a repository provides.
type route struct {
	key    string
	name   string // of its form
	method string
	form   scope.Form
}

// An Org knows the texts and routes of the repositories of an org.
type Org struct {
	repos map[string]*catalog
	in    map[scope.Word]int // how many repositories have a word
	links map[[2]string]linkage
}

// A catalog is one repository's part.
type catalog struct {
	texts    map[string][]*Text // by file
	known    map[place][]*Text  // uses that were read
	byWord   map[scope.Word][]*Text
	routes   map[string][]*route // by file
	routesBy map[scope.Word][]*route
	words    map[scope.Word]int // uses of each
	vias     map[scope.Word]int // how many texts go each way
	coded    int                // routes that code provides, not a document
	version  int

	names     map[string]*fileNames // by file
	named     map[scope.Word][]*fileNames
	nameCount int
}

// A linkage is what two repositories have in common, until either changes.
type linkage struct {
	provider, user int // versions
	ways           map[scope.Word]*way
	votes          map[shift]int       // of all ways
	top            int                 // most of them
	equal          int                 // texts that are a route to the letter, wherever the provider has it
	writes         int                 // texts that say that they write
	says, mute     int                 // texts with a method beside them, and with nothing that makes one likely
	words          map[scope.Word]bool // of routes in common, that can tell one from another
	files          map[string]bool     // of the user, that have what goes to the provider
}

// A way is what goes to one place in a program, as far as it fits a provider.
type way struct {
	votes  map[shift]int
	lead   shift          // with most
	silent map[string]int // methods of routes that have one only, where nothing is written beside the text
	wrong  int            // names that make another method likely than such a route has
	right  int
	says   int // texts with a method beside them
	texts  int // that fit it somehow
	equal  int // that are a route to the letter
}

// A place is a line of a file.
type place struct {
	path string
	line int
}

// spokenFor reports whether a use was read where a text stands that is one of
// another route of a provider: then the text is no use of this one.
func (o *Org) spokenFor(provider string, c *catalog, form scope.Form, t *Text) (found bool) {
	p := o.repos[provider]
	if p == nil {
		return false
	}
	for _, k := range c.known[place{t.Path, t.Line}] {
		filed(p.routesBy, k.Form, func(r *route) {
			fit, ok := Fits(r.form, k.Form)
			found = found || ok && fit.Whole() && fit.exact() && agrees(r.method, k) != Contradicts && !slices.Equal(r.form, form)
		})
	}
	return found
}

// NewOrg returns one that knows nothing.
func NewOrg() *Org {
	return &Org{repos: map[string]*catalog{}, in: map[scope.Word]int{}, links: map[[2]string]linkage{}}
}

func (o *Org) catalog(repo string) *catalog {
	c := o.repos[repo]
	if c == nil {
		c = &catalog{texts: map[string][]*Text{}, known: map[place][]*Text{}, byWord: map[scope.Word][]*Text{}, routes: map[string][]*route{},
			routesBy: map[scope.Word][]*route{}, words: map[scope.Word]int{}, vias: map[scope.Word]int{},
			names: map[string]*fileNames{}, named: map[scope.Word][]*fileNames{}}
		o.repos[repo] = c
	}
	return c
}

// SetTexts sets the texts that are kept under a name, a file's, in place of
// those it had.
func (o *Org) SetTexts(repo, name string, texts []Text) {
	if o.repos[repo] == nil && len(texts) == 0 {
		return
	}
	c := o.catalog(repo)
	if len(texts) == 0 && len(c.texts[name]) == 0 {
		return
	}
	for _, t := range c.texts[name] {
		if c.vias[t.Via]--; c.vias[t.Via] == 0 {
			delete(c.vias, t.Via)
		}
		o.each(c, t.Form, -1, func(w scope.Word) { unfile(c.byWord, w, t) })
		if t.Known {
			unfile(c.known, place{t.Path, t.Line}, t)
		}
	}
	delete(c.texts, name)
	for _, t := range texts {
		c.texts[name] = append(c.texts[name], &t)
		c.vias[t.Via]++
		if t.Known {
			at := place{t.Path, t.Line}
			c.known[at] = append(c.known[at], &t)
		}
		o.each(c, t.Form, 1, func(w scope.Word) { c.byWord[w] = append(c.byWord[w], &t) })
	}
	c.version++
}

// SetRoutes sets the keys of the routes that a file provides.
func (o *Org) SetRoutes(repo, path string, keys []string) {
	if o.repos[repo] == nil && len(keys) == 0 {
		return
	}
	c := o.catalog(repo)
	if len(keys) == 0 && len(c.routes[path]) == 0 {
		return
	}
	had := len(c.routes[path])
	for _, r := range c.routes[path] {
		o.each(c, r.form, -1, func(w scope.Word) { unfile(c.routesBy, w, r) })
	}
	delete(c.routes, path)
	for _, key := range keys {
		method, form, ok := scope.RouteForm(key)
		if !ok {
			continue
		}
		r := &route{key, form.String(), method, form}
		c.routes[path] = append(c.routes[path], r)
		o.each(c, form, 1, func(w scope.Word) { c.routesBy[w] = append(c.routesBy[w], r) })
	}
	if !document(path) {
		c.coded += len(c.routes[path]) - had
	}
	c.version++
}

// document reports whether a file is one that describes an API, not code.
func document(path string) bool {
	return strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
}

// copies reports whether a repository has but a copy of the document of
// another's API: its code serves nothing and calls the other.
func (o *Org) copies(repo, of string) bool {
	c, other := o.repos[repo], o.repos[of]
	return c != nil && other != nil && c.coded == 0 && other.coded > 0 && len(o.linked(of, repo).words) > 0
}

// Texts returns the texts that are kept under a name.
func (o *Org) Texts(repo, name string) (out []Text) {
	if c := o.repos[repo]; c != nil {
		for _, t := range c.texts[name] {
			out = append(out, *t)
		}
	}
	return out
}

// Routes returns the keys of the routes that a file provides.
func (o *Org) Routes(repo, path string) (out []string) {
	if c := o.repos[repo]; c != nil {
		for _, r := range c.routes[path] {
			out = append(out, r.key)
		}
	}
	return out
}

// each visits the words of a form that say something, each once, and counts
// them in or out.
func (o *Org) each(c *catalog, form scope.Form, by int, visit func(scope.Word)) {
	for i, w := range form {
		if !telling(w) || slices.Contains(form[:i], w) {
			continue
		}
		if had := c.words[w]; had == 0 && by > 0 || had == 1 && by < 0 {
			o.in[w] += by
		}
		if c.words[w] += by; c.words[w] == 0 {
			delete(c.words, w)
		}
		if o.in[w] == 0 {
			delete(o.in, w)
		}
		visit(w)
	}
}

// telling reports whether a word can tell one route from another.
func telling(w scope.Word) bool { return w != 0 && w.Kind() != scope.BaseWord }

func unfile[K, T comparable](in map[K][]T, w K, x T) {
	left := slices.DeleteFunc(in[w], func(y T) bool { return y == x })
	if len(left) == 0 {
		delete(in, w)
	} else {
		in[w] = left
	}
}

func (t *Text) path() scope.Form  { return t.Form }
func (r *route) path() scope.Form { return r.form }

// filed visits what shares a telling word with a form, each once.
func filed[T interface{ path() scope.Form }](by map[scope.Word][]T, form scope.Form, visit func(T)) {
	for i, w := range form {
		if !telling(w) || slices.Contains(form[:i], w) {
			continue
		}
		for _, x := range by[w] {
			if !slices.ContainsFunc(form[:i], func(w scope.Word) bool { return telling(w) && slices.Contains(x.path(), w) }) {
				visit(x)
			}
		}
	}
}
