package githost

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// maxPulls is how many pull requests of a repository are asked for at once.
// Whoever has more that changed since the last look hears of the newest.
const maxPulls = 1000

// Login returns whose token it is, and until when it is good, if GitHub says.
func (g *GitHub) Login(ctx context.Context, a Access) (login string, until *coord.Time, err error) {
	var me account
	header, err := g.call(ctx, a, http.MethodGet, "user", nil, nil, &me)
	if err != nil {
		return "", nil, err
	}
	if at, err := time.Parse("2006-01-02 15:04:05 MST", header.Get("GitHub-Authentication-Token-Expiration")); err == nil {
		until = coord.Time(at.UnixMilli()).Ptr()
	}
	return me.Login, until, nil
}

// Pulls asks GitHub for a repository, by its number where that is known, and
// for its pull requests, those that changed last first.
func (h onGitHub) Pulls(ctx context.Context, repo Repo, since coord.Time) (now Repo, out []Pull, err error) {
	at := repoPath(repo.FullName)
	if repo.ID != 0 {
		at = "repositories/" + strconv.FormatInt(repo.ID, 10)
	}
	var there repository
	if _, err := h.call(ctx, h.access, http.MethodGet, at, nil, nil, &there); err != nil {
		return now, nil, err
	}
	now = there.repo()
	ask := url.Values{"state": {"all"}, "sort": {"updated"}, "direction": {"desc"}}
	if since == 0 {
		ask.Set("state", "open")
	}
	for list, err := range pages[[]pullRequest](ctx, h.GitHub, h.access, repoPath(now.FullName)+"/pulls", ask) {
		if err != nil {
			return now, nil, err
		}
		for _, pr := range list {
			if coord.Time(pr.UpdatedAt) < since || len(out) == maxPulls {
				return now, out, nil
			}
			out = append(out, pr.pull(there))
		}
	}
	return now, out, nil
}

// gitlabMerge is a merge request in one of GitLab's lists.
type gitlabMerge struct {
	IID           int        `json:"iid"`
	State         string     `json:"state"`
	Draft         bool       `json:"draft"`
	SourceBranch  string     `json:"source_branch"`
	TargetBranch  string     `json:"target_branch"`
	SourceProject int64      `json:"source_project_id"`
	TargetProject int64      `json:"target_project_id"`
	SHA           string     `json:"sha"`
	MergeCommit   string     `json:"merge_commit_sha"`
	SquashCommit  string     `json:"squash_commit_sha"`
	URL           string     `json:"web_url"`
	UpdatedAt     gitlabTime `json:"updated_at"`
	Author        struct {
		Username string `json:"username"`
	} `json:"author"`
}

// Pulls asks GitLab for a project, by its number where that is known, and for
// its merge requests, those that changed last first.
func (h onGitLab) Pulls(ctx context.Context, repo Repo, since coord.Time) (now Repo, out []Pull, err error) {
	at := project(repo.FullName)
	if repo.ID != 0 {
		at = "projects/" + strconv.FormatInt(repo.ID, 10)
	}
	var there struct {
		gitlabProject
		Visibility string `json:"visibility"`
		HTTPURL    string `json:"http_url_to_repo"`
		SSHURL     string `json:"ssh_url_to_repo"`
	}
	if _, err := h.call(ctx, h.access, http.MethodGet, at, nil, nil, &there); err != nil {
		return now, nil, err
	}
	now = Repo{
		ID:            there.ID,
		FullName:      there.PathWithNamespace,
		URL:           there.WebURL,
		Clones:        []string{there.HTTPURL, there.SSHURL},
		DefaultBranch: there.DefaultBranch,
		Private:       there.Visibility != "public",
	}
	ask := url.Values{"per_page": {"100"}, "order_by": {"updated_at"}, "sort": {"desc"}, "scope": {"all"}, "state": {"opened"}}
	if since != 0 {
		ask.Set("state", "all")
		ask.Set("updated_after", since.Std().UTC().Format(time.RFC3339))
	}
	for page := "1"; page != "" && len(out) < maxPulls; {
		ask.Set("page", page)
		var list []gitlabMerge
		header, err := h.call(ctx, h.access, http.MethodGet, at+"/merge_requests", ask, nil, &list)
		if err != nil {
			return now, nil, err
		}
		for _, m := range list {
			if state := gitlabStates[m.State]; state != "" && m.IID > 0 {
				out = append(out, m.pull(state))
			}
		}
		page = header.Get("X-Next-Page")
	}
	return now, out, nil
}

func (m gitlabMerge) pull(state coord.PullState) Pull {
	p := Pull{Number: m.IID, State: state, Draft: m.Draft, HeadRef: m.SourceBranch, HeadSHA: m.SHA,
		SameRepo: m.SourceProject == m.TargetProject, BaseRef: m.TargetBranch, Author: m.Author.Username,
		URL: m.URL, ChangedAt: coord.Time(m.UpdatedAt)}
	if state == coord.PullMerged { // without a merge commit, the branch itself was moved on
		p.MergeSHA = cmp.Or(m.MergeCommit, m.SquashCommit, m.SHA)
	}
	return p
}
