package forge

import (
	"context"
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// Pull requests may stand on one another: one is merged into the branch of the
// next, and its work has arrived only when the last is on the default branch.

// reached returns the pull request by which a merged one is on the default
// branch: itself, or one from the branch that it was merged into, if that came
// no earlier. It is nil if it is not there yet.
func reached(ctx context.Context, c *ground.Change, p store.Pull, main string, seen map[string]bool) (*store.Pull, error) {
	if p.BaseRef == main || p.BaseRef == "" {
		return &p, nil
	}
	if seen[p.ID] {
		return nil, nil
	}
	seen[p.ID] = true
	next, err := c.PullsFrom(ctx, p.RepoID, p.Provider, p.BaseRef, p.ChangedAt)
	if err != nil {
		return nil, err
	}
	for _, n := range next {
		by, err := reached(ctx, c, n, main, seen)
		if err != nil || by != nil {
			return by, err
		}
	}
	return nil, nil
}

// landOrWait moves an intent whose pull request was merged: to its end, or, if
// that was into another branch than the default, to wait for that one.
func landOrWait(ctx context.Context, c *ground.Change, i *store.IntentRow, p store.Pull, by *store.Pull, main string) error {
	if by != nil {
		return landIntent(ctx, c, i, p)
	}
	if i.Status == coord.IntentDraft {
		if err := numberDraft(ctx, c, i, p.Number); err != nil {
			return err
		}
	} else {
		review := string(coord.IntentInReview)
		if _, err := work.Revise(ctx, c, i, wire.IntentPatch{PRNumber: &p.Number, Status: &review}, nil, nil); err != nil {
			return err
		}
	}
	return tellPulled(ctx, c, *i, p, "was merged into "+p.BaseRef,
		fmt.Sprintf("was merged into %s, not into %s. %s stays in review and closes by itself when %s arrives on %s. If it never will, "+
			"close it (`intent_close` with outcome merged).", p.BaseRef, main, i.Ref, p.BaseRef, main))
}

// landIntent closes an intent whose pull request is on the default branch.
func landIntent(ctx context.Context, c *ground.Change, i *store.IntentRow, p store.Pull) error {
	if err := forgetPush(ctx, c, *i, p); err != nil {
		return err
	}
	outcome := coord.OutcomeMerged
	i.PRNumber, i.Outcome = &p.Number, &outcome
	return work.End(ctx, c, i, coord.IntentMerged, coord.EventIntentClosed)
}

// followers closes what was merged into the branch of a pull request that is
// on the default branch now, with its merge commit, and into the branches of
// those. It returns the intents' refs.
func followers(ctx context.Context, c *ground.Change, p store.Pull, main string) (refs []string, err error) {
	seen := map[string]bool{p.ID: true}
	for queue := []store.Pull{p}; len(queue) > 0; queue = queue[1:] {
		on := queue[0]
		if !on.SameRepo || on.HeadRef == main { // a branch of a fork only has the same name
			continue
		}
		pulls, err := c.PullsInto(ctx, on.RepoID, on.Provider, on.HeadRef, on.ChangedAt)
		if err != nil {
			return nil, err
		}
		for _, q := range pulls {
			if seen[q.ID] {
				continue
			}
			seen[q.ID] = true
			landed, err := follow(ctx, c, q, p.MergeSHA)
			if err != nil {
				return nil, err
			}
			refs = append(refs, landed...)
			queue = append(queue, q)
		}
	}
	return refs, nil
}

// follow closes the intents that waited since their pull request was merged,
// which has now arrived with a commit. Who went on with another pull request,
// or went back to work, is left alone.
func follow(ctx context.Context, c *ground.Change, p store.Pull, sha string) (refs []string, err error) {
	p.MergeSHA = sha
	if err := c.SavePull(ctx, p); err != nil {
		return nil, err
	}
	_, err = eachIntent(ctx, c, p, func(i *store.IntentRow) error {
		working := i.Status == coord.IntentActive || i.Status == coord.IntentBlocked && i.Resume == coord.IntentActive
		if working || i.PRNumber == nil || *i.PRNumber != p.Number {
			return nil
		}
		refs = append(refs, i.Ref)
		return landIntent(ctx, c, i, p)
	})
	return refs, err
}

// landPushed closes the intents whose pull requests were merged into another
// branch and have come to the default branch by a push.
func landPushed(ctx context.Context, c *ground.Change, from sender, repo coord.Repo, p githost.Push) (refs []string, err error) {
	waiting, err := c.PullsWaiting(ctx, repo.ID, from.provider, p.Branch)
	if err != nil {
		return nil, err
	}
	for _, w := range waiting {
		if w.MergeSHA == "" || !slices.Contains(p.Commits, w.MergeSHA) {
			continue
		}
		landed, err := follow(ctx, c, w, p.After)
		if err != nil {
			return nil, err
		}
		refs = append(refs, landed...)
	}
	return refs, nil
}
