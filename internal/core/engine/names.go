package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A definition that nothing else in a repository goes by is filed by its name,
// too, and so are new mentions of it. Which names are worth a look, the service
// tells those who may mention them; what they find comes with their facts.

// maxWatched is how many names a worker is told at a time.
const maxWatched = 200

// soleKey returns the key of a definition's name, if only that one goes by it.
func soleKey(f *coord.FileFacts, s *coord.SymbolFacts) string {
	family := coord.NameFamily(f.Language)
	if !s.Sole || family == "" || s.Change != coord.Removed && s.Change != coord.Signature {
		return ""
	}
	return coord.NameKey(family, coord.LastName(s.Key))
}

// soleNames reports whether a change takes names away that others may mention.
func soleNames(f *coord.FileFacts) bool {
	return slices.ContainsFunc(f.Symbols, func(s coord.SymbolFacts) bool { return soleKey(f, &s) != "" })
}

// WatchedNames returns the names that others who work in a worker's repo took
// away or changed, by name.
func WatchedNames(ix *Index, workerID string) []coord.WatchedName {
	w := ix.Worker(workerID)
	if w == nil {
		return nil
	}
	g := gatherer{ix: ix, self: w, repo: ix.known(w.Repo.ID)}
	by := map[string]*coord.WatchedName{}
	for at := range g.repo.names {
		c := ix.changes[at].c
		if !meets(w, ix.Worker(ix.ownerID(c))) || g.repo.rules.Ignored(c.Facts.Path) || ix.touches(w, c.Copy) {
			continue
		}
		for i := range c.Facts.Symbols {
			s := &c.Facts.Symbols[i]
			key := soleKey(&c.Facts, s)
			if key == "" {
				continue
			}
			n := by[key]
			if n == nil {
				n = &coord.WatchedName{Family: coord.NameFamily(c.Facts.Language), Name: coord.LastName(s.Key), Form: coord.FormOf(s.Kind, s.Key)}
				by[key] = n
			}
			n.Files = append(n.Files, basePaths(&c.Facts)...)
		}
	}
	out := make([]coord.WatchedName, 0, len(by))
	for _, n := range by {
		slices.Sort(n.Files)
		n.Files = slices.Compact(n.Files)
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b coord.WatchedName) int { return strings.Compare(a.Key(), b.Key()) })
	return out[:min(len(out), maxWatched)]
}

// touches reports whether a worker has changes in a working copy.
func (ix *Index) touches(w *Worker, copy string) bool {
	return slices.ContainsFunc(ix.byWorker[w.ID], func(at uint32) bool { return ix.changes[at].c.Copy == copy })
}

// changedName collects who newly mentions a definition by its name.
func (g *gatherer) changedName(key string, ours item) {
	at := g.repo.tree.FindContract(key)
	if at == 0 {
		return
	}
	g.repo.tree.At(at, func(e *entry) {
		if theirs, w := g.theirs(g.repo, e); w != nil && e.Kind == referenceEntry && apartIn(ours, theirs) && !g.deleted(ours, theirs) &&
			!g.ownName(ours, w) {
			g.addBreak(weBreak, ours, theirs, w)
		}
	})
}

// mentioned collects whose definition a worker newly mentions.
func (g *gatherer) mentioned(key string, ours item) {
	at := g.repo.tree.FindContract(key)
	if at == 0 {
		return
	}
	g.repo.tree.At(at, func(e *entry) {
		if theirs, w := g.theirs(g.repo, e); w != nil && e.Kind == symbolEntry && apartIn(ours, theirs) && !g.deleted(theirs, ours) &&
			!g.ownName(theirs, g.self) {
			g.addBreak(theyBreak, ours, theirs, w)
		}
	})
}

// apartIn reports whether two changes are of different working copies: who
// works in one sees what is gone from it.
func apartIn(a, b item) bool { return a.change.Copy != b.change.Copy }

// deleted reports whether who changed a definition deleted the file of the
// mention: git stops there, and says more.
func (g *gatherer) deleted(changed, use item) bool {
	at, ok := g.repo.changes[changeKey{changed.change.Copy, use.file()}]
	return ok && g.ix.changes[at].c.Facts.Status == coord.FileDeleted
}

// ownName reports whether who mentions a name has added a definition of it: the
// mention is of that one.
func (g *gatherer) ownName(changed item, user *Worker) bool {
	name := coord.LastName(changed.key())
	for _, at := range g.ix.byWorker[user.ID] {
		if slices.ContainsFunc(g.ix.changes[at].c.Facts.Symbols, func(s coord.SymbolFacts) bool {
			return s.Change == coord.Added && coord.LastName(s.Key) == name
		}) {
			return true
		}
	}
	return false
}
