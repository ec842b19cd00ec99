package ground

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// A keep is a block that stands in the way of the caller's own work while an
// operation of theirs runs.
type keep struct {
	row   store.ConflictRow
	by    *engine.Worker // the work that is kept out, as it was
	alone bool           // nobody was at the holder's work, which is the same person's
	holds []string       // lineages at the holder's work
	paths []string
}

// keeps returns the blocks that the caller must not open: those that keep work
// of theirs out, unless it is a person who speaks. A hook's event tells of the
// caller's own work only and can open none.
func (c *Change) keeps(ctx context.Context) ([]keep, error) {
	if opensNothing(c.Who) {
		return nil, nil
	}
	user, err := c.standsFor(ctx)
	if err != nil || user == "" {
		return nil, err
	}
	rows, err := c.KeptOut(ctx, c.Who.OrgID, user)
	var out []keep
	for _, row := range rows {
		holder, by := c.Live.Worker(row.Holder), c.Live.Worker(row.Challenger)
		if holder == nil || by == nil {
			continue
		}
		k := keep{row: row, by: by, holds: holder.Lineages, alone: row.HolderUser == user && len(holder.Lineages) == 0}
		for _, e := range row.Evidence {
			if e.Path != nil && !slices.Contains(k.paths, *e.Path) {
				k.paths = append(k.paths, *e.Path)
			}
		}
		if k.stands(c) {
			out = append(out, k)
		}
	}
	return out, err
}

// opensNothing reports whether a call cannot open a block, or may.
func opensNothing(who coord.Caller) bool {
	return who.Via == coord.ViaHook || who.Via == coord.ViaSystem || who.IsPerson()
}

// standsFor returns the person behind the call: of a service token, whoever
// made it.
func (c *Change) standsFor(ctx context.Context) (string, error) {
	if c.Who.Personal() || c.Who.TokenID == "" {
		return c.Who.UserID, nil
	}
	return c.TokenCreator(ctx, c.Who.TokenID)
}

// stands reports whether the edits that the block is about are refused, or,
// where it is between claims by pattern, symbol or contract, the claims as they
// were are kept out.
func (k *keep) stands(c *Change) bool {
	same := func(f engine.Finding) bool {
		return f.Fingerprint == k.row.Fingerprint && f.Severity == coord.SeverityBlock
	}
	d := engine.Decide(c.Live.View(), engine.Edit{Worker: k.by, Session: k.by.Session, Paths: k.paths})
	if d.Action == engine.Block && slices.ContainsFunc(d.Findings, same) {
		return true
	}
	rules, _ := c.Live.View().Rules(k.by.Repo.ID)
	return rules.Enforcement == coord.SeverityBlock && slices.ContainsFunc(engine.Meets(c.Live.View(), k.by), same)
}

// checkKeeps refuses what would open a block from the side that is kept out.
// It is the last thing that an operation passes, whatever it did: who may say
// what about a conflict is coord's to tell, and here it is held.
func (s *Ground) checkKeeps(ctx context.Context, c *Change, keeps []keep) error {
	for _, k := range keeps {
		now := c.Live.Worker(k.row.Challenger)
		if k.stands(c) || k.alone || now == nil || now.User.ID != k.by.User.ID {
			continue // it stands; or what was kept out is no more, or no more theirs
		}
		if holder, err := c.SpeaksAs(ctx, k.holds); err != nil {
			return err
		} else if holder {
			continue // it lets go
		}
		return problem.Newf(problem.Forbidden, "%s keeps your work out, and this would let it in: that is for the holder's side, or for a "+
			"person to override at %s",
			k.row.Ref, s.PageURL("conflict", k.row.Ref))
	}
	return nil
}

// WorkerOf returns the id under which the engine knows a session's work.
func WorkerOf(s store.SessionRow) string {
	if s.IntentID != nil {
		return *s.IntentID
	}
	return s.ID
}

// ShareClaim makes an intent's exclusive claim a shared one and says why.
func (c *Change) ShareClaim(ctx context.Context, i *store.IntentRow, note string) error {
	i.EffectiveMode, i.ModeNote = coord.Shared, &note
	if err := c.SaveIntent(ctx, i); err != nil {
		return err
	}
	facts := IntentFacts(*i)
	facts.Released = true
	if err := c.TellOf(ctx, coord.EventIntentUpdated, i.ID, i.Repo.ID, wire.IntentUpdatedPayload{IntentPayload: facts}); err != nil {
		return err
	}
	return c.PutIntent(ctx, *i)
}

// Unwant forgets paths whose edit was refused.
func (c *Change) Unwant(ctx context.Context, intent string, gone func(path string) bool) error {
	w := c.Live.Worker(intent)
	if w == nil || w.Intent == nil || !slices.ContainsFunc(w.Claims, func(cl coord.Claim) bool {
		return cl.Mode == coord.Wanted &&
			gone(cl.Selector)
	}) {
		return nil
	}
	i, err := c.IntentByID(ctx, c.Who.OrgID, intent)
	if err != nil {
		return err
	}
	i.Wanted = slices.DeleteFunc(i.Wanted, gone)
	if err := c.SaveIntent(ctx, &i); err != nil {
		return err
	}
	if err := c.TellOf(ctx, coord.EventIntentUpdated, i.ID, i.Repo.ID, wire.IntentUpdatedPayload{IntentPayload: IntentFacts(i)}); err != nil {
		return err
	}
	return c.PutIntent(ctx, i)
}
