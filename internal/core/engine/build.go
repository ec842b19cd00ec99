package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/join"
	"github.com/svc-hq/svc/internal/core/policy"
)

// maxEvidence is how many items a finding shows; its keys cover all.
const maxEvidence = 20

// A pairing makes the findings of two workers out of their hits.
type pairing struct {
	ix          *Index
	self, other *Worker
	drafts      []*draft
	edited      map[string]bool    // files that both sides changed
	maps        lineMaps           // between versions of files
	prefixes    []string           // that people say routes of the one repository have in the other
	provided    map[string]bool    // contracts that both sides changed
	named       [2]map[string]bool // files in which we and they claim definitions, once asked for
	shown       map[*coord.Claim]*evidence
}

// build turns hits into findings, in no order.
func build(ix *Index, self *Worker, hits []hit) []Finding {
	var out []Finding
	shown := map[*coord.Claim]*evidence{}
	for _, group := range byOther(hits) {
		home, other := ix.known(self.Repo.ID), group[0].other
		p := pairing{ix: ix, self: self, other: other, maps: home.maps, prefixes: home.prefixes[other.Repo.ID], shown: shown}
		p.files(group)
		for _, h := range group {
			p.classify(h)
		}
		p.losses(group)
		p.dependency(group)
		p.sameTask(group)
		for _, d := range p.drafts {
			if f, ok := p.finish(ix, d); ok {
				out = append(out, f)
			}
		}
	}
	return out
}

// byOther groups hits by the other party, without a copy of them: a wide scope
// meets thousands.
func byOther(hits []hit) [][]*hit {
	at := map[*Worker]int{}
	var sizes []int
	for i := range hits {
		n, ok := at[hits[i].other]
		if !ok {
			n = len(sizes)
			at[hits[i].other] = n
			sizes = append(sizes, 0)
		}
		sizes[n]++
	}
	room := make([]*hit, len(hits))
	groups := make([][]*hit, len(sizes))
	for n, size := range sizes {
		groups[n], room = room[:0:size], room[size:]
	}
	for i := range hits {
		n := at[hits[i].other]
		groups[n] = append(groups[n], &hits[i])
	}
	return groups
}

