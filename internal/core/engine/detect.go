package engine

import (
	"maps"
	"slices"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/alike"
)

// Detect returns everything that a live worker collides with.
func Detect(ix *Index, workerID string) []Finding {
	w := ix.Worker(workerID)
	if w == nil || ix.covered(w) {
		return nil
	}
	return detect(ix, w, w.Claims, ix.Changes(workerID))
}

// Check returns what work of the given scope would collide with, on top of
// nothing the worker already does. The worker need not be in the index: it
// tells whose lineage and repo it is and on what the work depends. The set
// must be canonical.
func Check(ix *Index, w *Worker, set coord.ScopeSet) []Finding {
	planned := *w
	planned.Claims = ClaimsOf(set, coord.Shared)
	return detect(ix, &planned, planned.Claims, nil)
}

// Meets returns what a worker's claims collide with, as they are in w, whatever
// the index has of it.
func Meets(ix *Index, w *Worker) []Finding { return detect(ix, w, w.Claims, nil) }

// ClaimsOf returns the declared claims of a canonical scope.
func ClaimsOf(set coord.ScopeSet, mode coord.Mode) []coord.Claim {
	out := make([]coord.Claim, 0, len(set.Paths)+len(set.Symbols)+len(set.Contracts))
	add := func(kind coord.ClaimKind, selectors []string) {
		for _, s := range selectors {
			out = append(out, coord.Claim{Kind: kind, Selector: s, Mode: mode, Source: coord.Declared})
		}
	}
	add(coord.ClaimPath, set.Paths)
	add(coord.ClaimSymbol, set.Symbols)
	add(coord.ClaimContract, set.Contracts)
	return out
}

func detect(ix *Index, w *Worker, claims []coord.Claim, changes []*Change) []Finding {
	g := gatherer{ix: ix, self: w, repo: ix.known(w.Repo.ID)}
	g.claims(claims)
	for _, c := range changes {
		if c.RepoID == w.Repo.ID {
			g.change(c)
		}
	}
	out := build(ix, w, g.hits)
	out = append(out, sameTicket(ix, w)...)
	out = append(out, rebase(ix, w, g.repo, changes)...)
	sortFindings(out)
	return dedupe(out)
}

// dedupe drops what was found in two ways: titles and tickets alike.
func dedupe(fs []Finding) []Finding {
	seen := map[string]bool{}
	out := fs[:0]
	for _, f := range fs {
		if !seen[f.Fingerprint] {
			seen[f.Fingerprint] = true
			out = append(out, f)
		}
	}
	return out
}

// known returns a repo for reading: unlike repo it does not change the index.
func (ix *Index) known(id string) *repo {
	if r := ix.repos[id]; r != nil {
		return r
	}
	return nowhere()
}

var nowhere = sync.OnceValue(func() *repo { return New().repo("") })

// sameTicket finds live intents about the same ticket.
func sameTicket(ix *Index, w *Worker) []Finding {
	key := ticketKey(w)
	if key == "" {
		return nil
	}
	var out []Finding
	for _, at := range ix.tickets[key] {
		other := ix.slots[at].w
		if !meets(w, other) {
			continue
		}
		p := pairing{self: w, other: other}
		d := p.draft(coord.DuplicateWork, "", ticketReason)
		ticket := w.Intent.ExternalRef.URL
		if id := w.Intent.ExternalRef.ID; id != nil && *id != "" {
			ticket = *id
		}
		d.add(&evidence{key: "ticket", item: coord.Evidence{Via: coord.ViaClaim, Detail: &ticket}},
			&evidence{key: "ticket", item: coord.Evidence{Via: coord.ViaClaim, Detail: &ticket}})
		if f, ok := p.finish(ix, d); ok {
			out = append(out, f)
		}
	}
	return out
}

// sameTask finds intents whose scopes meet and that are one task by what their
// titles and plans say. Drafts are left out: their words are their owner's alone.
func (p *pairing) sameTask(hits []*hit) {
	a, b := p.self.Intent, p.other.Intent
	if a == nil || b == nil || a.Status == coord.IntentDraft || b.Status == coord.IntentDraft || p.self.Repo.ID != p.other.Repo.ID ||
		len(p.drafts) == 0 || kin(p.self, p.other) {
		return
	}
	all := alike.Ground{Common: 1000, Less: 1000}
	if alike.Score(a.Task, b.Task, all) < alike.Enough || alike.Score(a.Task, b.Task, p.ground(hits)) < alike.Enough {
		return
	}
	d := p.draft(coord.DuplicateWork, "", titleReason)
	title := coord.Evidence{Via: coord.ViaClaim, Detail: str("nearly the same title, plan and scope")}
	d.add(&evidence{key: "title", item: title}, &evidence{key: "title", item: title})
}

