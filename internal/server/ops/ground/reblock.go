package ground

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// touch remembers that a conflict's challenger may be blocked or freed by it.
// Nothing else of a conflict blocks anybody: a crowd that only meets is not
// looked through again for each who comes or goes.
func (c *Change) touch(row store.ConflictRow) {
	if row.Severity != coord.SeverityBlock {
		return
	}
	if w := c.Live.Worker(row.Challenger); w != nil && w.Intent != nil {
		c.Touched[row.Challenger] = true
	}
}

// MakeIntent saves an intent that is new, and on which no session works.
func (c *Change) MakeIntent(ctx context.Context, i *store.IntentRow) error {
	err := c.SaveIntent(ctx, i)
	c.made[i.ID] = *i
	return err
}

// SaveIntent saves an intent. Of one that was made, and is saved again, it is
// asked from now on.
func (c *Change) SaveIntent(ctx context.Context, i *store.IntentRow) error {
	delete(c.made, i.ID)
	return c.Tx.SaveIntent(ctx, i)
}

// IntentNow returns an intent as it is by now.
func (c *Change) IntentNow(ctx context.Context, id string) (store.IntentRow, error) {
	if i, made := c.made[id]; made {
		return i, nil
	}
	return c.IntentByID(ctx, c.Who.OrgID, id)
}

// ForeseeSettle asks, in Foresee, for what putting and settling an intent asks
// for.
func (c *Change) ForeseeSettle(ctx context.Context, intent string) {
	c.Sessions(ctx, c.Who.OrgID, store.UnendedOn(intent))
	c.Conflicts(ctx, c.Who.OrgID, liveOf(intent))
}

// Reblock recomputes what blocks the intents that were touched.
func (c *Change) Reblock(ctx context.Context) error {
	ids := make([]string, 0, len(c.Touched))
	for id := range c.Touched {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		i, err := c.IntentNow(ctx, id)
		if err != nil {
			return err
		}
		if !i.Status.Live() {
			continue
		}
		if err := c.reblockOne(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Change) reblockOne(ctx context.Context, i store.IntentRow) error {
	by, err := c.blockers(ctx, i)
	if err != nil || slices.Equal(by, i.BlockedBy) {
		return err
	}
	was := i.Status
	i.BlockedBy = by
	switch {
	case len(by) > 0 && was != coord.IntentBlocked && was != coord.IntentDraft:
		i.Resume, i.Status = was, coord.IntentBlocked
	case len(by) == 0 && was == coord.IntentBlocked:
		i.Status = i.Resume
	}
	if err := c.SaveIntent(ctx, &i); err != nil {
		return err
	}
	t, facts := coord.EventIntentBlocked, IntentFacts(i)
	facts.PreviousStatus = was
	switch {
	case was == i.Status:
		return c.TellOf(ctx, coord.EventIntentUpdated, i.ID, i.Repo.ID, wire.IntentUpdatedPayload{IntentPayload: facts, BlockedBy: by})
	case i.Status != coord.IntentBlocked:
		t = coord.EventIntentUnblocked
	}
	return c.TellOf(ctx, t, i.ID, i.Repo.ID, wire.IntentBlockedPayload{IntentPayload: facts, BlockedBy: by})
}

// blockers returns why an intent cannot go on: live intents it depends on, and
// live conflicts of severity block in which it has to yield.
func (c *Change) blockers(ctx context.Context, i store.IntentRow) ([]coord.Blocker, error) {
	by := []coord.Blocker{}
	if len(i.DependsOn) > 0 {
		deps, err := c.Dependencies(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range deps {
			if d.Status.Live() {
				by = append(by, coord.Blocker{Kind: "intent", Ref: coord.IntentRef(d.Number)})
			}
		}
	}
	if _, made := c.made[i.ID]; made {
		return by, nil
	}
	numbers, err := c.Blocking(ctx, c.Who.OrgID, i.ID)
	for _, n := range numbers {
		by = append(by, coord.Blocker{Kind: "conflict", Ref: coord.ConflictRef(n)})
	}
	return by, err
}
