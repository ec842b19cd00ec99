package forge

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// maxHeads is how many commits are remembered that a default branch was at.
const maxHeads = 20

// closeGap notes where a push moved the default branch, and makes it begin
// where the branch was last seen: webhooks between may have been missed, and
// not every host sends them again. One that comes late, after the branch went
// on from it, was looked at already.
func closeGap(ctx context.Context, tx *store.Tx, repo string, p *githost.Push) (late bool, err error) {
	seen, err := tx.Heads(ctx, repo)
	if err != nil {
		return false, err
	}
	if at := slices.Index(seen, p.After); at >= 0 {
		return at < len(seen)-1, nil
	}
	if len(seen) > 0 && strings.Trim(p.Before, "0") != "" && !slices.Contains(seen, p.Before) {
		last := seen[len(seen)-1]
		seen = append(seen, p.Before) // its own webhook may still come
		p.Before, p.Partial, p.Gap = last, true, true
	}
	seen = append(seen, p.After)
	return false, tx.SetHeads(ctx, repo, seen[max(0, len(seen)-maxHeads):])
}

// catchUpPushes asks a host what came to a repo's default branch since it was
// last seen, and takes it as if its webhook had come. The first time there is
// nothing to compare with.
func (s *Service) catchUpPushes(ctx context.Context, host *reach, from sender, installation int64, repo coord.Repo,
	now githost.Repo) error {
	var seen []string
	err := s.Read(ctx, func(tx *store.Tx) (err error) { seen, err = tx.Heads(ctx, repo.ID); return err })
	if err != nil {
		return err
	}
	last := ""
	if len(seen) > 0 {
		last = seen[len(seen)-1]
	}
	push, err := host.Since(ctx, now.FullName, mainBranch(repo, now), last)
	if err != nil || push == nil || slices.Contains(seen, push.After) {
		return err
	}
	return s.Alter(ctx, ground.System(from.org), func(c *ground.Change) error {
		if last == "" {
			return c.SetHeads(ctx, repo.ID, []string{push.After})
		}
		p := *push // a transaction may be tried again
		got, err := s.pushed(ctx, c, from, repo, githost.Event{Repo: now, Installation: installation, Push: &p})
		if err == nil {
			s.Logger.InfoContext(ctx, "asked a git host for a push that was missed", "provider", from.provider, "repo", now.FullName,
				"commit", push.After, "done", got.Reason)
		}
		return err
	})
}