// ground tells how much of what both sides work on is the same.
func (p *pairing) ground(hits []*hit) alike.Ground {
	var met [2]map[string]bool
	met[0], met[1] = map[string]bool{}, map[string]bool{}
	names := map[string]bool{}
	for _, h := range hits {
		for side, it := range []item{h.ours, h.theirs} {
			if place := placeOf(it); place != "" {
				met[side][place], names[place] = true, true
			}
		}
	}
	sizes := [2]int{max(len(met[0]), places(p.ix, p.self)), max(len(met[1]), places(p.ix, p.other))}
	n := min(len(met[0]), len(met[1]))
	if n == 0 {
		return alike.Ground{}
	}
	all := sizes[0] + sizes[1] - n
	return alike.Ground{Common: n * 1000 / all, Less: n * 1000 / min(sizes[0], sizes[1]), Names: slices.Sorted(maps.Keys(names))}
}

// placeOf names the files or definitions that an item is about, "" if none.
func placeOf(it item) string {
	if it.claim != nil && it.claim.Kind != coord.ClaimContract {
		return it.claim.Selector
	}
	return it.file()
}

// places counts the files and definitions that somebody works on.
func places(ix *Index, w *Worker) int {
	all := map[string]bool{}
	for i := range w.Claims {
		if c := &w.Claims[i]; c.Kind != coord.ClaimContract && c.Mode != coord.Wanted {
			all[c.Selector] = true
		}
	}
	for _, c := range ix.Changes(w.ID) {
		all[c.Facts.Path] = true
	}
	return len(all)
}

// rebase finds merged work that touches the same lines or definitions as the
// worker's changes, whose base is older.
func rebase(ix *Index, w *Worker, r *repo, changes []*Change) []Finding {
	var out []Finding
	for _, c := range changes {
		if c.RepoID != w.Repo.ID || len(r.merged) == 0 || r.rules.Ignored(c.Facts.Path) || c.Facts.BaseBlob == nil {
			continue
		}
		blob, first := *c.Facts.BaseBlob, true
		seen := map[string]bool{}
		for blob != "" && !seen[blob] {
			seen[blob] = true
			next := ""
			for _, m := range r.merged[basePath(&c.Facts)] {
				if m.Facts.BaseBlob == nil || *m.Facts.BaseBlob != blob {
					continue
				}
				if m.Facts.NewBlob != nil {
					next = *m.Facts.NewBlob
				}
				if f, ok := rebaseFinding(ix, w, c, m, first); ok {
					out = append(out, f)
				}
			}
			blob, first = next, false
		}
	}
	return out
}

func rebaseFinding(ix *Index, w *Worker, c *Change, m *Merged, sameBase bool) (Finding, bool) {
	merged := &Worker{Repo: w.Repo}
	if m.By != nil {
		copied := *m.By
		merged = &copied
	}
	if merged.ID == w.ID && w.ID != "" {
		return Finding{}, false
	}
	merged.ID = "" // it is live no longer, whatever it was
	v := verdict{symbols: commonSymbols(&c.Facts, &m.Facts)}
	if sameBase {
		v = compareBase(nil, &c.Facts, &m.Facts)
	}
	if !v.clash && len(v.symbols) == 0 {
		return Finding{}, false
	}
	p := pairing{self: w, other: merged}
	d := p.draft(coord.RebaseNeeded, basePath(&c.Facts)+" by "+m.ID, v.why)
	d.directed = true
	ours := item{kind: changeEntry, change: c}
	theirs := item{kind: changeEntry, change: &Change{RepoID: m.RepoID, Facts: m.Facts, By: []Touch{{At: m.At}}}}
	d.add(p.changed(ours, basePath(&c.Facts)), p.changed(theirs, basePath(&c.Facts)))
	for _, s := range v.symbols {
		ours.kind, ours.sub, theirs.kind, theirs.sub = symbolEntry, int32(s[0]), symbolEntry, int32(s[1])
		d.add(p.symbol(ours, w), p.symbol(theirs, merged))
	}
	return p.finish(ix, d)
}
