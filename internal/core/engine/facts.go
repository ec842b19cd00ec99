package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
	"github.com/svc-hq/svc/internal/core/scope"
)

// symbolsUnknown reports whether an item is a change of which nobody knows
// the definitions it touched.
func symbolsUnknown(it item) bool {
	return it.change != nil && !it.change.Facts.Parsed && len(it.change.Facts.Symbols) == 0
}

// providesChange reports whether an item is a change of a contract by the
// side that provides it.
func providesChange(it item) bool {
	if it.kind != contractEntry {
		return false
	}
	k := it.contract()
	return k.Role == coord.Provides && k.Change != coord.Same
}

// uses reports whether an item uses a contract or definition.
func uses(it item) bool {
	switch it.kind {
	case referenceEntry, useEntry:
		return true
	case contractEntry:
		k := it.contract()
		return k.Role == coord.Uses && k.Change != coord.Removed
	}
	return false
}

// breaking reports whether an item changes what others rely on so that they
// fail, or may fail: what cannot be judged counts, and is capped later.
func breaking(it item) bool {
	switch it.kind {
	case symbolEntry:
		s := it.symbol()
		return breaks(s.Change, s.Compatibility) || meansOther(s) // whoever uses it could see it
	case contractEntry:
		k := it.contract()
		return k.Role == coord.Provides && breaks(k.Change, k.Compatibility)
	}
	return false
}

func breaks(c coord.Change, compat coord.Compatibility) bool {
	switch c {
	case coord.Removed, coord.Signature:
		return compat != coord.Compatible
	case coord.Modified:
		return compat == coord.Breaking
	}
	return false
}

// meansOther reports whether a definition works for its users as before, and
// may be something else than they have in mind.
func meansOther(s *coord.SymbolFacts) bool { return s.Meaning && s.Compatibility == coord.Compatible }

// hits tells whether a use fails by a breaking change. Most changes of
// parameters concern only some calls, and a new use may fit already.
func hits(changed, user item) coord.Fit {
	if lost, used := changed.fields(), user.fields(); len(lost) > 0 && len(used) > 0 {
		if _, shared := coord.SharedField(lost, used); !shared {
			if strings.HasPrefix(changed.key(), "db:") {
				return coord.Fits // a statement names all that it uses
			}
			return coord.FitUnknown // a value may go elsewhere, and be used there
		}
	}
	if changed.kind == symbolEntry && user.kind == referenceEntry {
		if fit := suits(changed.symbol(), &user.change.Facts.References[user.sub]); fit != coord.FitUnknown {
			return fit
		}
	}
	change, compat, takes := changed.effect()
	if change != coord.Removed && takes != nil && user.kind == referenceEntry {
		return user.change.Facts.References[user.sub].Call.Fit(takes)
	}
	if change != coord.Removed && (compat != coord.Breaking || takes != nil && changed.kind == contractEntry) {
		return coord.FitUnknown
	}
	return coord.Misfits
}

// suits tells whether a use goes on to work, or cannot, by what it is rather
// than by how it is called.
func suits(s *coord.SymbolFacts, use *coord.Reference) coord.Fit {
	lacks := func(need string) bool { return !slices.Contains(use.Has, need) }
	switch {
	case len(use.Lacks) > 0:
		if slices.ContainsFunc(s.Needs, func(need string) bool { return slices.Contains(use.Lacks, need) }) {
			return coord.Misfits
		}
		return coord.Fits
	case len(s.Needs) > 0 && use.Whole && slices.ContainsFunc(s.Needs, lacks):
		return coord.Misfits
	case meansOther(s) && (len(s.Takes) == 0 || use.Call.Fit(s.Takes) == coord.Fits):
		return coord.Misfits
	case meansOther(s):
		return coord.Fits
	case len(s.Needs) > 0: // whoever only uses it has nothing to do
		return coord.Fits
	case s.Given && use.Call != nil && use.Call.Alone:
		return coord.Fits
	case s.Change == coord.Removed && use.Whole && len(use.Has) == 0: // of an implementer that has more than it must
		return coord.Fits
	}
	return coord.FitUnknown
}

