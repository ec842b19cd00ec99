package forge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// A sender is whoever a verified webhook comes from.
type sender struct {
	provider coord.Provider
	org      string
	source   string                                 // in whose name receipts are noted
	app      string                                 // the GitHub App; empty for none
	note     func(context.Context, *store.Tx) error // that something came
}

// hear takes a verified webhook: once, whatever name it comes under, and in
// one transaction with what it changes, so that one that fails can be sent
// again.
func (s *Service) hear(ctx context.Context, from sender, body []byte, e githost.Event) (out wire.HookReceipt, err error) {
	sum := sha256.Sum256(body)
	names := []string{"body " + hex.EncodeToString(sum[:])}
	if e.Delivery != "" {
		names = append(names, "delivery "+e.Delivery)
	}
	if e.Nothing != "" {
		out = ground.Ignored("%s", e.Nothing)
		err = s.Store.Write(ctx, from.source, func(tx *store.Tx) error { return from.note(ctx, tx) })
	} else {
		err = s.Alter(ctx, ground.System(from.org), func(c *ground.Change) error {
			first, err := c.NoteReceipt(ctx, from.source, names...)
			if err != nil {
				return err
			}
			if !first {
				out = wire.HookReceipt{Status: "duplicate", Reason: "it came before"}
				return nil
			}
			if err := from.note(ctx, c.Tx); err != nil {
				return err
			}
			out, err = s.actOn(ctx, c, from, e)
			return err
		})
	}
	if err == nil && out.Status != "done" {
		s.Logger.InfoContext(ctx, "left a webhook aside", "provider", from.provider, "delivery", e.Delivery, "status", out.Status, "reason",
			out.Reason)
	}
	return out, err
}

func (s *Service) actOn(ctx context.Context, c *ground.Change, from sender, e githost.Event) (wire.HookReceipt, error) {
	if e.Installed != nil {
		return installed(ctx, c, from, *e.Installed)
	}
	repo, err := hostedRepo(ctx, c, from, e)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	switch {
	case repo == nil:
		return ground.Ignored("no repo of this org is %s", e.Repo.FullName), nil
	case e.Moved != nil:
		return moved(ctx, c, *repo, e)
	case e.Rerun != nil:
		return rerun(ctx, c, from, *repo, *e.Rerun)
	case e.Group != nil:
		return s.grouped(ctx, c, from, *repo, e)
	case e.Pull != nil:
		return s.pullChanged(ctx, c, from, *repo, e)
	}
	return s.pushed(ctx, c, from, *repo, e)
}

// outOfDate says why what a host tells of a pull request is no longer news,
// if so: webhooks come in any order.
func outOfDate(was *store.Pull, p *githost.Pull) string {
	switch {
	case was == nil:
	case was.State == coord.PullMerged:
		return "the pull request is merged, which is the end of it"
	case p.ChangedAt < was.ChangedAt, p.ChangedAt == was.ChangedAt && p.State.Rank() < was.State.Rank() && !p.Reopened:
		return "it is older than what is known of the pull request"
	}
	return ""
}

// pullChanged takes what became of a pull request and moves its intents.
func (s *Service) pullChanged(ctx context.Context, c *ground.Change, from sender, repo coord.Repo,
	e githost.Event) (wire.HookReceipt, error) {
	p := e.Pull
	was, err := c.Pull(ctx, repo.ID, from.provider, p.Number)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	if why := outOfDate(was, p); why != "" {
		return ground.Ignored("%s", why), nil
	}
	now := pullNow(c.Who.OrgID, from, repo, e, was)
	main := mainBranch(repo, e.Repo)
	move := func(i *store.IntentRow) error { return movePulled(ctx, c, i, was, now) }
	var by *store.Pull // with which it arrived on the default branch
	if now.State == coord.PullMerged {
		if by, err = reached(ctx, c, now, main, map[string]bool{}); err != nil {
			return wire.HookReceipt{}, err
		}
		move = func(i *store.IntentRow) error { return landOrWait(ctx, c, i, now, by, main) }
		if by != nil {
			now.MergeSHA = by.MergeSHA
		}
	}
	if err := c.SavePull(ctx, now); err != nil {
		return wire.HookReceipt{}, err
	}
	moved, err := eachIntent(ctx, c, now, move)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	if by != nil {
		followed, err := followers(ctx, c, now, main)
		if err != nil {
			return wire.HookReceipt{}, err
		}
		moved = append(moved, followed...)
	}
	if err := ground.FirstError(s.noteOutside(ctx, c, repo, e, now), s.askReport(ctx, c, now)); err != nil {
		return wire.HookReceipt{}, err
	}
	if was == nil || was.State != now.State {
		if err := s.wakeOthers(ctx, c, now); err != nil {
			return wire.HookReceipt{}, err
		}
	}
	if len(moved) == 0 {
		return ground.Done("no live intent is on the branch %s", p.HeadRef), nil
	}
	return ground.Done("%s: the pull request is %s", strings.Join(moved, ", "), p.State), nil
}

