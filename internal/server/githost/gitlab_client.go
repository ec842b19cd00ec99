package githost

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
)

// GitLab is a client of one or more GitLabs.
type GitLab struct {
	http *http.Client
}

// NewGitLab returns a client that sends its requests through transport.
func NewGitLab(transport http.RoundTripper) *GitLab { return &GitLab{client(transport)} }

// GitLabAccess is what it takes to act on a GitLab.
type GitLabAccess struct {
	Web   string // where it is, without a trailing slash
	Token string
}

// call asks GitLab.
func (g *GitLab) call(ctx context.Context, a GitLabAccess, method, path string, query url.Values, in, out any) (http.Header, error) {
	return exchange(ctx, g.http, "GitLab", method, a.Web+"/api/v4/"+path+"?"+query.Encode(), http.Header{"Private-Token": {a.Token}}, in, out)
}

// A GitLabToken is what GitLab says of an access token.
type GitLabToken struct {
	Name      string
	Scopes    []string // nil where GitLab is too old to say
	ExpiresAt *coord.Time
}

// Token asks GitLab about the token itself.
func (g *GitLab) Token(ctx context.Context, a GitLabAccess) (out GitLabToken, err error) {
	var self struct {
		Name    string
		Scopes  []string
		Active  *bool
		Expires string `json:"expires_at"`
	}
	_, err = g.call(ctx, a, http.MethodGet, "personal_access_tokens/self", nil, nil, &self)
	if missing(err) { // before GitLab 15.5
		_, err = g.user(ctx, a)
		return out, err
	}
	if err != nil {
		return out, err
	}
	if self.Active != nil && !*self.Active {
		return out, &hostError{Host: "GitLab", Status: http.StatusUnauthorized, What: "a token that is not active"}
	}
	out.Name, out.Scopes = self.Name, self.Scopes
	if day, err := time.Parse(time.DateOnly, self.Expires); err == nil {
		at := coord.Time(day.UnixMilli())
		out.ExpiresAt = &at
	}
	return out, nil
}

// user returns GitLab's number of whoever a token is.
func (g *GitLab) user(ctx context.Context, a GitLabAccess) (int64, error) {
	var me struct{ ID int64 }
	_, err := g.call(ctx, a, http.MethodGet, "user", nil, nil, &me)
	return me.ID, err
}

// At returns a GitLab as a host.
func (g *GitLab) At(a GitLabAccess) Host { return onGitLab{g, a} }

type onGitLab struct {
	*GitLab
	access GitLabAccess
}

func project(fullName string) string { return "projects/" + url.PathEscape(fullName) }

// Comment writes a report as a note on a merge request.
func (h onGitLab) Comment(ctx context.Context, r Report) (int64, error) {
	at := fmt.Sprintf("%s/merge_requests/%d/notes", project(r.Repo), r.Number)
	if r.ID == 0 {
		id, err := h.findNote(ctx, at, r.Marker)
		if err != nil {
			return 0, err
		}
		r.ID = id
	}
	var made struct{ ID int64 }
	in := map[string]string{"body": r.Text}
	if r.ID != 0 {
		_, err := h.call(ctx, h.access, http.MethodPut, at+"/"+strconv.FormatInt(r.ID, 10), nil, in, &made)
		if err == nil {
			return made.ID, nil
		}
		if !missing(err) {
			return 0, err
		}
	}
	_, err := h.call(ctx, h.access, http.MethodPost, at, nil, in, &made)
	return made.ID, err
}

// Check writes a report as a commit status, which stands with the pipeline of
// the merge request's head.
func (h onGitLab) Check(ctx context.Context, r Report) (int64, error) {
	var made struct{ ID int64 }
	_, err := h.call(ctx, h.access, http.MethodPost, project(r.Repo)+"/statuses/"+url.PathEscape(r.SHA), nil, map[string]string{
		"state":       r.status("failed"),
		"ref":         r.Branch,
		"name":        checkName,
		"target_url":  r.URL,
		"description": excerpt.Dots(r.Title, maxStatus),
	}, &made)
	return made.ID, err
}

// findNote returns the note of ours with a marker, 0 if there is none.
func (h onGitLab) findNote(ctx context.Context, at, marker string) (int64, error) {
	me, err := h.user(ctx, h.access)
	if err != nil {
		return 0, err
	}
	for page := "1"; page != ""; {
		var notes []struct {
			ID     int64
			Body   string
			Author struct{ ID int64 }
		}
		header, err := h.call(ctx, h.access, http.MethodGet, at, url.Values{
			"per_page": {"100"},
			"order_by": {"created_at"},
			"sort":     {"asc"},
			"page":     {page},
		}, nil, &notes)
		if err != nil {
			return 0, err
		}
		for _, n := range notes {
			if n.Author.ID == me && strings.Contains(n.Body, marker) {
				return n.ID, nil
			}
		}
		page = header.Get("X-Next-Page")
	}
	return 0, nil
}

// A gitlabDiff is a file of GitLab's comparison.
type gitlabDiff struct {
	OldPath string `json:"old_path"`
	NewPath string `json:"new_path"`
	Diff    string `json:"diff"`
	New     bool   `json:"new_file"`
	Renamed bool   `json:"renamed_file"`
	Deleted bool   `json:"deleted_file"`
}

func (d gitlabDiff) facts() coord.FileFacts {
	f := changedFile(d.NewPath, coord.FileModified, d.Diff)
	switch {
	case d.New:
		f.Status = coord.FileAdded
	case d.Deleted:
		f.Status = coord.FileDeleted
	case d.Renamed:
		f.Status, f.OldPath = coord.FileRenamed, &d.OldPath
	}
	return f
}

// Changed compares the two commits themselves, so that ranges are those of the
// files before.
func (h onGitLab) Changed(ctx context.Context, repo, before, after string, paths []string) (out []coord.FileFacts, err error) {
	var diff struct{ Diffs []gitlabDiff }
	if _, err := h.call(ctx, h.access, http.MethodGet, project(repo)+"/repository/compare", url.Values{
		"from":     {before},
		"to":       {after},
		"straight": {"true"},
	}, nil, &diff); err != nil {
		return nil, err
	}
	for _, d := range diff.Diffs {
		if !slices.Contains(paths, d.NewPath) && !slices.Contains(paths, d.OldPath) {
			continue
		}
		f, err := h.facts(ctx, repo, d, before, after)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// facts returns what became of a file, with its versions before and after.
func (h onGitLab) facts(ctx context.Context, repo string, d gitlabDiff, before, after string) (f coord.FileFacts, err error) {
	f = d.facts()
	if f.Status != coord.FileAdded {
		if f.BaseBlob, err = h.blob(ctx, repo, d.OldPath, before); err != nil {
			return f, err
		}
	}
	if f.Status != coord.FileDeleted {
		f.NewBlob, err = h.blob(ctx, repo, d.NewPath, after)
	}
	return f, err
}

// blob returns the id of a file's content at a commit, nil if there is none.
func (h onGitLab) blob(ctx context.Context, repo, path, at string) (*string, error) {
	header, err := h.call(ctx, h.access, http.MethodHead, project(repo)+"/repository/files/"+url.PathEscape(path), url.Values{"ref": {at}},
		nil, nil)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	id := header.Get("X-Gitlab-Blob-Id")
	if id == "" {
		return nil, nil
	}
	return &id, nil
}
