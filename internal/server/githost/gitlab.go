package githost

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/svc-hq/svc/internal/core/coord"
)

// tolerance is how old a signed webhook may be.
const tolerance = 5 * time.Minute

// VerifyGitLab checks that a delivery comes from whoever holds the secret:
// signed with it, as newer versions of GitLab do when it is set as signing
// token, or carrying it as secret token. One that is signed must be signed
// well, whatever else it carries.
func (d Delivery) VerifyGitLab(secret string, now coord.Time) error {
	if d.Header("webhook-signature") != "" {
		return d.verifySigned(secret, now)
	}
	token := d.Header("X-Gitlab-Token")
	if token == "" {
		return ErrUnsigned
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(secret)) != 1 {
		return ErrForged
	}
	return nil
}

func (d Delivery) verifySigned(secret string, now coord.Time) error {
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	header := map[string][]string{}
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		header[name] = []string{d.Header(name)}
	}
	if wh.VerifyIgnoringTimestamp(d.Body, header) != nil {
		return ErrForged
	}
	seconds, err := strconv.ParseInt(d.Header("webhook-timestamp"), 10, 64)
	if err != nil {
		return ErrForged
	}
	if age := now.Sub(coord.Time(seconds * 1000)); age > tolerance || age < -tolerance {
		return ErrStale
	}
	return nil
}

// gitlabProject is what webhooks and the API alike tell of a project.
type gitlabProject struct {
	ID                int64  `json:"id"`
	PathWithNamespace string `json:"path_with_namespace"`
	WebURL            string `json:"web_url"`
	DefaultBranch     string `json:"default_branch"`
}

// gitlabHook is what we read of GitLab's merge request and push events.
type gitlabHook struct {
	Kind    string `json:"object_kind"`
	Project struct {
		gitlabProject
		SSHURL     string `json:"git_ssh_url"`
		HTTPURL    string `json:"git_http_url"`
		Visibility int    `json:"visibility_level"`
	} `json:"project"`
	Attributes struct {
		IID            int        `json:"iid"`
		Action         string     `json:"action"`
		State          string     `json:"state"`
		Draft          bool       `json:"draft"`
		WorkInProgress bool       `json:"work_in_progress"`
		SourceBranch   string     `json:"source_branch"`
		TargetBranch   string     `json:"target_branch"`
		SourceProject  int64      `json:"source_project_id"`
		TargetProject  int64      `json:"target_project_id"`
		MergeCommit    string     `json:"merge_commit_sha"`
		SquashCommit   string     `json:"squash_commit_sha"`
		URL            string     `json:"url"`
		UpdatedAt      gitlabTime `json:"updated_at"`
		LastCommit     struct {
			ID string `json:"id"`
		} `json:"last_commit"`
	} `json:"object_attributes"`
	Ref     string `json:"ref"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Commits []struct {
		ID                       string
		Added, Modified, Removed []string
	} `json:"commits"`
	TotalCommits int `json:"total_commits_count"`

	// Of system hooks, which tell of projects themselves.
	Event     string `json:"event_name"`
	ProjectID int64  `json:"project_id"`
	Path      string `json:"path_with_namespace"`
	OldPath   string `json:"old_path_with_namespace"`
}

// A gitlabTime is written in one of two ways, depending on GitLab's version.
type gitlabTime coord.Time

// UnmarshalJSON reads either form; a time that cannot be read is none.
func (t *gitlabTime) UnmarshalJSON(text []byte) error {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05 MST", "2006-01-02 15:04:05 -0700"} {
		if at, err := time.Parse(layout, strings.Trim(string(text), `"`)); err == nil {
			*t = gitlabTime(at.UnixMilli())
			return nil
		}
	}
	return nil
}

var gitlabStates = map[string]coord.PullState{
	"opened": coord.PullOpen,
	"locked": coord.PullOpen,
	"closed": coord.PullClosed,
	"merged": coord.PullMerged,
}

// gitlabActions are those after which something is to be done.
var gitlabActions = map[string]bool{"open": true, "reopen": true, "close": true, "merge": true, "update": true}

const noCommit = "0000000000000000000000000000000000000000"

// ReadGitLab reads a verified delivery of the GitLab at instance.
func ReadGitLab(delivery, instance string, payload []byte) (e Event, err error) {
	var h gitlabHook
	if err := json.Unmarshal(payload, &h); err != nil {
		return e, fmt.Errorf("the event cannot be read: %w", err)
	}
	e.Delivery = delivery
	if h.Event == "project_rename" || h.Event == "project_transfer" {
		readProject(&e, h, instance)
		return e, nil
	}
	e.Repo = Repo{
		ID:            h.Project.ID,
		FullName:      h.Project.PathWithNamespace,
		URL:           h.Project.WebURL,
		Clones:        []string{h.Project.HTTPURL, h.Project.SSHURL},
		DefaultBranch: h.Project.DefaultBranch,
		Private:       h.Project.Visibility < 20,
	}
	a := h.Attributes
	switch {
	case h.Kind == "push":
		branch, _ := strings.CutPrefix(h.Ref, "refs/heads/")
		e.Push = &Push{Branch: branch, Before: h.Before, After: h.After, Deleted: h.After == noCommit}
		e.Push.Partial = h.TotalCommits > len(h.Commits) // GitLab lists the newest twenty
		for _, c := range h.Commits {
			e.Push.Commits = append(e.Push.Commits, c.ID)
			e.Push.Paths = append(e.Push.Paths, slices.Concat(c.Added, c.Modified, c.Removed)...)
		}
		e.Push.Paths = unique(e.Push.Paths)
	case h.Kind != "merge_request":
		e.Nothing = "nothing is to be done for a " + strconv.Quote(h.Kind) + " event"
	case !gitlabActions[a.Action] || gitlabStates[a.State] == "":
		e.Nothing = "nothing is to be done for a merge request with the action " + strconv.Quote(a.Action) + " in the state " +
			strconv.Quote(a.State)
	case a.IID <= 0 || h.Project.PathWithNamespace == "":
		e.Nothing = "it names no merge request"
	default:
		e.Pull = &Pull{Number: a.IID, State: gitlabStates[a.State], Reopened: a.Action == "reopen", Draft: a.Draft || a.WorkInProgress,
			HeadRef: a.SourceBranch, HeadSHA: a.LastCommit.ID, SameRepo: a.SourceProject == a.TargetProject, BaseRef: a.TargetBranch,
			URL: a.URL, ChangedAt: coord.Time(a.UpdatedAt)}
		if e.Pull.State == coord.PullMerged { // without a merge commit, the branch itself was moved on
			e.Pull.MergeSHA = cmp.Or(a.MergeCommit, a.SquashCommit, a.LastCommit.ID)
		}
	}
	return e, nil
}

// readProject reads a system hook that tells where a project went. It names no
// address: that of the instance is in a header.
func readProject(e *Event, h gitlabHook, instance string) {
	if h.Path == "" || h.OldPath == "" || instance == "" {
		e.Nothing = "it does not say which project went where"
		return
	}
	e.Repo = Repo{ID: h.ProjectID, FullName: h.Path, URL: strings.TrimSuffix(instance, "/") + "/" + h.Path, Private: true}
	e.Moved = &Moved{From: h.OldPath}
}