// pullNow is the record of a pull request as an event tells it.
func pullNow(org string, from sender, repo coord.Repo, e githost.Event, was *store.Pull) store.Pull {
	p := e.Pull
	now := store.Pull{
		ID:           ground.NewID(),
		OrgID:        org,
		RepoID:       repo.ID,
		Provider:     from.provider,
		Number:       p.Number,
		State:        p.State,
		Draft:        p.Draft,
		HeadRef:      p.HeadRef,
		HeadSHA:      p.HeadSHA,
		SameRepo:     p.SameRepo,
		BaseRef:      p.BaseRef,
		MergeSHA:     p.MergeSHA,
		URL:          p.URL,
		FullName:     e.Repo.FullName,
		Private:      e.Repo.Private,
		App:          from.app,
		Installation: e.Installation,
		ChangedAt:    p.ChangedAt,
	}
	if was != nil {
		now.ID = was.ID
		if from.app == "" && was.App != "" { // told by a second webhook: the app may do more
			now.App, now.Installation = was.App, was.Installation
		}
	}
	return now
}

// mainBranch returns the branch on which work has arrived.
func mainBranch(repo coord.Repo, there githost.Repo) string {
	return cmp.Or(there.DefaultBranch, repo.DefaultBranch)
}

// eachIntent calls fn with each live intent of a pull request and returns
// their refs.
func eachIntent(ctx context.Context, c *ground.Change, p store.Pull, fn func(*store.IntentRow) error) (refs []string, err error) {
	intents, err := c.IntentsOfPull(ctx, p, c.Now.Add(time.Hour)) // none has closed in the future: those that are live
	if err != nil {
		return nil, err
	}
	for _, i := range intents {
		fresh, err := c.IntentByID(ctx, c.Who.OrgID, i.ID) // an earlier one may have changed it
		if err != nil {
			return nil, err
		}
		if err := fn(&fresh); err != nil {
			return nil, err
		}
		refs = append(refs, i.Ref)
	}
	return refs, nil
}

// movePulled moves one intent to where its pull request is, which is not
// merged.
func movePulled(ctx context.Context, c *ground.Change, i *store.IntentRow, was *store.Pull, now store.Pull) error {
	if now.State == coord.PullClosed {
		if was != nil && was.State == coord.PullClosed {
			return nil
		}
		return tellPulled(ctx, c, *i, now, "was closed",
			fmt.Sprintf("was closed without being merged; %s stays %s. Go on with it, or close it (`intent_close` with outcome abandoned).", i.Ref,
				i.Status))
	}
	patch := wire.IntentPatch{PRNumber: &now.Number}
	// Only what just opened moves the intent: its owner may have taken it
	// back to work since.
	if opened := was == nil || was.State != coord.PullOpen || was.Draft || i.PRNumber == nil; opened && !now.Draft {
		review := string(coord.IntentInReview)
		patch.Status = &review
	}
	if was != nil && !was.Draft && now.Draft && i.Status == coord.IntentInReview { // taken back from review
		active := string(coord.IntentActive)
		patch.Status = &active
	}
	switch {
	case i.Status == coord.IntentDraft:
		return numberDraft(ctx, c, i, now.Number)
	case patch.Status == nil && i.PRNumber != nil && *i.PRNumber == now.Number:
		return c.TouchIntent(ctx, i.ID, c.Now)
	}
	_, err := work.Revise(ctx, c, i, patch, nil, nil)
	return err
}

// numberDraft notes the pull request of a draft, which stays one: to promote
// it would show its title.
func numberDraft(ctx context.Context, c *ground.Change, i *store.IntentRow, number int) error {
	i.PRNumber = &number
	return ground.FirstError(c.SaveIntent(ctx, i), work.TellIntent(ctx, c, coord.EventIntentUpdated, *i))
}

// pullName is what a host's people call a pull request.
func pullName(p store.Pull) string {
	if p.Provider == coord.GitLab {
		return fmt.Sprintf("Merge request !%d", p.Number)
	}
	return fmt.Sprintf("Pull request #%d", p.Number)
}

