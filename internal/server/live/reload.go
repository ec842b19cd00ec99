package live

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/store"
)

// apply brings the index forward by events after one: each names what to read
// again, unless about has it, without what is of before past.
func (o *org) apply(ctx context.Context, tx *store.Tx, after int64, events []coord.Event, about *told, past coord.Time) (err error) {
	org, ix := o.id, o.ix
	todo := map[string]func() error{} // each thing once, however often it changed
	if about == nil && slices.ContainsFunc(events, isTold) {
		if about, err = readTold(ctx, tx, org, after); err != nil {
			return err
		}
		o.places.noteAll(about.sessions)
	}
	for _, e := range events {
		switch e.Type.Part() {
		case coord.PartIntent:
			todo["intent "+e.Subject.ID] = func() error { return about.reloadIntent(ctx, tx, org, ix, past, e.Subject.ID) }
		case coord.PartSession:
			todo["session "+e.Subject.ID] = func() error { return about.reloadSession(ctx, tx, org, ix, past, e.Subject.ID) }
		case coord.PartChanges:
			if id, ok := e.Payload["merge"].(string); ok {
				todo["merged "+e.RepoID+" "+id] = func() error { return reloadMerged(ctx, tx, org, ix, past, e.RepoID, id) }
				continue
			}
			if _, ok := e.Payload["maps"]; ok {
				todo["maps "+e.RepoID] = func() error { return putMaps(ctx, tx, org, e.RepoID, past, ix) }
				continue
			}
			copy, _ := e.Payload["copy"].(string)
			if paths := coord.PathsOf(e); len(paths) > 0 {
				for _, path := range paths {
					todo["change "+e.RepoID+" "+copy+" "+path] = func() error { return reloadChange(ctx, tx, org, ix, e.RepoID, copy, path) }
				}
				continue
			}
			todo["changes "+e.RepoID+" "+copy] = func() error {
				ix.RemoveCopy(e.RepoID, copy)
				return putChanges(ctx, tx, org, e.RepoID, copy, ix)
			}
		case coord.PartBranch:
			todo["branch "+e.Subject.ID] = func() error { return reloadBranch(ctx, tx, org, ix, e.RepoID, e.Subject.ID) }
		case coord.PartTexts: // signature texts may have been cleared
			todo["all changes"] = func() error { return loadChanges(ctx, tx, org, ix) }
		case coord.PartUses:
			todo["uses "+e.ID] = func() error { return reloadUses(ctx, tx, org, ix, e) }
		case coord.PartMembers: // who changed code last is named only as long as they are one
			if e.Type == coord.EventMemberRemoved {
				todo["all uses"] = func() error { return loadUses(ctx, tx, org, ix) }
			}
		case coord.PartSuppressions:
			fp, _ := e.Payload["fingerprint"].(string)
			todo["suppression "+fp] = func() error { return about.reloadSuppression(ix, fp) }
		case coord.PartRules, coord.PartRepos:
			todo["rules"] = func() error { return loadRules(ctx, tx, org, ix) }
			todo["repos"] = func() error { return o.readRepos(ctx, tx) }
		case coord.PartLinks:
			todo["links"] = func() error { return loadLinks(ctx, tx, org, ix) }
		}
	}
	for _, do := range todo {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func (t *told) reloadIntent(ctx context.Context, tx *store.Tx, org string, ix *engine.Index, past coord.Time, id string) error {
	i, sessions, err := t.intent(ctx, tx, org, id)
	if err != nil {
		return err
	}
	for _, s := range sessions { // bound now, so no workers of their own
		ix.RemoveWorker(s.ID)
	}
	if old := ix.Worker(id); old != nil {
		// A session that was released works for itself again.
		if err := reloadUnbound(ctx, tx, org, ix, i.Repo.ID, released(old.Lineages, sessions)); err != nil {
			return err
		}
	}
	if i.Status == coord.IntentMerged {
		if err := reloadMerged(ctx, tx, org, ix, past, i.Repo.ID, id); err != nil {
			return err
		}
	}
	if !i.Status.Live() {
		ix.RemoveWorker(id)
		return nil
	}
	ix.PutWorker(IntentWorker(i, sessions))
	return nil
}

// reloadBranch reads work of people who do not use svc again.
func reloadBranch(ctx context.Context, tx *store.Tx, org string, ix *engine.Index, repo, id string) error {
	b, err := tx.BranchByID(ctx, org, id)
	if err != nil {
		return err
	}
	ix.RemoveWorker(id)
	ix.RemoveCopy(repo, id)
	if b == nil || !b.Looked() {
		return nil
	}
	ix.PutWorker(BranchWorker(*b))
	return putChanges(ctx, tx, org, b.Repo.ID, id, ix)
}

// reloadChange reads one file of a working copy again: what a session changed
// before costs nothing.
func reloadChange(ctx context.Context, tx *store.Tx, org string, ix *engine.Index, repo, copy, path string) error {
	rows, err := tx.ChangesAt(ctx, org, repo, copy, path)
	if err != nil {
		return err
	}
	ix.RemoveChange(repo, copy, path)
	for _, c := range rows {
		ix.PutChange(ChangeOf(c))
	}
	return nil
}

// released returns the lineages of the sessions that an intent had and that are
// not among those it has. Another may have taken its place since: their number
// says nothing.
func released(had []string, has []store.SessionRow) []string {
	left := map[string]int{}
	for _, s := range has {
		left[s.LineageID]++
	}
	return slices.DeleteFunc(slices.Clone(had), func(lineage string) bool {
		left[lineage]--
		return left[lineage] >= 0
	})
}

func reloadMerged(ctx context.Context, tx *store.Tx, org string, ix *engine.Index, past coord.Time, repo, id string) error {
	ix.RemoveMerged(repo, id)
	return putMerged(ctx, tx, org, store.MergedFilter{Since: past, Repo: repo, ID: id}, ix)
}

func reloadUnbound(ctx context.Context, tx *store.Tx, org string, ix *engine.Index, repo string, lineages []string) error {
	for _, l := range slices.Compact(slices.Sorted(slices.Values(lineages))) {
		sessions, err := tx.Sessions(ctx, org, store.SessionFilter{Repo: repo, Lineage: l, Unended: true})
		if err != nil {
			return err
		}
		for _, s := range sessions {
			if s.IntentID == nil {
				ix.PutWorker(SessionWorker(s))
			}
		}
	}
	return nil
}

func (t *told) reloadSession(ctx context.Context, tx *store.Tx, org string, ix *engine.Index, past coord.Time, id string) error {
	s, err := t.session(ctx, tx, org, id)
	if err != nil {
		return err
	}
	ix.RemoveWorker(id)
	if s.IntentID != nil {
		return t.reloadIntent(ctx, tx, org, ix, past, *s.IntentID)
	}
	if s.EndedAt == nil {
		ix.PutWorker(SessionWorker(s))
	}
	return nil
}

func reloadUses(ctx context.Context, tx *store.Tx, org string, ix *engine.Index, e coord.Event) error {
	repo, err := tx.Repo(ctx, org, e.RepoID)
	if err != nil {
		return err
	}
	paths, _ := e.Payload["paths"].([]any)
	for _, p := range paths {
		path, _ := p.(string)
		uses, err := UsesOf(ctx, tx, org, repo.ID, path)
		if err != nil {
			return err
		}
		ix.SetUses(coord.RepoName{ID: repo.ID, FullName: repo.FullName}, path, uses[path])
		known, err := PathsOf(ctx, tx, org, repo.ID, path)
		if err != nil {
			return err
		}
		ix.SetPaths(coord.RepoName{ID: repo.ID, FullName: repo.FullName}, path, known[path])
	}
	return nil
}

func (t *told) reloadSuppression(ix *engine.Index, fingerprint string) error {
	ix.RemoveSuppression(fingerprint)
	for _, c := range t.closed[fingerprint] {
		if s, ok := SuppressionOf(c); ok {
			ix.Suppress(s)
		}
	}
	return nil
}
