package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Target is what somebody asks or waits for: one of a path (or glob), a
// symbol, or a contract.
type Target struct {
	Path     string
	Symbol   string
	Contract string
}

// A Hold is one worker in the way of a target.
type Hold struct {
	Worker   *Worker
	Since    coord.Time
	Evidence []HoldEvidence
}

// HoldEvidence tells by what a worker holds a target.
type HoldEvidence struct {
	Via       coord.EvidenceVia `json:"via"`
	Selector  string            `json:"selector"`
	Mode      *coord.Mode       `json:"mode"`
	ExpiresAt *coord.Time       `json:"expires_at"`
}

// Holders returns who holds a live claim on a target, or has recorded changes
// to it, except the worker itself and its lineage; the earliest first. For a
// contract, also those who use it count, and linked repos.
func Holders(ix *Index, self *Worker, target Target) []Hold {
	h := holding{gatherer: gatherer{ix: ix, self: self, repo: ix.known(self.Repo.ID)}, found: map[string]*Hold{}}
	switch {
	case target.Contract != "":
		if key, err := scope.ParseLookup(target.Contract); err == nil {
			h.atKey(key, h.take)
		}
	case target.Symbol != "":
		if sym, err := scope.ParseSymbol(target.Symbol); err == nil {
			h.symbol(sym)
		}
	default:
		h.path(target.Path)
	}
	return h.sorted()
}

// A holding collects who holds what.
type holding struct {
	gatherer
	found map[string]*Hold
}

func (h *holding) take(r *repo, e *entry) {
	it, w := h.theirs(r, e)
	if w == nil || !w.Live() || wanted(it) || w.Outside != nil { // nobody waits for a pull request
		return
	}
	hold := h.found[w.ID]
	if hold == nil {
		hold = &Hold{Worker: w, Since: w.Since}
		h.found[w.ID] = hold
	}
	ev := HoldEvidence{Via: coord.ViaChange, Selector: it.key()}
	switch {
	case it.claim != nil:
		ev = HoldEvidence{Via: coord.ViaClaim, Selector: it.claim.Selector, Mode: &it.claim.Mode, ExpiresAt: it.claim.ExpiresAt}
	case ev.Selector == "":
		ev.Selector = it.file()
	}
	if !slices.ContainsFunc(hold.Evidence, func(o HoldEvidence) bool { return o.Via == ev.Via && o.Selector == ev.Selector }) {
		hold.Evidence = append(hold.Evidence, ev)
	}
}

func (h *holding) symbol(sym scope.Symbol) {
	h.repo.tree.Definitions(sym, func(e *entry, _ bool) {
		if e.Kind == claimEntry || e.Kind == symbolEntry {
			h.take(h.repo, e)
		}
	})
	// Whoever claims the whole file, or changed it nobody knows where, holds
	// what is in it.
	h.repo.tree.Matching(sym.Path, func(e *entry) {
		it, w := h.theirs(h.repo, e)
		if w != nil && (it.claim != nil || symbolsUnknown(it)) { // what is only wanted is left out by take
			h.take(h.repo, e)
		}
	})
}

func (h *holding) path(path string) {
	glob, err := scope.ParseGlob(path)
	if err != nil {
		return
	}
	for _, p := range glob.Patterns() {
		if scope.HasWildcard(p) {
			h.repo.tree.Overlapping(p, func(e *entry, inFile bool) {
				if !inFile || e.Kind == claimEntry {
					h.take(h.repo, e)
				}
			})
			continue
		}
		literal, _ := scope.SplitPattern(p)
		h.repo.tree.Matching(literal, func(e *entry) { h.take(h.repo, e) })
	}
}

func (h *holding) sorted() []Hold {
	out := make([]Hold, 0, len(h.found))
	for _, hold := range h.found {
		slices.SortFunc(hold.Evidence, func(a, b HoldEvidence) int {
			return cmp.Or(strings.Compare(string(a.Via), string(b.Via)), strings.Compare(a.Selector, b.Selector))
		})
		out = append(out, *hold)
	}
	slices.SortFunc(out, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), strings.Compare(a.Worker.ID, b.Worker.ID))
	})
	return out
}
