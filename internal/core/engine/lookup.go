package engine

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
)

// Change returns what is recorded for a file in a working copy, or nil.
func (ix *Index) Change(repoID, copy, path string) *Change {
	r := ix.repos[repoID]
	if r == nil {
		return nil
	}
	at, ok := r.changes[changeKey{copy, path}]
	if !ok {
		return nil
	}
	return ix.changes[at].c
}

// Workers returns the ids of the live workers of a repo, sorted.
func (ix *Index) Workers(repoID string) []string {
	var out []string
	for _, s := range ix.slots {
		if s.w != nil && s.w.Repo.ID == repoID {
			out = append(out, s.w.ID)
		}
	}
	slices.Sort(out)
	return out
}

// Rules returns what holds in a repo and what feedback has demoted there.
func (ix *Index) Rules(repoID string) (*policy.Effective, []coord.ConflictKind) {
	r := ix.known(repoID)
	return r.rules, r.demoted
}

// Links returns the repos linked with one.
func (ix *Index) Links(repoID string) []string { return ix.known(repoID).links }

// Prefixes returns what people say stands before routes between a repo and others.
func (ix *Index) Prefixes(repoID string) map[string][]string { return ix.known(repoID).prefixes }

// Uses returns what live code of a file is known to use.
func (ix *Index) Uses(repoID, path string) []Use {
	r := ix.known(repoID)
	at, ok := r.useAt[path]
	if !ok {
		return nil
	}
	return r.uses[at].uses
}

// Suppression returns what keeps a finding from being raised, if anything.
func (ix *Index) Suppression(fingerprint string) (Suppression, bool) {
	s, ok := ix.suppressed[fingerprint]
	return s, ok
}

// Size returns how many workers and changes the index holds.
func (ix *Index) Size() (workers, changes int) {
	return len(ix.workers), len(ix.changes) - len(ix.freeChange)
}
