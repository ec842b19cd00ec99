package live

import (
	"context"
	"maps"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/server/store"
)

// A Draft is an index on which changes can be tried. It remembers whose
// findings they may have altered. The index itself is not embedded: each of its
// own ways to change it would last beyond the transaction, for everybody.
type Draft struct {
	reads
	ix        *engine.Index
	undo      []func()
	tries     int // before it started over
	disturbed map[string]bool
	replaced  map[string]*engine.Worker // as they were before the draft first changed them, nil for those that are new
}

// reads are the questions to an index that a Draft answers.
type reads interface {
	Worker(id string) *engine.Worker
	Workers(repo string) []string
	Change(repo, copy, path string) *engine.Change
	Changes(worker string) []*engine.Change
	Links(repo string) []string
	Prefixes(repo string) map[string][]string
	Rules(repo string) (*policy.Effective, []coord.ConflictKind)
}

// View returns the index for the engine to look at, as it is tried. Whoever
// changes it there changes it for everybody.
func (d *Draft) View() *engine.Index { return d.ix }

func (d *Draft) rollback() {
	for i := len(d.undo) - 1; i >= 0; i-- {
		d.undo[i]()
	}
}

// StartOver makes the draft an index of its own, read anew from the records as
// tx sees them, and everybody at work in a repo disturbed: for what moves
// records from one repo to another. It comes before anything else is tried.
func (d *Draft) StartOver(ctx context.Context, tx *store.Tx, org, repo string) error {
	ix, _, err := load(ctx, tx, org, func(*engine.Index) error { return nil })
	if err != nil {
		return err
	}
	d.rollback()
	d.tries += len(d.undo) + 1
	d.undo, d.reads, d.ix = nil, ix, ix
	for _, id := range ix.Workers(repo) {
		d.disturb(id)
	}
	return nil
}

// Disturbed returns the workers whose findings may have changed and who have
// not been Settled since, sorted.
func (d *Draft) Disturbed() []string { return slices.Sorted(maps.Keys(d.disturbed)) }

// Tries is how much was tried so far: while it is the same, so is the index.
func (d *Draft) Tries() int { return d.tries + len(d.undo) }

// Replaced returns the workers that the draft changed or took out, as they were,
// by id.
func (d *Draft) Replaced() []*engine.Worker {
	out := make([]*engine.Worker, 0, len(d.replaced))
	for _, id := range slices.Sorted(maps.Keys(d.replaced)) {
		if old := d.replaced[id]; old != nil {
			out = append(out, old)
		}
	}
	return out
}

// Settled notes that a worker's findings are known.
func (d *Draft) Settled(id string) { delete(d.disturbed, id) }

// disturb notes a worker and everybody who touched a file of theirs: to whom
// a file counts depends on who of them is live.
func (d *Draft) disturb(id string) {
	d.disturbed[id] = true
	for _, out := range d.ix.Pushed(d.Worker(id)) {
		d.disturbed[out] = true
	}
	for _, c := range d.Changes(id) {
		d.disturbTouchers(c)
	}
}

func (d *Draft) disturbTouchers(c *engine.Change) {
	if c == nil {
		return
	}
	for _, t := range c.By {
		d.disturbed[t.Worker] = true
	}
}

// PutWorker adds or replaces a worker.
func (d *Draft) PutWorker(w *engine.Worker) {
	d.keepWorker(w.ID)
	d.ix.PutWorker(w)
	d.disturb(w.ID)
}

// RemoveWorker takes a worker out.
func (d *Draft) RemoveWorker(id string) {
	if d.Worker(id) == nil {
		return
	}
	d.disturb(id)
	d.keepWorker(id)
	d.ix.RemoveWorker(id)
}

func (d *Draft) keepWorker(id string) {
	old := d.Worker(id)
	if _, known := d.replaced[id]; !known {
		d.replaced[id] = old
	}
	d.undo = append(d.undo, func() {
		if old != nil {
			d.ix.PutWorker(old)
		} else {
			d.ix.RemoveWorker(id)
		}
	})
}

// PutChange records a file's difference; an unchanged file removes it.
func (d *Draft) PutChange(c *engine.Change) {
	old := d.Change(c.RepoID, c.Copy, c.Facts.Path)
	d.undo = append(d.undo, func() {
		if old != nil {
			d.ix.PutChange(old)
		} else {
			d.ix.RemoveChange(c.RepoID, c.Copy, c.Facts.Path)
		}
	})
	for _, t := range c.By {
		if len(d.Changes(t.Worker)) == 0 { // its first
			d.disturb(t.Worker)
		}
	}
	d.ix.PutChange(c)
	d.disturbTouchers(old)
	d.disturbTouchers(c)
}