// tellPulled tells an intent's owner what became of its pull request, where
// only they know what next.
func tellPulled(ctx context.Context, c *ground.Change, i store.IntentRow, p store.Pull, what, more string) error {
	subject := fmt.Sprintf("%s of %s %s", pullName(p), i.Ref, what)
	body := fmt.Sprintf("%s of %s %s", pullName(p), i.Ref, more)
	about := &coord.About{Kind: "intent", Ref: i.Ref}
	_, err := ground.Post(ctx, c.Tx, c.Who, ground.Letter{
		Thread:     store.DirectThread([]string{i.Owner.ID}, about, &subject),
		To:         "intent:" + i.Ref,
		Subject:    &subject,
		Body:       body,
		About:      about,
		Recipients: []string{i.Owner.ID},
	})
	return err
}

// pushed takes that a branch moved: a sign of life of the work on it, or, on
// the default branch, what others may have to rebase on.
func (s *Service) pushed(ctx context.Context, c *ground.Change, from sender, repo coord.Repo, e githost.Event) (wire.HookReceipt, error) {
	p := e.Push
	main := mainBranch(repo, e.Repo)
	if p.Deleted {
		return ground.Ignored("the branch was deleted"), forgetPushed(ctx, c, repo, *p)
	}
	if p.Branch != main {
		return s.branchPushed(ctx, c, from, repo, e)
	}
	if err := forgetPushed(ctx, c, repo, *p); err != nil {
		return wire.HookReceipt{}, err
	}
	late, err := closeGap(ctx, c.Tx, repo.ID, p)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	landed, err := landPushed(ctx, c, from, repo, *p)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	receipt := ground.Ignored("it was looked at with a later push")
	if !late {
		receipt, err = s.lookUpPush(ctx, c, from, repo, e)
	}
	if err == nil && len(landed) > 0 {
		receipt = ground.Done("%s: it has arrived on %s; %s", strings.Join(landed, ", "), main, receipt.Reason)
	}
	return receipt, err
}

// lookUpPush has the lines looked up of a push to the default branch that
// others may have to rebase on.
func (s *Service) lookUpPush(ctx context.Context, c *ground.Change, from sender, repo coord.Repo,
	e githost.Event) (wire.HookReceipt, error) {
	p := e.Push
	paths := workedOn(c, repo.ID, p.Paths, p.Partial)
	if len(paths) == 0 {
		return ground.Ignored("nobody works on what was pushed"), nil
	}
	host, err := s.reachOf(ctx, c.Tx, c.Who.OrgID, from.provider, e.Repo.URL, from.app, e.Installation)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	if host == nil || strings.Trim(p.Before, "0") == "" {
		return ground.Ignored("which lines were pushed cannot be looked up"), nil
	}
	job := PushJob{
		Repo:         repo.ID,
		Provider:     from.provider,
		URL:          e.Repo.URL,
		App:          from.app,
		Installation: e.Installation,
		FullName:     e.Repo.FullName,
		Before:       p.Before,
		After:        p.After,
		Paths:        paths,
		Branch:       p.Branch,
		Gap:          p.Gap,
	}
	err = jobs.Add(ctx, c.Tx, jobs.New{Kind: JobPush, Org: c.Who.OrgID, Key: JobPush + ":" + repo.ID + ":" + p.After, Payload: job})
	return ground.Done("%d pushed files are looked at for those who work on them", len(paths)), err
}

// branchPushed takes a push to another branch: it is a sign of life of the work
// there, or work that svc knows nothing of.
func (s *Service) branchPushed(ctx context.Context, c *ground.Change, from sender, repo coord.Repo,
	e githost.Event) (wire.HookReceipt, error) {
	branch := e.Push.Branch
	intents, err := c.Intents(ctx, c.Who.OrgID, store.IntentFilter{Repo: repo.ID, Branch: branch, Statuses: coord.LiveIntentStatuses()})
	if err == nil && len(intents) == 0 {
		return ground.Ignored("no live intent is on the branch %s", branch), s.noteBranch(ctx, c, from, repo, e)
	}
	if err != nil {
		return wire.HookReceipt{}, err
	}
	for _, i := range intents {
		if err := c.TouchIntent(ctx, i.ID, c.Now); err != nil {
			return wire.HookReceipt{}, err
		}
	}
	return ground.Done("noted as activity on the branch %s", branch), nil
}

// workedOn returns those of some paths, or of any, that live work has changed.
func workedOn(c *ground.Change, repo string, paths []string, any bool) (out []string) {
	pushed := map[string]bool{}
	for _, p := range paths {
		pushed[p] = true
	}
	for _, id := range c.Live.Workers(repo) {
		if c.Live.Worker(id).Outside != nil {
			continue
		}
		for _, ch := range c.Live.Changes(id) {
			for _, p := range []*string{&ch.Facts.Path, ch.Facts.OldPath} {
				if p != nil && (any || pushed[*p]) && !slices.Contains(out, *p) {
					out = append(out, *p)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}