func sortFindings(fs []Finding) {
	kinds := coord.ConflictKinds()
	slices.SortFunc(fs, func(a, b Finding) int {
		if c := cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(a.Holder.Since, b.Holder.Since)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Place, b.Place),
			cmp.Compare(a.Holder.number(), b.Holder.number()), cmp.Compare(a.Challenger.number(), b.Challenger.number()),
			cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
}

// partyKey tells parties apart, also those that are not live.
func partyKey(w *Worker) string {
	if w.Live() {
		return w.ID
	}
	return "repo " + w.Repo.ID
}

// files compares the changes of files that both sides made: once both have
// edited a file, the edits decide and claims on it say nothing more. So it is
// with contracts.
func (p *pairing) files(hits []*hit) {
	for _, h := range hits {
		if h.what == contractHit && h.ours.claim == nil && h.theirs.claim == nil {
			if p.provided == nil {
				p.provided = map[string]bool{}
			}
			p.provided[specific(h.ours.key(), h.theirs.key())] = true
		}
		if h.what != fileHit {
			continue
		}
		a, b := &h.ours.change.Facts, &h.theirs.change.Facts
		v, ok := compare(p.maps, a, b)
		if !ok {
			continue
		}
		if p.edited == nil {
			p.edited = map[string]bool{}
		}
		for _, path := range append(basePaths(a), basePaths(b)...) {
			p.edited[path] = true
		}
		p.fileVerdict(h, v)
	}
}

func (p *pairing) fileVerdict(h *hit, v verdict) {
	switch {
	case v.clash:
		d := p.draft(coord.EditOverlap, v.path, v.why)
		d.directed = d.directed || h.ours.pending
		if len(v.regions) == 0 {
			d.both = append(d.both, structureKey(v))
			d.add(p.changed(h.ours, v.path), p.changed(h.theirs, v.path))
		}
		for _, r := range v.regions {
			d.both = append(d.both, p.regionKey(h, v, r))
			d.add(hunkEvidence(h.ours, p.self.ID, r.a), hunkEvidence(h.theirs, p.other.ID, r.b))
		}
	case v.settled && v.why == plainReason, kin(p.self, p.other):
		// Both sides did the same, or whoever merges both reads both.
	case len(v.symbols) > 0:
		d := p.draft(coord.SymbolOverlap, v.path, v.why)
		for _, s := range v.symbols {
			ours, theirs := h.ours, h.theirs
			ours.kind, ours.sub, theirs.kind, theirs.sub = symbolEntry, int32(s[0]), symbolEntry, int32(s[1])
			firm := !v.settled || unfit(ours.symbol(), theirs.symbol())
			d.addUpTo(coord.SeverityBlock, firm, p.symbol(ours, p.self), p.symbol(theirs, p.other))
		}
	default:
		p.draft(coord.PathOverlap, "", v.why).add(p.changed(h.ours, v.path), p.changed(h.theirs, v.path))
	}
}

// regionKey names the lines where both sides meet.
func (p *pairing) regionKey(h *hit, v verdict, r lineRegion) string {
	ours, theirs := &h.ours.change.Facts, &h.theirs.change.Facts
	if v.why == linesMeet {
		return meetKey(v.path, ours, theirs, r)
	}
	return linesKey(v.path, *ours.BaseBlob, r)
}

func (p *pairing) classify(h *hit) {
	switch h.what {
	case pathHit:
		if p.entersExclusive(h) || p.edited != nil && (p.edited[h.ours.file()] || p.edited[h.theirs.file()]) || p.apart(h) {
			return
		}
		p.draft(coord.PathOverlap, "", claimsMeet).addItems(h.ours, h.theirs)
	case symbolHit:
		path := h.ours.file() // the same from both sides: where the claim has it
		if h.theirs.claim != nil {
			path = h.theirs.file()
		}
		if p.entersExclusive(h) || p.edited[path] {
			return
		}
		// Work on a class and work on a method of it are seldom in each other's
		// way: known, but nothing to interrupt anybody for.
		firm := h.ours.claim == nil || h.theirs.claim == nil || sameDefinition(h.ours.key(), h.theirs.key())
		p.draft(coord.SymbolOverlap, path, claimsMeet).addUpTo(coord.SeverityBlock, firm, p.symbol(h.ours, p.self), p.symbol(h.theirs, p.other))
	case contractHit:
		if p.entersExclusive(h) {
			return
		}
		if h.ours.kind == numberEntry && h.theirs.kind == numberEntry {
			p.draft(coord.ContractOverlap, h.ours.key(), numberTaken).addItems(h.ours, h.theirs)
			return
		}
		if p.breaksScope(h) {
			return
		}
		place := specific(h.ours.key(), h.theirs.key())
		firm := atOdds(h.ours, h.theirs) && (!p.provided[place] || h.ours.claim == nil && h.theirs.claim == nil)
		p.draft(coord.ContractOverlap, place, claimsMeet).addUpTo(coord.SeverityBlock, firm, p.contract(h.ours, p.self),
			p.contract(h.theirs, p.other))
	case weBreak, theyBreak:
		p.breaks(h)
	}
}

// entersExclusive makes a finding of a hit under an exclusive claim.
func (p *pairing) entersExclusive(h *hit) bool {
	oursIs, theirsIs := exclusive(h.ours), exclusive(h.theirs)
	if !oursIs && !theirsIs {
		return false
	}
	holderIsUs := oursIs && (!theirsIs || earlier(p.self, p.other))
	place := p.other.ID
	if holderIsUs {
		place = p.self.ID
	}
	d := p.draft(coord.ExclusiveClaim, "by "+place, resourceReason(h))
	d.directed, d.holderIsUs = true, holderIsUs
	d.addItems(h.ours, h.theirs)
	return true
}

func (p *pairing) breaks(h *hit) {
	changed, user := h.ours, h.theirs
	if h.what == theyBreak {
		changed, user = user, changed
	}
	if changed.kind == lostEntry {
		return // when all else is told
	}
	if user.kind == referenceEntry && user.change.Facts.References[user.sub].Typed && cause(changed) != changed.key() {
		return // a type that goes by another name now has what it had, for those who never named it
	}
	why, most := p.weigh(changed, user, h.what == weBreak)
	if why == 0 {
		return
	}
	switch {
	case changed.kind == symbolEntry && meansOther(changed.symbol()):
		if user.kind != referenceEntry {
			return
		}
		why, most = meantWork, coord.SeverityInfo
	case why == breaksWork && coord.IsNameKey(user.key()):
		why = namedWork
	}
	challenger := p.self
	if h.what == theyBreak {
		challenger = p.other
	}
	d := p.draft(coord.ContractBreak, cause(changed)+" by "+challenger.ID, why)
	d.directed, d.holderIsUs = true, h.what == theyBreak
	d.loses(changed)
	if h.what == theyBreak {
		d.addUpTo(most, true, p.broken(user, changed, p.self), p.any(changed, p.other))
	} else {
		d.addUpTo(most, true, p.any(changed, p.self), p.broken(user, changed, p.other))
	}
	p.alsoNamed(d, h, changed, user)
}

// weigh tells why a change fails a use, and how much that may matter at most; no
// reason if the use goes on to work.
func (p *pairing) weigh(changed, user item, weChanged bool) (why reason, most coord.Severity) {
	why, most = breaksWork, coord.SeverityBlock
	code := user.kind == useEntry && user.change == nil
	if code {
		why = breaksCode
	}
	switch hits(changed, user) {
	case coord.Fits:
		return 0, most
	case coord.FitUnknown: // never blocks, and mostly works where it is about a definition
		most = coord.SeverityWarn
		if definition(changed) || why == breaksCode {
			most = coord.SeverityInfo
		}
		why += maybeWork - breaksWork
	}
	switch likely, limit := p.likely(changed, user, weChanged); {
	case user.sure != join.NotSaid:
		// However sure, a text stops nobody. At first contact nine in ten were
		// right, of the surest as of the others: all are told as probable.
		most, why = lower(most, coord.SeverityWarn), textWork
		if code {
			why = textCode
		}
	case likely != 0:
		most, why = lower(most, limit), likely
		if user.kind == useEntry {
			why++
		}
	}
	return why, most
}

// dependency replaces a mere overlap of paths by what matters: one of the two
// has to come first.
func (p *pairing) dependency(hits []*hit) {
	weDepend, theyDepend := dependsOn(p.self, p.other), dependsOn(p.other, p.self)
	if !weDepend && !theyDepend {
		return
	}
	p.drafts = slices.DeleteFunc(p.drafts, func(d *draft) bool { return d.kind == coord.PathOverlap })
	d := p.draft(coord.DependencyOrder, "", claimsMeet)
	d.directed, d.holderIsUs = true, theyDepend && (!weDepend || earlier(p.self, p.other))
	for _, h := range hits {
		d.addItems(h.ours, h.theirs)
	}
}

func dependsOn(w, on *Worker) bool {
	return w.Intent != nil && on.Ref() != "" && slices.Contains(w.Intent.DependsOn, on.Ref())
}

func earlier(a, b *Worker) bool {
	return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(number(a), number(b)), strings.Compare(a.ID, b.ID)) < 0
}

