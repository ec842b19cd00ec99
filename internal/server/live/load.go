package live

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/engine/alike"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/server/store"
)

// load builds an org's index from its records, and returns when the newest event
// was that it knows. What refuses edits comes first, and is passed to claimed:
// the whole of it may take longer than an agent waits.
func load(ctx context.Context, tx *store.Tx, org string, claimed func(*engine.Index) error) (ix *engine.Index, newest coord.Time,
	err error) {
	ix = engine.New()
	if err := tx.Foresee(ctx, func() { foreseeLoad(ctx, tx, org) }); err != nil {
		return nil, 0, err
	}
	for _, part := range []func(context.Context, *store.Tx, string, *engine.Index) error{
		loadRules, loadWorkers, loadSuppressions,
		func(context.Context, *store.Tx, string, *engine.Index) error { return claimed(ix.Claimed()) },
		loadLinks, loadUses, loadChanges,
	} {
		if err := part(ctx, tx, org, ix); err != nil {
			return nil, 0, err
		}
	}
	if newest, err = tx.NewestEventAt(ctx, org); err == nil {
		err = putMaps(ctx, tx, org, "", pastOf(newest), ix)
	}
	if err == nil {
		err = putMerged(ctx, tx, org, store.MergedFilter{Since: pastOf(newest)}, ix)
	}
	return ix, newest, err
}

// loadRules fills in the policies and what feedback has demoted.
func loadRules(ctx context.Context, tx *store.Tx, org string, ix *engine.Index) error {
	rules, err := tx.Policies(ctx, org)
	if err != nil {
		return err
	}
	repos, err := tx.Repos(ctx, org)
	if err != nil {
		return err
	}
	tallies, err := tx.Tallies(ctx, org, "")
	if err != nil {
		return err
	}
	for _, r := range repos {
		p := policy.Merge(rules[""], rules[r.ID])
		ix.SetPolicy(r.ID, p)
		ix.SetDemoted(r.ID, Demoted(p, tallies, r.ID))
	}
	return nil
}

// Demoted returns the kinds that feedback has lowered in a repo.
func Demoted(p *policy.Effective, tallies []store.Tally, repo string) []coord.ConflictKind {
	var out []coord.ConflictKind
	for _, t := range tallies {
		if t.RepoID == repo && p.Demotes(t.Kind, t.Verdicts()) {
			out = append(out, t.Kind)
		}
	}
	return out
}

func loadLinks(ctx context.Context, tx *store.Tx, org string, ix *engine.Index) error {
	links, prefixes, err := Links(ctx, tx, org)
	for repo, linked := range links {
		ix.SetLinks(repo, linked)
		ix.SetPrefixes(repo, prefixes[repo])
	}
	return err
}

// Links returns, for each repo of an org, the repos it shares a project with,
// and what people say stands before routes between the two.
func Links(ctx context.Context, tx *store.Tx, org string) (links map[string][]string, prefixes map[string]map[string][]string, err error) {
	projects, err := tx.Projects(ctx, org)
	if err != nil {
		return nil, nil, err
	}
	repos, err := tx.Repos(ctx, org)
	links, prefixes = map[string][]string{}, map[string]map[string][]string{}
	for _, r := range repos {
		links[r.ID] = nil
	}
	for _, p := range projects {
		for _, a := range p.Repos {
			for _, b := range p.Repos {
				if a.ID != b.ID && !slices.Contains(links[a.ID], b.ID) {
					links[a.ID] = append(links[a.ID], b.ID)
				}
			}
		}
		for _, x := range p.Prefixes {
			addPrefix(prefixes, x.Repo.ID, x.Other.ID, x.Prefix)
			addPrefix(prefixes, x.Other.ID, x.Repo.ID, x.Prefix)
		}
	}
	return links, prefixes, err
}

func addPrefix(to map[string]map[string][]string, a, b, prefix string) {
	if to[a] == nil {
		to[a] = map[string][]string{}
	}
	if !slices.Contains(to[a][b], prefix) {
		to[a][b] = append(to[a][b], prefix)
		slices.Sort(to[a][b])
	}
}

func loadUses(ctx context.Context, tx *store.Tx, org string, ix *engine.Index) error {
	repos, err := tx.Repos(ctx, org)
	if err != nil {
		return err
	}
	for _, r := range repos {
		uses, err := UsesOf(ctx, tx, org, r.ID, "")
		if err != nil {
			return err
		}
		for path, list := range uses {
			ix.SetUses(coord.RepoName{ID: r.ID, FullName: r.FullName}, path, list)
		}
		paths, err := PathsOf(ctx, tx, org, r.ID, "")
		if err != nil {
			return err
		}
		for path, p := range paths {
			ix.SetPaths(coord.RepoName{ID: r.ID, FullName: r.FullName}, path, p)
		}
	}
	return nil
}

