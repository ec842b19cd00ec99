package githost

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
)

// Branch asks GitHub to compare the two, of which it shows at most 300 files.
func (h onGitHub) Branch(ctx context.Context, repo, base, head string, most int) (out Branch, err error) {
	diff, err := h.compare(ctx, repo, base, head, "100")
	if err != nil {
		return out, err
	}
	out.Commits = max(diff.Total, len(diff.Commits))
	for _, c := range diff.Commits {
		out.Author = c.Commit.Author.Name
		if c.Author != nil && c.Author.Login != "" {
			out.Author = c.Author.Login
		}
		out.Emails = append(out.Emails, c.Commit.Author.Email)
	}
	out.Emails = unique(out.Emails)
	for _, f := range diff.Files {
		facts, ok := f.facts()
		if !ok {
			continue
		}
		if out.Cut = len(out.Files) == most; out.Cut {
			break
		}
		if facts, err = h.based(ctx, repo, facts, cmp.Or(diff.MergeBase.SHA, base)); err != nil {
			return out, err
		}
		out.Files = append(out.Files, facts)
	}
	return out, nil
}

// Branch asks GitLab to compare the two, and where they parted.
func (h onGitLab) Branch(ctx context.Context, repo, base, head string, most int) (out Branch, err error) {
	var parted struct{ ID string }
	if _, err := h.call(ctx, h.access, http.MethodGet, project(repo)+"/repository/merge_base", url.Values{"refs[]": {base, head}}, nil,
		&parted); err != nil {
		return out, err
	}
	var diff struct {
		Commits []struct {
			Name  string `json:"author_name"`
			Email string `json:"author_email"`
		}
		Diffs []gitlabDiff
	}
	if _, err := h.call(ctx, h.access, http.MethodGet, project(repo)+"/repository/compare", url.Values{
		"from":     {parted.ID},
		"to":       {head},
		"straight": {"true"},
	}, nil, &diff); err != nil {
		return out, err
	}
	out.Commits = len(diff.Commits)
	for _, c := range diff.Commits {
		out.Author = c.Name
		out.Emails = append(out.Emails, c.Email)
	}
	out.Emails = unique(out.Emails)
	for _, d := range diff.Diffs {
		if out.Cut = len(out.Files) == most; out.Cut {
			break
		}
		f, err := h.facts(ctx, repo, d, parted.ID, head)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}
