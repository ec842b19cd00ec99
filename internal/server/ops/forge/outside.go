package forge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// JobBranch is the kind of the job that looks at what people changed who do not
// use svc: which lines of which files their branch replaces.
const JobBranch = "branch"

// A BranchJob says which branch.
type BranchJob struct {
	Branch string `json:"branch"`
}

const (
	// maxBranches bounds how many branches and pull requests of one repository
	// count, the latest pushed.
	maxBranches = 100
	// maxBranchFiles bounds how many files of one are looked at: each costs a
	// question or two to the host.
	maxBranchFiles = 50
	// maxBranchCommits is what a branch without a pull request may have. One with
	// more, or with more files, is a line of development of its own and no piece of
	// work that is about to land.
	maxBranchCommits = 100
)

// noteOutside takes that a pull request changed whose work may not be known to
// svc: then its lines are looked up.
func (s *Service) noteOutside(ctx context.Context, c *ground.Change, repo coord.Repo, e githost.Event, p store.Pull) error {
	rows, err := c.Branches(ctx, c.Who.OrgID, store.BranchFilter{Repo: repo.ID, Number: p.Number})
	if err == nil && len(rows) == 0 && p.SameRepo { // it was pushed before
		rows, err = c.Branches(ctx, c.Who.OrgID, store.BranchFilter{Repo: repo.ID, Name: p.HeadRef})
	}
	if err != nil {
		return err
	}
	intents, err := c.IntentsOfPull(ctx, p, c.Now.Add(time.Hour))
	if err != nil {
		return err
	}
	if p.State != coord.PullOpen || len(intents) > 0 { // its intents tell more
		return forgetAll(ctx, c, rows)
	}
	b := store.Branch{ID: ground.NewID(), OrgID: c.Who.OrgID, Since: c.Now}
	if len(rows) > 0 {
		b = rows[0]
	}
	known := b.Number == p.Number && b.HeadSHA == p.HeadSHA && b.BaseRef == p.BaseRef && b.Looked()
	b.Repo, b.Provider = coord.RepoName{ID: repo.ID, FullName: repo.FullName}, p.Provider
	b.Name, b.Number, b.Fork = p.HeadRef, p.Number, !p.SameRepo
	b.BaseRef, b.HeadSHA, b.URL, b.Author = p.BaseRef, p.HeadSHA, p.URL, cmp.Or(e.Pull.Author, b.Author)
	b.FullName, b.App, b.Installation, b.PushedAt = p.FullName, p.App, p.Installation, min(cmp.Or(p.ChangedAt, c.Now), c.Now)
	if known {
		return c.SaveBranch(ctx, b)
	}
	return s.lookAt(ctx, c, b)
}

// noteBranch takes that somebody pushed to another branch than the default one.
func (s *Service) noteBranch(ctx context.Context, c *ground.Change, from sender, repo coord.Repo, e githost.Event) error {
	if strings.HasPrefix(e.Push.Branch, "gh-readonly-queue/") { // what a merge queue makes
		return nil
	}
	rows, err := c.Branches(ctx, c.Who.OrgID, store.BranchFilter{Repo: repo.ID, Name: e.Push.Branch})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		tree := "/tree/"
		if from.provider == coord.GitLab {
			tree = "/-/tree/"
		}
		rows = []store.Branch{{ID: ground.NewID(), OrgID: c.Who.OrgID, Repo: coord.RepoName{ID: repo.ID, FullName: repo.FullName},
			Provider: from.provider, Name: e.Push.Branch, BaseRef: mainBranch(repo, e.Repo), URL: e.Repo.URL + tree + e.Push.Branch,
			FullName: e.Repo.FullName, App: from.app, Installation: e.Installation, Since: c.Now}}
	}
	for _, b := range rows {
		if b.HeadSHA != e.Push.After {
			b.HeadSHA, b.PushedAt = e.Push.After, c.Now
			err = ground.FirstError(err, s.lookAt(ctx, c, b))
		}
	}
	return err
}

// lookAt has a branch looked at, if its host can be asked and it is not too old.
func (s *Service) lookAt(ctx context.Context, c *ground.Change, b store.Branch) error {
	host, err := s.reachOf(ctx, c.Tx, b.OrgID, b.Provider, b.URL, b.App, b.Installation)
	if err != nil || host == nil || b.PushedAt < c.Now.Add(-work.BranchKept) {
		return err
	}
	return ground.FirstError(c.SaveBranch(ctx, b), jobs.Gather(ctx, c.Tx, jobs.New{Kind: JobBranch, Org: b.OrgID, Key: JobBranch + ":" + b.ID,
		Payload: BranchJob{b.ID}, At: c.Now.Add(reportGather)}))
}

