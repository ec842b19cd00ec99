package work

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/store"
)

// GetRepo returns one repo.
func (s *Service) GetRepo(ctx context.Context, who coord.Caller, in wire.NamedRepo) (out coord.Repo, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		r, err := FindRepo(ctx, tx, who, in.Repo)
		if err == nil {
			out, err = inFull(ctx, tx, who, r.ID)
		}
		return err
	})
	return out, err
}

// inFull returns a repo with all that is known of its identity.
func inFull(ctx context.Context, tx *store.Tx, who coord.Caller, id string) (coord.Repo, error) {
	all, err := tx.ReposInFull(ctx, who.OrgID)
	if at := slices.IndexFunc(all, func(r coord.Repo) bool { return r.ID == id }); at >= 0 {
		return all[at], err
	}
	return coord.Repo{}, ground.FirstError(err, problem.Newf(problem.NotFound, "no such repo in this org"))
}

// PatchRepo renames or archives a repo, or changes its branch or remotes.
func (s *Service) PatchRepo(ctx context.Context, who coord.Caller, in wire.PatchRepo) (out coord.Repo, err error) {
	var remotes []string
	if in.Remotes != nil {
		if remotes, err = fingerprints(*in.Remotes); err != nil {
			return out, err
		}
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		r, err := FindRepo(ctx, c.Tx, who, in.Repo)
		if err != nil {
			return err
		}
		if in.FullName != nil && *in.FullName != r.FullName {
			if err := Rename(ctx, c, r, *in.FullName, "person"); err != nil {
				return err
			}
		}
		if err := s.patchRepo(ctx, c, r, in, remotes); err != nil {
			return err
		}
		out, err = inFull(ctx, c.Tx, who, r.ID)
		return err
	})
	if problem.KindOf(err) == problem.PlanLimit {
		err = s.money.LimitReached(ctx, who, money.LimitRepos, err)
	}
	return out, err
}

func (s *Service) patchRepo(ctx context.Context, c *ground.Change, r coord.Repo, in wire.PatchRepo, remotes []string) error {
	none := wire.RepoUpdatedPayload{FullName: r.FullName}
	told := none
	if in.DefaultBranch != nil && *in.DefaultBranch != r.DefaultBranch {
		if err := c.SetDefaultBranch(ctx, r.ID, *in.DefaultBranch); err != nil {
			return err
		}
		told.DefaultBranch = *in.DefaultBranch
	}
	if in.Archived != nil && *in.Archived != (r.ArchivedAt != nil) {
		if err := s.archive(ctx, c, r, *in.Archived); err != nil {
			return err
		}
		told.Archived = in.Archived
	}
	if in.Remotes != nil && !slices.Equal(remotes, r.Remotes) {
		for _, fp := range r.Remotes {
			if err := c.RemoveRemote(ctx, c.Who.OrgID, fp); err != nil {
				return err
			}
		}
		for _, fp := range remotes {
			if err := c.AddRemote(ctx, c.Who.OrgID, r.ID, fp); err != nil {
				return err
			}
		}
		told.Remotes = new(len(remotes))
	}
	if told == none {
		return nil
	}
	return c.TellOf(ctx, coord.EventRepoUpdated, r.ID, r.ID, told)
}

// archive stops watching a repo, or watches it again if the plan has room.
func (s *Service) archive(ctx context.Context, c *ground.Change, r coord.Repo, archived bool) error {
	if archived {
		return c.ArchiveRepo(ctx, r.ID, c.Now.Ptr())
	}
	if err := s.repoLimit(ctx, c.Tx, c.Who); err != nil {
		return err
	}
	return c.ArchiveRepo(ctx, r.ID, nil)
}

// Watched refuses to work in a repo that is archived.
func Watched(r coord.Repo) error {
	if r.ArchivedAt == nil {
		return nil
	}
	return problem.Newf(problem.Conflict, "%s is archived here, so nothing in it is watched; an admin can bring it back under Repos",
		r.FullName)
}

// Rename gives a repo another name; by says who found out: a person, its host
// or a client.
func Rename(ctx context.Context, c *ground.Change, r coord.Repo, name, by string) error {
	if err := c.RenameRepo(ctx, c.Who.OrgID, r, name); err != nil {
		return err
	}
	return c.TellOf(ctx, coord.EventRepoRenamed, r.ID, r.ID, wire.RepoRenamedPayload{FullName: name, Previous: r.FullName, By: by})
}

// RemoveRepo forgets a repo. What happened in it stays in the history; a
// client that comes back registers it anew.
func (s *Service) RemoveRepo(ctx context.Context, who coord.Caller, in wire.NamedRepo) (out wire.None, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		r, err := FindRepo(ctx, c.Tx, who, in.Repo)
		if err != nil {
			return err
		}
		intents, err := c.Intents(ctx, who.OrgID, store.IntentFilter{Repo: r.ID, Statuses: coord.LiveIntentStatuses()})
		if err != nil {
			return err
		}
		if len(intents) > 0 {
			return problem.Newf(problem.Conflict, "%s has %d live intents (%s first); close them, or archive the repo", r.FullName, len(intents),
				intents[0].Ref)
		}
		sessions, err := c.Sessions(ctx, who.OrgID, store.SessionFilter{Repo: r.ID, Unended: true})
		if err != nil {
			return err
		}
		for _, x := range sessions {
			if err := c.EndAndSettle(ctx, x, c.Now, wire.SessionEndedPayload{Tool: x.Tool, Reason: "repo_removed"}); err != nil {
				return err
			}
		}
		if err := c.Tx.RemoveRepo(ctx, r.ID); err != nil {
			return err
		}
		return c.TellOf(ctx, coord.EventRepoRemoved, r.ID, r.ID, wire.RepoRemovedPayload{FullName: r.FullName})
	})
	return out, err
}

