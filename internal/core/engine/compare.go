package engine

import (
	"maps"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A verdict is what becomes of two changes of one file when they are merged.
type verdict struct {
	why     reason
	path    string       // the file, by its name in the base where it has one
	regions []lineRegion // of linesTouch and linesMeet
	symbols [][2]int     // definitions that both changed, by index
	clash   bool         // git will stop
	settled bool         // line ranges prove that git merges
}

// A lineRegion is where two sides meet, each in lines of its base.
type lineRegion struct{ a, b coord.Hunk }

// compare tells what git would do with two changes of one repository. It
// reports false if they do not concern the same file at all.
func compare(m lineMaps, a, b *coord.FileFacts) (verdict, bool) {
	baseA, baseB := basePath(a), basePath(b)
	switch {
	case baseA != "" && baseB != "" && sameFile(a, b):
		v := compareBase(m, a, b)
		v.path = baseA
		if slices.Contains(b.Former, baseA) { // by the name that it has now
			v.path = baseB
		}
		return v, true
	case newPath(a) != "" && newPath(a) == newPath(b):
		// One name for two files: neither side knows the other's as its base.
		v := verdict{path: newPath(a), why: addAdd, clash: true}
		if sameContent(a, b) {
			return verdict{path: newPath(a), settled: true}, true
		}
		switch {
		case a.Status == coord.FileModified && b.Status == coord.FileAdded || a.Status == coord.FileAdded && b.Status == coord.FileModified:
			// The file came to the default branch between the two bases: to git
			// both sides added it.
			v.why = addChange
		case a.Status == coord.FileModified || b.Status == coord.FileModified:
			// Only one side's base has the file: the bases are too far apart to tell.
			v.why, v.clash = otherBase, false
			v.symbols = commonSymbols(a, b)
		}
		return v, true
	case under(newPath(a), newPath(b)) && isNew(a) && isNew(b):
		return verdict{path: newPath(a), why: fileFolder, clash: true}, true
	case under(newPath(b), newPath(a)) && isNew(a) && isNew(b):
		return verdict{path: newPath(b), why: fileFolder, clash: true}, true
	}
	return verdict{}, false
}

// compareBase compares two changes of one file of the base.
func compareBase(m lineMaps, a, b *coord.FileFacts) verdict {
	delA, delB := a.Status == coord.FileDeleted, b.Status == coord.FileDeleted
	renA, renB := a.Status == coord.FileRenamed, b.Status == coord.FileRenamed
	switch {
	case delA && delB:
		return verdict{settled: true}
	case delA && renB || delB && renA:
		return verdict{why: renameDelete, clash: true}
	case delA || delB:
		return verdict{why: modifyDelete, clash: true}
	case renA && renB && a.Path != b.Path:
		return verdict{why: twoRenames, clash: true}
	case sameContent(a, b):
		return verdict{settled: true}
	case a.Binary || b.Binary:
		return verdict{why: binaryBoth, clash: true}
	}
	v := verdict{why: otherBase, symbols: commonSymbols(a, b)}
	if a.BaseBlob == nil || b.BaseBlob == nil {
		return v
	}
	same := *a.BaseBlob == *b.BaseBlob
	if hunksMissing(a) || hunksMissing(b) {
		if same {
			v.why = linesUnknown
		}
		return v
	}
	meet, known := linesTouch, true
	if same {
		v.regions = touchingHunks(a.Hunks, b.Hunks)
	} else {
		meet = linesMeet
		v.regions, known = m.touching(a, b)
	}
	switch v.settled = known && len(v.regions) == 0; {
	case v.settled:
		v.why = mergesCleanly
	case known:
		v.why, v.clash = meet, true
	}
	return v
}

// touchingHunks returns the pairs that git cannot merge: ranges that overlap
// or touch, unless both sides did the very same there.
func touchingHunks(a, b []coord.Hunk) []lineRegion {
	a, b = sortedHunks(a), sortedHunks(b)
	var out []lineRegion
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		switch {
		case x.Start+x.Count < y.Start:
			i++
			continue
		case y.Start+y.Count < x.Start:
			j++
			continue
		case x != y || x.LinesHash == "":
			out = append(out, lineRegion{x, y})
		}
		// The one that ends first cannot touch anything further on.
		if x.Start+x.Count <= y.Start+y.Count {
			i++
		} else {
			j++
		}
	}
	return out
}

func sortedHunks(hs []coord.Hunk) []coord.Hunk {
	byStart := func(a, b coord.Hunk) int { return a.Start - b.Start }
	if slices.IsSortedFunc(hs, byStart) {
		return hs
	}
	hs = slices.Clone(hs)
	slices.SortFunc(hs, byStart)
	return hs
}

