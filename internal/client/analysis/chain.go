package analysis

import (
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/references"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// chainBudget is how long routes of other files are worked out again.
const chainBudget = time.Second

// maxChain bounds the files of one change that are followed: in a larger one,
// as a merge is, the routes' own files tell enough.
const maxChain = 12

// maxChainIndex is the size of git's index, some 20,000 files, above which an
// edit is not followed to other files: to list them all would cost more than
// all the rest.
const maxChainIndex = 2 << 20

// chain adds to changed files what their change means for the routes of others:
// a type, a mapper, a prefix or a constant that those depend on.
func (r *run) chain(deltas []gitrepo.Delta, files []coord.FileFacts) {
	old := map[string][]byte{}
	var changed, names []string
	var first *coord.FileFacts
	for i := range deltas {
		d := &deltas[i]
		if d.Status != gitrepo.Modified || d.Binary || rules.TestPath(d.Path) || rules.GeneratedPath(d.Path) || !chains(d.Path) {
			continue
		}
		text, err := r.objects.Blob(d.OldBlob, references.MaxSource)
		at := slices.IndexFunc(files, func(f coord.FileFacts) bool { return f.Path == d.Path })
		if err != nil || at < 0 || r.opts.Want != nil && !r.wanted(d, &files[at]) {
			continue
		}
		old[d.Path] = text
		changed = append(changed, d.Path)
		if first == nil {
			first = &files[at]
		}
		for _, s := range files[at].Symbols {
			if s.Change != coord.Same {
				names = append(names, lastName(s.Key))
			}
		}
	}
	if first == nil || len(changed) > maxChain || time.Now().After(r.deadline) {
		return
	}
	until := time.Now().Add(chainBudget)
	if r.deadline.Before(until) {
		until = r.deadline
	}
	for _, c := range r.repo.Chained(r.repo.Before(old), changed, names, until) {
		for _, f := range contract.Facts(c.Old, c.New, false, r.opts.MetadataOnly) {
			told := func(g coord.ContractFacts) bool { return g.Key == f.Key && g.Role == f.Role }
			if f.Change == coord.Same || slices.ContainsFunc(first.Contracts, told) {
				continue
			}
			f.Line = firstLine(first)
			first.Contracts = append(first.Contracts, f)
		}
	}
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

func lastName(key string) string {
	return key[strings.LastIndexAny(key, ".#:/")+1:]
}

// firstLine is where the change of a file begins.
func firstLine(f *coord.FileFacts) int {
	if len(f.Hunks) > 0 {
		return max(1, f.Hunks[0].Start)
	}
	return 1
}
