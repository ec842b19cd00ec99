package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/scope"
)

// An item is one thing that a side claims, changed or uses.
type item struct {
	kind    entryKind
	pending bool           // an edit that is about to be made
	sure    join.Certainty // of a use that only a text tells of
	sub     int32          // the symbol, contract or reference within the change
	claim   *coord.Claim
	change  *Change
	use     *Use   // of live code
	path    string // of live code, and of an edit that is only about to happen
}

// A hit is a meeting of something of ours with something of somebody else's.
type hit struct {
	what   hitKind
	ours   item
	theirs item
	other  *Worker
}

type hitKind uint8

const (
	pathHit     hitKind = iota // a claim or an edit meets a claim or a change by path
	symbolHit                  // a claim meets a claim on or a change of a definition
	contractHit                // claims on or changes of one contract meet
	fileHit                    // two changes of one file
	weBreak                    // ours is the change, theirs the use
	theyBreak                  // the other way round
)

// A gatherer collects the hits of one worker.
type gatherer struct {
	ix   *Index
	self *Worker
	repo *repo
	hits []hit
	// ignoring remembers which claims of others are ignored: several of our
	// globs may meet one.
	ignoring map[*coord.Claim]bool
}

// meets reports whether somebody is another party at all: not the same work,
// not the same lineage, not what the same person pushed.
func meets(self, other *Worker) bool {
	return other != nil && other != self && other.ID != self.ID && !kin(self, other) && !oneHand(self, other)
}

// kin reports whether one lineage works on both.
func kin(a, b *Worker) bool {
	return slices.ContainsFunc(a.Lineages, func(l string) bool { return slices.Contains(b.Lineages, l) })
}

func (g *gatherer) add(what hitKind, ours, theirs item, other *Worker) {
	if wanted(ours) && !keepsOut(theirs) || wanted(theirs) && !keepsOut(ours) {
		return // a refused edit is in nobody's way
	}
	g.hits = append(g.hits, hit{what, ours, theirs, other})
}

// theirs returns what an entry of r stands for and whose it is, or nil.
func (g *gatherer) theirs(r *repo, e *entry) (item, *Worker) {
	switch e.Kind {
	case claimEntry, patternEntry:
		w := g.ix.slots[e.Owner].w
		if !meets(g.self, w) {
			return item{}, nil
		}
		return item{kind: claimEntry, claim: &w.Claims[e.Sub]}, w
	case useEntry:
		s := &r.uses[e.Owner]
		return item{kind: useEntry, use: &s.uses[e.Sub], path: s.path}, r.code
	}
	c := g.ix.changes[e.Owner].c
	w := g.ix.Worker(g.ix.ownerID(c))
	if !meets(g.self, w) || r.rules.Ignored(c.Facts.Path) || g.ix.covered(w) {
		return item{}, nil
	}
	return item{kind: e.Kind, change: c, sub: int32(e.Sub)}, w
}

// merging is theirs for a file that one working copy changed. Those of one
// lineage are never in each other's way, but what they changed in different
// working copies has to be merged, as sub-agents' worktrees have.
func (g *gatherer) merging(e *entry, copy string) (item, *Worker) {
	it, w := g.theirs(g.repo, e)
	if w != nil || e.Kind == claimEntry || e.Kind == patternEntry {
		return it, w
	}
	c := g.ix.changes[e.Owner].c
	w = g.ix.Worker(g.ix.ownerID(c))
	if w == nil || w.ID == g.self.ID || !kin(g.self, w) || c.Copy == copy || g.repo.rules.Ignored(c.Facts.Path) {
		return item{}, nil
	}
	return item{kind: e.Kind, change: c, sub: int32(e.Sub)}, w
}

// wanted reports whether an item is a path that was refused before.
func wanted(it item) bool { return it.claim != nil && it.claim.Mode == coord.Wanted }

// keepsOut reports whether an item is a claim that keeps others out of paths or
// of a resource.
func keepsOut(it item) bool {
	return exclusive(it) && (it.claim.Kind == coord.ClaimPath || isResource(it.claim.Selector))
}