// atOdds reports whether two items at one contract are worth an interruption:
// both sides change what users rely on, or may yet do so where all that is
// known of them is a claim.
func atOdds(a, b item) bool {
	may := func(it item) bool { return it.claim != nil || breaking(it) }
	return may(a) && may(b)
}

// fields are what a change of a contract took from it, or what a use has of it.
func (it item) fields() []coord.ContractField {
	switch it.kind {
	case useEntry:
		return it.use.Fields
	case contractEntry:
		if k := it.contract(); k.Role == coord.Uses || k.Change != coord.Removed {
			return k.Fields
		}
	case referenceEntry: // the file's facts tell of the contract, too
		key := it.key()
		for i := range it.change.Facts.Contracts {
			if k := &it.change.Facts.Contracts[i]; k.Key == key && k.Role == coord.Uses {
				return k.Fields
			}
		}
	}
	return nil
}

// effect is what a change did to a definition or contract.
func (it item) effect() (coord.Change, coord.Compatibility, [][]coord.Param) {
	if it.kind == symbolEntry {
		s := it.symbol()
		return s.Change, s.Compatibility, s.Takes
	}
	k := it.contract()
	return k.Change, k.Compatibility, k.Takes
}

// loose are the kinds of definitions of which two sides may change different
// lines without either having to know: a class is a place for others, a
// constant or a list has no callers that pass anything. In replays of real
// history nearly all warnings at them were needless.
var loose = map[string]bool{
	"class": true, "struct": true, "interface": true, "enum": true, "trait": true, "object": true, "module": true, "namespace": true,
	"type": true, "implementation": true, "union": true, "record": true, "protocol": true, "concept": true, "annotation": true,
	"variable": true, "constant": true, "value": true, "field": true, "property": true, "case": true,
}

// unfit reports whether two changes of one definition that git merges may not
// fit each other: both change what callers rely on, or both sides added it. If
// only one does, whoever calls it hears of the break; in replays of real history
// none of 44 warnings of such a pair was borne out.
func unfit(a, b *coord.SymbolFacts) bool {
	if a.Change == coord.Added && b.Change == coord.Added {
		return true
	}
	reshaped := func(s *coord.SymbolFacts) bool {
		return s.Change != coord.Modified && s.Compatibility != coord.Compatible && !loose[s.Kind]
	}
	return reshaped(a) && reshaped(b)
}

func (it item) symbol() *coord.SymbolFacts     { return &it.change.Facts.Symbols[it.sub] }
func (it item) contract() *coord.ContractFacts { return &it.change.Facts.Contracts[it.sub] }

// key returns the symbol or contract that an item is about.
func (it item) key() string {
	switch it.kind {
	case symbolEntry:
		return it.symbol().Key
	case contractEntry:
		return it.contract().Key
	case referenceEntry:
		return it.change.Facts.References[it.sub].Key
	case useEntry:
		return it.use.Key
	case numberEntry:
		return numberKey(&it.change.Facts)
	case lostEntry:
		return lostKey(&it.change.Facts, it.lostName())
	}
	if it.claim != nil {
		return it.claim.Selector
	}
	return ""
}

// file returns the one path that an item is about, or "".
func (it item) file() string {
	switch {
	case it.change != nil:
		return it.change.Facts.Path
	case it.claim == nil:
		return it.path
	case it.claim.Kind == coord.ClaimPath:
		if strings.ContainsAny(it.claim.Selector, "*?[{") {
			return ""
		}
		return it.claim.Selector
	case filing.IsSymbol(it.claim.Selector):
		sym, err := scope.ParseSymbol(it.claim.Selector)
		if err != nil {
			return ""
		}
		return sym.Path
	}
	return ""
}

// sameLanguage reports whether a symbol and an item about the same name in
// the same file can be the same definition.
func sameLanguage(s scope.Symbol, it item) bool {
	lang, _, ok := strings.Cut(strings.TrimPrefix(it.key(), "sym:"), ":")
	return s.Lang == "" || !ok || !strings.HasPrefix(it.key(), "sym:") || lang == s.Lang
}

func exclusive(it item) bool { return it.claim != nil && it.claim.Mode == coord.Exclusive }
