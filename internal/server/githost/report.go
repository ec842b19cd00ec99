package githost

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/google/go-github/v88/github"

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

func split(fullName string) (owner, name string) {
	owner, name, _ = strings.Cut(fullName, "/")
	return owner, name
}

// Comment writes a report as a comment on a pull request.
func (h onGitHub) Comment(ctx context.Context, r Report) (int64, error) {
	c, err := h.client(h.access)
	if err != nil {
		return 0, err
	}
	owner, name := split(r.Repo)
	body := &github.IssueComment{Body: &r.Text}
	if r.ID == 0 {
		mine, err := h.mine(ctx, c)
		if err != nil {
			return 0, err
		}
		for old, err := range c.Issues.ListCommentsIter(ctx, owner, name, r.Number, &github.IssueListCommentsOptions{
			ListOptions: github.ListOptions{PerPage: 100},
		}) {
			if err != nil {
				return 0, err
			}
			if strings.Contains(old.GetBody(), r.Marker) && mine(old.GetUser()) {
				r.ID = old.GetID()
				break
			}
		}
	}
	if r.ID != 0 {
		made, _, err := c.Issues.EditComment(ctx, owner, name, r.ID, body)
		if err == nil {
			return made.GetID(), nil
		}
		if !missing(err) {
			return 0, err
		}
	}
	made, _, err := c.Issues.CreateComment(ctx, owner, name, r.Number, body)
	return made.GetID(), err
}

// mine returns how our own comments are known: an app's by being a bot's, as
// only one of them uses our marker, and otherwise by whose token it is.
func (h onGitHub) mine(ctx context.Context, c *github.Client) (func(*github.User) bool, error) {
	if h.access.Token == "" {
		return func(u *github.User) bool { return u.GetType() == "Bot" }, nil
	}
	me, _, err := c.Users.Get(ctx, "")
	return func(u *github.User) bool { return u.GetID() == me.GetID() }, err
}

// Check writes a report as a check run of the pull request's head. Only apps
// may: with a token it is a commit status.
func (h onGitHub) Check(ctx context.Context, r Report) (int64, error) {
	c, err := h.client(h.access)
	if err != nil {
		return 0, err
	}
	owner, name := split(r.Repo)
	if h.access.Token != "" {
		state, title := r.status("failure"), excerpt.Dots(r.Title, maxStatus)
		made, _, err := c.Repositories.CreateStatus(ctx, owner, name, r.SHA, github.RepoStatus{
			State:       &state,
			TargetURL:   &r.URL,
			Description: &title,
			Context:     github.Ptr(checkName),
		})
		return made.GetID(), err
	}
	done := "completed"
	out := &github.CheckRunOutput{Title: &r.Title, Summary: &r.Text}
	if r.ID != 0 {
		run, _, err := c.Checks.UpdateCheckRun(ctx, owner, name, r.ID, github.UpdateCheckRunOptions{
			Name:       checkName,
			DetailsURL: &r.URL,
			Status:     &done,
			Conclusion: &r.State,
			Output:     out,
		})
		if err == nil {
			return run.GetID(), nil
		}
		if !missing(err) {
			return 0, err
		}
	}
	run, _, err := c.Checks.CreateCheckRun(ctx, owner, name, github.CreateCheckRunOptions{
		Name:       checkName,
		HeadSHA:    r.SHA,
		DetailsURL: &r.URL,
		Status:     &done,
		Conclusion: &r.State,
		Output:     out,
	})
	return run.GetID(), err
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

func missing(err error) bool {
	var answer *github.ErrorResponse
	return errors.As(err, &answer) && answer.Response != nil && (answer.Response.StatusCode == http.StatusNotFound ||
		answer.Response.StatusCode == http.StatusGone)
}
