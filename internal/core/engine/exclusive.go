package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// HonourExclusive decides whether a worker that asks for its scope
// exclusively gets it, and if not, says why. Claims are those it wants, of
// whatever mode; files are the paths of the repo as far as they are known. A
// literal path counts one file, a glob those it matches; a glob with ** that
// matches no known file cannot be bounded and is never honoured, nor is a
// scope that overlaps one already held exclusively.
func HonourExclusive(ix *Index, w *Worker, files []string, most int) (coord.Mode, string) {
	asked := *w // what was refused before is not what it asks for
	asked.Claims = slices.DeleteFunc(slices.Clone(w.Claims), func(c coord.Claim) bool { return c.Mode == coord.Wanted })
	w = &asked
	count := 0
	for i := range w.Claims {
		if w.Claims[i].Kind != coord.ClaimPath {
			continue
		}
		g, err := scope.ParseGlob(w.Claims[i].Selector)
		if err != nil {
			continue
		}
		n := coveredFiles(g, files, most-count)
		if n == 0 && g.Unbounded() {
			return coord.Shared, fmt.Sprintf("not exclusive: how many files %s covers is not known; name folders or files", g)
		}
		if count += n; count > most {
			return coord.Shared, fmt.Sprintf(tooWide+" the %d files that the policy allows (exclusive_max_files)", most)
		}
	}
	if holder := exclusiveHolder(ix, w); holder != nil {
		return coord.Shared, fmt.Sprintf("not exclusive: %s holds part of the scope exclusively", (&voice{f: &Finding{}}).who(holder))
	}
	return coord.Exclusive, ""
}

const tooWide = "not exclusive: the scope covers more than"

// TooWide reports whether a claim was not honoured, as its note says, because of
// how many files it covers.
func TooWide(note *string) bool { return note != nil && strings.HasPrefix(*note, tooWide) }

// KeptOut reports whether somebody's exclusive claim covers a path for a
// worker.
func KeptOut(ix *Index, w *Worker, path string) bool {
	asking := *w
	asking.Claims = []coord.Claim{{Kind: coord.ClaimPath, Selector: path, Mode: coord.Wanted}}
	g := gatherer{ix: ix, self: &asking, repo: ix.known(w.Repo.ID)}
	g.claims(asking.Claims)
	return len(g.hits) > 0
}

// coveredFiles counts what a glob covers: its literal alternatives, whether
// or not they exist yet, and the known files that the others match. It stops
// once there are more than most.
func coveredFiles(g scope.Glob, files []string, most int) int {
	if _, one := g.Literal(); one {
		return 1
	}
	n := 0
	for _, f := range files {
		if g.Match(f) {
			if n++; n > most {
				return n
			}
		}
	}
	for _, p := range g.Patterns() {
		if path, rest := scope.SplitPattern(p); rest == "" && !slices.Contains(files, path) {
			n++
		}
	}
	return n
}

// exclusiveHolder returns who holds part of a worker's claims exclusively:
// the earliest, if several do.
func exclusiveHolder(ix *Index, w *Worker) *Worker {
	g := gatherer{ix: ix, self: w, repo: ix.known(w.Repo.ID)}
	g.claims(w.Claims)
	var first *Worker
	for _, h := range g.hits {
		if exclusive(h.theirs) && (first == nil || earlier(h.other, first)) {
			first = h.other
		}
	}
	return first
}
