package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Data goes by names that both sides write down, wherever and in whatever
// language. Where a file loses one, the places of linked repositories that have
// it will probably miss it. Nothing else is known of them: they stop nobody.

// lostEntry is the kind of an item that is a lost name. It is filed nowhere.
const lostEntry entryKind = 200

// maxNamed is how many places of one repository are looked at for one name.
const maxNamed = 50

// lostName returns the name that an item of that kind is about.
func (it item) lostName() *coord.LostName { return &it.change.Facts.Lost[it.sub] }

// lostKey is what a lost name goes by: where it was lost.
func lostKey(f *coord.FileFacts, l *coord.LostName) string {
	name := l.Name
	if name == "" {
		name = l.Word
	}
	return "sym:" + f.Language + ":" + f.Path + "#" + name
}

// lostNames collects who has a name that a change took away, and whose taking
// away concerns the file that changed.
func (g *gatherer) lostNames(c *Change) {
	for _, id := range g.repo.links {
		r := g.ix.repos[id]
		if r == nil || len(c.Facts.Lost) == 0 && len(r.lost) == 0 {
			continue
		}
		said := g.said(id)
		if len(c.Facts.Lost) > 0 && r.code != nil && g.ix.paths.Tied(g.repo.id, id, said) {
			for i := range c.Facts.Lost {
				if g.moved(c, c.Facts.Lost[i].Word) {
					continue
				}
				g.namedIn(r, item{kind: lostEntry, change: c, sub: int32(i)})
			}
		}
		for at := range r.lost {
			theirs := g.ix.changes[at].c
			other := g.ix.Worker(g.ix.ownerID(theirs))
			if !meets(g.self, other) || r.rules.Ignored(theirs.Facts.Path) || !g.ix.paths.Tied(id, g.repo.id, said) {
				continue
			}
			for i := range theirs.Facts.Lost {
				lost := &theirs.Facts.Lost[i]
				if g.moved(theirs, lost.Word) {
					continue
				}
				for _, n := range g.ix.paths.Named(id, g.repo.id, lost) {
					if n.Path == c.Facts.Path {
						g.add(theyBreak, nameAt(n, lost, c), item{kind: lostEntry, change: theirs, sub: int32(i)}, other)
					}
				}
			}
		}
	}
}

// moved reports whether another file of the same working copy got a name that
// one lost.
func (g *gatherer) moved(from *Change, word string) bool {
	return slices.ContainsFunc(g.ix.byWorker[g.ix.ownerID(from)], func(at uint32) bool {
		c := g.ix.changes[at].c
		return c != from && c.Copy == from.Copy && slices.Contains(c.Facts.Came, word)
	})
}

// namedIn collects the places of a repository that have a name which was lost:
// of live code, and of whoever is at work on its file.
func (g *gatherer) namedIn(r *repo, ours item) {
	lost := ours.lostName()
	all := g.ix.paths.Named(g.repo.id, r.id, lost)
	for _, n := range all[:min(len(all), maxNamed)] {
		g.add(weBreak, ours, nameAt(n, lost, nil), r.code)
		if at := r.tree.FindPath(n.Path); at != 0 {
			r.tree.At(at, func(e *entry) {
				if e.Kind != changeEntry {
					return
				}
				if theirs, w := g.theirs(r, e); w != nil {
					g.add(weBreak, ours, nameAt(n, lost, theirs.change), w)
				}
			})
		}
	}
}

// nameAt is a place that has a lost name as an item: of live code, or of a
// change of its file.
func nameAt(n join.Name, lost *coord.LostName, c *Change) item {
	use := &Use{Key: lost.Name, Line: n.Line}
	return item{kind: useEntry, use: use, path: n.Path, change: c, sure: join.Probably}
}

// losses makes findings of the names that were lost.
func (p *pairing) losses(hits []*hit) {
	for _, h := range hits {
		changed, user := h.ours, h.theirs
		if h.what == theyBreak {
			changed, user = user, changed
		}
		if changed.kind == lostEntry {
			p.loses(h, changed, user)
		}
	}
}

