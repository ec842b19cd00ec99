package githost

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/excerpt"
)

// A Report is what a pull request is to say.
type Report struct {
	Repo   string // owner/name
	Number int
	SHA    string // of its head
	Branch string // on which that is
	ID     int64  // of the comment or check run that is there already; 0 for none
	Title  string
	Text   string // Markdown
	State  string // conclusion of a check run: success, neutral or action_required
	URL    string // where there is more
	Marker string // stands in the text of a comment, to find it again
}

// repoPath is where a repository is in GitHub's API.
func repoPath(fullName string) string {
	owner, name, _ := strings.Cut(fullName, "/")
	return "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(name)
}

// numbered is what there is of an object that was made.
type numbered struct{ ID int64 }

// Comment writes a report as a comment on a pull request.
func (h onGitHub) Comment(ctx context.Context, r Report) (id int64, err error) {
	issues := repoPath(r.Repo) + "/issues/"
	list := issues + strconv.Itoa(r.Number) + "/comments"
	if r.ID == 0 {
		if r.ID, err = h.findComment(ctx, list, r.Marker); err != nil {
			return 0, err
		}
	}
	in := map[string]string{"body": r.Text}
	return h.replace(ctx, r.ID, issues+"comments/", list, in, in)
}

// replace changes what has an id, and makes it where there is none or it is
// gone.
func (h onGitHub) replace(ctx context.Context, id int64, there, list string, change, make any) (int64, error) {
	var made numbered
	if id != 0 {
		_, err := h.call(ctx, h.access, http.MethodPatch, there+strconv.FormatInt(id, 10), nil, change, &made)
		if !missing(err) {
			return made.ID, err
		}
	}
	_, err := h.call(ctx, h.access, http.MethodPost, list, nil, make, &made)
	return made.ID, err
}

// findComment returns the comment of ours with a marker, 0 if there is none. An
// app's are known by being a bot's, as only one of them uses our marker, and
// otherwise by whose token it is.
func (h onGitHub) findComment(ctx context.Context, list, marker string) (int64, error) {
	mine := func(by account) bool { return by.Type == "Bot" }
	if h.access.Token != "" {
		var me account
		if _, err := h.call(ctx, h.access, http.MethodGet, "user", nil, nil, &me); err != nil {
			return 0, err
		}
		mine = func(by account) bool { return by.ID == me.ID }
	}
	type comment struct {
		ID   int64
		Body string
		User account
	}
	for comments, err := range pages[[]comment](ctx, h.GitHub, h.access, list, url.Values{}) {
		if err != nil {
			return 0, err
		}
		for _, c := range comments {
			if strings.Contains(c.Body, marker) && mine(c.User) {
				return c.ID, nil
			}
		}
	}
	return 0, nil
}

// Check writes a report as a check run of the pull request's head. Only apps
// may: with a token it is a commit status.
func (h onGitHub) Check(ctx context.Context, r Report) (int64, error) {
	if h.access.Token != "" {
		var made numbered
		_, err := h.call(ctx, h.access, http.MethodPost, repoPath(r.Repo)+"/statuses/"+url.PathEscape(r.SHA), nil, map[string]string{
			"state":       r.status("failure"),
			"target_url":  r.URL,
			"description": excerpt.Dots(r.Title, maxStatus),
			"context":     checkName,
		}, &made)
		return made.ID, err
	}
	run := map[string]any{"name": checkName, "details_url": r.URL, "status": "completed", "conclusion": r.State,
		"output": map[string]string{"title": r.Title, "summary": r.Text}}
	first := maps.Clone(run)
	first["head_sha"] = r.SHA
	list := repoPath(r.Repo) + "/check-runs"
	return h.replace(ctx, r.ID, list+"/", list, run, first)
}

const (
	// checkName is what our check run or commit status is called.
	checkName = "svc"
	// maxStatus is how long GitHub lets the line of a commit status be.
	maxStatus = 140
)

// status returns a report's state as a commit status, which knows good and bad
// only: what is worth a warning does not stop anybody.
func (r Report) status(bad string) string {
	if r.State == ActionRequired {
		return bad
	}
	return "success"
}

// What a check may conclude.
const (
	Success        = "success"
	Neutral        = "neutral"
	ActionRequired = "action_required"
)
