package engine

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
)

// Some breaks only a compiler sees. Whether two pieces of work are worth one's
// look, the facts tell: one changed definitions that the other newly uses, or
// both changed files of one package.

// maxRelated is how many are named at a time: a machine checks one after the
// other.
const maxRelated = 5

// A Related is somebody's working copy whose work goes together with a worker's.
type Related struct {
	Worker *Worker
	Copy   string
}

// NearWork is RelatedWork with the worker's own files that each is related to,
// in the order of their names.
func NearWork(ix *Index, workerID string) (related []Related, near map[Related][]string) {
	near = map[Related][]string{}
	related = relatedWork(ix, workerID, func(r Related, c *Change) {
		if !slices.Contains(near[r], c.Facts.Path) {
			near[r] = append(near[r], c.Facts.Path)
		}
	})
	for _, paths := range near {
		slices.Sort(paths)
	}
	return related, near
}

// RelatedWork returns the working copies whose merge with a worker's is worth
// checking, as far as the policy of the repo lets them be, by copy.
func RelatedWork(ix *Index, workerID string) []Related {
	return relatedWork(ix, workerID, func(Related, *Change) {})
}

func relatedWork(ix *Index, workerID string, by func(Related, *Change)) []Related {
	w := ix.Worker(workerID)
	if w == nil {
		return nil
	}
	r := ix.known(w.Repo.ID)
	if r.rules.MergeCheck == policy.MergeCheckOff {
		return nil
	}
	found, mine := map[Related]bool{}, map[string]bool{}
	for _, c := range ix.Changes(workerID) {
		if !r.bears(c) {
			continue
		}
		mine[c.Copy] = true
		r.relatives(ix, c, func(theirs *Change) {
			other := ix.Worker(ix.ownerID(theirs))
			if meets(w, other) && other.Outside == nil && r.bears(theirs) && (r.rules.MergeCheck != policy.MergeCheckOwn ||
				other.User.ID == w.User.ID || r.rules.SharePatches == policy.SharePatchesTeam) {
				found[Related{other, theirs.Copy}] = true
				by(Related{other, theirs.Copy}, c)
			}
		})
	}
	out := slices.SortedFunc(maps.Keys(found), func(a, b Related) int {
		return cmp.Or(strings.Compare(a.Copy, b.Copy), strings.Compare(a.Worker.ID, b.Worker.ID))
	})
	out = slices.DeleteFunc(out, func(o Related) bool { return mine[o.Copy] })
	return out[:min(len(out), maxRelated)]
}

// SharesPatches reports whether clients in a repo may hand each other work that
// is not pushed.
func SharesPatches(ix *Index, repoID string) bool {
	rules := ix.known(repoID).rules
	return rules.SharePatches == policy.SharePatchesTeam && rules.MergeCheck != policy.MergeCheckOff
}

// InCopy returns the worker of a user's whose changes are in a working copy, or
// nil.
func InCopy(ix *Index, repoID, copy, userID string) *Worker {
	var out *Worker
	for key, at := range ix.known(repoID).changes {
		if key.copy != copy {
			continue
		}
		w := ix.Worker(ix.ownerID(ix.changes[at].c))
		if w != nil && w.User.ID == userID && (out == nil || w.ID < out.ID) {
			out = w
		}
	}
	return out
}

// bears reports whether a change can have to do with those of others.
func (r *repo) bears(c *Change) bool {
	return coord.NameFamily(c.Facts.Language) != "" && !r.rules.Ignored(c.Facts.Path)
}

// relatives visits the changes that have to do with one: in its packages, of
// what it newly uses, and with uses of what it changed.
func (r *repo) relatives(ix *Index, c *Change, visit func(*Change)) {
	for _, place := range placesOf(&c.Facts) {
		for at := range r.places[place] {
			visit(ix.changes[at].c)
		}
	}
	for _, key := range noticed(&c.Facts) {
		r.atKey(key, func(e *entry) {
			if e.Kind == referenceEntry {
				visit(ix.changes[e.Owner].c)
			}
		})
	}
	for _, ref := range c.Facts.References {
		r.atKey(ref.Key, func(e *entry) {
			if e.Kind != symbolEntry {
				return
			}
			if theirs := ix.changes[e.Owner].c; noticeable(&theirs.Facts.Symbols[e.Sub]) {
				visit(theirs)
			}
		})
	}
}

// noticed returns the definitions of a change whose users may notice, by key.
func noticed(f *coord.FileFacts) (keys []string) {
	former := formerKeys(f)
	for i := range f.Symbols {
		if s := &f.Symbols[i]; noticeable(s) {
			keys = append(keys, s.Key, former[i], soleKey(f, s))
		}
	}
	return slices.DeleteFunc(keys, func(key string) bool { return key == "" })
}

func noticeable(s *coord.SymbolFacts) bool {
	return s.Change == coord.Removed || s.Change == coord.Signature
}

// placesOf returns the packages of a change, by family of languages.
func placesOf(f *coord.FileFacts) (out []string) {
	family := coord.NameFamily(f.Language)
	if family == "" {
		return nil
	}
	for _, p := range basePaths(f) {
		out = append(out, family+" "+path.Dir(p))
	}
	return out
}

func (r *repo) addPlaces(c *Change, at uint32) {
	for _, place := range placesOf(&c.Facts) {
		if r.places == nil {
			r.places = map[string]map[uint32]bool{}
		}
		if r.places[place] == nil {
			r.places[place] = map[uint32]bool{}
		}
		r.places[place][at] = true
	}
}

func (r *repo) removePlaces(c *Change, at uint32) {
	for _, place := range placesOf(&c.Facts) {
		if delete(r.places[place], at); len(r.places[place]) == 0 {
			delete(r.places, place)
		}
	}
}
