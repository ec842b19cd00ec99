package engine

import "github.com/svc-hq/svc/internal/core/coord"

// apart reports whether two claims in one file are about different places of
// it. Who names definitions of a file works in those, and claims the file for
// what goes with them: imports, lists. In replays of real history one in three
// hundred such meetings of a definition with the rest of a file conflicted,
// against one in five of two claims on whole files.
func (p *pairing) apart(h *hit) bool {
	if h.ours.claim == nil || h.theirs.claim == nil {
		return false // edits have lines
	}
	file := h.ours.file()
	if file == "" || file != h.theirs.file() {
		return false // a glob says nothing of places
	}
	narrow := func(side int, w *Worker, it item) bool {
		return it.claim.Kind != coord.ClaimPath || p.names(side, w, file)
	}
	return narrow(0, p.self, h.ours) && narrow(1, p.other, h.theirs)
}

// names reports whether a side claims definitions of a file.
func (p *pairing) names(side int, w *Worker, file string) bool {
	if p.named[side] == nil {
		p.named[side] = map[string]bool{}
		for i := range w.Claims {
			c := &w.Claims[i]
			if c.Mode != coord.Observe && c.Kind != coord.ClaimPath && isSymbol(c.Selector) {
				p.named[side][item{claim: c}.file()] = true
			}
		}
	}
	return p.named[side][file]
}

// sameDefinition reports whether two keys name one definition, neither a part
// of the other.
func sameDefinition(a, b string) bool { return symbolKey(a) == symbolKey(b) }
