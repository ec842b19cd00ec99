package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/scope"
)

// nameOwner names who answers for live code that a break hurts: who is at work
// on its file, else the member who changed those lines last. held are the uses,
// in the order in which they are shown.
func (f *Finding) nameOwner(ix *Index, held []*evidence) {
	code := *f.Holder
	for _, e := range held {
		if e.item.Path == nil {
			continue
		}
		if f.atWork = ix.known(code.Repo.ID).atWork(ix, *e.item.Path); f.atWork != nil {
			code.User = f.atWork.User
			break
		}
		if code.User.ID == "" && e.by != nil {
			code.User = *e.by
		}
	}
	f.Holder = &code
}

// atWork returns who changed a file, or declared it as scope, the earliest of
// them; nil if nobody did.
func (r *repo) atWork(ix *Index, path string) *Worker {
	var best *Worker
	changes := false
	r.tree.Matching(path, func(e *entry) {
		var w *Worker
		changed := e.Kind == changeEntry
		switch {
		case changed:
			w = ix.Worker(ix.ownerID(ix.changes[e.Owner].c))
		case e.Kind == claimEntry || e.Kind == patternEntry:
			if w = ix.slots[e.Owner].w; w != nil && w.Claims[e.Sub].Mode == coord.Wanted {
				w = nil
			}
		}
		if w != nil && (best == nil || changed && !changes || changed == changes && earlier(w, best)) {
			best, changes = w, changed
		}
	})
	return best
}

// breaksScope makes a finding of a change that breaks a contract which the
// other side declared, and of which that is all that is known: it is told as
// any break, with the old form and the new.
func (p *pairing) breaksScope(h *hit) bool {
	changed, claim := h.ours, h.theirs
	weDeclared := h.ours.claim != nil
	if weDeclared {
		changed, claim = claim, changed
	}
	if claim.claim == nil || changed.claim != nil || !breaking(changed) || p.provided[specific(changed.key(), claim.key())] {
		return false
	}
	why, most := breaksScope, coord.SeverityBlock
	if _, compat, _ := changed.effect(); compat != coord.Breaking {
		why, most = maybeScope, coord.SeverityWarn // never blocks
	}
	switch likely, limit := p.likely(changed, claim, !weDeclared); likely {
	case likelyWork:
		why, most = likelyScope, lower(most, limit)
	case commonWork:
		why, most = commonScope, lower(most, limit)
	}
	challenger := p.self
	if weDeclared {
		challenger = p.other
	}
	d := p.draft(coord.ContractBreak, cause(changed)+" by "+challenger.ID, why)
	d.directed, d.holderIsUs = true, weDeclared
	d.addUpTo(most, true, p.contract(h.ours, p.self), p.contract(h.theirs, p.other))
	return true
}

// likely tells why it is not known whether two items are about one route:
// likelyWork when they differ by what stands before them, and nobody has said
// that this is so; commonWork for a route that others have as well, where nothing
// else ties the two of several repositories. It is 0 when they are one. So little
// may speak for it that it is worth no interruption.
func (p *pairing) likely(changed, user item, weChanged bool) (why reason, most coord.Severity) {
	a, b := changed.key(), user.key()
	if filing.IsSymbol(a) || confirmed(p.prefixes, a, b) {
		return 0, coord.SeverityBlock
	}
	one := a == b || scope.ContractsOverlap(a, b)
	ours := p.self.Repo.ID == p.other.Repo.ID || len(p.prefixes) > 0 || len(p.ix.known(p.self.Repo.ID).links) <= 1 // a project of two
	if ours || !strings.HasPrefix(a, "http:") {
		if one {
			return 0, coord.SeverityBlock
		}
		return likelyWork, coord.SeverityWarn
	}
	provider, uses := p.self.Repo.ID, p.other.Repo.ID
	if !weChanged {
		provider, uses = uses, provider
	}
	switch sure := p.ix.paths.Read(provider, uses, a, one, p.tied(changed, weChanged)); {
	case sure == join.Sure:
		return 0, coord.SeverityBlock
	case sure == join.NotSaid:
		most = coord.SeverityInfo
	default:
		most = coord.SeverityWarn
	}
	if one {
		return commonWork, most
	}
	return likelyWork, most
}

// tied reports whether code of the user's repository uses something else that
// is provided where a contract changed, and that not every service has.
func (p *pairing) tied(changed item, weChanged bool) bool {
	if changed.change == nil {
		return false
	}
	user := p.self
	if weChanged {
		user = p.other
	}
	r := p.ix.known(user.Repo.ID)
	for _, c := range changed.change.Facts.Contracts {
		if c.Role != coord.Provides || filing.IsSymbol(c.Key) || scope.CommonRoute(c.Key) {
			continue
		}
		found := false
		if r.atKey(c.Key, func(e *entry) { found = found || e.Kind == useEntry }); found {
			return true
		}
	}
	return false
}

// confirmed reports whether two routes differ by a prefix that people know of.
func confirmed(prefixes []string, a, b string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		return slices.ContainsFunc(scope.Prefixed(a, prefix), func(k string) bool { return scope.ContractsOverlap(k, b) })
	})
}