// PutBranch adds or replaces work of people who do not use svc: no files take
// it out.
func (d *Draft) PutBranch(b store.Branch, files []coord.FileFacts) {
	d.disturb(b.ID)
	for _, c := range d.Changes(b.ID) {
		gone := *c
		gone.Facts.Status = coord.FileUnchanged
		d.PutChange(&gone)
	}
	if len(files) == 0 {
		d.RemoveWorker(b.ID)
		return
	}
	d.PutWorker(BranchWorker(b))
	for _, f := range files {
		d.PutChange(&engine.Change{RepoID: b.Repo.ID, Copy: b.ID, Facts: f, By: []engine.Touch{{Worker: b.ID, At: b.PushedAt}}})
	}
}

// PutLineMap records how two versions of a file go together.
func (d *Draft) PutLineMap(repo string, m coord.LineMap) {
	if d.ix.HasLineMap(repo, m.From, m.To) {
		return
	}
	d.undo = append(d.undo, func() { d.ix.RemoveLineMap(repo, m.From, m.To) })
	d.ix.PutLineMap(repo, m)
}

// SetUses tells what live code of a file uses.
func (d *Draft) SetUses(repo coord.RepoName, path string, uses []engine.Use) {
	old := d.ix.Uses(repo.ID, path)
	d.undo = append(d.undo, func() { d.ix.SetUses(repo, path, old) })
	d.ix.SetUses(repo, path, uses)
}

// SetPaths tells what is known of the routes in a file.
func (d *Draft) SetPaths(repo coord.RepoName, path string, p engine.Paths) {
	old := d.ix.PathsOf(repo.ID, path)
	d.undo = append(d.undo, func() { d.ix.SetPaths(repo, path, old) })
	d.ix.SetPaths(repo, path, p)
}

// PutMerged adds what an intent changed and merged.
func (d *Draft) PutMerged(c *engine.Change, i store.IntentRow, at coord.Time) {
	d.ix.PutMerged(&engine.Merged{ID: i.ID, RepoID: c.RepoID, Facts: c.Facts, By: IntentWorker(i, nil), At: at})
	d.undo = append(d.undo, func() { d.ix.RemoveMerged(c.RepoID, i.ID) })
}

// SetMerged replaces the files of merged work that came by no intent.
func (d *Draft) SetMerged(repo, id string, rows []store.MergedRow) {
	old := d.ix.Merged(repo, id)
	put := func(ms []*engine.Merged) {
		d.ix.RemoveMerged(repo, id)
		for _, m := range ms {
			d.ix.PutMerged(m)
		}
	}
	fresh := make([]*engine.Merged, len(rows))
	for i, m := range rows {
		fresh[i] = &engine.Merged{ID: id, RepoID: repo, Facts: m.Facts, At: m.At}
	}
	d.undo = append(d.undo, func() { put(old) })
	put(fresh)
}

// SetRules tries other rules in a repo.
func (d *Draft) SetRules(repo string, p *policy.Effective, demoted []coord.ConflictKind) {
	oldP, oldD := d.Rules(repo)
	d.undo = append(d.undo, func() {
		d.ix.SetPolicy(repo, oldP)
		d.ix.SetDemoted(repo, oldD)
	})
	d.ix.SetPolicy(repo, p)
	d.ix.SetDemoted(repo, demoted)
}

// SetLinks tries other links between repos.
func (d *Draft) SetLinks(repo string, linked []string) {
	old := d.Links(repo)
	d.undo = append(d.undo, func() { d.ix.SetLinks(repo, old) })
	d.ix.SetLinks(repo, linked)
}

// SetPrefixes tries other prefixes of routes between repos.
func (d *Draft) SetPrefixes(repo string, byRepo map[string][]string) {
	old := d.Prefixes(repo)
	d.undo = append(d.undo, func() { d.ix.SetPrefixes(repo, old) })
	d.ix.SetPrefixes(repo, byRepo)
}

// Suppress keeps a finding from being raised.
func (d *Draft) Suppress(s engine.Suppression) {
	old, was := d.ix.Suppression(s.Fingerprint)
	d.undo = append(d.undo, func() {
		d.ix.RemoveSuppression(s.Fingerprint)
		if was {
			d.ix.Suppress(old)
		}
	})
	d.ix.Suppress(s)
}
