package engine

import (
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

// RelatedWork returns the working copies whose merge with a worker's is worth
// checking, as far as the policy of the repo lets them be, by copy.
func RelatedWork(ix *Index, workerID string) []Related {
	w := ix.Worker(workerID)
	if w == nil {
		return nil
	}
	r := ix.known(w.Repo.ID)
	if r.rules.MergeCheck == policy.MergeCheckOff {
		return nil
	}
	var others []*Worker // first: most often there are none, and one's own changes may be many
	for id := range ix.byWorker {
		other := ix.Worker(id)
		if other == nil || other.Repo.ID != w.Repo.ID || !meets(w, other) ||
			r.rules.MergeCheck == policy.MergeCheckOwn && other.User.ID != w.User.ID {
			continue
		}
		others = append(others, other)
	}
	if len(others) == 0 {
		return nil
	}
	mine := bearing{}
	for _, c := range ix.Changes(workerID) {
		mine.add(r, c)
	}
	if len(mine.places) == 0 {
		return nil
	}
	var out []Related
	for _, other := range others {
		byCopy := map[string]*bearing{}
		for _, c := range ix.Changes(other.ID) {
			if byCopy[c.Copy] == nil {
				byCopy[c.Copy] = &bearing{}
			}
			byCopy[c.Copy].add(r, c)
		}
		for copy, theirs := range byCopy {
			if !mine.copies[copy] && mine.on(theirs) {
				out = append(out, Related{other, copy})
			}
		}
	}
	slices.SortFunc(out, func(a, b Related) int {
		return strings.Compare(a.Copy+"\x00"+a.Worker.ID, b.Copy+"\x00"+b.Worker.ID)
	})
	return out[:min(len(out), maxRelated)]
}

// A bearing is what changes have to do with those of others.
type bearing struct {
	copies  map[string]bool
	places  map[string]bool // packages, by family of languages
	changed map[string]bool // definitions whose users may notice, by key
	uses    map[string]bool // what is newly used, by key
}

func (b *bearing) add(r *repo, c *Change) {
	family := coord.NameFamily(c.Facts.Language)
	if c.RepoID != r.id || family == "" || r.rules.Ignored(c.Facts.Path) {
		return
	}
	if b.copies == nil {
		*b = bearing{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	}
	b.copies[c.Copy] = true
	for _, p := range basePaths(&c.Facts) {
		b.places[family+" "+path.Dir(p)] = true
	}
	for i := range c.Facts.Symbols {
		s := &c.Facts.Symbols[i]
		if s.Change != coord.Removed && s.Change != coord.Signature {
			continue
		}
		b.changed[s.Key] = true
		if key := soleKey(&c.Facts, s); key != "" {
			b.changed[key] = true
		}
	}
	for _, ref := range c.Facts.References {
		b.uses[ref.Key] = true
	}
}

// on reports whether one has to do with the other.
func (b *bearing) on(other *bearing) bool {
	return share(b.places, other.places) || share(b.changed, other.uses) || share(b.uses, other.changed)
}

func share(a, b map[string]bool) bool {
	if len(b) < len(a) {
		a, b = b, a
	}
	for key := range a {
		if b[key] {
			return true
		}
	}
	return false
}
