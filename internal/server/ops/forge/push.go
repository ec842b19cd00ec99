package forge

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// JobPush is the kind of the job that looks up what a push changed.
const JobPush = "push"

// A PushJob is a push to the default branch that touches live work.
type PushJob struct {
	Repo         string         `json:"repo"`
	Provider     coord.Provider `json:"provider"`
	URL          string         `json:"url"` // of the repository
	App          string         `json:"app"`
	Installation int64          `json:"installation"`
	FullName     string         `json:"full_name"`
	Before       string         `json:"before"`
	After        string         `json:"after"`
	Paths        []string       `json:"paths"`
	Branch       string         `json:"branch,omitempty"`
	Gap          bool           `json:"gap,omitempty"` // pushes between may have been told by their pull requests
}

// RunPush looks up which lines a push changed and raises rebase_needed with
// whoever works on them. What a merged intent accounts for is told in its name
// instead.
func (s *Service) RunPush(ctx context.Context, r *jobs.Run) error {
	var in PushJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	var host *reach
	if err := s.Read(ctx, func(tx *store.Tx) (err error) {
		host, err = s.reachOf(ctx, tx, r.OrgID, in.Provider, in.URL, in.App, in.Installation)
		return err
	}); err != nil || host == nil {
		return err
	}
	files, err := host.Changed(ctx, in.FullName, in.Before, in.After, in.Paths)
	if err != nil {
		return s.lookedUp(ctx, host, err)
	}
	merges := []string{in.After}
	if in.Gap {
		between, err := host.Since(ctx, in.FullName, in.Branch, in.Before)
		if err != nil && !githost.Gone(err) {
			return s.lookedUp(ctx, host, err)
		}
		if between != nil {
			merges = append(merges, between.Commits...)
		}
	}
	return s.Alter(ctx, ground.System(r.OrgID), func(c *ground.Change) error {
		if err := landPush(ctx, c, in, merges, files); err != nil {
			return err
		}
		return r.Finish(ctx, c.Tx)
	})
}

// unlessMissing turns a record that is no longer there into the end of a job.
func unlessMissing(err error) error {
	if problem.KindOf(err) == problem.NotFound {
		return nil
	}
	return err
}

// landPush records what a push changed as merged work, but for what intents
// that were merged by one of its commits account for.
func landPush(ctx context.Context, c *ground.Change, in PushJob, merges []string, files []coord.FileFacts) error {
	var told []string
	for _, merge := range merges {
		paths, err := c.MergedBy(ctx, c.Who.OrgID, in.Repo, merge)
		if err != nil {
			return err
		}
		told = append(told, paths...)
	}
	var rows []store.MergedRow
	var paths []string
	for _, f := range files {
		if slices.Contains(told, f.Path) {
			continue
		}
		m := store.MergedRow{RepoID: in.Repo, MergeID: in.After, Facts: f, At: c.Now}
		if err := c.InsertMerged(ctx, c.Who.OrgID, m); err != nil {
			return err
		}
		rows = append(rows, m)
		paths = append(paths, f.Path)
		if f.OldPath != nil {
			paths = append(paths, *f.OldPath)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	c.Live.SetMerged(in.Repo, in.After, rows)
	if err := tellMerged(ctx, c, in.Repo, in.After, len(rows)); err != nil {
		return err
	}
	for _, id := range work.WorkersOn(c, in.Repo, paths) {
		if _, err := c.Settle(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// tellMerged makes other replicas read merged work again.
func tellMerged(ctx context.Context, c *ground.Change, repo, id string, files int) error {
	return ground.Emit(ctx, c.Tx, c.Who, ground.Happening{
		Type:    coord.EventChangeRecorded,
		Subject: coord.Entity{Kind: "repo", ID: repo},
		Repo:    repo,
		Payload: wire.ChangePayload{Merge: id, Files: files},
	})
}

// forgetPush takes back what a push was recorded to have changed, as far as an
// intent that is about to close as merged by it accounts for it.
func forgetPush(ctx context.Context, c *ground.Change, i store.IntentRow, p store.Pull) error {
	if p.MergeSHA == "" {
		return nil
	}
	rows, err := c.MergedOf(ctx, c.Who.OrgID, i.Repo.ID, p.MergeSHA)
	if err != nil || len(rows) == 0 {
		return err
	}
	left := rows[:0:0]
	for _, m := range rows {
		if !slices.ContainsFunc(c.Live.Changes(i.ID), func(ch *engine.Change) bool { return ch.Facts.Path == m.Facts.Path }) {
			left = append(left, m)
			continue
		}
		if err := c.DeleteMerged(ctx, c.Who.OrgID, i.Repo.ID, p.MergeSHA, m.Facts.Path); err != nil {
			return err
		}
	}
	c.Live.SetMerged(i.Repo.ID, p.MergeSHA, left)
	return tellMerged(ctx, c, i.Repo.ID, p.MergeSHA, len(left))
}