func forgetAll(ctx context.Context, c *ground.Change, rows []store.Branch) (err error) {
	for _, b := range rows {
		if err == nil {
			err = work.ForgetBranch(ctx, c, b)
		}
	}
	return err
}

// forgetPushed ends the work outside that was deleted, or is on the default branch now.
func forgetPushed(ctx context.Context, c *ground.Change, repo coord.Repo, p githost.Push) error {
	want := store.BranchFilter{Repo: repo.ID}
	if p.Deleted {
		want.Name = p.Branch
	}
	rows, err := c.Branches(ctx, c.Who.OrgID, want)
	if !p.Deleted {
		rows = slices.DeleteFunc(rows, func(b store.Branch) bool { return b.HeadSHA != p.After && !slices.Contains(p.Commits, b.HeadSHA) })
	}
	return ground.FirstError(err, forgetAll(ctx, c, rows))
}

// RunBranch looks up which lines a branch replaces that nobody told svc of.
func (s *Service) RunBranch(ctx context.Context, r *jobs.Run) error {
	var in BranchJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	var b *store.Branch
	var host *reach
	if err := s.Read(ctx, func(tx *store.Tx) (err error) {
		if b, err = tx.BranchByID(ctx, r.OrgID, in.Branch); err != nil || b == nil {
			return err
		}
		host, err = s.reachOf(ctx, tx, r.OrgID, b.Provider, b.URL, b.App, b.Installation)
		return err
	}); err != nil || b == nil || host == nil {
		return err
	}
	found, err := host.Branch(ctx, b.FullName, b.BaseRef, b.HeadSHA, maxBranchFiles)
	if err != nil {
		return s.lookedUp(ctx, host, err)
	}
	return s.Alter(ctx, ground.System(r.OrgID), func(c *ground.Change) error {
		now, err := c.BranchByID(ctx, r.OrgID, in.Branch)
		if err == nil && now != nil && now.HeadSHA == b.HeadSHA { // else another look is due, or it is over
			err = takeBranch(ctx, c, *now, found)
		}
		return ground.FirstError(err, r.Finish(ctx, c.Tx))
	})
}

// takeBranch makes a worker of what a branch changes, unless it is none.
func takeBranch(ctx context.Context, c *ground.Change, b store.Branch, found githost.Branch) (err error) {
	live, err := c.Intents(ctx, b.OrgID, store.IntentFilter{Repo: b.Repo.ID, Branch: b.Name, Statuses: coord.LiveIntentStatuses()})
	if err != nil {
		return err
	}
	if len(found.Files) == 0 || !b.Fork && len(live) > 0 || b.Number == 0 && (found.Cut || found.Commits > maxBranchCommits) {
		return work.ForgetBranch(ctx, c, b)
	}
	b.Author, b.Files, b.Cut = cmp.Or(b.Author, found.Author), len(found.Files), found.Cut
	if b.User, err = author(ctx, c, found.Emails); err != nil {
		return err
	}
	if err := ground.FirstError(c.SaveBranch(ctx, b), c.SetBranchChanges(ctx, b, found.Files)); err != nil {
		return err
	}
	c.Live.PutBranch(b, found.Files)
	rows, err := c.Branches(ctx, b.OrgID, store.BranchFilter{Repo: b.Repo.ID})
	if len(rows) > maxBranches {
		err = ground.FirstError(err, forgetAll(ctx, c, rows[maxBranches:]))
	}
	return ground.FirstError(err, work.TellBranch(ctx, c, coord.EventBranchPushed, b))
}

// author returns the one member who wrote a branch's commits, nil if it is none
// or more than one.
func author(ctx context.Context, c *ground.Change, emails []string) (*coord.User, error) {
	var out *coord.User
	for _, email := range emails {
		m, err := c.MemberByEmail(ctx, c.Who.OrgID, email)
		switch {
		case problem.KindOf(err) == problem.NotFound:
		case err != nil:
			return nil, err
		case out != nil && out.ID != m.ID:
			return nil, nil
		default:
			out = &m.User
		}
	}
	return out, nil
}