// UsesOf returns what live code of a repo uses, by path; of one file if path
// is not empty.
func UsesOf(ctx context.Context, tx *store.Tx, org, repo, path string) (map[string][]engine.Use, error) {
	rows, err := tx.Contracts(ctx, org, store.ContractFilter{Repos: []string{repo}, Path: path, Role: coord.Uses})
	out := map[string][]engine.Use{}
	for _, c := range rows {
		u := engine.Use{Key: c.Key, Line: c.Line, SignatureHash: c.SignatureHash, Fields: c.Fields}
		if c.ChangedBy != nil {
			u.By = *c.ChangedBy
		}
		out[c.Path] = append(out[c.Path], u)
	}
	return out, err
}

// PathsOf returns what is known of the routes in a repo's code, by path; in one
// file if path is not empty.
func PathsOf(ctx context.Context, tx *store.Tx, org, repo, path string) (map[string]engine.Paths, error) {
	out := map[string]engine.Paths{}
	texts, err := tx.Texts(ctx, repo, path)
	if err != nil {
		return nil, err
	}
	for _, f := range texts {
		out[f.Path] = engine.Paths{Texts: engine.TextsOf(f.Path, f.Texts), Names: f.Names}
	}
	routes, err := tx.Contracts(ctx, org, store.ContractFilter{Repos: []string{repo}, Path: path, Role: coord.Provides, HTTP: true})
	for _, c := range routes {
		p := out[c.Path]
		p.Routes = append(p.Routes, c.Key)
		out[c.Path] = p
	}
	return out, err
}

func loadWorkers(ctx context.Context, tx *store.Tx, org string, ix *engine.Index) error {
	intents, err := tx.Intents(ctx, org, store.IntentFilter{Statuses: coord.LiveIntentStatuses()})
	if err != nil {
		return err
	}
	sessions, err := tx.Sessions(ctx, org, store.SessionFilter{Unended: true})
	if err != nil {
		return err
	}
	byIntent := map[string][]store.SessionRow{}
	for _, s := range sessions {
		if s.IntentID != nil {
			byIntent[*s.IntentID] = append(byIntent[*s.IntentID], s)
		} else {
			ix.PutWorker(SessionWorker(s))
		}
	}
	for _, i := range intents {
		ix.PutWorker(IntentWorker(i, byIntent[i.ID]))
	}
	branches, err := tx.Branches(ctx, org, store.BranchFilter{Looked: true})
	for _, b := range branches {
		ix.PutWorker(BranchWorker(b))
	}
	return err
}

// BranchWorker returns work of people who do not use svc as the engine sees it.
func BranchWorker(b store.Branch) *engine.Worker {
	w := &engine.Worker{ID: b.ID, Repo: b.Repo, User: coord.User{Name: b.Author}, Since: b.Since, Branch: b.Name, Outside: b.Outside()}
	if b.User != nil {
		w.User = *b.User
	}
	return w
}

func loadChanges(ctx context.Context, tx *store.Tx, org string, ix *engine.Index) error {
	return putChanges(ctx, tx, org, "", "", ix)
}

func putChanges(ctx context.Context, tx *store.Tx, org, repo, copy string, ix *engine.Index) error {
	rows, err := tx.Changes(ctx, org, repo, copy)
	for _, c := range rows {
		ix.PutChange(ChangeOf(c))
	}
	return err
}

func putMaps(ctx context.Context, tx *store.Tx, org, repo string, past coord.Time, ix *engine.Index) error {
	rows, err := tx.LineMaps(ctx, org, repo, past)
	for _, m := range rows {
		ix.PutLineMap(m.RepoID, m.Map)
	}
	return err
}

func putMerged(ctx context.Context, tx *store.Tx, org string, want store.MergedFilter, ix *engine.Index) error {
	rows, err := tx.Merged(ctx, org, want)
	if err != nil {
		return err
	}
	by := map[string]*engine.Worker{}
	for _, m := range rows {
		var who *engine.Worker
		if m.IntentID != nil {
			if who = by[*m.IntentID]; who == nil {
				i, err := tx.IntentByID(ctx, org, *m.IntentID)
				if err != nil {
					return err
				}
				who = IntentWorker(i, nil)
				by[*m.IntentID] = who
			}
		}
		ix.PutMerged(&engine.Merged{ID: m.MergeID, RepoID: m.RepoID, Facts: m.Facts, By: who, At: m.At})
	}
	return nil
}

