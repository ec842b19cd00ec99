package githost

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Since asks GitHub where a branch is. Of a comparison only the first commits
// are read; those of pull requests are known by them anyway.
func (h onGitHub) Since(ctx context.Context, repo, branch, commit string) (*Push, error) {
	var ref struct{ Object struct{ SHA string } }
	if _, err := h.call(ctx, h.access, http.MethodGet, repoPath(repo)+"/git/ref/heads/"+escaped(branch), nil, nil, &ref); err != nil {
		return nil, err
	}
	p := &Push{Branch: branch, Before: commit, After: ref.Object.SHA, Partial: true, Gap: true}
	if p.After == "" || p.After == commit {
		return nil, nil
	}
	if commit == "" {
		return p, nil
	}
	diff, err := h.compare(ctx, repo, commit, p.After, "100")
	if missing(err) { // pushed over with force, and gone
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	for _, each := range diff.Commits {
		p.Commits = append(p.Commits, each.SHA)
	}
	return p, nil
}

// A comparison is what GitHub says of two commits.
type comparison struct {
	MergeBase struct{ SHA string } `json:"merge_base_commit"`
	Total     int                  `json:"total_commits"`
	Commits   []struct {
		SHA    string
		Author *account
		Commit struct{ Author struct{ Name, Email string } }
	}
	Files []changed
}

// compare asks for the first page of a comparison, which has all the files that
// GitHub tells: at most 300.
func (h onGitHub) compare(ctx context.Context, repo, before, after, commits string) (out comparison, err error) {
	path := repoPath(repo) + "/compare/" + url.PathEscape(before) + "..." + url.PathEscape(after)
	_, err = h.call(ctx, h.access, http.MethodGet, path, url.Values{"per_page": {commits}}, nil, &out)
	return out, err
}

// escaped is a path or branch within an address.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
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
