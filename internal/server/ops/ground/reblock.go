package ground

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
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

// known is an intent as it was saved, with the sessions that work on it.
type known struct {
	row      store.IntentRow
	sessions []store.SessionRow
	fresh    bool // nobody knows of it, so that it is in no conflict
}

// SaveKnown saves an intent on which these sessions work and no others; fresh
// says that it is new.
func (c *Change) SaveKnown(ctx context.Context, i *store.IntentRow, sessions []store.SessionRow, fresh bool) error {
	err := c.SaveIntent(ctx, i)
	c.known[i.ID] = known{*i, sessions, fresh}
	return err
}

// SaveIntent saves an intent. Of one that was known it is asked from now on.
func (c *Change) SaveIntent(ctx context.Context, i *store.IntentRow) error {
	delete(c.known, i.ID)
	return c.Tx.SaveIntent(ctx, i)
}

// Knows reports whether there is nothing to be asked about an intent.
func (c *Change) Knows(id string) bool {
	_, ok := c.known[id]
	return ok
}

// IntentNow returns an intent as it is by now.
func (c *Change) IntentNow(ctx context.Context, id string) (store.IntentRow, error) {
	if k, ok := c.known[id]; ok {
		return k.row, nil
	}
	return c.IntentByID(ctx, c.Who.OrgID, id)
}

// own returns what the change told, if that is all that the index has to know of
// it: nothing but intents changed, and these are known.
func (c *Change) own() []live.Own {
	events := c.Emitted()
	out := make([]live.Own, len(events))
	for i, e := range events {
		out[i].Event = e
		switch e.Type.Part() {
		case coord.PartIntent:
			k, ok := c.known[e.Subject.ID]
			if !ok || k.row.SessionID != nil && len(k.sessions) == 0 { // when it was left is in the records
				return nil
			}
			out[i].Intent, out[i].On = &k.row, k.sessions
		case coord.PartNone:
			if e.Subject.Kind == "conflict" { // places look at its payload
				return nil
			}
		default:
			return nil
		}
		if e.OrgID != c.Who.OrgID {
			return nil
		}
	}
	return out
}

// ForeseeSettle asks, in Foresee, for what putting and settling an intent asks
// for.
func ForeseeSettle(ctx context.Context, tx *store.Tx, org, intent string) {
	tx.Sessions(ctx, org, store.UnendedOn(intent))
	ForeseeConflicts(ctx, tx, org, intent)
}

// ForeseeConflicts asks, in Foresee, for what settling a worker asks for.
func ForeseeConflicts(ctx context.Context, tx *store.Tx, org, worker string) {
	tx.Conflicts(ctx, org, liveOf(worker))
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
	if c.known[i.ID].fresh {
		return by, nil
	}
	numbers, err := c.Blocking(ctx, c.Who.OrgID, i.ID)
	for _, n := range numbers {
		by = append(by, coord.Blocker{Kind: "conflict", Ref: coord.ConflictRef(n)})
	}
	return by, err
}
