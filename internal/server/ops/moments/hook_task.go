package moments

import (
	"context"
	"net/url"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// taskKind tells the tasks of hosts' own teams among what intents refer to.
const taskKind = "team_task"

// maxTasks is how many live intents a person may have here before a team's
// tasks are left out: a list of hundreds tells nobody anything.
const maxTasks = 100

// task keeps a task of the host's own team as an intent. It has no session and
// no scope, so it is in nobody's way: the agent that takes it edits in a session
// of its own, which is what collides.
func (h *hook) task(ctx context.Context, t wire.HookTask) error {
	rules, err := h.EffectivePolicy(ctx, h.Who.OrgID, h.repo.ID)
	if err != nil || !rules.AutoDraft || !h.Who.Role.CanOwnIntents() {
		return err
	}
	address := "urn:svc:" + taskKind + ":" + url.PathEscape(t.Team) + ":" + url.PathEscape(t.ID)
	live, err := h.Intents(ctx, h.Who.OrgID, store.IntentFilter{
		Repo: h.repo.ID, Owner: h.Who.UserID, Statuses: coord.LiveIntentStatuses(), Limit: maxTasks,
	})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(live, func(i store.IntentRow) bool { return i.ExternalRef != nil && i.ExternalRef.URL == address })
	switch {
	case at >= 0 && t.Done:
		outcome := coord.OutcomeMerged
		live[at].Outcome = &outcome
		return work.End(ctx, h.Change, &live[at], coord.IntentMerged, coord.EventIntentClosed)
	case at >= 0 || t.Done || len(live) == maxTasks:
		return nil
	}
	i := h.newIntent(h.taskTitle(t), coord.IntentActive)
	i.ExternalRef = &coord.ExternalRef{Kind: taskKind, URL: address, ID: &t.ID}
	return h.announce(ctx, &i, coord.EventIntentDeclared)
}

func (h *hook) taskTitle(t wire.HookTask) string {
	if t.Title == "" || h.Who.DataMode == coord.DataMetadataOnly {
		return "Task " + coord.Visible(t.ID) + " of a team"
	}
	return h.draftTitle(t.Title)
}

// newIntent is one of the caller's in this repository, without a session.
func (h *hook) newIntent(title string, status coord.IntentStatus) store.IntentRow {
	return store.IntentRow{Intent: coord.Intent{
		ID:             ground.NewID(),
		OrgID:          h.Who.OrgID,
		Status:         status,
		Resume:         coord.IntentActive,
		Title:          title,
		Mode:           coord.Shared,
		EffectiveMode:  coord.Shared,
		Repo:           coord.RepoName{ID: h.repo.ID, FullName: h.repo.FullName},
		Owner:          h.Who.User(),
		CreatedAt:      h.Now,
		LastActivityAt: h.Now,
		DependsOn:      []string{},
		BlockedBy:      []coord.Blocker{},
	}}
}

// announce numbers and saves a new intent and tells of it. A draft is the
// session's from then on.
func (h *hook) announce(ctx context.Context, i *store.IntentRow, event coord.EventType) (err error) {
	if i.Number, err = h.NextIntentNumber(ctx, h.Who.OrgID); err != nil {
		return err
	}
	i.Ref = coord.IntentRef(i.Number)
	if err := h.SaveIntent(ctx, i); err != nil {
		return err
	}
	if i.SessionID != nil {
		if err := work.Bind(ctx, h.Change, h.session, *i); err != nil {
			return err
		}
		h.session.IntentID, h.intent = &i.ID, i
	}
	if err := work.TellIntent(ctx, h.Change, event, *i); err != nil {
		return err
	}
	return h.PutIntent(ctx, *i)
}
