package engine

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
)

// apart reports whether two claims in one file are about different places of
// it: a definition, and the file for what goes with other definitions, which
// its claimant names. In replays of real history one in four hundred meetings
// of a definition with the rest of a file became a conflict, but one in seven
// of those that both work outside definitions: imports and lists.
func (p *pairing) apart(h *hit) bool {
	if h.ours.claim == nil || h.theirs.claim == nil {
		return false // edits have lines
	}
	file := h.ours.file()
	if file == "" || file != h.theirs.file() {
		return false // a glob says nothing of places
	}
	oursIsFile, theirsIsFile := h.ours.claim.Kind == coord.ClaimPath, h.theirs.claim.Kind == coord.ClaimPath
	return oursIsFile && !theirsIsFile && p.names(0, p.self, file) || theirsIsFile && !oursIsFile && p.names(1, p.other, file)
}

// names reports whether a side claims definitions of a file.
func (p *pairing) names(side int, w *Worker, file string) bool {
	if p.named[side] == nil {
		p.named[side] = map[string]bool{}
		for i := range w.Claims {
			c := &w.Claims[i]
			if c.Mode != coord.Observe && c.Kind != coord.ClaimPath && filing.IsSymbol(c.Selector) {
				p.named[side][item{claim: c}.file()] = true
			}
		}
	}
	return p.named[side][file]
}

// sameDefinition reports whether two keys name one definition, neither a part
// of the other.
func sameDefinition(a, b string) bool { return symbolKey(a) == symbolKey(b) }
