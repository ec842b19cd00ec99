package engine

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A draft is a finding in the making. One side is ours, the other theirs;
// which of them holds is decided at the end.
type draft struct {
	kind   coord.ConflictKind
	place  string
	why    reason
	ours   []*evidence
	theirs []*evidence
	both   []string // keys that belong to no side
	// Items that become evidence at the end: a wide scope meets the same
	// claim many times.
	ourItems, theirItems []item
	most                 coord.Severity // of what its hits can be sure of
	// holderIsUs settles who holds where it is not the earlier one.
	holderIsUs, directed bool
	firm                 bool     // some hit stands whatever the lines prove
	fields               []string // hashes of what a contract that broke has lost
}

type evidence struct {
	key  string
	item coord.Evidence
	at   coord.Time
	by   *coord.User // who changed live code last
}

func (p *pairing) draft(kind coord.ConflictKind, place string, why reason) *draft {
	for _, d := range p.drafts {
		if d.kind == kind && d.place == place {
			d.why = min(d.why, why) // whatever came first
			return d
		}
	}
	d := &draft{kind: kind, place: place, why: why}
	p.drafts = append(p.drafts, d)
	return d
}

// add adds a hit that is sure of itself.
func (d *draft) add(ours, theirs *evidence) {
	d.addUpTo(coord.SeverityBlock, true, ours, theirs)
}

// addItems adds a hit that is sure of itself and whose sides speak for
// themselves.
func (d *draft) addItems(ours, theirs item) {
	d.most, d.firm = coord.SeverityBlock, true
	d.ourItems, d.theirItems = appendNew(d.ourItems, ours), appendNew(d.theirItems, theirs)
}

// appendNew leaves out what was just there; the rest is sorted out later.
func appendNew(items []item, it item) []item {
	if slices.Contains(items[max(0, len(items)-16):], it) {
		return items
	}
	return append(items, it)
}

// addUpTo adds a hit that justifies no more than a severity. A hit that is
// not firm justifies a step less than the policy says.
func (d *draft) addUpTo(most coord.Severity, firm bool, ours, theirs *evidence) {
	d.most, d.firm = higher(d.most, most), d.firm || firm
	d.ours, d.theirs = append(d.ours, ours), append(d.theirs, theirs)
}
