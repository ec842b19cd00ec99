package work

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

const noProject = "no such project in this org"

// ListProjects returns the org's projects.
func (s *Service) ListProjects(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Page[coord.Project], err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.Items, err = tx.Projects(ctx, who.OrgID)
		return err
	})
	return out, err
}

// GetProject returns one project.
func (s *Service) GetProject(ctx context.Context, who coord.Caller, in wire.ID) (out coord.Project, err error) {
	if err := ground.WantUUID(in.ID, noProject); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, err = tx.Project(ctx, who.OrgID, in.ID)
		return err
	})
	return out, err
}

// CreateProject links repositories, so that a change in one is checked
// against its users in the others.
func (s *Service) CreateProject(ctx context.Context, who coord.Caller, in wire.CreateProject) (out coord.Project, err error) {
	name := strings.TrimSpace(in.Name)
	if name == "" {
		return out, problem.InvalidField("name", "must not be blank")
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		tx := c.Tx
		p := coord.Project{ID: ground.NewID(), Name: name, CreatedAt: tx.Now, UpdatedAt: tx.Now}
		if err := tx.InsertProject(ctx, who.OrgID, p); err != nil {
			return err
		}
		if err := s.addToProject(ctx, tx, who, p.ID, in.Repos); err != nil {
			return err
		}
		if out, err = tx.Project(ctx, who.OrgID, p.ID); err != nil {
			return err
		}
		return ground.FirstError(c.TellOf(ctx, coord.EventProjectCreated, p.ID, "", wire.ProjectPayload{Repos: len(out.Repos)}), relink(ctx, c))
	})
	return out, err
}

func (s *Service) addToProject(ctx context.Context, tx *store.Tx, who coord.Caller, project string, selectors []string) error {
	for i, sel := range selectors {
		r, err := RepoField(ctx, tx, who, fmt.Sprintf("repos[%d]", i), sel)
		if err != nil {
			return err
		}
		if err := tx.AddProjectRepo(ctx, project, r.ID); err != nil {
			return err
		}
	}
	return tx.TouchProject(ctx, project)
}

// AddProjectRepos puts more repositories into a project.
func (s *Service) AddProjectRepos(ctx context.Context, who coord.Caller, in wire.AddProjectRepos) (coord.Project, error) {
	return s.changeProject(ctx, who, in.ID, func(tx *store.Tx, p coord.Project) error {
		return s.addToProject(ctx, tx, who, p.ID, in.Repos)
	})
}

// RemoveProjectRepo takes a repository out of a project.
func (s *Service) RemoveProjectRepo(ctx context.Context, who coord.Caller, in wire.ProjectRepo) (out wire.None, err error) {
	_, err = s.changeProject(ctx, who, in.ID, func(tx *store.Tx, p coord.Project) error {
		r, err := FindRepo(ctx, tx, who, in.Repo)
		if err != nil {
			return err
		}
		was, err := tx.RemoveProjectRepo(ctx, p.ID, r.ID)
		if err == nil && !was {
			err = problem.Newf(problem.NotFound, "%s is not in this project", peertext.Quoted(r.FullName))
		}
		if err == nil {
			err = tx.TouchProject(ctx, p.ID)
		}
		return err
	})
	return out, err
}

// SetProjectPrefixes takes a person's word for which prefix routes have between
// two repositories of a project: what differs by it is the same, and no longer
// only probably.
func (s *Service) SetProjectPrefixes(ctx context.Context, who coord.Caller, in wire.SetProjectPrefixes) (coord.Project, error) {
	return s.changeProject(ctx, who, in.ID, func(tx *store.Tx, p coord.Project) error {
		said := []coord.Prefix{}
		for i, x := range in.Prefixes {
			at := fmt.Sprintf("prefixes[%d]", i)
			path := scope.Route(x.Prefix)
			if path == "" || path == "/" || strings.Contains(path, "{") {
				return problem.InvalidField(at+".prefix", "must be a path without parameters, such as /api/v1")
			}
			inProject := func(field, selector string) (coord.RepoName, error) {
				r, err := RepoField(ctx, tx, who, field, selector)
				name := coord.RepoName{ID: r.ID, FullName: r.FullName}
				if err == nil && !slices.Contains(p.Repos, name) {
					err = problem.InvalidField(field, "%s is not in this project", peertext.Quoted(r.FullName))
				}
				return name, err
			}
			repo, err := inProject(at+".repo", x.Repo)
			if err != nil {
				return err
			}
			other, err := inProject(at+".other", x.Other)
			if err != nil {
				return err
			}
			said = append(said, coord.Prefix{Repo: repo, Other: other, Prefix: path})
		}
		return ground.FirstError(tx.SetProjectPrefixes(ctx, p.ID, said), tx.TouchProject(ctx, p.ID))
	})
}

func (s *Service) changeProject(ctx context.Context, who coord.Caller, id string,
	edit func(*store.Tx, coord.Project) error) (out coord.Project, err error) {
	if err := ground.WantUUID(id, noProject); err != nil {
		return out, err
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		tx := c.Tx
		p, err := tx.Project(ctx, who.OrgID, id)
		if err != nil {
			return err
		}
		if err := edit(tx, p); err != nil {
			return err
		}
		if out, err = tx.Project(ctx, who.OrgID, id); err != nil {
			return err
		}
		return ground.FirstError(c.TellOf(ctx, coord.EventProjectUpdated, id, "", wire.ProjectPayload{Repos: len(out.Repos)}), relink(ctx, c))
	})
	return out, err
}

// DeleteProject removes a project; its repositories stay.
func (s *Service) DeleteProject(ctx context.Context, who coord.Caller, in wire.ID) (out wire.None, err error) {
	if err := ground.WantUUID(in.ID, noProject); err != nil {
		return out, err
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		p, err := c.Project(ctx, who.OrgID, in.ID)
		if err != nil {
			return err
		}
		if err := c.DeleteProject(ctx, p.ID); err != nil {
			return err
		}
		return ground.FirstError(c.TellOf(ctx, coord.EventProjectDeleted, p.ID, "", wire.EmptyPayload{}), relink(ctx, c))
	})
	return out, err
}

// relink settles the work in repos whose links have changed.
func relink(ctx context.Context, c *ground.Change) error {
	links, prefixes, err := live.Links(ctx, c.Tx, c.Who.OrgID)
	if err != nil {
		return err
	}
	var changed []string
	for repo, linked := range links {
		before, said := c.Live.Links(repo), c.Live.Prefixes(repo)
		c.Live.SetLinks(repo, linked)
		c.Live.SetPrefixes(repo, prefixes[repo])
		if !slices.Equal(before, c.Live.Links(repo)) || !maps.EqualFunc(said, prefixes[repo], slices.Equal) {
			changed = append(changed, repo)
		}
	}
	slices.Sort(changed)
	for _, repo := range changed {
		for _, id := range c.Live.Workers(repo) {
			if _, err := c.Settle(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}