// alsoNamed adds the places that have the names which a contract lost, where it
// is not known what its user reads of it.
func (p *pairing) alsoNamed(d *draft, h *hit, changed, user item) {
	provider, holder := p.self, p.other
	if h.what == theyBreak {
		provider, holder = holder, provider
	}
	if provider.Repo.ID == holder.Repo.ID || user.fields() != nil {
		return
	}
	for _, f := range changed.fields() {
		name := lastOf(f.Name)
		lost := &coord.LostName{Word: scope.FieldWord(name), Name: name, Telling: scope.Telling(name)}
		all := p.ix.paths.Named(provider.Repo.ID, holder.Repo.ID, lost)
		for _, n := range all[:min(len(all), maxAlso)] {
			e := p.has(item{kind: useEntry, use: &Use{Line: n.Line}, path: n.Path}, lost, holder)
			if h.what == theyBreak {
				d.ours = append(d.ours, e)
			} else {
				d.theirs = append(d.theirs, e)
			}
		}
	}
}

// maxAlso is how many places a lost field of a contract is shown at.
const maxAlso = 3

// lastOf is the last part of the way to a field.
func lastOf(path string) string {
	return strings.ReplaceAll(path[strings.LastIndexByte(path, '.')+1:], "[]", "")
}

// loses notes which names the break of a contract tells of.
func (d *draft) loses(changed item) {
	for _, f := range changed.fields() {
		d.fields = append(d.fields, scope.FieldWord(lastOf(f.Name)))
	}
}

// loses makes a finding of a lost name, unless the break of a contract tells of
// the same to the same.
func (p *pairing) loses(h *hit, changed, user item) {
	lost := changed.lostName()
	challenger, holder := p.self, p.other
	if h.what == theyBreak {
		challenger, holder = holder, challenger
	}
	if slices.ContainsFunc(p.drafts, func(d *draft) bool { return d.kind == coord.ContractBreak && slices.Contains(d.fields, lost.Word) }) {
		return
	}
	why := lostWork
	if user.change == nil {
		why = lostCode
	}
	d := p.draft(coord.ContractBreak, changed.change.Facts.Path+" by "+challenger.ID, why)
	d.directed, d.holderIsUs = true, h.what == theyBreak
	gone, has := p.lost(changed, challenger), p.has(user, lost, holder)
	if h.what == theyBreak {
		d.addUpTo(coord.SeverityWarn, true, has, gone)
	} else {
		d.addUpTo(coord.SeverityWarn, true, gone, has)
	}
}

// lost returns a lost name as evidence.
func (p *pairing) lost(it item, w *Worker) *evidence {
	l, f := it.lostName(), &it.change.Facts
	key := lostKey(f, l)
	detail := goneDetail
	if l.Now != "" {
		detail += "; " + l.Now
	}
	if strings.HasPrefix(l.Now, "it holds") {
		detail = "changed; " + l.Now
	}
	e := coord.Evidence{Via: coord.ViaContract, Path: &f.Path, Symbol: &key, Lines: oneLine(l.Line), Detail: &detail}
	return &evidence{key: "field " + key, item: e, at: touchedAt(it.change, w.ID)}
}

// has returns a place that has a lost name as evidence.
func (p *pairing) has(it item, l *coord.LostName, w *Worker) *evidence {
	path, detail := it.path, "has the name"
	if l.Name != "" {
		detail = "has " + code(l.Name)
	}
	if p.ix.paths.ToolMade(w.Repo.ID, path) {
		detail += "; " + regenerate
	}
	e := coord.Evidence{Via: coord.ViaReference, Path: &path, Lines: oneLine(it.use.Line), Detail: &detail}
	return &evidence{key: "use " + path + " " + l.Word, item: e}
}

// goneDetail is what is said of a name that a file no longer has.
const goneDetail = "removed"

// regenerate is what is said of a file that a tool wrote.
const regenerate = "generated: regenerate it"
