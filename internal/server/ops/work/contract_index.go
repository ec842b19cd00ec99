package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// IndexFiles feeds a repo's contract index with a part of a scan.
func (s *Service) IndexFiles(ctx context.Context, who coord.Caller, in wire.IndexFiles) (out wire.Indexed, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		repo, err := FindRepo(ctx, c.Tx, who, in.Repo)
		if err != nil {
			return err
		}
		var bad []problem.Field
		var paths []string
		var known []wire.FileGap
		out = wire.Indexed{} // a transaction may be tried again
		authors, err := membersAmong(ctx, c, in.Files)
		if err != nil {
			return err
		}
		for i, f := range in.Files {
			p, err := scope.CleanPath(f.Path)
			if err != nil {
				bad = append(bad, problem.Field{Path: fmt.Sprintf("files[%d].path", i), Message: err.Error()})
				continue
			}
			paths = append(paths, p)
			known = append(known, wire.FileGap{Path: p, Unread: f.Unread, Cut: f.Cut})
			out.Contracts += len(f.Contracts)
		}
		if err := problem.Invalid(bad); err != nil {
			return err
		}
		if err := c.SaveRepoFiles(ctx, repo.ID, known); err != nil {
			return err
		}
		for i, f := range in.Files {
			if err := indexFile(ctx, c, repo, paths[i], f, authors); err != nil {
				return err
			}
		}
		for _, p := range in.Removed {
			if err := ground.FirstError(c.DeleteFileContracts(ctx, who.OrgID, repo.ID, p), c.RemoveRepoFile(ctx, repo.ID, p)); err != nil {
				return err
			}
			name := coord.RepoName{ID: repo.ID, FullName: repo.FullName}
			c.Live.SetUses(name, p, nil)
			c.Live.SetPaths(name, p, engine.Paths{})
		}
		out.Files = len(paths)
		if out.IndexVersion, err = c.BumpIndex(ctx, repo.ID); err != nil {
			return err
		}
		return ground.Emit(ctx, c.Tx, c.Who, ground.Happening{
			Type:    coord.EventContractChanged,
			Subject: coord.Entity{Kind: "repo", ID: repo.ID},
			Repo:    repo.ID,
			Payload: wire.ContractPayload{
				Paths:        append(append([]string{}, paths...), in.Removed...), // a list, if an empty one
				Complete:     &in.Complete,
				IndexVersion: &out.IndexVersion,
			},
		})
	})
	return out, err
}

// maxGaps is how many files are named in which most is not known.
const maxGaps = 20

// RepoGaps tells how much of a repo's contracts could not be read.
func (s *Service) RepoGaps(ctx context.Context, who coord.Caller, in wire.NamedRepo) (out wire.Gaps, err error) {
	out.Files = []wire.FileGap{}
	err = s.Read(ctx, func(tx *store.Tx) error {
		repo, err := FindRepo(ctx, tx, who, in.Repo)
		if err != nil {
			return err
		}
		files, err := tx.Gaps(ctx, repo.ID)
		for _, f := range files {
			out.Unread, out.Cut = out.Unread+f.Unread, out.Cut+f.Cut
		}
		out.Files = append(out.Files, files[:min(len(files), maxGaps)]...)
		return err
	})
	return out, err
}

// indexFile replaces what is known of a file.
func indexFile(ctx context.Context, c *ground.Change, repo coord.Repo, path string, file wire.IndexedFile,
	authors map[string]coord.User) error {
	if err := c.DeleteFileContracts(ctx, c.Who.OrgID, repo.ID, path); err != nil {
		return err
	}
	by := map[int]coord.User{}
	for _, a := range file.Authors {
		if u, ok := authors[a.Author]; ok {
			by[a.Line] = u
		}
	}
	for _, f := range file.Contracts {
		var last *coord.User
		if u, ok := by[f.Line]; ok && f.Role == coord.Uses {
			last = &u
		}
		known := store.ContractRow{Signature: f.Signature, SignatureHash: f.SignatureHash, ChangedBy: last}
		if err := SaveFact(ctx, c, repo, path, f, known, false); err != nil {
			return err
		}
	}
	if err := ground.FirstError(c.SaveTexts(ctx, repo.ID, path, file.Candidates), c.SaveNames(ctx, repo.ID, path, file.Names)); err != nil {
		return err
	}
	return Reuse(ctx, c, repo, path)
}

