package analysis

import (
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/references"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// chainBudget is how long routes of other files are worked out again.
const chainBudget = time.Second

// maxChain bounds the files of one change that are followed: in a larger one,
// as a merge is, the routes' own files tell enough.
const maxChain = 12

// maxAlong bounds the files of a working copy whose earlier versions are read.
const maxAlong = 40

// together is the repository before several files changed that routes may
// depend on: what one of them meant, it meant with the others as they were. It
// is nil for a single file, and for so many that the routes' own tell enough.
func (r *run) together(deltas []diff.Delta) *references.Repo {
	old := map[string][]byte{}
	for i := range deltas {
		d := &deltas[i]
		if d.Binary || d.Status == diff.Unchanged || !chains(d.Path) {
			continue
		}
		if len(old) >= maxAlong {
			return nil
		}
		at := d.Path
		if d.OldPath != "" && d.OldPath != d.Path {
			old[d.Path], at = nil, d.OldPath
		}
		if d.Status == diff.Added {
			old[at] = nil
		} else if text, err := r.was(d); err == nil {
			old[at] = text
		}
	}
	if len(old) < 2 {
		return nil
	}
	return r.repo.Before(old)
}

// chain adds to changed files what their change means for the routes of others:
// a type, a mapper, a prefix or a constant that those depend on.
// It reports false when time ran out.
func (r *run) chain(deltas []diff.Delta, files []coord.FileFacts) bool {
	old := map[string][]byte{}
	var changed []references.Changed
	var first *coord.FileFacts
	for i := range deltas {
		d := &deltas[i]
		if d.Status != diff.Modified || d.Binary || rules.TestPath(d.Path) || rules.GeneratedPath(d.Path) || !chains(d.Path) {
			continue
		}
		text, err := r.was(d)
		at := slices.IndexFunc(files, func(f coord.FileFacts) bool { return f.Path == d.Path })
		if err != nil || at < 0 || r.opts.Want != nil && !r.wanted(d, &files[at]) {
			continue
		}
		old[d.Path] = text
		sides := r.sides[d.Path]
		changed = append(changed, references.Changed{Path: d.Path, Old: sides[0], New: sides[1], Hunks: d.Hunks})
		if first == nil {
			first = &files[at]
		}
	}
	if first == nil || len(changed) > maxChain {
		return true
	}
	if time.Now().After(r.deadline) {
		return false
	}
	until := time.Now().Add(patience.Of(chainBudget))
	if r.deadline.Before(until) {
		until = r.deadline
	}
	before := r.before
	if before == nil {
		before = r.repo.Before(old)
	}
	chained, all := r.repo.Chained(before, changed, until)
	for _, c := range chained {
		for _, f := range contract.Facts(c.Old, c.New, false, r.opts.MetadataOnly) {
			told := func(g coord.ContractFacts) bool { return g.Key == f.Key && g.Role == f.Role }
			if f.Change == coord.Same || slices.ContainsFunc(first.Contracts, told) {
				continue
			}
			f.Line = firstLine(first)
			first.Contracts = append(first.Contracts, f)
		}
	}
	return all
}

// chains tells whether routes may depend on a file.
func chains(file string) bool {
	for _, end := range []string{".properties", ".yml", ".yaml", ".env", ".jbuilder", ".toml"} {
		if strings.HasSuffix(file, end) {
			return true
		}
	}
	l := rules.LanguageOf(file)
	return l.Grammar != "" || l.Name == "go"
}

// firstLine is where the change of a file begins.
func firstLine(f *coord.FileFacts) int {
	if len(f.Hunks) > 0 {
		return max(1, f.Hunks[0].Start)
	}
	return 1
}
