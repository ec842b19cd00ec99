package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Snags are what keeps the agents of an org from simply working, by worker: the
// id of a session or of an intent.
type Snags map[string][]coord.Snag

// Of returns the standing of a session, whose status must be the one of now.
func (s Snags) Of(row SessionRow) coord.Standing {
	snags := s[row.ID]
	if row.IntentID != nil {
		snags = append(snags[:len(snags):len(snags)], s[*row.IntentID]...)
	}
	return coord.StandingOf(row.Session, snags)
}

// Snags returns what keeps the agents of an org from simply working.
func (tx *Tx) Snags(ctx context.Context, org string) (Snags, error) {
	out := Snags{}
	type clash struct {
		coord.Snag
		holder, challenger string
	}
	clashes, err := all(ctx, tx, func(r scanner) (c clash, err error) {
		var number int
		err = r.Scan(&number, &c.Severity, &c.holder, &c.challenger, &c.Since)
		c.Ref = coord.ConflictRef(number)
		return c, err
	}, `SELECT number, severity, holder, challenger, first_seen_at FROM conflicts
		WHERE org_id = $1 AND closed_at IS NULL AND severity IN ('warn', 'block') ORDER BY number`, org)
	if err != nil {
		return nil, err
	}
	for _, c := range clashes {
		out.add(c.challenger, c.Snag)
		c.Holds = true
		out.add(c.holder, c.Snag)
	}
	if err := tx.waitSnags(ctx, org, out); err != nil {
		return nil, err
	}
	blocked, err := tx.Intents(ctx, org, IntentFilter{Statuses: []coord.IntentStatus{coord.IntentBlocked}})
	for _, i := range blocked {
		s := coord.Snag{Ref: i.Ref, Since: i.UpdatedAt}
		if len(i.BlockedBy) > 0 {
			s.Ref = i.BlockedBy[0].Ref
		}
		out.add(i.ID, s)
	}
	return out, err
}

// waitSnags adds the waits that are under way.
func (tx *Tx) waitSnags(ctx context.Context, org string, out Snags) error {
	waits, err := tx.Waits(ctx, org)
	if err != nil || len(waits) == 0 {
		return err
	}
	ids := map[string]string{}
	intents, err := tx.Intents(ctx, org, IntentFilter{Statuses: coord.LiveIntentStatuses()})
	for _, i := range intents {
		ids[i.Ref] = i.ID
	}
	for _, w := range waits {
		if id, ok := ids[w.Worker]; ok {
			w.Worker = id
		}
		s := coord.Snag{Since: w.Since}
		for _, h := range w.Holders {
			if ids[h] != "" && s.Ref == "" { // others are sessions without an intent
				s.Ref = h
			}
		}
		out.add(w.Worker, s)
	}
	return err
}

func (s Snags) add(worker string, snag coord.Snag) {
	if worker != "" {
		s[worker] = append(s[worker], snag)
	}
}
