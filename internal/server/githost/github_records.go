package githost

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// What GitHub tells of things, as far as it is read here.

type account struct {
	ID    int64
	Login string
	Type  string
}

type repository struct {
	ID            int64
	FullName      string `json:"full_name"`
	HTMLURL       string `json:"html_url"`
	CloneURL      string `json:"clone_url"`
	SSHURL        string `json:"ssh_url"`
	DefaultBranch string `json:"default_branch"`
	Private       bool
}

func (r repository) repo() Repo {
	return Repo{
		ID:            r.ID,
		FullName:      r.FullName,
		URL:           r.HTMLURL,
		Clones:        []string{r.CloneURL, r.SSHURL},
		DefaultBranch: r.DefaultBranch,
		Private:       r.Private,
	}
}

func names(repos []repository) []string {
	out := make([]string, len(repos))
	for i, r := range repos {
		out[i] = r.FullName
	}
	return unique(out)
}

type pullRequest struct {
	Number    int
	State     string
	Draft     bool
	Merged    bool
	MergedAt  hubTime `json:"merged_at"`
	UpdatedAt hubTime `json:"updated_at"`
	MergeSHA  string  `json:"merge_commit_sha"`
	HTMLURL   string  `json:"html_url"`
	Head      struct {
		Ref, SHA string
		Repo     repository
	}
	Base struct{ Ref string }
	User account
}

// pull reads a pull request of a repository. A list of them does not say
// whether they are merged, but when.
func (pr pullRequest) pull(of repository) Pull {
	p := Pull{Number: pr.Number, State: coord.PullOpen, Draft: pr.Draft, HeadRef: pr.Head.Ref, HeadSHA: pr.Head.SHA,
		SameRepo: pr.Head.Repo.FullName == of.FullName, BaseRef: pr.Base.Ref, Author: pr.User.Login,
		URL: pr.HTMLURL, ChangedAt: coord.Time(pr.UpdatedAt)}
	switch {
	case pr.Merged || pr.MergedAt != 0:
		p.State, p.MergeSHA = coord.PullMerged, pr.MergeSHA
	case pr.State == "closed":
		p.State = coord.PullClosed
	}
	return p
}

type installation struct {
	ID          int64
	Account     account
	Selection   string  `json:"repository_selection"`
	SuspendedAt hubTime `json:"suspended_at"`
	CreatedAt   hubTime `json:"created_at"`
	UpdatedAt   hubTime `json:"updated_at"`
}

func (i installation) installed() *Installed {
	return &Installed{
		ID:        i.ID,
		Account:   i.Account.Login,
		Selection: i.Selection,
		Suspended: i.SuspendedAt != 0,
		CreatedAt: coord.Time(i.CreatedAt),
		ChangedAt: coord.Time(i.UpdatedAt),
	}
}

type checkSuite struct {
	Branch string    `json:"head_branch"`
	SHA    string    `json:"head_sha"`
	Pulls  []pullRef `json:"pull_requests"`
}

type pullRef struct{ Number int }

// A hubHook is what is read of GitHub's webhooks, whatever their kind.
type hubHook struct {
	Action       string
	Repository   repository
	Installation installation
	PullRequest  pullRequest `json:"pull_request"`

	Ref, Before, After string
	Deleted            bool
	Commits            []struct {
		ID                       string
		Added, Modified, Removed []string
	}

	MergeGroup struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
	} `json:"merge_group"`
	CheckRun struct {
		Suite checkSuite `json:"check_suite"`
		Pulls []pullRef  `json:"pull_requests"`
	} `json:"check_run"`
	CheckSuite checkSuite `json:"check_suite"`

	Changes struct {
		Repository struct{ Name struct{ From string } }
		Owner      struct {
			From struct{ User, Organization account }
		}
	}
	Repositories []repository
	Added        []repository `json:"repositories_added"`
	Removed      []repository `json:"repositories_removed"`
}

// A hubTime is a moment as GitHub writes it: text, or in some webhooks a number
// of seconds.
type hubTime coord.Time

// UnmarshalJSON reads both.
func (t *hubTime) UnmarshalJSON(text []byte) error {
	if seconds, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*t = hubTime(seconds * 1000)
		return nil
	}
	var at time.Time
	if err := json.Unmarshal(text, &at); err != nil {
		return err
	}
	*t = 0
	if !at.IsZero() {
		*t = hubTime(at.UnixMilli())
	}
	return nil
}
