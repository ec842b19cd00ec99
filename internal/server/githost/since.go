package githost

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/go-github/v88/github"
)

// Since asks GitHub where a branch is. Of a comparison only the first commits
// are read; those of pull requests are known by them anyway.
func (h onGitHub) Since(ctx context.Context, repo, branch, commit string) (*Push, error) {
	c, err := h.client(h.access)
	if err != nil {
		return nil, err
	}
	owner, name := split(repo)
	ref, _, err := c.Git.GetRef(ctx, owner, name, "heads/"+branch)
	if err != nil {
		return nil, err
	}
	p := &Push{Branch: branch, Before: commit, After: ref.GetObject().GetSHA(), Partial: true, Gap: true}
	if p.After == "" || p.After == commit {
		return nil, nil
	}
	if commit == "" {
		return p, nil
	}
	diff, _, err := c.Repositories.CompareCommits(ctx, owner, name, commit, p.After, &github.ListOptions{PerPage: 100})
	if missing(err) { // pushed over with force, and gone
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	for _, each := range diff.Commits {
		p.Commits = append(p.Commits, each.GetSHA())
	}
	return p, nil
}

// Since asks GitLab where a branch is.
func (h onGitLab) Since(ctx context.Context, repo, branch, commit string) (*Push, error) {
	var at struct{ Commit struct{ ID string } }
	_, err := h.call(ctx, h.access, http.MethodGet, project(repo)+"/repository/branches/"+url.PathEscape(branch), nil, nil, &at)
	if err != nil {
		return nil, err
	}
	p := &Push{Branch: branch, Before: commit, After: at.Commit.ID, Partial: true, Gap: true}
	if p.After == "" || p.After == commit {
		return nil, nil
	}
	if commit == "" {
		return p, nil
	}
	var diff struct{ Commits []struct{ ID string } }
	_, err = h.call(ctx, h.access, http.MethodGet, project(repo)+"/repository/compare", url.Values{
		"from":     {commit},
		"to":       {p.After},
		"straight": {"true"},
	}, nil, &diff)
	if err != nil && statusOf(err) != http.StatusNotFound {
		return nil, err
	}
	for _, each := range diff.Commits {
		p.Commits = append(p.Commits, each.ID)
	}
	return p, nil
}
