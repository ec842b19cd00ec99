package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Presence is one worker's hand in a file: what it changed there, what it
// claims there, or both.
type Presence struct {
	Worker *Worker
	Change *Change      // nil where it only claims
	Claim  *coord.Claim // nil where it only changes; the one that keeps most to itself
	Base   string       // the version whose lines Lines counts, "" for a new file
	Lines  []coord.LineCount
	Moved  func(coord.LineCount) coord.LineCount // brings other lines of the change into the count of Base
	At     coord.Time
}

// Present tells what is under way in a file, the latest edit first. Lines are
// in the count of version base where it is known how that goes together with the
// one that the work started from, else in the count of the latter.
func Present(ix *Index, repoID, path, base string) []*Presence {
	r := ix.known(repoID)
	found := map[string]*Presence{}
	at := func(w *Worker) *Presence {
		if found[w.ID] == nil {
			found[w.ID] = &Presence{Worker: w, Moved: same}
		}
		return found[w.ID]
	}
	visit := func(e *entry) {
		switch e.Kind {
		case changeEntry, oldPathEntry, formerEntry:
			c := ix.changes[e.Owner].c
			if w := ix.Worker(ix.ownerID(c)); w != nil {
				if p := at(w); p.Change == nil || touchedAt(c, w.ID) > p.At {
					p.take(c, r.maps, base)
				}
			}
		case claimEntry, patternEntry:
			if w := ix.slots[e.Owner].w; w != nil && w.Claims[e.Sub].Mode != coord.Wanted {
				if p, c := at(w), &w.Claims[e.Sub]; p.Claim == nil || c.Mode == coord.Exclusive {
					p.Claim = c
				}
			}
		}
	}
	if node := r.tree.Matching(path, visit); node != 0 {
		r.tree.SymbolsIn(node, visit)
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *Presence) int {
		return cmp.Or(cmp.Compare(b.At, a.At), strings.Compare(a.Worker.ID, b.Worker.ID))
	})
}

// take notes what a change did, in the count of base if that can be told.
func (p *Presence) take(c *Change, known lineMaps, base string) {
	p.Change, p.At, p.Base, p.Moved = c, touchedAt(c, p.Worker.ID), "", same
	if c.Facts.BaseBlob != nil {
		p.Base = *c.Facts.BaseBlob
	}
	if way := known[[2]string{p.Base, base}]; way != nil {
		p.Base = base
		p.Moved = func(l coord.LineCount) coord.LineCount { return MoveLines(l, way.Shifts) }
	}
	p.Lines = make([]coord.LineCount, len(c.Facts.Hunks))
	for i, h := range c.Facts.Hunks {
		p.Lines[i] = p.Moved(coord.LineCount{Start: h.Start, Count: h.Count})
	}
}

func same(l coord.LineCount) coord.LineCount { return l }

// MoveLines returns a range in the count of the other version, as ranges of
// changes are moved before they are compared.
func MoveLines(l coord.LineCount, shifts []coord.LineShift) coord.LineCount {
	h := move(coord.Hunk{Start: l.Start, Count: l.Count}, shifts)
	return coord.LineCount{Start: h.Start, Count: h.Count}
}

// Meet reports whether git cannot merge two changes of one version.
func Meet(a, b []coord.Hunk) bool { return len(touchingHunks(a, b)) > 0 }
