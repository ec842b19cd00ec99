package moments

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// An agent with a free shell can edit where no hook looks. That cannot be
// stopped there, but it is seen the next time that a hook compares the working
// copy with what was told of it.

// pastClaims tells of edits that went past somebody else's exclusive claim
// without a hook: the agent with its next answer, the holder by a message, once
// for each claim.
func (h *hook) pastClaims(ctx context.Context, files []coord.FileFacts) error {
	m := engine.Merging{Repo: coord.RepoName{ID: h.repo.ID, FullName: h.repo.FullName}, Now: h.Now}
	for _, f := range files {
		if f.Status != coord.FileUnchanged {
			m.Paths = append(m.Paths, f.Path)
		}
	}
	w := h.Live.Worker(h.worker())
	if w == nil || len(m.Paths) == 0 {
		return nil
	}
	m.By = []*engine.Worker{w}
	for _, held := range engine.AtMerge(h.Live.View(), m) {
		if !held.Untold {
			continue // it was changed before somebody claimed it
		}
		key, mark := "untold "+held.Holder.ID, strings.Join(held.Paths, "\n")
		first := h.brief.heard[key] != mark
		h.brief.add(rankConflict, key, mark, "svc: "+marker.Say(engine.PastWords(held, w), maxPast), nil)
		if !first {
			continue
		}
		if err := h.tellHolder(ctx, held, w); err != nil {
			return err
		}
		if err := h.Tell(ctx, h.session.ID, key+" sent", mark); err != nil {
			return err
		}
	}
	return nil
}

const maxPast = 1000

// tellHolder writes to who holds what was edited past their claim.
func (h *hook) tellHolder(ctx context.Context, held engine.MergeHold, by *engine.Worker) error {
	if h.brief.heard["untold "+held.Holder.ID+" sent"] == strings.Join(held.Paths, "\n") {
		return nil
	}
	subject := "An edit went past your claim"
	body := engine.PastLetter(held, by)
	var about *coord.About
	to := "user:" + held.Holder.User.Email
	if ref := held.Holder.Ref(); ref != "" {
		about, to = &coord.About{Kind: "intent", Ref: ref}, "intent:"+ref
	}
	_, err := ground.Post(ctx, h.Tx, h.Who, ground.Letter{
		Thread:     store.DirectThread([]string{held.Holder.User.ID}, about, &subject),
		To:         to,
		Subject:    &subject,
		Body:       body,
		About:      about,
		Recipients: []string{held.Holder.User.ID},
	})
	return err
}
