package engine

import (
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
)

// What is live is filed by where it is (package filing). An entry names by
// number what it stands for.
type (
	entry     = filing.Entry
	entryKind = filing.Kind
)

const (
	claimEntry     = filing.Claim
	patternEntry   = filing.Pattern
	changeEntry    = filing.Change
	oldPathEntry   = filing.OldPath
	formerEntry    = filing.Former
	symbolEntry    = filing.Symbol
	contractEntry  = filing.Contract
	referenceEntry = filing.Reference
	useEntry       = filing.Use
	numberEntry    = filing.Number
)

// addPaths files a change by its paths.
func addPaths(t *filing.Tree, c *Change, at uint32) []uint32 {
	f := &c.Facts
	ids := []uint32{t.AddPath(f.Path, entry{Owner: at, Kind: changeEntry})}
	if f.OldPath != nil && *f.OldPath != f.Path {
		ids = append(ids, t.AddPath(*f.OldPath, entry{Owner: at, Kind: oldPathEntry}))
	}
	for _, p := range f.Former {
		ids = append(ids, t.AddPath(p, entry{Owner: at, Kind: formerEntry}))
	}
	return ids
}

// addKeys files a change by the definitions and contracts it is about.
func addKeys(t *filing.Tree, c *Change, at uint32, ids []uint32) []uint32 {
	f := &c.Facts
	file := func(key string, kind entryKind, sub int) {
		for _, node := range t.EnsureKeys(key) {
			ids = append(ids, t.Add(node, entry{Owner: at, Sub: uint16(sub), Kind: kind}))
		}
	}
	former := formerKeys(f)
	for i, s := range f.Symbols {
		if s.Change == coord.Same {
			continue
		}
		file(s.Key, symbolEntry, i)
		if key := former[i]; key != "" {
			file(key, symbolEntry, i)
		}
		if key := soleKey(f, &s); key != "" {
			file(key, symbolEntry, i)
		}
	}
	for i, k := range f.Contracts {
		file(k.Key, contractEntry, i)
	}
	if key := numberKey(f); key != "" {
		file(key, numberEntry, 0)
	}
	for i, ref := range f.References {
		file(ref.Key, referenceEntry, i)
	}
	return ids
}
