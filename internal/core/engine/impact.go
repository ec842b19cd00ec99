package engine

import (
	"cmp"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Place is where code uses a contract, or did until of late.
type Place struct {
	Repo     coord.RepoName
	Path     string
	Line     int
	State    coord.UseState
	Probable bool        // that it is this contract, by a text or but for what stands before a route
	Owner    *coord.User // who is at work on the file, else who changed the line last
	By       *Worker     // who moves it off the old form, or moved it
	At       coord.Time  // since when
}

// UsesOf returns the places that use a repo's contracts, by key, and how each
// stands to the changes of it: those that a hook and a conflict go by, in the repo
// and those linked with it.
func UsesOf(ix *Index, repoID string, keys []string) map[string][]Place {
	g := &gatherer{ix: ix, self: &Worker{Repo: coord.RepoName{ID: repoID}}, repo: ix.known(repoID)}
	out := map[string][]Place{}
	merged := g.lately(keys)
	for _, key := range keys {
		u := usage{g: g, changes: append(g.breaksAt(key), merged[key].breaks...)}
		g.usesOf(key, u.take)
		moved := merged[key].moved
		slices.SortFunc(moved, func(a, b Place) int { return cmp.Compare(b.At, a.At) }) // the last word on a file first
		for _, p := range moved {
			if !slices.ContainsFunc(u.places, func(o Place) bool { return o.Repo.ID == p.Repo.ID && o.Path == p.Path }) {
				u.places = append(u.places, p)
			}
		}
		slices.SortFunc(u.places, func(a, b Place) int {
			return cmp.Or(cmp.Compare(a.Repo.FullName, b.Repo.FullName), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
				cmp.Compare(a.State, b.State))
		})
		out[key] = u.places
	}
	return out
}

// usesOf visits the places of live code that use a contract.
func (g *gatherer) usesOf(key string, visit func(r *repo, use item, likely bool)) {
	g.atKey(key, func(r *repo, e *entry) {
		if e.Kind == useEntry {
			use, _ := g.theirs(r, e)
			visit(r, use, false)
		}
	})
	g.likelyKey(key, func(r *repo, e *entry, use item, _ *Worker) {
		if e.Kind == useEntry {
			visit(r, use, true)
		}
	})
	g.textUses(key, func(r *repo, use item) { visit(r, use, true) })
}

// breaksAt returns what live work of the repo does to a contract that may fail
// those who use it.
func (g *gatherer) breaksAt(key string) (out []item) {
	g.atKey(key, func(r *repo, e *entry) {
		if r != g.repo || e.Kind != contractEntry && e.Kind != symbolEntry {
			return
		}
		if changed, w := g.theirs(r, e); w != nil && breaking(changed) {
			out = append(out, changed)
		}
	})
	return out
}

// What merged work did to a contract: broke it, or left it.
type late struct {
	breaks []item
	moved  []Place
}

// lately reads the merged work of the repo and of those linked with it.
func (g *gatherer) lately(keys []string) map[string]*late {
	out, about := map[string]*late{}, map[string][]string{}
	for _, key := range keys {
		out[key] = &late{}
		for _, k := range append(scope.RelatedContracts(key), key) {
			about[k] = append(about[k], key)
		}
	}
	for _, id := range append([]string{g.repo.id}, g.repo.links...) {
		r := g.ix.known(id)
		for path, all := range r.merged {
			for _, m := range all {
				for i, k := range m.Facts.Contracts {
					if path != m.Facts.Path {
						break // it is filed by each of its paths
					}
					for _, key := range about[k.Key] {
						out[key].take(r.name, m, i, r == g.repo)
					}
				}
			}
		}
	}
	return out
}

func (l *late) take(repo coord.RepoName, m *Merged, i int, own bool) {
	it := item{kind: contractEntry, change: &Change{Facts: m.Facts}, sub: int32(i)}
	switch k := it.contract(); {
	case k.Role == coord.Uses && k.Change == coord.Removed:
		p := Place{Repo: repo, Path: m.Facts.Path, Line: k.Line, State: coord.UseMoved, By: m.By, At: m.At}
		if m.By != nil { // else it is known by its commit alone
			p.Repo, p.Owner = m.By.Repo, &m.By.User
		}
		if p.Repo.ID != "" {
			l.moved = append(l.moved, p)
		}
	case own && breaking(it):
		l.breaks = append(l.breaks, it)
	}
}

// usage collects the uses of one contract.
type usage struct {
	g       *gatherer
	changes []item // that may fail them
	places  []Place
}

func (u *usage) take(r *repo, use item, likely bool) {
	p := Place{Repo: r.name, Path: use.path, Line: use.use.Line, State: coord.UseStands, Probable: likely}
	if slices.ContainsFunc(u.places, func(o Place) bool { return o.Repo.ID == p.Repo.ID && o.Path == p.Path && o.Line == p.Line }) {
		return // found by two of its keys
	}
	if r != u.g.repo { // who changes a contract has the uses beside it before them
		p.State = u.fate(r, use)
	}
	if by := use.use.By; by.ID != "" {
		p.Owner = &by
	}
	if w := r.atWork(u.g.ix, use.path); w != nil {
		p.Owner = &w.User
	}
	if w := u.leaving(r, use); w != nil {
		p.State, p.By, p.At = coord.UseMoving, w, w.Since
	}
	u.places = append(u.places, p)
}

// fate tells what the changes do to a use.
func (u *usage) fate(r *repo, use item) coord.UseState {
	state := coord.UseStands
	p := &pairing{ix: u.g.ix, self: u.g.self, other: r.code, prefixes: u.g.repo.prefixes[r.id]}
	for _, changed := range u.changes {
		why, most := p.weigh(changed, use, true)
		landed := changed.change.Copy == ""
		switch change, _, _ := changed.effect(); {
		case why == 0 && state == coord.UseStands:
			state = coord.UseFits
		case why == 0:
		case most == coord.SeverityBlock && (!landed || change == coord.Removed):
			return coord.UseFails
		default: // a use may have been adapted to what landed
			state = coord.UseMayFail
		}
	}
	return state
}

// leaving returns whose work on the file of a use no longer has it as it was.
func (u *usage) leaving(r *repo, use item) (by *Worker) {
	at := r.tree.FindPath(use.path)
	if at == 0 || use.sure != join.NotSaid {
		return nil
	}
	r.tree.At(at, func(e *entry) {
		if e.Kind != changeEntry && e.Kind != oldPathEntry {
			return
		}
		c := u.g.ix.changes[e.Owner].c
		if w := u.g.ix.Worker(u.g.ix.ownerID(c)); w != nil && u.left(c, use) && (by == nil || earlier(w, by)) {
			by = w
		}
	})
	return by
}

// left reports whether a file as work has it uses a contract no more, or less of
// what goes.
func (u *usage) left(c *Change, use item) bool {
	gone := c.Facts.Status == coord.FileDeleted
	for i := range c.Facts.Contracts {
		k := &c.Facts.Contracts[i]
		switch {
		case k.Role != coord.Uses || k.Key != use.use.Key:
		case k.Change == coord.Removed:
			gone = true
		default:
			now := item{kind: contractEntry, change: c, sub: int32(i)}
			return slices.ContainsFunc(u.changes, func(changed item) bool {
				return hits(changed, use) == coord.Misfits && hits(changed, now) != coord.Misfits
			})
		}
	}
	return gone
}
