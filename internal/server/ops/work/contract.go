package work

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// What the index cannot know is said, not hidden.
const (
	limitDynamic = "Routes, topics and keys that are put together at run time are not seen."
	limitUnseen  = "Users outside the repositories that svc has seen are not counted."
	limitEmpty   = "This repository has not been scanned yet: run svc index in it."
)

const maxRecords = 50

// LookUpContract tells who provides a contract, who uses it, and who is
// changing it right now, in the repo and those linked with it.
func (s *Service) LookUpContract(ctx context.Context, who coord.Caller, in wire.LookUpContract) (out wire.ContractPicture, err error) {
	keys, file, err := lookupKeys(in)
	if err != nil {
		return out, err
	}
	var q contractQuery
	err = s.Read(ctx, func(tx *store.Tx) error {
		p, err := s.Locate(ctx, tx, who, in.SessionID, in.Repo)
		if err != nil {
			return err
		}
		out.Repo = coord.RepoName{ID: p.Repo.ID, FullName: p.Repo.FullName}
		out.Limits = []string{limitDynamic, limitUnseen}
		if p.Repo.IndexVersion == 0 {
			out.Limits = append(out.Limits, limitEmpty)
		}
		q, err = readContracts(ctx, tx, who.OrgID, p.Repo.ID, keys, file)
		return err
	})
	if err != nil {
		return out, err
	}
	err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		q.add(ix)
		return nil
	})
	out.Contracts = sortedRecords(q.records)
	return out, err
}

// UsersOf returns who answers for the places that use a contract of a repo, and
// whose work is about to: those who have moved on do not.
func (s *Service) UsersOf(ctx context.Context, tx *store.Tx, who coord.Caller, repo, key string) (users []string, err error) {
	keys, _, err := lookupKeys(wire.LookUpContract{Key: &key})
	if err != nil {
		return nil, err
	}
	q, err := readContracts(ctx, tx, who.OrgID, repo, keys, "")
	if err != nil {
		return nil, err
	}
	err = s.Live.Within(ctx, tx, who.OrgID, func(d *live.Draft) error {
		q.add(d.View())
		return nil
	})
	for _, r := range q.records {
		for _, u := range r.Users {
			if u.Owner != nil && u.State != coord.UseMoved {
				users = append(users, u.Owner.ID)
			}
		}
		for _, f := range r.InFlight {
			if f.Role == coord.Uses && f.Change != coord.Removed && f.By != nil {
				users = append(users, f.By.ID)
			}
		}
	}
	slices.Sort(users)
	return slices.Compact(users), err
}

// A contractQuery is what is asked of contracts, and what is known of them.
type contractQuery struct {
	repo, file string
	repos      []string // it and those linked with it
	keys       []string
	records    map[string]*wire.ContractRecord
}

// readContracts reads where keys are provided and used, in a repo and those linked
// with it; for a file, its own contracts and where else those are.
func readContracts(ctx context.Context, tx *store.Tx, org, repo string, keys []string, file string) (q contractQuery, err error) {
	q = contractQuery{repo: repo, file: file, keys: keys}
	if q.repos, err = withLinked(ctx, tx, repo); err != nil {
		return q, err
	}
	rows, err := contractRows(ctx, tx, org, repo, q.repos, keys, file)
	q.records = recordsOf(rows)
	return q, err
}

// add adds who uses them and who is changing them right now.
func (q *contractQuery) add(ix *engine.Index) {
	addInFlight(ix, q.repos, q.keys, q.file, q.repo, q.records)
	addUsers(ix, q.repo, q.records)
}