// claims collects what the worker's claims meet.
func (g *gatherer) claims(claims []coord.Claim) {
	for i := range claims {
		c := &claims[i]
		ours := item{kind: claimEntry, claim: c}
		switch {
		case c.Mode == coord.Observe:
		case c.Kind == coord.ClaimPath:
			g.pathClaim(ours)
		case filing.IsSymbol(c.Selector):
			g.symbolClaim(ours)
		default:
			g.contractKey(c.Selector, func(r *repo, e *entry) {
				if theirs, w := g.theirs(r, e); w != nil && (e.Kind == claimEntry || e.Kind == numberEntry || providesChange(theirs)) {
					g.add(contractHit, ours, theirs, w)
				}
			})
			g.likelyKey(c.Selector, func(_ *repo, e *entry, theirs item, w *Worker) {
				if breaking(theirs) {
					g.add(contractHit, ours, theirs, w)
				}
			})
		}
	}
}

func (g *gatherer) pathClaim(ours item) {
	glob, err := scope.ParseGlob(ours.claim.Selector)
	if err != nil {
		return
	}
	if g.ignored(ours) {
		return
	}
	visit := func(e *entry, inFile bool) {
		if inFile && e.Kind != claimEntry || e.Kind == formerEntry {
			return // the change of the file itself has been met, or is of a file that is elsewhere today
		}
		if theirs, w := g.theirs(g.repo, e); w != nil {
			g.add(pathHit, ours, theirs, w)
		}
	}
	for _, p := range glob.Patterns() {
		if scope.HasWildcard(p) {
			g.repo.tree.Overlapping(p, func(e *entry, inFile bool) {
				// Only here can something be met that is ignored: a path that
				// is not is selected by nothing that is.
				if e.Kind != claimEntry && e.Kind != patternEntry || !g.ignoredClaim(e) {
					visit(e, inFile)
				}
			})
			continue
		}
		path, _ := scope.SplitPattern(p)
		file := g.repo.tree.Matching(path, func(e *entry) { visit(e, false) })
		if file != 0 {
			g.repo.tree.SymbolsIn(file, func(e *entry) { visit(e, true) })
		}
	}
}

func (g *gatherer) ignoredClaim(e *entry) bool {
	c := &g.ix.slots[e.Owner].w.Claims[e.Sub]
	is, known := g.ignoring[c]
	if !known {
		if g.ignoring == nil {
			g.ignoring = map[*coord.Claim]bool{}
		}
		is = g.ignored(item{claim: c})
		g.ignoring[c] = is
	}
	return is
}

// ignored reports whether a claim stands only at paths that raise nothing.
func (g *gatherer) ignored(it item) bool {
	return it.claim != nil && it.claim.Kind == coord.ClaimPath && g.repo.rules.Ignored(it.claim.Selector)
}

func (g *gatherer) symbolClaim(ours item) {
	sym, err := scope.ParseSymbol(ours.claim.Selector)
	if err != nil || g.repo.rules.Ignored(sym.Path) {
		return
	}
	g.repo.tree.Definitions(sym, func(e *entry, _ bool) {
		if e.Kind != claimEntry && e.Kind != symbolEntry {
			return
		}
		if theirs, w := g.theirs(g.repo, e); w != nil && sameLanguage(sym, theirs) {
			g.add(symbolHit, ours, theirs, w)
		}
	})
	g.repo.tree.Matching(sym.Path, func(e *entry) {
		theirs, w := g.theirs(g.repo, e)
		if w != nil && (theirs.claim != nil || symbolsUnknown(theirs)) {
			g.add(pathHit, ours, theirs, w)
		}
	})
}

// contractKey visits what stands at a contract, in the worker's repo and in
// the repos that are linked to it.
func (g *gatherer) contractKey(key string, visit func(*repo, *entry)) {
	keys := append([]string{key}, scope.RelatedContracts(key)...)
	inRepo := func(r *repo) {
		all := keys
		for _, prefix := range g.repo.prefixes[r.id] {
			all = append(slices.Clip(all), scope.Prefixed(key, prefix)...)
		}
		for _, k := range all {
			if at := r.tree.FindContract(k); at != 0 {
				r.tree.At(at, func(e *entry) { visit(r, e) })
			}
		}
	}
	inRepo(g.repo)
	if strings.HasPrefix(key, migrationPrefix) {
		return // each repository counts its own
	}
	for _, id := range g.repo.links {
		if r := g.ix.repos[id]; r != nil {
			inRepo(r)
		}
	}
}

