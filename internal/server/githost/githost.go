// Package githost speaks with the hosts where repositories live: it reads the
// webhooks of GitHub and GitLab into one form, and is a client of both for
// what we may do there. It decides nothing; package ops does.
package githost

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/limit"
)

// An Event is what a host tells of. One of Pull, Push, Installed, Moved, Group
// and Rerun is set, or none: then Nothing says why there is nothing to do.
type Event struct {
	Delivery     string // the host's name for the delivery; the same when it is sent again
	Repo         Repo
	Installation int64 // of the app, by which its host can be asked; 0 if there is none
	Pull         *Pull
	Push         *Push
	Installed    *Installed
	Moved        *Moved
	Group        *Group
	Rerun        *Rerun
	Nothing      string
}

// A Rerun tells that the check of pull requests is to be written again. Those
// from forks have no number here, only their head.
type Rerun struct {
	Numbers []int
	SHA     string
}

// A Group is what a merge queue is about to merge: the pull request at its end
// together with all before it in the queue.
type Group struct {
	SHA    string // where the checks belong
	Number int    // of the pull request at its end; 0 if its branch does not say
}

// Moved tells that a repository has another name or owner, or was archived.
type Moved struct {
	From     string // its full name before; empty if it did not change
	Archived *bool
}

// A Repo is a repository as its host names it.
type Repo struct {
	ID            int64 // the host's number, which stays through renames; 0 if it does not say
	FullName      string
	URL           string   // its page
	Clones        []string // where else it can be cloned from; ssh may have a host of its own
	DefaultBranch string
	Private       bool
}

// A Pull is a pull or merge request after something happened to it.
type Pull struct {
	Number    int
	State     coord.PullState
	Reopened  bool // it happened just now
	Draft     bool
	HeadRef   string
	HeadSHA   string
	SameRepo  bool // the branch is in the repository itself, not in a fork
	BaseRef   string
	Author    string // as the host names them; empty if it does not say
	MergeSHA  string // where it ended up, once merged
	URL       string
	ChangedAt coord.Time // by the host's clock
}

// A Push is a branch that moved.
type Push struct {
	Branch  string
	Before  string
	After   string
	Commits []string // ids of those that came in, as far as the host lists them
	Paths   []string // touched by its commits
	Partial bool     // there are more commits than the host lists
	Gap     bool     // it begins before what the host told of
	Deleted bool
}

// A Branch is what somebody has done beside the default branch.
type Branch struct {
	Files   []coord.FileFacts
	Cut     bool     // there are more files
	Commits int      // how many it has, as far as the host counts them
	Author  string   // who wrote the last of them, as people know them
	Emails  []string // of who wrote them
}

// Installed tells where an app is installed.
type Installed struct {
	ID        int64
	Account   string
	Selection string // all or selected
	Gone      bool
	Suspended bool
	Set       []string // all its repositories, if not nil
	Added     []string
	Removed   []string
	CreatedAt coord.Time
	ChangedAt coord.Time
}

// A Host is a place where repositories live, seen by somebody who may read
// code there and write comments.
type Host interface {
	// Changed returns what became of files between two commits, as a client
	// would tell it: which lines of which blob were replaced. Of the code
	// itself nothing is kept.
	Changed(ctx context.Context, repo, before, after string, paths []string) ([]coord.FileFacts, error)
	// Branch returns what a commit has that a branch does not: the lines of at most
	// so many files, from where the two parted.
	Branch(ctx context.Context, repo, base, head string, most int) (Branch, error)
	// Touched returns the files that a pull request changes, under their old and
	// new names, as far as the host lists them.
	Touched(ctx context.Context, repo string, number int) (limit.List[string], error)
	// Comment writes a report as a comment, in place of the one that is there,
	// and returns its id. One that was written but never remembered is found
	// by its marker, so that a crash in between does not make two.
	Comment(ctx context.Context, r Report) (int64, error)
	// Check writes a report as a check run, or as a commit status where the
	// host or our rights there know no check runs, in place of the one that is
	// there, and returns its id.
	Check(ctx context.Context, r Report) (int64, error)
	// Pulls returns a repository as it is now, wherever it went, and its pull
	// requests that changed since a moment, whatever became of them; with 0,
	// those that are open.
	Pulls(ctx context.Context, repo Repo, since coord.Time) (Repo, []Pull, error)
	// Since returns where a branch is now and what came to it since a commit,
	// as a push would have told it; nil if that is where it is.
	Since(ctx context.Context, repo, branch, commit string) (*Push, error)
}

// Why a webhook is refused.
var (
	ErrUnsigned = errors.New("it is not signed")
	ErrForged   = errors.New("its signature does not match the secret")
	ErrStale    = errors.New("it was signed more than five minutes ago")
)

// A Delivery is a webhook as it came.
type Delivery struct {
	Body   []byte
	Header func(name string) string
}

// HostID names a repository so that it stays the same through renames: by the
// host's name and the number it has there, or "" if one of them is not known.
func (r Repo) HostID() string {
	u, err := url.Parse(r.URL)
	if r.ID == 0 || err != nil || u.Hostname() == "" {
		return ""
	}
	return strings.ToLower(u.Hostname()) + "#" + strconv.FormatInt(r.ID, 10)
}

func unique(list []string) []string {
	seen := map[string]bool{}
	out := []string{}
	for _, s := range list {
		if s != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
