package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Paths are what is known of the routes in a file of live code.
type Paths struct {
	Texts  []join.Text // that look like uses of a route
	Routes []string    // keys of those that it provides
	Names  []string    // of its data, as they were sent
}

// TextsOf reads candidates, as they were sent.
func TextsOf(path string, all []coord.Candidate) (out []join.Text) {
	for _, c := range all {
		if form, ok := scope.ParseForm(c.Form); ok {
			t := join.Text{Path: path, Line: c.Line, Form: form, Method: c.Method, Guess: c.Guess}
			if via, ok := scope.ParseForm(c.Via); ok {
				t.Via = via[0]
			}
			out = append(out, t)
		}
	}
	return out
}

// SetPaths sets what is known of the routes in a file, in place of what was.
func (ix *Index) SetPaths(name coord.RepoName, path string, p Paths) {
	r := ix.repo(name.ID)
	r.name, r.code = name, &Worker{Repo: name}
	ix.paths.SetTexts(name.ID, path, p.Texts)
	ix.paths.SetRoutes(name.ID, path, p.Routes)
	ix.paths.SetNames(name.ID, path, p.Names)
}

// PathsOf returns what is known of the routes in a file.
func (ix *Index) PathsOf(repoID, path string) Paths {
	return Paths{Texts: ix.paths.Texts(repoID, path), Routes: ix.paths.Routes(repoID, path), Names: ix.paths.Names(repoID, path)}
}

// knownUses files the routes that code of a file was read to use: they count for
// what two repositories have in common.
func (ix *Index) knownUses(repoID, path string, uses []Use) {
	var texts []join.Text
	for _, u := range uses {
		if method, form, ok := scope.RouteForm(u.Key); ok {
			texts = append(texts, join.Text{Path: path, Line: u.Line, Form: form, Method: method, Known: true})
		}
	}
	ix.paths.SetTexts(repoID, "uses of "+path, texts)
}

// joined collects the places of linked repositories that a broken route fits,
// where nothing but a text tells that they use it.
func (g *gatherer) joined(ours item) {
	if breaking(ours) {
		g.textUses(ours.key(), func(r *repo, use item) { g.addBreak(weBreak, ours, use, r.code) })
	}
}

// textUses visits the places of linked repositories that a route fits by their
// text alone.
func (g *gatherer) textUses(key string, visit func(*repo, item)) {
	if !strings.HasPrefix(key, "http:") {
		return
	}
	for _, id := range g.repo.links {
		r := g.ix.repos[id]
		if r == nil || r.code == nil {
			continue
		}
		said := g.said(id)
		for _, u := range g.ix.paths.Uses(g.repo.id, id, key, said) {
			if !r.reads(u.Path, u.Line, key) {
				visit(r, item{kind: useEntry, use: &Use{Key: key, Line: u.Line}, path: u.Path, sure: u.Certainty})
			}
		}
	}
}

// said reports whether people tie the worker's repo and another: a project of
// two is of nothing else.
func (g *gatherer) said(id string) bool {
	return len(g.repo.prefixes[id]) > 0 || len(g.repo.links) == 1
}

// joinedWork collects the same of what others are at work on: their new texts
// and the routes that ours broke, and the other way round.
func (g *gatherer) joinedWork(c *Change) {
	ours := g.brokenRoutes(c)
	if len(ours) == 0 && len(c.Facts.Candidates) == 0 {
		return
	}
	for _, id := range g.repo.links {
		r := g.ix.repos[id]
		if r == nil {
			continue
		}
		for at := range r.texts {
			for _, route := range ours {
				g.pair(weBreak, route, g.ix.changes[at].c, g.repo.id, id)
			}
		}
		for at := range r.broken {
			for _, route := range g.brokenRoutes(g.ix.changes[at].c) {
				g.pair(theyBreak, route, c, id, g.repo.id)
			}
		}
	}
}

// pair holds a broken route against the new texts of a change in another
// repository.
func (g *gatherer) pair(what hitKind, route item, c *Change, provider, user string) {
	other := g.ix.Worker(g.ix.ownerID(c))
	if what == theyBreak {
		other = g.ix.Worker(g.ix.ownerID(route.change))
	}
	if !meets(g.self, other) {
		return
	}
	tied := user
	if user == g.repo.id {
		tied = provider
	}
	for _, t := range TextsOf(c.Facts.Path, c.Facts.Candidates) {
		if slices.ContainsFunc(c.Facts.Contracts, func(k coord.ContractFacts) bool {
			return k.Role == coord.Uses && k.Line == t.Line && scope.ContractsOverlap(route.key(), k.Key)
		}) {
			continue // it was read
		}
		sure := g.ix.paths.Judge(provider, user, route.key(), &t, g.said(tied))
		if sure == join.NotSaid {
			continue
		}
		use := item{kind: useEntry, use: &Use{Key: route.key(), Line: t.Line}, change: c, sure: sure}
		if what == weBreak {
			g.addBreak(what, route, use, other)
		} else {
			g.addBreak(what, use, route, other)
		}
	}
}

// brokenRoutes are the routes that a change breaks.
func (g *gatherer) brokenRoutes(c *Change) (out []item) {
	for i := range c.Facts.Contracts {
		it := item{kind: contractEntry, change: c, sub: int32(i)}
		if strings.HasPrefix(it.key(), "http:") && breaking(it) {
			out = append(out, it)
		}
	}
	return out
}

// addTexts files a change by what it says of routes.
func (r *repo) addTexts(f *coord.FileFacts, at uint32) {
	if len(f.Candidates) > 0 {
		if r.texts == nil {
			r.texts = map[uint32]bool{}
		}
		r.texts[at] = true
	}
	if len(f.Lost) > 0 {
		if r.lost == nil {
			r.lost = map[uint32]bool{}
		}
		r.lost[at] = true
	}
	for i := range f.Contracts {
		if k := &f.Contracts[i]; k.Role == coord.Provides && k.Change != coord.Same && strings.HasPrefix(k.Key, "http:") {
			if r.broken == nil {
				r.broken = map[uint32]bool{}
			}
			r.broken[at] = true
			return
		}
	}
}

// reads reports whether it is known of a line that it uses a route.
func (r *repo) reads(path string, line int, key string) bool {
	at, ok := r.useAt[path]
	return ok && slices.ContainsFunc(r.uses[at].uses, func(u Use) bool {
		return u.Line == line && (scope.ContractsOverlap(key, u.Key) || scope.RoutesMeet(key, u.Key))
	})
}