func loadSuppressions(ctx context.Context, tx *store.Tx, org string, ix *engine.Index) error {
	rows, err := tx.ClosedConflicts(ctx, org, "")
	for _, c := range rows { // oldest first: the latest word counts
		if s, ok := SuppressionOf(c); ok {
			ix.Suppress(s)
		}
	}
	return err
}

// SuppressionOf returns what a conflict keeps from being raised again, if it
// does: one that was overridden, agreed on, called false, or whose sides came
// into one hand.
func SuppressionOf(c store.Lasting) (engine.Suppression, bool) {
	s := engine.Suppression{Fingerprint: c.Fingerprint, Keys: c.Keys}
	if c.Resolution != nil {
		if *c.Resolution == coord.ResolvedWithdrawn {
			return engine.Suppression{Fingerprint: c.Fingerprint, Withdrawn: true}, true
		}
		s.Forever = *c.Resolution == coord.ResolvedFalsePositive
		return s, *c.Resolution != coord.ResolvedCleared
	}
	return s, c.Status == coord.ConflictOverridden
}

// IntentWorker returns an intent with its sessions as the engine sees it.
func IntentWorker(i store.IntentRow, sessions []store.SessionRow) *engine.Worker {
	w := &engine.Worker{ID: i.ID, Repo: i.Repo, User: i.Owner, Since: i.CreatedAt,
		Intent: &engine.Intent{Number: i.Number, Status: i.Status, Title: i.Title, DependsOn: i.DependsOn, ExternalRef: i.ExternalRef,
			Task: alike.Of(i.Title, said(i.Summary)+" "+said(i.PlanMD))},
		Claims: ClaimsOf(i)}
	if i.Branch != nil {
		w.Branch = *i.Branch
	}
	if i.SessionID != nil {
		w.Session = *i.SessionID
	}
	for _, l := range i.Leases {
		if l.Resource == nil {
			w.Claims = append(w.Claims, coord.Claim{Kind: coord.ClaimContract, Selector: l.Asked, Mode: coord.Wanted, Source: coord.Declared})
		}
	}
	for _, p := range i.Wanted {
		w.Claims = append(w.Claims, coord.Claim{Kind: coord.ClaimPath, Selector: p, Mode: coord.Wanted, Source: coord.Observed})
	}
	if i.FromID != nil && *i.FromID != i.Owner.ID {
		w.From.ID = *i.FromID
	}
	if len(sessions) == 0 && i.SessionID != nil && i.Left != nil {
		w.Gone = *i.Left
	}
	for _, s := range sessions {
		addSession(w, s)
	}
	return w
}

func said(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// SessionWorker returns a session without an intent as the engine sees it.
func SessionWorker(s store.SessionRow) *engine.Worker {
	w := &engine.Worker{ID: s.ID, Repo: s.Repo, User: s.User, Since: s.StartedAt, Session: s.ID}
	addSession(w, s)
	return w
}

func addSession(w *engine.Worker, s store.SessionRow) {
	w.Lineages = append(w.Lineages, s.LineageID)
	if w.Tool == "" {
		w.Tool = s.Tool
	}
	if w.Session == "" {
		w.Session = s.ID
	}
	if w.Branch == "" && s.Branch != nil {
		w.Branch = *s.Branch
	}
}

// ClaimsOf returns everything an intent claims: what was declared, and what
// its sessions really edited beyond that.
func ClaimsOf(i store.IntentRow) []coord.Claim {
	claims := slices.DeleteFunc(engine.ClaimsOf(i.Scope, i.EffectiveMode), func(c coord.Claim) bool {
		_, resource := scope.ParseResource(c.Selector)
		return resource && c.Kind == coord.ClaimContract
	})
	for _, l := range i.Leases { // what it only waits for it does not claim
		if l.Resource != nil {
			claims = append(claims, coord.Claim{Kind: coord.ClaimContract, Selector: *l.Resource, Mode: coord.Exclusive, Source: coord.Declared})
		}
	}
	for _, p := range i.Observed {
		claims = append(claims, coord.Claim{Kind: coord.ClaimPath, Selector: p, Mode: coord.Shared, Source: coord.Observed})
	}
	return claims
}

// ChangeOf returns a recorded change as the engine sees it.
func ChangeOf(c store.ChangeRow) *engine.Change {
	out := &engine.Change{RepoID: c.RepoID, Copy: c.Copy, Facts: c.Facts}
	for _, t := range c.Touched {
		out.By = append(out.By, engine.Touch{Worker: t.Worker, Session: t.Session, At: t.At})
	}
	return out
}
