package work

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// Bounds of what is told of one file; nobody reads more beside a line.
const (
	maxLive        = 100
	maxDefinitions = 200
)

// GetLive tells what is under way in a file: who, on which lines, since when,
// what is claimed, and who uses what the file provides.
func (s *Service) GetLive(ctx context.Context, who coord.Caller, in wire.GetLive) (out wire.LiveFile, err error) {
	path, err := scope.CleanPath(in.Path)
	if err != nil {
		return out, problem.InvalidField("path", "%v", err)
	}
	var rows []store.ContractRow
	err = s.Read(ctx, func(tx *store.Tx) error {
		repo, err := RepoField(ctx, tx, who, "repo", in.Repo)
		if err != nil {
			return err
		}
		out.Repo = coord.RepoName{ID: repo.ID, FullName: repo.FullName}
		repos, err := withLinked(ctx, tx, repo.ID)
		if err != nil {
			return err
		}
		rows, err = contractRows(ctx, tx, who.OrgID, repo.ID, repos, nil, path)
		return err
	})
	if err != nil {
		return out, err
	}
	out.Path, out.Work = path, []wire.LiveWork{}
	err = s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		out.Contracts = usersOf(ix, rows, out.Repo.ID, path)
		all := engine.Present(ix, out.Repo.ID, path, in.Base)
		out.Left = max(0, len(all)-maxLive)
		for _, p := range all[:len(all)-out.Left] {
			out.Work = append(out.Work, liveWork(p, who, path))
		}
		return nil
	})
	return out, err
}

func liveWork(p *engine.Presence, who coord.Caller, path string) wire.LiveWork {
	w := p.Worker
	party := ground.PartyOf(coord.Holder, w)
	out := wire.LiveWork{SessionID: party.SessionID, Developer: party.User, Own: w.User.ID == who.UserID, Tool: w.Tool, Intent: party.Intent,
		Branch: party.Branch, Outside: party.Outside, Lines: []coord.LineCount{}, Definitions: []wire.LiveDefinition{},
		Since: w.Since, Claim: p.Claim}
	if out.Own && out.Intent != nil {
		out.Intent.Title = &w.Intent.Title
	}
	if p.Change == nil {
		return out
	}
	f := &p.Change.Facts
	out.Status, out.Copy, out.Base, out.EditedAt = f.Status, p.Change.Copy, ground.Optional(p.Base), &p.At
	out.Lines, out.Moved = p.Lines, f.Path != path || f.OldPath != nil
	for _, d := range f.Symbols {
		if d.Change == coord.Same || len(out.Definitions) == maxDefinitions {
			continue
		}
		_, name, _ := strings.Cut(d.Key, "#")
		def := wire.LiveDefinition{Name: name, Kind: d.Kind, Change: d.Change}
		if d.Lines != nil {
			lines := p.Moved(*d.Lines)
			def.Lines = &lines
		}
		out.Definitions = append(out.Definitions, def)
	}
	return out
}

// usersOf returns what a file provides and code elsewhere uses, by line.
func usersOf(ix *engine.Index, rows []store.ContractRow, repo, path string) []wire.LiveContract {
	out := []wire.LiveContract{}
	records := recordsOf(rows)
	addUsers(ix, repo, records)
	for _, r := range sortedRecords(records) {
		for _, p := range r.Providers {
			if p.Repo.ID == repo && p.Path == path && r.Criticality.Users > 0 {
				out = append(out, wire.LiveContract{Key: r.Key, Line: p.Line, Users: r.Criticality.Users, Repos: r.Criticality.Repos})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b wire.LiveContract) int { return a.Line - b.Line })
	return out
}