func number(w *Worker) int {
	if w.Intent == nil {
		return 0
	}
	return w.Intent.Number
}

// specific returns the key that names a method, where only one does.
func specific(a, b string) string {
	if strings.HasPrefix(a, "http:ANY ") {
		return b
	}
	return a
}

// own returns a thing of ours as evidence. A wide scope meets many, so what a
// claim shows is made once for all of them.
func (p *pairing) own(it item) *evidence {
	if it.kind != claimEntry || p.shown == nil {
		return p.any(it, p.self)
	}
	e := p.shown[it.claim]
	if e == nil {
		e = p.any(it, p.self)
		p.shown[it.claim] = e
	}
	return e
}

// finish settles who holds, how bad it is, and what it is called.
func (p *pairing) finish(ix *Index, d *draft) (Finding, bool) {
	holderIsUs := d.holderIsUs
	if !d.directed {
		holderIsUs = earlier(p.self, p.other)
	}
	f := Finding{Kind: d.kind, Holder: p.other, Challenger: p.self, reason: d.why}
	d.ours = slices.Grow(d.ours, len(d.ourItems))
	for _, it := range d.ourItems {
		d.ours = append(d.ours, p.own(it))
	}
	d.theirs = slices.Grow(d.theirs, len(d.theirItems))
	for _, it := range d.theirItems {
		d.theirs = append(d.theirs, p.any(it, p.other))
	}
	held, challenged := d.theirs, d.ours
	if holderIsUs {
		f.Holder, f.Challenger = p.self, p.other
		held, challenged = challenged, held
	}
	f.Repo = f.Challenger.Repo
	if f.Holder.Repo.ID != f.Repo.ID {
		f.CrossRepo, f.DependentRepo = true, &f.Holder.Repo
	}
	if f.Severity, f.Demoted = severityOf(ix, d, &f); f.Severity == coord.SeverityOff {
		return f, false
	}
	if f.outside() { // nobody declared anything there, so nobody is kept out of anything
		f.Severity = lower(f.Severity, mostOutside(f.Kind))
	}
	if f.Place = d.place; d.directed {
		f.Place, _, _ = strings.Cut(strings.TrimPrefix(d.place, "by "+f.Holder.ID), " by ")
	}
	f.Keys = append(make([]string, 0, len(d.both)+len(held)+len(challenged)), d.both...)
	f.Evidence = make([]coord.Evidence, 0, min(len(held), maxEvidence/2)+min(len(challenged), maxEvidence/2))
	held = f.take(coord.Holder, held)
	f.take(coord.Challenger, challenged)
	if !f.Holder.Live() && d.kind == coord.ContractBreak {
		f.nameOwner(ix, held)
	}
	slices.Sort(f.Keys)
	f.Keys = slices.Compact(f.Keys)
	f.Fingerprint = fingerprint(d.kind, d.place, f.Holder, f.Challenger)
	s, suppressed := ix.suppressed[f.Fingerprint]
	switch { // who asks about work that is only planned hears of what they took back, too
	case !suppressed:
	case s.Forever || len(s.Keys) > 0 && !Grown(s.Keys, f.Keys):
		return f, false
	case s.Withdrawn && p.self == ix.Worker(p.self.ID) && !slices.ContainsFunc(f.Evidence, func(e coord.Evidence) bool {
		return e.Party == coord.Challenger &&
			e.Via != coord.ViaClaim
	}):
		return f, false
	}
	f.grace = ix.known(f.Holder.Repo.ID).rules.ExclusiveGraceMinutes
	return f, true
}

