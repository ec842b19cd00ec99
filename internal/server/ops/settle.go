package ops

import (
	"context"
	"reflect"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

// A change is a write that acts on what is live: a transaction and the org's
// index as it sees it.
type change struct {
	*store.Tx
	live *live.Draft
	who  coord.Caller
	s    *Service
	// touched are the intents whose blockers may have changed.
	touched map[string]bool
}

// alter runs fn in a transaction of the caller's org with its live index, and
// at the end brings the conflicts of whoever fn touched, and the intents that
// these block, up to date.
func (s *Service) alter(ctx context.Context, who coord.Caller, fn func(*change) error) error {
	return s.write(ctx, who, func(tx *store.Tx) error {
		// The caller was read before this transaction, maybe by a replica that
		// had not heard of the change: what may be stored is decided here.
		org, err := tx.Org(ctx, who.OrgID)
		if err != nil {
			return err
		}
		who := who
		who.DataMode = org.DataMode
		return s.live.Within(ctx, tx, who.OrgID, func(d *live.Draft) error {
			c := &change{Tx: tx, live: d, who: who, s: s, touched: map[string]bool{}}
			if err := fn(c); err != nil {
				return err
			}
			for _, id := range d.Disturbed() {
				if _, err := c.settle(ctx, id); err != nil {
					return err
				}
			}
			return c.reblock(ctx)
		})
	})
}

// tell writes an event about one record.
func (c *change) tell(ctx context.Context, t coord.EventType, id, repo string, payload map[string]any) error {
	return tell(ctx, c.Tx, c.who, t, id, repo, payload)
}

// putIntent makes the draft index know an intent as it now is.
func (c *change) putIntent(ctx context.Context, i store.IntentRow) error {
	if !i.Status.Live() {
		c.live.RemoveWorker(i.ID)
		return nil
	}
	sessions, err := c.Sessions(ctx, c.who.OrgID, store.SessionFilter{Intent: i.ID, Unended: true})
	if err != nil {
		return err
	}
	for _, s := range sessions {
		c.live.RemoveWorker(s.ID) // bound now, so no worker of its own
	}
	c.live.PutWorker(live.IntentWorker(i, sessions))
	return nil
}

// settle brings the stored conflicts of a worker in line with what the engine
// finds now: new ones are opened, known ones updated, those that are gone
// resolved. It returns the worker's live conflicts.
func (c *change) settle(ctx context.Context, workerID string) ([]store.ConflictRow, error) {
	c.live.Settled(workerID)
	findings := engine.Detect(c.live.Index, workerID)
	known, err := c.Conflicts(ctx, c.who.OrgID, store.ConflictFilter{Worker: workerID, Statuses: coord.LiveConflictStatuses(), History: true})
	if err != nil {
		return nil, err
	}
	var out []store.ConflictRow
	for i := range findings {
		f := &findings[i]
		at := slices.IndexFunc(known, func(k store.ConflictRow) bool { return k.Fingerprint == f.Fingerprint })
		var row store.ConflictRow
		if at >= 0 {
			row = known[at]
			err = c.refreshConflict(ctx, &row, f)
		} else {
			row, err = c.openConflict(ctx, f, "")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	for _, k := range known {
		if slices.ContainsFunc(findings, func(f engine.Finding) bool { return f.Fingerprint == k.Fingerprint }) {
			continue
		}
		if c.stillAttempted(k) {
			out = append(out, k)
			continue
		}
		if err := c.endConflict(ctx, k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stillAttempted reports whether an edit that was attempted, and of which
// nothing is recorded, would still run into a conflict.
func (c *change) stillAttempted(k store.ConflictRow) bool {
	w := c.live.Worker(k.AttemptedBy)
	if k.AttemptedBy == "" || w == nil {
		return false
	}
	e := engine.Edit{Worker: w, Session: w.Session}
	for _, ev := range k.Evidence {
		if ev.Path != nil && !slices.Contains(e.Paths, *ev.Path) {
			e.Paths = append(e.Paths, *ev.Path)
		}
	}
	return slices.ContainsFunc(engine.Decide(c.live.Index, e).Findings, func(f engine.Finding) bool { return f.Fingerprint == k.Fingerprint })
}

// fill writes a finding into a conflict.
func (c *change) fill(row *store.ConflictRow, f *engine.Finding) {
	row.Kind, row.Severity = f.Kind, f.Severity
	row.Repo, row.CrossRepo, row.DependentRepo = f.Repo, f.CrossRepo, f.DependentRepo
	row.Holder, row.Challenger = f.Holder.ID, f.Challenger.ID
	row.HolderUser, row.ChallengerUser = f.Holder.User.ID, f.Challenger.User.ID
	row.Parties = partiesOf(f)
	if !f.Attempted {
		row.AttemptedBy = ""
	}
	row.Evidence, row.Keys, row.Fingerprint = f.Evidence, f.Keys, f.Fingerprint
	row.Explanation, row.Suggestion = engine.Explain(*f, "", 0)
}

func partiesOf(f *engine.Finding) []coord.Party {
	return []coord.Party{partyOf(coord.Holder, f.Holder), partyOf(coord.Challenger, f.Challenger)}
}

func partyOf(role coord.PartyRole, w *engine.Worker) coord.Party {
	p := coord.Party{Role: role, Repo: w.Repo}
	if w.User.ID != "" {
		u := w.User
		p.User = &u
	}
	if w.Intent != nil && w.Intent.Number > 0 {
		p.Intent = &coord.IntentName{Ref: w.Ref(), Number: w.Intent.Number, Status: w.Intent.Status}
		if w.Intent.Status != coord.IntentDraft {
			title := w.Intent.Title
			p.Intent.Title = &title
		}
	}
	if w.Session != "" {
		id := w.Session
		p.SessionID = &id
	}
	if w.Branch != "" {
		b := w.Branch
		p.Branch = &b
	}
	return p
}

// openConflict records a new conflict. If it rests on an edit that was only
// attempted, by is the worker who tried.
func (c *change) openConflict(ctx context.Context, f *engine.Finding, by string) (row store.ConflictRow, err error) {
	last, err := c.LastConflict(ctx, c.who.OrgID, f.Fingerprint)
	if err != nil {
		return row, err
	}
	if last != nil {
		row.Previous = &last.Ref
	}
	row.AttemptedBy = by
	row.ID, row.OrgID, row.Status, row.FirstSeenAt = newID(), c.who.OrgID, coord.ConflictOpen, c.Now
	if row.Number, err = c.NextConflictNumber(ctx, c.who.OrgID); err != nil {
		return row, err
	}
	row.Ref = coord.ConflictRef(row.Number)
	c.fill(&row, f)
	if err := c.SaveConflict(ctx, &row); err != nil {
		return row, err
	}
	c.touch(row)
	return row, c.tellConflict(ctx, coord.EventConflictDetected, row, map[string]any{"previous": row.Previous})
}

// refreshConflict updates a live conflict; an event tells of it if there is
// more evidence or another severity.
func (c *change) refreshConflict(ctx context.Context, row *store.ConflictRow, f *engine.Finding) error {
	grown, severity := engine.Grown(row.Keys, f.Keys), row.Severity
	if slices.Equal(row.Keys, f.Keys) && severity == f.Severity && reflect.DeepEqual(row.Parties, partiesOf(f)) && (row.AttemptedBy == "" || f.Attempted) {
		return nil
	}
	c.fill(row, f)
	if err := c.SaveConflict(ctx, row); err != nil {
		return err
	}
	c.touch(*row)
	if !grown && severity == row.Severity {
		return nil
	}
	return c.tellConflict(ctx, coord.EventConflictUpdated, *row, map[string]any{"previous_severity": severity, "grown": grown})
}

// endConflict closes a conflict that is no longer found: cleared if both sides
// are still at work, stale if one of them ended.
func (c *change) endConflict(ctx context.Context, row store.ConflictRow) error {
	gone := func(id string) bool { return id != "" && c.live.Worker(id) == nil }
	if gone(row.Holder) || gone(row.Challenger) {
		return c.closeConflict(ctx, &row, coord.ConflictStale, nil)
	}
	cleared := coord.ResolvedCleared
	return c.closeConflict(ctx, &row, coord.ConflictResolved, &cleared)
}

func (c *change) closeConflict(ctx context.Context, row *store.ConflictRow, status coord.ConflictStatus, how *coord.Resolution) error {
	row.Status, row.Resolution, row.ClosedAt = status, how, c.Now.Ptr()
	if err := c.SaveConflict(ctx, row); err != nil {
		return err
	}
	if s, ok := live.SuppressionOf(*row); ok {
		c.live.Suppress(s)
	}
	c.touch(*row)
	t := coord.EventConflictResolved
	switch status {
	case coord.ConflictStale:
		t = coord.EventConflictStale
	case coord.ConflictOverridden:
		t = coord.EventConflictOverridden
	}
	return c.tellConflict(ctx, t, *row, map[string]any{"resolution": how})
}

func (c *change) tellConflict(ctx context.Context, t coord.EventType, row store.ConflictRow, more map[string]any) error {
	payload := map[string]any{"ref": row.Ref, "kind": row.Kind, "severity": row.Severity, "status": row.Status, "fingerprint": row.Fingerprint,
		"holder": row.Holder, "challenger": row.Challenger, "users": []string{row.HolderUser, row.ChallengerUser}}
	for k, v := range more {
		payload[k] = v
	}
	return c.tell(ctx, t, row.ID, row.Repo.ID, payload)
}

// touch remembers that a conflict's parties may be blocked or freed by it.
func (c *change) touch(row store.ConflictRow) {
	for _, id := range []string{row.Holder, row.Challenger} {
		if w := c.live.Worker(id); w != nil && w.Intent != nil {
			c.touched[id] = true
		}
	}
}

// reblock recomputes what blocks the intents that were touched.
func (c *change) reblock(ctx context.Context) error {
	ids := make([]string, 0, len(c.touched))
	for id := range c.touched {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		i, err := c.IntentByID(ctx, c.who.OrgID, id)
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

func (c *change) reblockOne(ctx context.Context, i store.IntentRow) error {
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
	t := coord.EventIntentBlocked
	switch {
	case was == i.Status:
		t = coord.EventIntentUpdated
	case i.Status != coord.IntentBlocked:
		t = coord.EventIntentUnblocked
	}
	return c.tell(ctx, t, i.ID, i.Repo.ID, map[string]any{"ref": i.Ref, "status": i.Status, "previous_status": was, "blocked_by": by})
}

// blockers returns why an intent cannot go on: live intents it depends on, and
// live conflicts of severity block in which it has to yield.
func (c *change) blockers(ctx context.Context, i store.IntentRow) ([]coord.Blocker, error) {
	by := []coord.Blocker{}
	deps, err := c.Dependencies(ctx, i.ID)
	if err != nil {
		return nil, err
	}
	for _, d := range deps {
		if d.Status.Live() {
			by = append(by, coord.Blocker{Kind: "intent", Ref: coord.IntentRef(d.Number)})
		}
	}
	conflicts, err := c.Conflicts(ctx, c.who.OrgID, store.ConflictFilter{Worker: i.ID, Statuses: coord.LiveConflictStatuses()})
	if err != nil {
		return nil, err
	}
	slices.Reverse(conflicts)
	for _, k := range conflicts {
		if k.Severity == coord.SeverityBlock && k.Challenger == i.ID {
			by = append(by, coord.Blocker{Kind: "conflict", Ref: k.Ref})
		}
	}
	return by, nil
}

// endSession ends a session that does not say so itself, and settles what it
// was part of.
func (c *change) endSession(ctx context.Context, x store.SessionRow, at coord.Time, payload map[string]any) error {
	if err := c.EndSession(ctx, x.ID, at); err != nil {
		return err
	}
	if err := c.tell(ctx, coord.EventSessionEnded, x.ID, x.Repo.ID, payload); err != nil {
		return err
	}
	c.live.RemoveWorker(x.ID)
	if x.IntentID != nil {
		i, err := c.IntentByID(ctx, c.who.OrgID, *x.IntentID)
		if err != nil {
			return err
		}
		if err := c.putIntent(ctx, i); err != nil {
			return err
		}
		_, err = c.settle(ctx, i.ID)
		return err
	}
	_, err := c.settle(ctx, x.ID)
	return err
}
