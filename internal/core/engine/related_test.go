package engine_test

import (
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// What the index finds related is what comparing every two changes finds.
func TestRelatedWorkAgreesWithFullScan(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	found := 0
	for range rounds(3000) {
		ix := engine.New()
		ix.SetPolicy("r1", policy.Merge(policy.Rules{MergeCheck: opt(pick(r, []string{policy.MergeCheckOwn, policy.MergeCheckPushed}))}))
		rules, _ := ix.Rules("r1")
		for range 2 + r.IntN(5) {
			w := randomWorker(r)
			w.Repo, w.Intent = repoName("r1"), nil
			ix.PutWorker(w)
		}
		for range 3 + r.IntN(12) {
			c := randomChange(r)
			c.RepoID, c.Facts.Language = "r1", pick(r, []string{"go", "go", "python", ""})
			if ix.PutChange(c); r.IntN(6) == 0 {
				ix.RemoveChange("r1", c.Copy, c.Facts.Path)
			}
		}
		for _, id := range ix.Workers("r1") {
			var got []string
			for _, o := range engine.RelatedWork(ix, id) {
				got = append(got, o.Copy+" "+o.Worker.ID)
			}
			want := relatedByScan(ix, rules, id)
			if diff := cmp.Diff(want[:min(len(want), 5)], got); diff != "" {
				t.Fatalf("%s: scan (-), index (+)\n%s", id, diff)
			}
			found += len(got)
		}
	}
	if found == 0 {
		t.Error("nothing was related: the test tells nothing")
	}
}

func relatedByScan(ix *engine.Index, rules *policy.Effective, id string) (out []string) {
	w := ix.Worker(id)
	for _, otherID := range ix.Workers("r1") {
		other := ix.Worker(otherID)
		kin := slices.ContainsFunc(w.Lineages, func(l string) bool { return slices.Contains(other.Lineages, l) })
		if otherID == id || kin || rules.MergeCheck == policy.MergeCheckOwn && other.User.ID != w.User.ID {
			continue
		}
		for _, theirs := range ix.Changes(otherID) {
			mine := slices.ContainsFunc(ix.Changes(id), func(c *engine.Change) bool { return c.Copy == theirs.Copy && c.Facts.Language != "" })
			near := slices.ContainsFunc(ix.Changes(id), func(c *engine.Change) bool { return together(&c.Facts, &theirs.Facts) })
			if name := theirs.Copy + " " + otherID; near && !mine && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func together(a, b *coord.FileFacts) bool {
	if a.Language == "" || b.Language == "" {
		return false
	}
	folders := func(f *coord.FileFacts) []string {
		out := []string{path.Dir(f.Path)}
		if f.OldPath != nil {
			out = append(out, path.Dir(*f.OldPath))
		}
		return out
	}
	uses := func(a, b *coord.FileFacts) bool {
		return slices.ContainsFunc(a.Symbols, func(s coord.SymbolFacts) bool {
			return (s.Change == coord.Removed || s.Change == coord.Signature) &&
				slices.ContainsFunc(b.References, func(r coord.Reference) bool { return names(a, s.Key, r.Key) })
		})
	}
	here := a.Language == b.Language && slices.ContainsFunc(folders(a), func(p string) bool { return slices.Contains(folders(b), p) })
	return here || uses(a, b) || uses(b, a)
}

// names reports whether a key is a definition's of a file, as it is or as it
// was before the file was renamed.
func names(f *coord.FileFacts, definition, key string) bool {
	d, err := scope.ParseSymbol(definition)
	k, err2 := scope.ParseSymbol(key)
	if err != nil || err2 != nil || d.Name != k.Name {
		return false
	}
	return d.Path == k.Path || f.OldPath != nil && d.Path == f.Path && k.Path == *f.OldPath
}