func severityOf(ix *Index, d *draft, f *Finding) (coord.Severity, bool) {
	r := ix.known(f.Repo.ID)
	sev := r.rules.SeverityOf(d.kind, f.CrossRepo)
	if f.CrossRepo && r.rules.CrossRepoContracts == coord.SeverityOff {
		return coord.SeverityOff, false
	}
	if !d.firm {
		sev = policy.Demoted(sev)
	}
	sev = lower(sev, d.most)
	if slices.Contains(r.demoted, d.kind) && policy.Demoted(sev) != sev {
		return policy.Demoted(sev), true
	}
	return sev, false
}

// take adds one side's evidence, each item once, and returns it so.
func (f *Finding) take(role coord.PartyRole, all []*evidence) []*evidence {
	slices.SortFunc(all, compareEvidence)
	if role == coord.Holder {
		for _, e := range all {
			f.At = max(f.At, e.at)
		}
	}
	all = slices.CompactFunc(all, func(a, b *evidence) bool { return a.key == b.key })
	for i, e := range all {
		if e.key == "" {
			continue
		}
		if !strings.HasPrefix(e.key, "hunk ") {
			f.Keys = append(f.Keys, string(role)+" "+e.key)
		}
		if i < maxEvidence/2 {
			shown := e.item // others may share it
			shown.Party = role
			f.Evidence = append(f.Evidence, shown)
		}
	}
	return all
}

func fingerprint(kind coord.ConflictKind, place string, a, b *Worker) string {
	x, y := partyKey(a), partyKey(b)
	if x > y {
		x, y = y, x
	}
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + place + "\x00" + x + "\x00" + y))
	return hex.EncodeToString(sum[:16])
}