// hunksMissing reports whether a change of content came without its lines.
func hunksMissing(f *coord.FileFacts) bool {
	if len(f.Hunks) > 0 {
		return false
	}
	// A file that was only renamed has none and needs none.
	return f.NewBlob == nil || f.BaseBlob == nil || *f.NewBlob != *f.BaseBlob
}

// commonSymbols returns the definitions that both changed, not alike. One side
// may have given the file another name, so only the names in it are compared.
func commonSymbols(a, b *coord.FileFacts) [][2]int {
	if len(a.Symbols) == 0 || len(b.Symbols) == 0 {
		return nil
	}
	at := make(map[string]int, len(b.Symbols))
	for j := range b.Symbols {
		if name, ok := changedName(b, j); ok {
			at[name] = j
		}
	}
	var out [][2]int
	for i := range a.Symbols {
		name, ok := changedName(a, i)
		if j, both := at[name]; ok && both && (!sameText(&a.Symbols[i], &b.Symbols[j]) || twice(a, b, &a.Symbols[i])) {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// changedName returns the name of a definition that a side changed. Those that
// a renamed file left behind in its old place are the same ones told again.
func changedName(f *coord.FileFacts, i int) (string, bool) {
	s := &f.Symbols[i]
	if s.Change == coord.Same {
		return "", false
	}
	sym, err := scope.ParseSymbol(s.Key)
	switch {
	case err != nil || sym.Path != f.Path && !renamedFrom(f, sym.Path):
		return s.Key, true
	case sym.Path != f.Path:
		return "", false
	}
	return sym.Lang + "#" + sym.Name, true
}

// renamedFrom reports whether a file had that path in its base.
func renamedFrom(f *coord.FileFacts, path string) bool {
	return f.OldPath != nil && *f.OldPath != f.Path && *f.OldPath == path
}

// formerKeys returns the keys that the definitions of a renamed file had, by
// index, unless the facts tell of those too.
func formerKeys(f *coord.FileFacts) map[int]string {
	if f.OldPath == nil || *f.OldPath == f.Path {
		return nil
	}
	told, out := map[string]bool{}, map[int]string{}
	for i := range f.Symbols {
		sym, err := scope.ParseSymbol(f.Symbols[i].Key)
		switch {
		case err != nil:
		case sym.Path == f.Path:
			sym.Path = *f.OldPath
			out[i] = sym.String()
		default:
			told[f.Symbols[i].Key] = true
		}
	}
	maps.DeleteFunc(out, func(_ int, key string) bool { return told[key] })
	return out
}

// sameText reports whether both sides left a definition in the same words, as
// a fix does that went to two branches.
func sameText(a, b *coord.SymbolFacts) bool {
	if a.Change == coord.Removed && b.Change == coord.Removed {
		return true
	}
	return a.TextHash != nil && b.TextHash != nil && *a.TextHash == *b.TextHash
}

// twice reports whether a definition that both sides added in the same words
// stands in the file twice once they are merged: git takes what both inserted
// at one place for one.
func twice(a, b *coord.FileFacts, s *coord.SymbolFacts) bool {
	if s.Change != coord.Added || a.BaseBlob == nil || b.BaseBlob == nil || *a.BaseBlob != *b.BaseBlob {
		return false
	}
	return !slices.ContainsFunc(a.Hunks, func(h coord.Hunk) bool { return h.LinesHash != "" && slices.Contains(b.Hunks, h) })
}

func sameContent(a, b *coord.FileFacts) bool {
	return a.NewBlob != nil && b.NewBlob != nil && *a.NewBlob == *b.NewBlob
}

// basePath returns a file's name in the base, or "" if it is new.
func basePath(f *coord.FileFacts) string {
	switch {
	case f.Status == coord.FileAdded:
		return ""
	case f.OldPath != nil && *f.OldPath != "":
		return *f.OldPath
	}
	return f.Path
}

// newPath returns a file's name now, or "" if it is gone.
func newPath(f *coord.FileFacts) string {
	if f.Status == coord.FileDeleted {
		return ""
	}
	return f.Path
}

// sameFile reports whether two changes are of one file of the default branch,
// which may have moved it between the two bases.
func sameFile(a, b *coord.FileFacts) bool {
	baseA, baseB := basePath(a), basePath(b)
	return baseA == baseB || slices.Contains(b.Former, baseA) || slices.Contains(a.Former, baseB)
}

// basePaths returns the names that a change concerns.
func basePaths(f *coord.FileFacts) []string {
	out := []string{f.Path}
	if f.OldPath != nil && *f.OldPath != f.Path {
		out = append(out, *f.OldPath)
	}
	return append(out, f.Former...)
}

func isNew(f *coord.FileFacts) bool {
	return f.Status == coord.FileAdded || f.Status == coord.FileRenamed
}

// under reports whether path lies in folder.
func under(folder, path string) bool {
	return folder != "" && len(path) > len(folder) && path[len(folder)] == '/' && path[:len(folder)] == folder
}
