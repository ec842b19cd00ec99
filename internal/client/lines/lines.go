// Package lines tells what git alone knows of an edit: which lines of which
// version it replaced. It reads no code and links nothing that does, so that
// the svc which agents start at every edit can answer by itself for files in
// which there is nothing else to find. It may not decide what an edit means.
package lines

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// MaxPath is the longest path that the wire takes.
const MaxPath = 1024

var fileStatuses = map[diff.Status]coord.FileStatus{
	diff.Unchanged: coord.FileUnchanged, diff.Added: coord.FileAdded, diff.Modified: coord.FileModified,
	diff.Deleted: coord.FileDeleted, diff.Renamed: coord.FileRenamed,
}

// Facts are what git knows of a file.
func Facts(d *diff.Delta) coord.FileFacts {
	f := coord.FileFacts{
		Path:       wirePath(d.Path),
		Status:     fileStatuses[d.Status],
		Language:   rules.LanguageOf(d.Path).Name,
		Binary:     d.Binary,
		Generated:  rules.GeneratedPath(d.Path),
		Hunks:      make([]coord.Hunk, len(d.Hunks)),
		Symbols:    []coord.SymbolFacts{},
		Contracts:  []coord.ContractFacts{},
		References: []coord.Reference{},
	}
	if d.OldPath != "" {
		old := wirePath(d.OldPath)
		f.OldPath = &old
	}
	if d.OldBlob != "" {
		f.BaseBlob = &d.OldBlob
	}
	if d.NewBlob != "" {
		f.NewBlob = &d.NewBlob
	}
	for i, h := range d.Hunks {
		f.Hunks[i] = coord.Hunk{Start: h.OldStart, Count: h.OldCount, LinesHash: h.Hash}
	}
	return f
}

// Alone returns the facts of files if lines are all that can be found of them:
// nothing has changed, or only what nobody can read.
func Alone(deltas []diff.Delta) (*coord.Analysis, bool) {
	if len(deltas) > coord.MaxAnalysisFiles || slices.ContainsFunc(deltas, worthReading) {
		return nil, false
	}
	out := &coord.Analysis{Files: []coord.FileFacts{}}
	hunks := 0
	for i := range deltas {
		f := Facts(&deltas[i])
		if hunks += len(f.Hunks); hunks > coord.MaxAnalysisHunks || len(f.Path) > MaxPath {
			return nil, false // analysis knows what to leave out
		}
		out.Files = append(out.Files, f)
	}
	return out, true
}

// worthReading reports whether more than lines can be found in a change.
func worthReading(d diff.Delta) bool {
	if d.Status == diff.Unchanged || d.Binary || rules.GeneratedPath(d.Path) {
		return false
	}
	return d.Status == diff.Renamed || rules.LanguageOf(d.Path).Read
}

// wirePath is a path as JSON can carry it: one that is not UTF-8 is quoted, so
// that two of them stay different.
func wirePath(p string) string {
	if utf8.ValidString(p) {
		return p
	}
	return strings.Trim(strconv.QuoteToASCII(p), `"`)
}