// likelyKey visits what stands at routes that are probably the same as one, but
// go by another prefix.
func (g *gatherer) likelyKey(key string, visit func(*repo, *entry, item, *Worker)) {
	loose := scope.LooseKey(key)
	if loose == "" {
		return
	}
	inRepo := func(r *repo) {
		at := r.tree.FindContract(loose)
		if at == 0 {
			return
		}
		r.tree.At(at, func(e *entry) {
			theirs, w := g.theirs(r, e)
			if w != nil && !scope.ContractsOverlap(key, theirs.key()) && scope.RoutesMeet(key, theirs.key()) &&
				!confirmed(g.repo.prefixes[r.id], key, theirs.key()) {
				visit(r, e, theirs, w)
			}
		})
	}
	inRepo(g.repo)
	for _, id := range g.repo.links {
		if r := g.ix.repos[id]; r != nil {
			inRepo(r)
		}
	}
}

// change collects what one of the worker's changes meets.
func (g *gatherer) change(c *Change) {
	before := len(g.hits)
	g.collect(c)
	// Last, since most of what a worker changed meets nobody.
	if len(g.hits) > before && g.repo.rules.Ignored(c.Facts.Path) {
		g.hits = g.hits[:before]
	}
}

func (g *gatherer) collect(c *Change) {
	f := &c.Facts
	ours := item{kind: changeEntry, change: c}
	g.changedPath(ours, f.Path)
	if f.OldPath != nil && *f.OldPath != f.Path {
		g.changedPath(ours, *f.OldPath)
	}
	g.formerly(ours)
	if isNew(f) {
		g.folders(ours)
	}
	if len(f.Symbols) > 0 {
		g.changedSymbols(c)
	}
	g.changedContracts(c)
	g.takenNumber(c)
	g.joinedWork(c)
	g.lostNames(c)
	g.references(c)
}

// changedPath collects what a change meets at a path it has or had.
func (g *gatherer) changedPath(ours item, path string) {
	file := g.repo.tree.Matching(path, func(e *entry) { g.atChangedPath(ours, e) })
	if file == 0 || !symbolsUnknown(ours) {
		return
	}
	g.repo.tree.SymbolsIn(file, func(e *entry) {
		if theirs, w := g.theirs(g.repo, e); w != nil && e.Kind == claimEntry {
			g.add(pathHit, ours, theirs, w)
		}
	})
}

func (g *gatherer) atChangedPath(ours item, e *entry) {
	if e.Kind == changeEntry && g.ix.changes[e.Owner].c == ours.change {
		return // itself, as nearly all that a worker with many changes meets
	}
	theirs, w := g.merging(e, ours.change.Copy)
	switch {
	case w == nil:
	case theirs.claim != nil:
		g.add(pathHit, ours, theirs, w)
	case theirs.change.Copy != ours.change.Copy:
		g.add(fileHit, ours, theirs, w)
	}
}

// formerly finds changes of the same file by those who started before the
// default branch moved it, or after. Claims there are on what is there today.
func (g *gatherer) formerly(ours item) {
	for _, p := range ours.change.Facts.Former {
		if at := g.repo.tree.FindPath(p); at != 0 {
			g.repo.tree.At(at, func(e *entry) {
				if e.Kind == changeEntry || e.Kind == oldPathEntry {
					g.atChangedPath(ours, e)
				}
			})
		}
	}
}

// folders finds files of others where ours makes a folder, and the reverse.
func (g *gatherer) folders(ours item) {
	path := ours.change.Facts.Path
	visit := func(e *entry) {
		if e.Kind != changeEntry {
			return
		}
		if theirs, w := g.theirs(g.repo, e); w != nil && isNew(&theirs.change.Facts) && theirs.change.Copy != ours.change.Copy {
			g.add(fileHit, ours, theirs, w)
		}
	}
	for i := range path {
		if path[i] == '/' {
			if at := g.repo.tree.FindPath(path[:i]); at != 0 {
				g.repo.tree.At(at, visit)
			}
		}
	}
	if at := g.repo.tree.FindPath(path); at != 0 {
		g.repo.tree.Below(at, visit)
	}
}