// lookupKeys reads what to look up: keys, or a file.
func lookupKeys(in wire.LookUpContract) (keys []string, file string, err error) {
	read := func(path, text string) error {
		key, err := scope.ParseLookup(text)
		if err != nil {
			return problem.InvalidField(path, "%v", err)
		}
		keys = append(keys, scope.RelatedContracts(key)...)
		keys = append(keys, key)
		return nil
	}
	switch {
	case in.Key == nil && in.Symbol == nil && in.Path == nil:
		return nil, "", problem.InvalidField("key", "give at least one of key, symbol and path")
	case in.Key != nil:
		err = read("key", *in.Key)
	}
	if err == nil && in.Symbol != nil {
		err = read("symbol", *in.Symbol)
	}
	if err == nil && in.Path != nil {
		if (*in.Path)[0] == '/' {
			err = read("path", *in.Path)
		} else if slices.Contains(strings.FieldsFunc(*in.Path, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
			err = problem.InvalidField("path", "contains .., which may lead out of the repository; write it without") // as the document says
		} else if file, err = scope.CleanPath(*in.Path); err != nil {
			err = problem.InvalidField("path", "%v", err)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), file, err
}

// withLinked returns a repo and those linked with it.
func withLinked(ctx context.Context, tx *store.Tx, repo string) ([]string, error) {
	linked, err := tx.LinkedRepos(ctx, repo)
	out := []string{repo}
	for _, r := range linked {
		out = append(out, r.ID)
	}
	return out, err
}

// contractRows returns where keys are provided and used; for a file, its own
// contracts and where else those are.
func contractRows(ctx context.Context, tx *store.Tx, org, repo string, repos, keys []string, file string) ([]store.ContractRow, error) {
	if file != "" {
		own, err := tx.Contracts(ctx, org, store.ContractFilter{Repos: []string{repo}, Path: file, Limit: maxRecords})
		if err != nil {
			return nil, err
		}
		for _, c := range own {
			keys = append(keys, c.Key)
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return tx.Contracts(ctx, org, store.ContractFilter{Repos: repos, Keys: keys})
}

// recordsOf returns the contracts of rows and who provides them; addUsers adds
// who uses them.
func recordsOf(rows []store.ContractRow) map[string]*wire.ContractRecord {
	out := map[string]*wire.ContractRecord{}
	for _, c := range rows {
		r := record(out, c.Key)
		r.Criticality.Changes += c.Changes
		if c.Role == coord.Provides {
			r.Providers = append(r.Providers, wire.ContractPlace{Repo: c.Repo, Path: c.Path, Line: c.Line})
			r.Signature, r.SignatureHash = c.Signature, c.SignatureHash
			if c.ChangedBy != nil {
				r.Criticality.ChangedBy = c.ChangedBy
			}
		}
	}
	return out
}

// addUsers adds who uses contracts, as seen from where each is provided; from a
// repo where nobody is known to.
func addUsers(ix *engine.Index, repo string, records map[string]*wire.ContractRecord) {
	keys := map[string][]string{} // by the repo that provides them
	for key, r := range records {
		from := map[string]bool{}
		for _, p := range r.Providers {
			from[p.Repo.ID] = true
		}
		for _, f := range r.InFlight {
			if f.Role == coord.Provides {
				from[f.Repo.ID] = true
			}
		}
		if len(from) == 0 {
			from[repo] = true
		}
		for id := range from {
			keys[id] = append(keys[id], key)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		for key, places := range engine.UsesOf(ix, id, keys[id]) {
			for _, p := range places {
				addUser(records[key], p)
			}
		}
	}
	for _, r := range records {
		r.Criticality = criticality(*r)
	}
}

func addUser(r *wire.ContractRecord, p engine.Place) {
	if usedAt(*r, p.Repo.ID, p.Path, p.Line) {
		return // of two that provide it
	}
	u := wire.ContractUse{Repo: p.Repo, Path: p.Path, Line: p.Line, State: p.State, Probable: p.Probable, Owner: p.Owner}
	if p.By != nil {
		by := ground.PartyOf(coord.Challenger, p.By)
		u.By, u.Intent, u.Branch, u.Since = by.User, by.Intent, by.Branch, &p.At
	}
	r.Users = append(r.Users, u)
}

func usedAt(r wire.ContractRecord, repo, path string, line int) bool {
	return slices.ContainsFunc(r.Users, func(u wire.ContractUse) bool { return u.Repo.ID == repo && u.Path == path && u.Line == line })
}

func record(all map[string]*wire.ContractRecord, key string) *wire.ContractRecord {
	r := all[key]
	if r == nil {
		r = &wire.ContractRecord{
			Key:         key,
			Providers:   []wire.ContractPlace{},
			Users:       []wire.ContractUse{},
			InFlight:    []wire.ContractChange{},
			Criticality: wire.Criticality{Level: "unused"},
		}
		all[key] = r
	}
	return r
}

// criticality grows with how many use a contract, in how many repos, and how
// often it changed.
func criticality(r wire.ContractRecord) wire.Criticality {
	c := r.Criticality
	repos := map[string]bool{}
	c.Users = 0
	for _, u := range r.Users {
		if u.State != coord.UseMoved && !u.Apart {
			repos[u.Repo.ID] = true
			c.Users++
		}
	}
	c.Repos = len(repos)
	switch {
	case c.Users == 0:
		c.Level = "unused"
	case c.Repos > 2 || c.Users > 10:
		c.Level = "high"
	case c.Repos > 1 || c.Users > 3 || c.Changes > 3:
		c.Level = "medium"
	default:
		c.Level = "low"
	}
	return c
}

// addInFlight adds what is being changed in the repos right now.
func addInFlight(ix *engine.Index, repos, keys []string, file, own string, records map[string]*wire.ContractRecord) {
	for _, repo := range repos {
		for _, id := range ix.Workers(repo) {
			w := ix.Worker(id)
			for _, c := range ix.Changes(id) {
				for _, f := range contractFactsOf(c.Facts) {
					wantFile := file != "" && repo == own && c.Facts.Path == file
					if f.Change == coord.Same || !wantFile && records[f.Key] == nil && !slices.ContainsFunc(keys, func(k string) bool {
						return scope.ContractsOverlap(k, f.Key)
					}) {
						continue
					}
					r := record(records, f.Key)
					p := ground.PartyOf(coord.Challenger, w)
					r.InFlight = append(r.InFlight, wire.ContractChange{
						Repo:          w.Repo,
						Path:          c.Facts.Path,
						By:            p.User,
						Intent:        p.Intent,
						Branch:        p.Branch,
						Role:          f.Role,
						Change:        f.Change,
						Compatibility: f.Compatibility,
						Before:        f.PreviousSignature,
						After:         f.Signature,
						Detail:        f.Detail,
						Since:         w.Since,
					})
				}
			}
		}
	}
}

// contractFactsOf returns everything a change does to contracts; an exported
// definition is one too.
func contractFactsOf(f coord.FileFacts) []coord.ContractFacts {
	out := slices.Clone(f.Contracts)
	for _, s := range f.Symbols {
		if s.Exported && s.Change != coord.Modified {
			out = append(out, coord.ContractFacts{
				Key:                   s.Key,
				Role:                  coord.Provides,
				Change:                s.Change,
				Signature:             s.Signature,
				PreviousSignature:     s.PreviousSignature,
				SignatureHash:         s.SignatureHash,
				PreviousSignatureHash: s.PreviousSignatureHash,
				Compatibility:         s.Compatibility,
				Detail:                s.Detail,
			})
		}
	}
	return out
}

func sortedRecords(all map[string]*wire.ContractRecord) []wire.ContractRecord {
	out := []wire.ContractRecord{}
	for _, r := range all {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b wire.ContractRecord) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return out[:min(len(out), maxRecords)]
}

// ListContracts returns a page of the contracts of the org or of one repo.
func (s *Service) ListContracts(ctx context.Context, who coord.Caller,
	in wire.ListContracts) (out wire.Page[wire.ContractRecord], err error) {
	want := store.ContractFilter{Role: in.Role}
	if err := ground.Uncursor(in.Cursor, &want.After); err != nil {
		return out, err
	}
	var records map[string]*wire.ContractRecord
	var rows []store.ContractRow
	var repos []string
	err = s.Read(ctx, func(tx *store.Tx) error {
		if in.Repo != "" {
			r, err := RepoField(ctx, tx, who, "repo", in.Repo)
			if err != nil {
				return err
			}
			want.Repos = []string{r.ID}
		} else {
			all, err := tx.Repos(ctx, who.OrgID)
			if err != nil {
				return err
			}
			for _, r := range all {
				repos = append(repos, r.ID)
			}
		}
		keys, err := tx.ContractKeys(ctx, who.OrgID, want, in.Limit+1)
		if err != nil {
			return err
		}
		keys, out.NextCursor = ground.Page(keys, in.Limit, func(k string) []any { return []any{k} })
		if len(keys) == 0 {
			records = map[string]*wire.ContractRecord{}
			return nil
		}
		rows, err = tx.Contracts(ctx, who.OrgID, store.ContractFilter{Keys: keys})
		records = recordsOf(rows)
		return err
	})
	if err != nil {
		return out, err
	}
	err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		known := slices.Collect(maps.Keys(records))
		onPage := maps.Clone(records)
		addInFlight(ix, append(repos, want.Repos...), known, "", "", onPage)
		addUsers(ix, "", records)
		return nil
	})
	addApart(records, rows)
	out.Items = []wire.ContractRecord{}
	for _, r := range records {
		out.Items = append(out.Items, *r)
	}
	slices.SortFunc(out.Items, func(a, b wire.ContractRecord) int { return strings.Compare(a.Key, b.Key) })
	return out, err
}

// addApart adds the uses that nothing ties to who provides them.
func addApart(records map[string]*wire.ContractRecord, rows []store.ContractRow) {
	for _, c := range rows {
		if r := records[c.Key]; c.Role == coord.Uses && !usedAt(*r, c.Repo.ID, c.Path, c.Line) {
			r.Users = append(r.Users, wire.ContractUse{Repo: c.Repo, Path: c.Path, Line: c.Line, State: coord.UseStands, Owner: c.ChangedBy,
				Apart: len(r.Providers) > 0})
		}
	}
}

// CanonicalKey leaves what it cannot read as it is: it meets nothing then.
func CanonicalKey(key string) string {
	if k, err := scope.ParseContract(key); err == nil {
		return k
	}
	return key
}