// MergeRepo makes one repo of two records of it: everything of the one becomes
// the other's, and whoever turns out to be at work on the same things is told.
func (s *Service) MergeRepo(ctx context.Context, who coord.Caller, in wire.MergeRepo) (out coord.Repo, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		from, err := FindRepo(ctx, c.Tx, who, in.Repo)
		if err != nil {
			return err
		}
		into, err := RepoField(ctx, c.Tx, who, "into", in.Into)
		if err != nil {
			return err
		}
		name := into.FullName
		if in.FullName != nil {
			name = *in.FullName
		}
		switch {
		case from.ID == into.ID:
			return problem.InvalidField("into", "is the same record; name the other one")
		case from.HostID != nil && into.HostID != nil:
			return problem.Newf(problem.Conflict, "their host has them as two repositories (%s and %s); they cannot be one here", *from.HostID,
				*into.HostID)
		}
		if err := c.Tx.MergeRepo(ctx, who.OrgID, from, into); err != nil {
			return err
		}
		if name != into.FullName {
			if err := c.RenameRepo(ctx, who.OrgID, into, name); err != nil {
				return err
			}
		}
		if err := c.Live.StartOver(ctx, c.Tx, who.OrgID, into.ID); err != nil {
			return err
		}
		if err := c.TellOf(ctx, coord.EventRepoMerged, into.ID, into.ID, wire.RepoMergedPayload{
			FullName: name,
			Merged:   from.FullName,
			MergedID: from.ID,
		}); err != nil {
			return err
		}
		out, err = inFull(ctx, c.Tx, who, into.ID)
		return err
	})
	return out, err
}

// KeepRepoApart notes that two records that look like one repository are two.
func (s *Service) KeepRepoApart(ctx context.Context, who coord.Caller, in wire.KeepRepoApart) (out wire.None, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		a, err := FindRepo(ctx, tx, who, in.Repo)
		if err != nil {
			return err
		}
		b, err := RepoField(ctx, tx, who, "other", in.Other)
		if err != nil {
			return err
		}
		found, err := tx.KeepApart(ctx, who.OrgID, a.ID, b.ID)
		if err == nil && !found {
			err = problem.Newf(problem.NotFound, "nobody takes %s and %s for one repository", a.FullName, b.FullName)
		}
		if err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventRepoUpdated, a.ID, a.ID, wire.RepoUpdatedPayload{FullName: a.FullName, ApartFrom: b.FullName})
	})
	return out, err
}

// NoteRoots takes the first commits that a client found in a clone. Another
// repo that has one of them may be the same under another name.
func NoteRoots(ctx context.Context, tx *store.Tx, who coord.Caller, r coord.Repo, roots []string) error {
	if len(roots) == 0 {
		return nil
	}
	if news, err := tx.AddRoots(ctx, who.OrgID, r.ID, roots); err != nil || !news {
		return err
	}
	others, err := tx.SharingRoots(ctx, who.OrgID, r.ID)
	for _, id := range others {
		other, failed := tx.Repo(ctx, who.OrgID, id)
		if err = ground.FirstError(err, failed); err == nil {
			err = NoteTwins(ctx, tx, who, r, other, "roots")
		}
	}
	return err
}

// NoteTwins notes that two records are, or look like, one repository, and
// tells of it once.
func NoteTwins(ctx context.Context, tx *store.Tx, who coord.Caller, a, b coord.Repo, why string) error {
	if why != "host" && a.HostID != nil && b.HostID != nil { // the host knows better
		return nil
	}
	news, err := tx.NoteTwins(ctx, who.OrgID, a.ID, b.ID, why)
	if err != nil || !news {
		return err
	}
	return ground.Tell(ctx, tx, who, coord.EventRepoTwins, a.ID, a.ID, wire.RepoTwinsPayload{
		FullName: a.FullName,
		Other:    b.FullName,
		OtherID:  b.ID,
		Why:      why,
	})
}

// Moved takes that a repo is to be found at another address. What has that
// address already is another record of it.
func Moved(ctx context.Context, c *ground.Change, r coord.Repo, name, fingerprint, by string) error {
	other, err := c.RepoByRemotes(ctx, c.Who.OrgID, []string{fingerprint})
	if err != nil {
		return err
	}
	if other == nil {
		if err := c.AddRemote(ctx, c.Who.OrgID, r.ID, fingerprint); err != nil {
			return err
		}
		r.Remotes = append(r.Remotes, fingerprint)
		if name == "" || name == r.FullName {
			return c.TellOf(ctx, coord.EventRepoUpdated, r.ID, r.ID,
				wire.RepoUpdatedPayload{FullName: r.FullName, Remotes: new(len(r.Remotes)), By: by})
		}
	}
	if named, err := c.RepoByName(ctx, c.Who.OrgID, name); name != "" && err == nil && named.ID != r.ID {
		other = &named
	} else if err != nil && problem.KindOf(err) != problem.NotFound {
		return err
	}
	if other != nil && other.ID != r.ID {
		return NoteTwins(ctx, c.Tx, c.Who, r, *other, sureness(by))
	}
	if name == "" || strings.EqualFold(name, r.FullName) {
		return nil
	}
	return Rename(ctx, c, r, name, by)
}

// sureness says how sure two records are one, by who found out.
func sureness(by string) string {
	if by == "host" {
		return "host"
	}
	return "roots"
}