func (g *gatherer) changedSymbols(c *Change) {
	former := formerKeys(&c.Facts)
	for i := range c.Facts.Symbols {
		s := &c.Facts.Symbols[i]
		if s.Change == coord.Same {
			continue
		}
		ours := item{kind: symbolEntry, change: c, sub: int32(i)}
		g.changedSymbol(s.Key, ours)
		if key := former[i]; key != "" {
			g.changedSymbol(key, ours)
		}
		if key := soleKey(&c.Facts, s); key != "" {
			g.changedName(key, ours)
		}
	}
}

// changedSymbol collects what a change of a definition meets at a key.
func (g *gatherer) changedSymbol(key string, ours item) {
	sym, err := scope.ParseSymbol(key)
	if err != nil {
		return
	}
	g.repo.tree.Definitions(sym, func(e *entry, exact bool) {
		theirs, w := g.theirs(g.repo, e)
		switch {
		case w == nil || !sameLanguage(sym, theirs):
		case e.Kind == claimEntry:
			g.add(symbolHit, ours, theirs, w)
		case exact && e.Kind != useEntry && uses(theirs) && breaking(ours):
			g.addBreak(weBreak, ours, theirs, w)
		}
	})
}

func (g *gatherer) changedContracts(c *Change) {
	for i := range c.Facts.Contracts {
		ours := item{kind: contractEntry, change: c, sub: int32(i)}
		k := &c.Facts.Contracts[i]
		overlaps := !filing.IsSymbol(k.Key) && !ofPackage(k.Key) // of definitions the symbols tell
		g.atKey(k.Key, func(r *repo, e *entry) {
			theirs, w := g.theirs(r, e)
			if w == nil {
				return
			}
			switch {
			case overlaps && providesChange(ours) && (e.Kind == claimEntry || providesChange(theirs)):
				g.add(contractHit, ours, theirs, w)
			case breaking(ours) && uses(theirs) && (e.Kind != useEntry || r != g.repo) && !(r == g.repo && inSight(theirs)):
				g.addBreak(weBreak, ours, theirs, w)
			}
			if uses(ours) && breaking(theirs) && !(r == g.repo && inSight(ours)) {
				g.addBreak(theyBreak, ours, theirs, w)
			}
		})
		g.likelyKey(k.Key, func(r *repo, e *entry, theirs item, w *Worker) {
			if breaking(ours) && e.Kind == claimEntry {
				g.add(contractHit, ours, theirs, w)
			}
			if breaking(ours) && uses(theirs) && (e.Kind != useEntry || r != g.repo) {
				g.addBreak(weBreak, ours, theirs, w)
			}
			if uses(ours) && breaking(theirs) {
				g.addBreak(theyBreak, ours, theirs, w)
			}
		})
		g.joined(ours)
	}
}

func (g *gatherer) references(c *Change) {
	for i := range c.Facts.References {
		ours := item{kind: referenceEntry, change: c, sub: int32(i)}
		if key := c.Facts.References[i].Key; coord.IsNameKey(key) {
			g.mentioned(key, ours)
			continue
		}
		g.likelyKey(c.Facts.References[i].Key, func(_ *repo, _ *entry, theirs item, w *Worker) {
			if breaking(theirs) {
				g.addBreak(theyBreak, ours, theirs, w)
			}
		})
		g.atKey(c.Facts.References[i].Key, func(r *repo, e *entry) {
			if theirs, w := g.theirs(r, e); w != nil && breaking(theirs) {
				g.addBreak(theyBreak, ours, theirs, w)
			}
		})
	}
}

// atKey visits what stands at a symbol or contract.
func (g *gatherer) atKey(key string, visit func(*repo, *entry)) {
	if !filing.IsSymbol(key) {
		g.contractKey(key, visit)
		return
	}
	sym, err := scope.ParseSymbol(key)
	if err != nil {
		return
	}
	if at := g.repo.tree.FindSymbol(sym); at != 0 {
		g.repo.tree.At(at, func(e *entry) {
			if theirs, w := g.theirs(g.repo, e); w != nil && sameLanguage(sym, theirs) {
				visit(g.repo, e)
			}
		})
	}
}