// membersAmong returns the members whose lines a scan tells of, by the hash of
// their address. All other authors are forgotten here.
func membersAmong(ctx context.Context, c *ground.Change, files []wire.IndexedFile) (map[string]coord.User, error) {
	if !slices.ContainsFunc(files, func(f wire.IndexedFile) bool { return len(f.Authors) > 0 }) {
		return nil, nil
	}
	out := map[string]coord.User{}
	for after, full := "", true; full; {
		const page = 500
		members, err := c.Members(ctx, c.Who.OrgID, store.Page{Limit: page, After: after})
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			out[coord.AuthorHash(m.User.Email)] = m.User
			after = m.User.ID
		}
		full = len(members) == page
	}
	return out, nil
}

// SaveFact stores what a file on the default branch provides or uses: row has its
// signature there and who changed it last, as far as that is known.
func SaveFact(ctx context.Context, c *ground.Change, repo coord.Repo, path string, f coord.ContractFacts, row store.ContractRow,
	changed bool) error {
	if c.Who.DataMode == coord.DataMetadataOnly {
		row.Signature = nil
	}
	row.Repo, row.Path, row.Key, row.Role, row.Line = coord.RepoName{ID: repo.ID}, path, CanonicalKey(f.Key), f.Role, f.Line
	if f.Role == coord.Uses {
		if row.Fields = f.Fields; c.Who.DataMode == coord.DataMetadataOnly {
			row.Fields = coord.HideFields(f.Fields)
		}
	}
	return c.SaveContract(ctx, c.Who.OrgID, row, changed)
}

// Reuse makes the draft index know what live code of a file uses.
func Reuse(ctx context.Context, c *ground.Change, repo coord.Repo, path string) error {
	uses, err := live.UsesOf(ctx, c.Tx, c.Who.OrgID, repo.ID, path)
	if err != nil {
		return err
	}
	name := coord.RepoName{ID: repo.ID, FullName: repo.FullName}
	c.Live.SetUses(name, path, uses[path])
	known, err := live.PathsOf(ctx, c.Tx, c.Who.OrgID, repo.ID, path)
	c.Live.SetPaths(name, path, known[path])
	return err
}

// land takes over what merged work did to contracts.
func land(ctx context.Context, c *ground.Change, repo coord.RepoName, owner coord.User, f coord.FileFacts) error {
	full := coord.Repo{ID: repo.ID, FullName: repo.FullName}
	if f.Status == coord.FileDeleted {
		if err := c.DeleteFileContracts(ctx, c.Who.OrgID, repo.ID, f.Path); err != nil {
			return err
		}
		return Reuse(ctx, c, full, f.Path)
	}
	for _, k := range f.Contracts {
		var err error
		if k.Change == coord.Removed {
			err = c.DeleteContract(ctx, c.Who.OrgID, repo.ID, f.Path, k.Key, k.Role)
		} else {
			known := store.ContractRow{Signature: k.Signature, SignatureHash: k.SignatureHash}
			if k.Change != coord.Same {
				known.ChangedBy = &owner
			}
			err = SaveFact(ctx, c, full, f.Path, k, known, k.Change == coord.Signature)
		}
		if err != nil {
			return err
		}
	}
	if err := landTexts(ctx, c, repo.ID, f); err != nil {
		return err
	}
	return Reuse(ctx, c, full, f.Path)
}

// landTexts adds the texts in the shape of a path that merged work brought.
func landTexts(ctx context.Context, c *ground.Change, repo string, f coord.FileFacts) error {
	if len(f.Candidates) == 0 {
		return nil
	}
	had, err := c.Texts(ctx, repo, f.Path)
	if err != nil {
		return err
	}
	all := f.Candidates
	for _, h := range had {
		all = append(slices.Clip(all), h.Texts...)
	}
	return ground.FirstError(c.AddRepoFile(ctx, repo, f.Path), c.SaveTexts(ctx, repo, f.Path, all[:min(len(all), coord.MaxCandidates)]))
}
