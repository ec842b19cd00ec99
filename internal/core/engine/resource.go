package engine

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A resource is what is no file and one worker at a time has. Its claim is
// exclusive for whoever has it, and wanted by those who asked later.

const migrationPrefix = scope.ResourcePrefix + scope.Migrations + ":"

func isResource(key string) bool { return strings.HasPrefix(key, scope.ResourcePrefix) }

// ResourceHolder returns who else has a resource, or nil.
func ResourceHolder(ix *Index, w *Worker, key string) (holder *Worker) {
	g := gatherer{ix: ix, self: w, repo: ix.known(w.Repo.ID)}
	g.contractKey(key, func(r *repo, e *entry) {
		if theirs, other := g.theirs(r, e); other != nil && exclusive(theirs) && (holder == nil || earlier(other, holder)) {
			holder = other
		}
	})
	return holder
}

// NumbersHeld returns who has which numbers of a kind of resource, in all
// repositories: several of them may run on one machine.
func NumbersHeld(ix *Index, kind string) map[int64]*Worker {
	out := map[int64]*Worker{}
	ix.resources(kind, func(w *Worker, c *coord.Claim, r scope.Resource) {
		if n, ok := r.Number(); ok && c.Mode == coord.Exclusive {
			out[n] = w
		}
	})
	return out
}

// Wanting returns who waits for a resource of a kind.
func Wanting(ix *Index, kind string) (ids []string) {
	ix.resources(kind, func(w *Worker, c *coord.Claim, _ scope.Resource) {
		if c.Mode == coord.Wanted && !slices.Contains(ids, w.ID) {
			ids = append(ids, w.ID)
		}
	})
	slices.Sort(ids)
	return ids
}

// resources visits the claims on resources of a kind. It looks at all that is
// claimed, for questions that are seldom asked.
func (ix *Index) resources(kind string, visit func(*Worker, *coord.Claim, scope.Resource)) {
	for _, s := range ix.slots {
		if s.w == nil {
			continue
		}
		for i := range s.w.Claims {
			if r, ok := scope.ParseResource(s.w.Claims[i].Selector); ok && r.Kind == kind {
				visit(s.w, &s.w.Claims[i], r)
			}
		}
	}
}

// LastMigration returns the highest number of a folder of migrations that live
// work has taken, by a claim or a file in any working copy, and the file's way
// to write it.
func LastMigration(ix *Index, repoID, folder string) (last int64, digits string) {
	take := func(r scope.Resource, text string) {
		if n, ok := r.Number(); ok && path.Dir(r.Name) == folder && n >= last {
			last, digits = n, cmp.Or(text, digits)
		}
	}
	ix.resources(scope.Migrations, func(w *Worker, _ *coord.Claim, r scope.Resource) {
		if w.Repo.ID == repoID {
			take(r, "")
		}
	})
	for _, at := range ix.known(repoID).changes {
		if f := &ix.changes[at].c.Facts; f.Status != coord.FileDeleted {
			if r, text, ok := scope.MigrationNumber(f.Path); ok {
				take(r, text)
			}
		}
	}
	return last, digits
}

// numberKey returns the migration's number that a new file takes, or "".
func numberKey(f *coord.FileFacts) string {
	if f.Status != coord.FileAdded && f.Status != coord.FileRenamed {
		return ""
	}
	r, _, ok := scope.MigrationNumber(f.Path)
	if !ok {
		return ""
	}
	if f.OldPath != nil {
		if was, _, ok := scope.MigrationNumber(*f.OldPath); ok && was == r {
			return "" // it keeps the number that it had
		}
	}
	return r.String()
}

// numberFolder returns what to ask for to get the next number of a folder.
func (v *voice) numberFolder() string {
	for _, e := range v.f.Evidence {
		if e.Contract != nil {
			return code(path.Dir(*e.Contract))
		}
	}
	return "`res:migration:<folder>`"
}

// resourceReason tells what an exclusive claim on a resource is met by.
func resourceReason(h *hit) reason {
	for _, it := range []item{h.ours, h.theirs} {
		if it.kind == numberEntry {
			return numberHeld
		}
		if it.claim == nil || !isResource(it.claim.Selector) {
			return claimsMeet
		}
	}
	return resourceHeld
}

// takenNumber finds others' claims on and files with the number that a new
// migration takes.
func (g *gatherer) takenNumber(c *Change) {
	key := numberKey(&c.Facts)
	if key == "" {
		return
	}
	ours := item{kind: numberEntry, change: c}
	g.contractKey(key, func(r *repo, e *entry) {
		theirs, w := g.theirs(r, e)
		switch {
		case w == nil:
		case e.Kind == claimEntry && exclusive(theirs):
			g.add(contractHit, ours, theirs, w)
		case e.Kind == numberEntry && theirs.change.Copy != c.Copy && theirs.change.Facts.Path != c.Facts.Path:
			g.add(contractHit, ours, theirs, w)
		}
	})
}

// number returns a new migration as evidence.
func (p *pairing) number(it item, w *Worker) *evidence {
	key := it.key()
	return &evidence{key: "number " + it.file(), at: touchedAt(it.change, w.ID),
		item: coord.Evidence{Via: coord.ViaChange, Path: &it.change.Facts.Path, Contract: &key, Detail: str("added")}}
}

// file names the file of a side's evidence.
func (v *voice) file(role coord.PartyRole) string {
	if e := v.evidence(role); e != nil && e.Path != nil {
		return place(*e.Path)
	}
	return place(v.f.Place)
}
